"""Disturbed motions: plans followed by their feedback under noise, pushes and wrong starts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ocp.certificate.checks.simulation import march
from ocp.mechanics.values.validation import check_type, numbers, positive
from ocp.mpc.regulator import Feedback
from ocp.mpc.standing_plant import Standing, period_integrator, plant_slope, standings
from ocp.pickling import portable
from ocp.problem.contact.force_law import Acting


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Followed:
    """A simulated motion under feedback; values are NaN from where it diverged.

    Attributes:
        t: ends of the periods (N + 1,) s.
        q, qd: coordinates and rates (n, N + 1).
        tau: torques of the periods as they begin (n, N), N m or N, noise included.
        feet: {foot: Standing} of those that are held, as periods begin.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    feet: Mapping[str, Standing]

    def __repr__(self) -> str:
        words = "" if np.isfinite(self.q).all() else ", blown up"
        return f"Followed({len(self.q)} coordinates over {self.t[-1]:g} s{words})"


def follow(
    plan: Feedback,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    noise: float = 0.0,
    seed: int = 0,
    loads: Iterable[Acting] = (),
    open_loop: bool = False,
) -> Followed:
    """Return the simulated motion under a plan's feedback, as Followed.

    The state is measured as each period begins; torques keep to the limits of their joints.

    Args:
        plan: a Feedback.
        start: (q, qd) of n numbers each, by default as planned.
        noise: standard deviation of torques, over the largest planned one at each joint; drawn
            anew each period.
        seed: of the noise.
        loads: that act beside the plan's, such as a push.
        open_loop: whether the gains are left out.

    Raises:
        ValueError: for sizes that do not fit, and numbers that are not finite.
    """
    n, count = check_type("follow: plan", plan, Feedback).tree.dof, len(plan.gains)
    state = plan.states[:, 0]
    if start is not None:
        both = zip(("q", "qd"), start)
        state = np.hstack([numbers(f"follow: start: {what}", each, (n,)) for what, each in both])
    level = positive("follow: noise", noise, True) * np.abs(plan.torques).max(axis=1)
    errors = np.random.default_rng(seed).standard_normal((count, n)) * level
    acting = (*plan.loads, *loads)
    step = period_integrator(plan.tree, acting, plan.t[1])
    lower, upper = np.transpose([joint.torque for joint in plan.tree.moving])
    states, acted = np.full_like(plan.states, np.nan), np.full((n, count), np.nan)
    states[:, 0] = state
    for k, gain in enumerate(plan.gains):
        off = errors[k] if open_loop else gain @ (states[:, k] - plan.states[:, k]) + errors[k]
        ramp = np.clip(plan.torques[:, k : k + 2] + off[:, None], lower[:, None], upper[:, None])
        acted[:, k] = ramp[:, 0]
        states[:, k : k + 2] = march(step, states[:, k], [[plan.t[k], *ramp.T.ravel()]])
        if not np.isfinite(states[:, k + 1]).all():
            break
    held = plant_slope(plan.tree, acting).map(count)(states[:, :-1], acted, plan.t[None, :-1])[1]
    feet = standings(plan.tree, plan.ground, np.array(held))
    return Followed(t=plan.t, q=states[:n], qd=states[n:], tau=acted, feet=feet)

"""Disturbed motions: plans followed by their feedback under noise, pushes and wrong starts.

One simulation at a time (`follow`), or the covariances of all by the linearised mechanics
(`spread`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ocp.certificate.checks.simulation import march
from ocp.mechanics.values.validation import check_type, numbers, positive
from ocp.mpc.regulator import Feedback
from ocp.mpc.standing_plant import Standing, period_integrator, plant_slope, standings
from ocp.pickling import portable
from ocp.problem.contact.state_dependent_forces import Acting

CLOSE = 1e-9  # below zero, where an eigenvalue of a covariance counts as zero


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
    level = _torque_levels("follow: noise", plan, noise)
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


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spread:
    """Covariances about a plan that is followed under noise.

    Attributes:
        t: ends of the periods (N + 1,) s.
        states: of q and qd (N + 1, 2 n, 2 n).
        torques: of the torques in each period (N, n, n), noise included.
    """

    t: np.ndarray
    states: np.ndarray
    torques: np.ndarray

    def __repr__(self) -> str:
        return f"Spread({self.states.shape[1] // 2} coordinates over {self.t[-1]:g} s)"

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of q and qd (2 n, N + 1)."""
        return np.sqrt(np.diagonal(self.states, axis1=1, axis2=2)).T

    @property
    def torque_deviations(self) -> np.ndarray:
        """Standard deviations of the torques (n, N)."""
        return np.sqrt(np.diagonal(self.torques, axis1=1, axis2=2)).T


def spread(
    plan: Feedback,
    *,
    noise: float = 0.01,
    start: ArrayLike | None = None,
    open_loop: bool = False,
) -> Spread:
    """Return the covariances of a plan that is followed under noise, by its linearised mechanics.

        P <- (A + B K) P (A + B K)' + B W B'

    They are those of `follow` as far as deviations are small and torques within their limits.

    Args:
        plan: a Feedback.
        noise: standard deviation of torques, as `follow` has it.
        start: covariance (2 n, 2 n) of the state at the start; zero by default.
        open_loop: whether the gains are left out.

    Raises:
        ValueError: for sizes that do not fit, and a covariance that is not one.

    Source: Bryson & Ho 1975, chapter 11; as a prediction of movement, Van Wouwe et al. 2022.
    """
    n = check_type("spread: plan", plan, Feedback).tree.dof
    shaken = np.diag(_torque_levels("spread: noise", plan, noise) ** 2)
    known = np.zeros((2 * n, 2 * n))
    if start is not None:
        known = numbers("spread: start", start, (2 * n, 2 * n))
        if not np.allclose(known, known.T) or np.linalg.eigvalsh(known).min() < -CLOSE:
            raise ValueError("spread: start: expected a covariance, symmetric and not negative")
    states, torques = [known], []
    for a, b, gain in zip(plan.transitions, plan.responses, plan.gains):
        used = np.zeros_like(gain) if open_loop else gain
        torques.append(used @ known @ used.T + shaken)
        held = a + b @ used
        known = held @ known @ held.T + b @ shaken @ b.T
        states.append(known)
    return Spread(t=plan.t, states=np.array(states), torques=np.array(torques))


def _torque_levels(what: str, plan: Feedback, noise: float) -> np.ndarray:
    """Return the standard deviations (n,) of noise that is a share of the largest torques."""
    return positive(what, noise, True) * np.abs(plan.torques).max(axis=1)

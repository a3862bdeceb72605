"""Disturbed motions: plans followed by their feedback under noise, pushes and wrong starts.

One simulation at a time (`follow`), or the covariances of all by the linearised mechanics
(`spread`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ocp.certificate.checks.simulation import march
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_type, numbers, positive, set_fields
from ocp.mpc.regulator import Feedback, answered_period
from ocp.mpc.standing_plant import Standing, period_integrator, plant_slope, standings
from ocp.pickling import portable
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.spelling import suggest_fields

PUSHES = ("torque", "proportional")
FAR = 3.0  # times the noise: so many deviations one normal number in 370 exceeds
TRIALS = 8  # under it: where a third of them leaves the linear range, one does by 96 %
CLOSE = 1e-9  # below zero, where an eigenvalue of a covariance counts as zero


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of torques, of the state and of measurements, drawn anew each period and held.

    All but `start` are standard deviations: one number, or as many as there are entries.

    Args:
        torque: of torques and controls (n,), N m or N, at joints that nothing drives too; one
            number is that of all drives.
        proportional: likewise, over their own size: of torques that grow with them.
        state: of jumps of q and qd as a period ends (2 n,).
        sensor: of what is measured (m,).
        start: covariance (2 n, 2 n) of q and qd at the start; none by default.

    Raises:
        ValueError: naming the field.
    """

    torque: Numbers = 0.0
    proportional: Numbers = 0.0
    state: Numbers = 0.0
    sensor: Numbers = 0.0
    start: Numbers = None

    def __post_init__(self) -> None:
        for name in ("torque", "proportional", "state", "sensor"):
            sizes = np.atleast_1d(np.array(getattr(self, name), dtype=float))
            if sizes.ndim != 1 or not np.isfinite(sizes).all() or (sizes < 0).any():
                raise ValueError(f"noise: {name}: expected numbers of at least 0, got {sizes}")
            set_fields(self, **{name: tuple(sizes.tolist())})
        if self.start is not None:
            known = _covariance("noise: start", self.start, len(np.atleast_2d(self.start)))
            set_fields(self, start=tuple(map(tuple, known.tolist())))

    def sizes(self, name: str, count: int) -> np.ndarray:
        """Return the standard deviations (count,) of a field; raise ValueError for another
        number of them."""
        given = getattr(self, name)
        every = given * count if len(given) == 1 else given
        return numbers(f"noise: {name}", np.array(every), (count,))

    def torque_sizes(self, name: str, tree: Tree) -> np.ndarray:
        """Return the standard deviations (n,) of "torque" or of what is "proportional" to it."""
        sizes = self.sizes(name, tree.dof)
        if len(getattr(self, name)) == 1:
            sizes[list(structure(tree).passive)] = 0.0
        return sizes

    def spread_at_start(self, n: int) -> np.ndarray:
        """Return the covariance (2 n, 2 n) at the start."""
        return (
            np.zeros((2 * n, 2 * n))
            if self.start is None
            else _covariance("noise: start", self.start, 2 * n)
        )


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
    noise: float | Noise = 0.0,
    seed: int = 0,
    loads: Iterable[Acting] = (),
    open_loop: bool = False,
    linear: bool = False,
) -> Followed:
    """Return the simulated motion under a plan's feedback, as Followed.

    The state is measured as each period begins, or at each instant where the plan's feedback is
    continuous; torques keep to the limits of their joints.

    Args:
        plan: a Feedback.
        start: (q, qd) of n numbers each, by default as planned.
        noise: a Noise, or the standard deviation of torques over the largest planned one at each
            joint; drawn anew each period.
        seed: of the noise.
        loads: that act beside the plan's, such as a push.
        open_loop: whether the gains are left out.
        linear: whether deviations are those of the linearised mechanics of `spread`, in which no
            limits and no loads beside the plan's act.

    Raises:
        ValueError: for sizes that do not fit, and numbers that are not finite.
    """
    n, count = check_type("follow: plan", plan, Feedback).tree.dof, len(plan.gains)
    state = plan.states[:, 0]
    if start is not None:
        both = zip(("q", "qd"), start)
        state = np.hstack([numbers(f"follow: start: {what}", each, (n,)) for what, each in both])
    given = _noise("follow: noise", plan, noise)
    random = np.random.default_rng(seed)
    errors = random.standard_normal((count, n))
    level, shares = (given.torque_sizes(name, plan.tree) for name in PUSHES)
    read = _drawn_readings(plan, given, random) * (not open_loop)
    jumps = random.standard_normal((count, 2 * n)) * given.sizes("state", 2 * n)
    if start is None and given.start is not None:
        state = state + _root(given.spread_at_start(n)) @ random.standard_normal(2 * n)
    acting = (*plan.loads, *loads)
    step = period_integrator(plan.tree, acting, plan.t[1], plan.continuous)
    courses = _planned_courses(plan) if plan.continuous else None
    gains = np.zeros_like(plan.gains) if open_loop else plan.gains
    lower, upper = np.transpose([joint.torque for joint in plan.tree.moving])
    states, acted = np.full_like(plan.states, np.nan), np.full((n, count), np.nan)
    states[:, 0] = state
    for k, gain in enumerate(gains):
        answer = gain @ (states[:, k] - plan.states[:, k])
        told = plan.torques[:, k : k + 2].mean(axis=1) + answer + read[k]
        off = read[k] + np.hypot(level, shares * told) * errors[k]
        ramp = plan.torques[:, k : k + 2] + off[:, None]
        acted[:, k] = np.clip(ramp[:, 0] + answer, lower, upper)
        if linear:
            ahead, pushed = answered_period(plan, k, gain)
            deviation = ahead @ (states[:, k] - plan.states[:, k]) + pushed @ off
            states[:, k + 1] = plan.states[:, k + 1] + deviation + jumps[k]
            continue
        if courses is None:
            ramp = np.clip(ramp + answer[:, None], lower[:, None], upper[:, None])
            values = [plan.t[k], *ramp.T.ravel()]
        else:
            values = [plan.t[k], *ramp.T.ravel(), *gain.T.ravel(), *courses[k].ravel()]
        states[:, k : k + 2] = march(step, states[:, k], [values])
        states[:, k + 1] += jumps[k]
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
        nonlinear: of each trial under three times the noise, how far its coordinates are from those
            of linear mechanics, over how far the nearer of both is from the plan; infinite where it
            diverged.
    """

    t: np.ndarray
    states: np.ndarray
    torques: np.ndarray
    nonlinear: tuple[float, ...] = ()

    def __repr__(self) -> str:
        doubts = "".join(f"; {each}" for each in self.doubts)
        return f"Spread({self.states.shape[1] // 2} coordinates over {self.t[-1]:g} s{doubts})"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reason not to trust the covariances: what becomes of runs under three times the noise
        becomes of about one in 400 under the noise itself, whose squares may be most of all."""
        left, count = sum(each > 1.0 for each in self.nonlinear), len(self.nonlinear)
        if not left:
            return ()
        return (f"{left} of {count} trials under {FAR:g} times the noise leave the linear range",)

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of q and qd (2 n, N + 1)."""
        return np.sqrt(np.maximum(np.diagonal(self.states, axis1=1, axis2=2), 0.0)).T

    @property
    def torque_deviations(self) -> np.ndarray:
        """Standard deviations of the torques (n, N)."""
        return np.sqrt(np.diagonal(self.torques, axis1=1, axis2=2)).T


def spread(
    plan: Feedback,
    *,
    noise: float | Noise = 0.01,
    start: ArrayLike | None = None,
    open_loop: bool = False,
    trials: int = TRIALS,
) -> Spread:
    """Return the covariances of a plan that is followed under noise, by its linearised mechanics.

        P <- C P C' + B (W + K V K') B' + Q

    with C = A + B K of torques that are held in a period; of continuous feedback C and B are those
    of the mechanics with the gains at work.
    They are those of `follow` as far as deviations are small and torques within their limits.

    Args:
        plan: a Feedback.
        noise: as `follow` has it.
        start: covariance (2 n, 2 n) of the state at the start; that of the noise by default.
        open_loop: whether the gains are left out.
        trials: simulations under three times the noise beside linear ones, for `doubts`.

    Raises:
        ValueError: for sizes that do not fit, and a covariance that is not one.

    Source: Bryson & Ho 1975, chapter 11; as a prediction of movement, Van Wouwe et al. 2022.
    """
    n = check_type("spread: plan", plan, Feedback).tree.dof
    given = _noise("spread: noise", plan, noise)
    known = given.spread_at_start(n)
    if start is not None:
        known = _covariance("spread: start", start, 2 * n)
    level, shares = (given.torque_sizes(name, plan.tree) ** 2 for name in PUSHES)
    process = np.diag(given.sizes("state", 2 * n) ** 2)
    outputs = plan.gains if plan.output_gains is None else plan.output_gains
    readings = np.diag(given.sizes("sensor", outputs.shape[2]) ** 2)
    planned = (plan.torques[:, 1:] + plan.torques[:, :-1]).T / 2
    states, torques = [known], []
    for k, gain in enumerate(plan.gains):
        used = np.zeros_like(gain) if open_loop else gain
        read = 0.0 if open_loop else outputs[k] @ readings @ outputs[k].T
        told = used @ known @ used.T + read
        shaken = np.diag(level + shares * (planned[k] ** 2 + np.diag(told)))
        torques.append(told + shaken)
        held, pushed = answered_period(plan, k, used)
        known = held @ known @ held.T + pushed @ (shaken + read) @ pushed.T + process
        states.append(known)
    return Spread(
        t=plan.t,
        states=np.array(states),
        torques=np.array(torques),
        nonlinear=_nonlinear_shares(plan, _scale_noise(given, states[0], FAR), trials, open_loop),
    )


def _scale_noise(noise: Noise, start: np.ndarray, by: float) -> Noise:
    """Return noise that is so many times as large, of a covariance at the start."""
    names = ("torque", "proportional", "state", "sensor")
    sizes = {name: tuple(by * each for each in getattr(noise, name)) for name in names}
    return Noise(**sizes, start=by**2 * start)


def _nonlinear_shares(
    plan: Feedback, noise: Noise, count: int, open_loop: bool
) -> tuple[float, ...]:
    """Return the distances of runs from those of linear mechanics, over that of the nearer of both
    from the undisturbed one, which is off the plan where that is coarse."""
    shares = []
    still = follow(plan, open_loop=open_loop).q if count else plan.states
    for seed in range(count):
        run, linear = (
            follow(plan, noise=noise, seed=seed, open_loop=open_loop, linear=each).q
            for each in (False, True)
        )
        off, far = run - still, linear - plan.states[: len(linear)]
        least = min(np.linalg.norm(off), np.linalg.norm(far))
        apart = float(np.linalg.norm(off - far) / max(least, CLOSE))
        shares.append(apart if np.isfinite(apart) else np.inf)
    return tuple(shares)


def _planned_courses(plan: Feedback) -> np.ndarray:
    """Return the planned states at both ends of each period and their slopes (N, 4, 2 n)."""
    slope = plant_slope(plan.tree, plan.loads).map(len(plan.t))
    slopes = np.array(slope(plan.states, plan.torques, plan.t[None, :])[0]).T
    states = plan.states.T
    return np.stack([states[:-1], states[1:], slopes[:-1], slopes[1:]], axis=1)


def _noise(what: str, plan: Feedback, noise: float | Noise) -> Noise:
    """Return noise that may be given as a share of the largest torques."""
    if isinstance(noise, Noise):
        return noise
    return Noise(torque=positive(what, noise, True) * np.abs(plan.torques).max(axis=1))


def _drawn_readings(plan: Feedback, noise: Noise, random: np.random.Generator) -> np.ndarray:
    """Return the torques (N, n) that noise of measurements makes."""
    gains = plan.gains if plan.output_gains is None else plan.output_gains
    size = gains.shape[2]
    read = random.standard_normal((len(gains), size)) * noise.sizes("sensor", size)
    return np.einsum("kij,kj->ki", gains, read)


def _covariance(what: str, value: Numbers, size: int) -> np.ndarray:
    """Return a covariance (size, size), checked."""
    known = numbers(what, value, (size, size))
    if not np.allclose(known, known.T) or np.linalg.eigvalsh(known).min() < -CLOSE:
        raise ValueError(f"{what}: expected a covariance, symmetric and not negative")
    return known


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return R with R R' a covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))

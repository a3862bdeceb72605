"""Excitations of muscles along a known motion: MocoInverse's problem (Dembia et al. 2020).

Activations and the forces of tendons are states, the motion is given, and the least squared
excitations e are sought that share the moments of joints,

    integral of  sum e^2 + sum (r / R)^2 + w sum (rate of a tendon's force over F_0)^2

where reserves r count one at R, and joints without reserves have their moments exactly. Excitations
begin at the activations. A clock is the only coordinate: lengths of muscles, their lever arms and
the moments are Chebyshev polynomials of its time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Guess,
    HermiteSimpson,
    Link,
    Problem,
    Solution,
    Solver,
    Transcription,
    Tree,
    at_start,
    path,
    prismatic,
    solve,
    squares,
)
from ocp.mechanics import State
from ocp.mechanics.muscles import GivenPath, muscles_of
from ocp.problem import Instant, muscle_effort

DEGREE = 40  # of the polynomials of time
RATES = 0.01  # weight of squared rates of tendon forces (s2), MocoInverse's own
BEGIN = 0.1  # of activations, and of tendon forces over F_0, at the first guess [assumed]
ACROSS = 1e-9  # m/rad: lever arms below this are none
NO_FIBRES = 1e4  # strain at which fibres bear F_0 without activation: then they bear none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MuscleExcitations:
    """Muscles `names` along a motion that begins at `start` (s), and the `solution`, whose states
    are "soleus.activation" and "soleus.force", of a compliant tendon over F_0."""

    solution: Solution
    start: float
    names: tuple[str, ...]

    def states(self, kind: str, t: np.ndarray) -> dict[str, np.ndarray]:
        """Return {muscle: activations, or forces of tendons over F_0} at times (s) of the motion.

        Args:
            kind: "activation" or "force", of which rigid tendons have none.
            t: times (N,) s.
        """
        tree, found = self.solution.problem.tree, self.solution.q(np.asarray(t) - self.start)
        known = {joint.name for joint in tree.moving}
        rows = {name: f"{name}.{kind}" for name in self.names if f"{name}.{kind}" in known}
        return {name: found[tree.coordinate(row)] for name, row in rows.items()}


def muscle_excitations(
    model: Tree,
    t: np.ndarray,
    q: np.ndarray,
    moments: np.ndarray,
    *,
    joints: Sequence[str],
    reserves: Mapping[str, float],
    intervals: int,
    degree: int = DEGREE,
    solver: Solver = Solver(),
) -> MuscleExcitations:
    """Return the least excitations that share the moments of joints along a motion.

    Args:
        model: a tree with muscles, as `load_model` reads it.
        t: times (N,) s.
        q: the motion (n, N) of the model's joints, without the states of its muscles.
        moments: of the joints (n, N), as `measured_torques` has them for the model without muscles.
        joints: names of the coordinates whose moments muscles share.
        reserves: {joint: N m or N that count one}; others have their moments exactly.
        intervals: of the collocation.
        degree: of the polynomials of time.
        solver: settings.

    Raises:
        ValueError: the model has no muscles, a joint is none of its coordinates or has a reserve
            but is not named, numbers are not finite, or fewer times than polynomials need.
    """
    problem = excitation_problem(
        model, t, q, moments, joints=joints, reserves=reserves, degree=degree
    )
    begin = np.full((problem.tree.dof, 2), BEGIN)
    begin[0] = 0.0, float(t[-1] - t[0])
    method = HermiteSimpson(intervals=intervals)
    solution = solve(problem, Transcription(method=method), solver, guess=Guess(q=begin))
    names = tuple(each.name for each in muscles_of(model))
    return MuscleExcitations(solution=solution, start=float(t[0]), names=names)


def excitation_problem(
    model: Tree,
    t: np.ndarray,
    q: np.ndarray,
    moments: np.ndarray,
    *,
    joints: Sequence[str],
    reserves: Mapping[str, float],
    degree: int = DEGREE,
) -> Problem:
    """Return the problem that `muscle_excitations` solves, of the same arguments."""
    muscles, bare = muscles_of(model), replace(model, elements=())
    if not muscles:
        raise ValueError("muscle_excitations: the model has no muscles")
    rows = [bare.coordinate(name) for name in joints]
    other = next((name for name in reserves if name not in joints), None)
    if other is not None:
        raise ValueError(f"reserves: {other!r} is none of the joints: {', '.join(joints)}")
    if 4 * len(t) < degree**2:  # then polynomials through equal steps do not swing (Runge)
        raise ValueError(f"t: expected {degree**2 // 4} times or more, got {len(t)}")
    duration, wanted = float(t[-1] - t[0]), moments[rows]
    lengths, arms = _lines(bare, [each.path for each in muscles], q)
    across = [
        (k, number)
        for number in range(len(muscles))
        for k, row in enumerate(rows)
        if np.abs(arms[number, row]).max() > ACROSS
    ]
    known = np.vstack([lengths, wanted, *(arms[number, rows[k]] for k, number in across)])
    if not np.isfinite(known).all():
        raise ValueError("muscle_excitations: expected finite numbers in q and moments")
    base = np.polynomial.chebyshev.chebvander(2 * (t - t[0]) / duration - 1, degree)
    curves = np.linalg.lstsq(base, known.T)[0].T
    of_lengths, of_moments, of_arms = np.split(curves, [len(muscles), len(muscles) + len(rows)])

    def at_time(curve: np.ndarray, clock: ca.SX) -> ca.SX:
        return clenshaw(curve, 2 * clock / duration - 1)

    def given(curve: np.ndarray) -> GivenPath:
        return GivenPath(joints=("clock",), function=lambda x: at_time(curve, x[0]))

    pairs = zip(muscles, of_lengths)
    clocked = [replace(each, path=given(curve), course=None) for each, curve in pairs]
    joint = prismatic("clock", axis=(1, 0, 0))
    tree = Tree(links=(Link(mass=1.0),), joints=(joint,), elements=tuple(clocked))

    def lacking(at: Instant) -> list[ca.SX]:
        state = State(tree=at.tree, q=at.q, qd=at.qd)
        pulls = [each.tension_force(state) for each in clocked]
        left = [at_time(curve, at.q[0]) for curve in of_moments]
        for (k, number), arm in zip(across, of_arms):
            left[k] += pulls[number] * at_time(arm, at.q[0])
        return left

    size = {k: max(1.0, float(np.abs(wanted[k]).max())) for k in range(len(rows))}
    helped = [(k, reserves[name]) for k, name in enumerate(joints) if name in reserves]
    exact = [k for k, name in enumerate(joints) if name not in reserves]
    tensions = [tree.coordinate(f"{each.name}.force") for each in clocked if each.compliant]
    still = [each.name for muscle in clocked for each in muscle.states if each.control is not None]
    objective = muscle_effort(tree)
    if helped:
        objective = objective + squares(
            "reserves", lambda at: ca.vertcat(*(lacking(at)[k] / one for k, one in helped))
        )
    if tensions:
        objective = objective + RATES * squares("tendon rates", lambda at: at.qd[tensions])
    constraints = [
        *at_start(tree, q={"clock": 0.0}, qd=dict.fromkeys(still, 0.0)),
        path("clock runs", lambda at: at.qd[0], lower=1.0, upper=1.0),
    ]
    if exact:
        shared = path(
            "moments",
            lambda at: ca.vertcat(*(lacking(at)[k] / size[k] for k in exact)),
            lower=0.0,
            upper=0.0,
        )
        constraints.append(shared)
    return Problem(
        tree=tree,
        motion=BSpline(points=20),
        duration=duration,
        objective=objective,
        constraints=tuple(constraints),
    )


def clenshaw(coefficients: np.ndarray, x: ca.SX) -> ca.SX:
    """Return a sum of Chebyshev polynomials at a place within -1 and 1 (Clenshaw 1955).

    Args:
        coefficients: upwards (degree + 1,).
        x: the place.
    """
    last, before = 0.0 * x, 0.0 * x
    for coefficient in coefficients[:0:-1]:
        last, before = 2 * x * last - before + float(coefficient), last
    return x * last - before + float(coefficients[0])


def _lines(bare: Tree, paths: Sequence, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths (m, N) of paths along a motion, and their slopes (m, n, N) by coordinates."""
    joints = ca.SX.sym("q", bare.dof)
    state = State(tree=bare, q=joints, qd=ca.SX.zeros(bare.dof))
    lengths = ca.vertcat(*(each.length(state) for each in paths))
    slopes = ca.densify(ca.jacobian(lengths, joints))
    function = ca.Function("lines", [joints], [lengths, slopes]).map(q.shape[1])
    found, along = map(np.array, function.call([ca.DM(q)]))
    return found, along.reshape(len(paths), q.shape[1], bare.dof).transpose(0, 2, 1)

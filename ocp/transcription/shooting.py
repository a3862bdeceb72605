"""Passive joints by integration: their motion follows from that of the active ones, by the hybrid
recursion (Sohl & Bobrow 2001, section 5).

The unknowns are the duration, the control points of the active joints and the state of the passive
ones at the start. Classical Runge-Kutta steps of the accelerations that `hybrid` gives (algorithms
3.4-3.6) run through the motion, and a spline, whose ends are met exactly, is laid through what they
find. The rest is the program of the whole motion, with these control points in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics import hybrid_dynamics
from ocp.dynamics.closed_loops import hybrid as closed_hybrid
from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.tree_dynamics import own_inverse
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.motion.basis import Basis
from ocp.motion.quadrature import sample
from ocp.problem.contact.complementarity import touch_labels
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.problem.load_evaluation import loads_in_state
from ocp.problem.statement import Problem
from ocp.solvers.minimize import Outcome
from ocp.solvers.nlp import NLP, Option
from ocp.transcription.variables.layout import Layout, free_duration

NOTHING = ca.SX(0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """The way between the unknowns z of a reduced program and those x of the whole motion: `kept`
    numbers of x, then states at the start, `start` x; `expand`(z) -> x; `bounded` numbers of x
    whose bounds are rows of the reduced program, after the `rows` of the whole one."""

    kept: np.ndarray
    start: ca.DM
    expand: Callable
    bounded: np.ndarray
    rows: int

    def bounds(self, whole: Mapping[str, np.ndarray]) -> dict[str, Option]:
        """Return the bounds {lower, upper, g_lower, g_upper} of the reduced program from those of
        the whole one."""
        wide = np.full(self.start.shape[0], np.inf)
        return {
            "lower": np.append(whole["lower"][self.kept], -wide),
            "upper": np.append(whole["upper"][self.kept], wide),
            "g_lower": np.append(whole["g_lower"], whole["lower"][self.bounded]),
            "g_upper": np.append(whole["g_upper"], whole["upper"][self.bounded]),
        }

    def shrink(self, x: np.ndarray) -> np.ndarray:
        """Return z of a motion."""
        return np.concatenate([x[self.kept], np.array(self.start @ x).ravel()])

    def spread(self, outcome: Outcome) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return x and the multipliers of its bounds and of its rows."""
        x = np.array(self.expand(outcome.x)).ravel()
        x_multipliers = np.zeros(len(x))
        x_multipliers[self.kept] = outcome.x_multipliers[: len(self.kept)]
        x_multipliers[self.bounded] = outcome.g_multipliers[self.rows :]
        return x, x_multipliers, outcome.g_multipliers[: self.rows]

    def gather(
        self, x_multipliers: np.ndarray, g_multipliers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the multipliers of the reduced program."""
        return (
            np.concatenate([x_multipliers[self.kept], np.zeros(self.start.shape[0])]),
            np.concatenate([g_multipliers, x_multipliers[self.bounded]]),
        )


def passive_of(problem: Problem) -> tuple[int, ...]:
    """Return the rows of q of a problem's joints that nothing drives and no ground bears all along;
    states of elements keep their laws on the spline, as tendons would ask for tiny steps."""
    tree = problem.tree
    return tuple(row for row in passive_rows(tree, problem.ground) if row not in tree.states)


def check_known_forces(problem: Problem) -> None:
    """Raise ValueError naming the stays or contacts that no integration of passive joints knows."""
    what = "method 'integrated': forces of"
    passive = passive_of(problem)
    if problem.tree.stays and passive:
        names = ", ".join(stay.name for stay in problem.tree.stays)
        raise ValueError(f"{what} stays {names} are unknowns; take another method")
    if touch_labels(problem.loads):
        names = ", ".join(touch_labels(problem.loads))
        raise ValueError(f"{what} contacts {names} are unknowns; take another method")
    if problem.ground is not None and passive:
        names = ", ".join(foot.name for foot in problem.ground.feet)
        raise ValueError(
            f"{what} contacts {names} are unknowns, which move passive joints; take another method"
        )


def reduce_program(
    layout: Layout, nlp: NLP, steps: int, formulation: Formulation, statement: Problem
) -> tuple[NLP, Reduction]:
    """Return the reduced NLP of a whole motion's, whose solver differentiates it, and the
    Reduction; `steps` per segment, mechanics as the `statement` has them, open numbers included."""
    problem = layout.problem
    n, points, free, rows = (
        problem.tree.dof,
        problem.motion.points,
        free_duration(problem),
        list(passive_of(problem)),
    )
    numbers = free + np.arange(points)[:, None] * n + np.arange(n)  # of x, (points, n)
    loose = numbers[:, rows]
    kept = np.setdiff1d(np.arange(layout.size), loose)
    bounded = loose.T.ravel()[(np.isfinite(nlp.lower) | np.isfinite(nlp.upper))[loose.T.ravel()]]
    begin = np.vstack([problem.motion.values(np.zeros(1), order) for order in (0, 1)])
    start = np.zeros((2 * len(rows), layout.size))
    for k in range(len(rows)):
        start[k, loose[:, k]], start[len(rows) + k, loose[:, k]] = begin
    z = ca.MX.sym("z", len(kept) + 2 * len(rows))
    x = _expand(layout, z, kept, loose, _step_functions(layout, statement, steps, formulation))
    expand = ca.Function("expand", [z], [x], ["z"], ["x"])
    reduction = Reduction(
        kept=kept,
        start=ca.sparsify(ca.DM(start)),
        expand=expand,
        bounded=bounded,
        rows=len(nlp.g_lower),
    )
    g = ca.vertcat(nlp.constraints(x), x[bounded.tolist()])
    whole: dict[str, Option] = {
        name: getattr(nlp, name) for name in ("lower", "upper", "g_lower", "g_upper")
    }
    return NLP(
        **reduction.bounds(whole),
        objective=ca.Function("f", [z], [nlp.objective(x)], ["x"], ["f"]),
        constraints=ca.Function("g", [z], [g], ["x"], ["g"]),
    ), reduction


def integrate_passive(
    tree: Tree,
    start: np.ndarray,
    driven: np.ndarray,
    step: float,
    loads: Sequence[Acting] = (),
    formulation: Formulation | str = "auto",
) -> np.ndarray:
    """Return (q, qd) of the p passive coordinates (2 p, N + 1) that follow from those of the
    others, from the state `start` (2 p,) on.

    `driven` (3 (n - p), 2 N + 1): q, qd and qdd of the others at ends and middles of N Runge-Kutta
    steps, each of `step` (s).
    """
    rows = list(structure(tree).passive)
    actuated = [row for row in range(tree.dof) if row not in rows]
    count = driven.shape[1] // 2
    given = np.vstack(
        [
            driven[:, :-1:2],
            driven[:, 1::2],
            driven[:, 2::2],
            step * np.arange(count),
            np.full(count, step),
            np.ones(count),
        ]
    )
    states = _step(tree, loads, rows, actuated, formulation).mapaccum(count)(start, given)
    return np.hstack([np.reshape(start, (-1, 1)), np.array(states)])


def _step_functions(
    layout: Layout, statement: Problem, steps: int, formulation: Formulation
) -> tuple[int, ca.Function, ca.Function]:
    """Return (steps per segment, the Function of one step, T of the parameters) of a statement."""
    names = ca.vertcat(ca.SX(0, 1), *(each.expression for each in layout.values))
    rows = list(passive_of(layout.problem))
    actuated = [row for row in range(layout.problem.tree.dof) if row not in rows]
    step = _step(statement.tree, statement.loads, rows, actuated, formulation, names)
    return steps, step, ca.Function("duration", [names], [ca.SX(statement.duration[0])])


def _expand(
    layout: Layout,
    z: ca.MX,
    kept: np.ndarray,
    loose: np.ndarray,
    integration: tuple[int, ca.Function, ca.Function],
) -> ca.MX:
    """Return x, its passive control points from integration."""
    steps, step, duration = integration
    problem, count = layout.problem, layout.problem.motion.segments * steps
    n, free = problem.tree.dof, free_duration(problem)
    rows = list(passive_of(problem))
    actuated = [row for row in range(n) if row not in rows]
    place = {number: k for k, number in enumerate(kept)}
    parameters = z[len(kept) - len(layout.values) : len(kept)]
    T = z[0] if free else duration(parameters)
    control = [
        ca.vertcat(*(z[place[free + k * n + row]] for k in range(problem.motion.points)))
        for row in actuated
    ]
    s = sample(problem.motion, 2 * steps)  # ends and middles of steps
    curves = [ca.DM(problem.motion.values(s, order)) for order in range(3)]
    driven = ca.vertcat(*((curve @ points).T for curve in curves for points in control))
    ends = list(range(0, 2 * count, 2))
    given = ca.vertcat(
        driven[:, ends],
        driven[:, [k + 1 for k in ends]],
        driven[:, [k + 2 for k in ends]],
        ca.DM(s[:-1:2]).T,
        ca.DM(np.diff(s[::2])).T,
        ca.repmat(ca.vertcat(T, parameters), 1, count),
    )
    first = z[len(kept) :]
    states = ca.horzcat(first, step.mapaccum(count)(first, given))
    laid = ca.DM(_fit_matrix(problem.motion, s[::2]))
    own = [
        laid @ ca.vertcat(states[k, :].T, states[len(rows) + k, 0], states[len(rows) + k, -1])
        for k in range(len(rows))
    ]
    order = {number: k for k, number in enumerate(np.concatenate([kept, loose.T.ravel()]))}
    together = ca.vertcat(z[: len(kept)], *own)
    return together[[order[number] for number in range(layout.size)]]


def _step(
    tree: Tree,
    loads: Sequence[Acting],
    rows: list[int],
    actuated: list[int],
    formulation: Formulation | str,
    names: Matrix = NOTHING,
) -> ca.Function:
    """Return the Function of one Runge-Kutta step of (q, q') of the passive joints, from (q, q',
    q'') of the active ones at its start, middle and end, s at its start, its length in s, T and the
    parameters `names`."""
    count, slope = len(actuated), _state_slope(tree, loads, rows, actuated, formulation, names)
    state, known = ca.SX.sym("state", 2 * len(rows)), ca.SX.sym("given", 9 * count + 3)
    s, width, T = known[-3], known[-2], ca.vertcat(known[-1], names)
    given = ca.vertcat(known, names)
    start, middle, end = ca.vertsplit(given[: 9 * count], 3 * count)
    instants = [(s + part * width) * T[0] for part in (0.0, 0.5, 1.0)]
    k1 = slope(state, start, instants[0], T)
    k2 = slope(state + width / 2 * k1, middle, instants[1], T)
    k3 = slope(state + width / 2 * k2, middle, instants[1], T)
    k4 = slope(state + width * k3, end, instants[2], T)
    return ca.Function(
        "step",
        [state, given],
        [ca.cse(state + width / 6 * (k1 + 2 * k2 + 2 * k3 + k4))],
        ["state", "given"],
        ["next"],
    )


def _state_slope(
    tree: Tree,
    loads: Sequence[Acting],
    rows: list[int],
    actuated: list[int],
    formulation: Formulation | str,
    names: Matrix,
) -> ca.Function:
    """Return the Function of (q, q') of the passive joints, (q, q', q'') of the active ones, t, and
    T with the parameters, that gives (q', q'') of the passive ones.

    A step asks for it four times, and its graph is built once.
    """
    n, count, size = tree.dof, len(actuated), len(rows)
    state, motion = ca.SX.sym("state", 2 * size), ca.SX.sym("motion", 3 * count)
    t, T = ca.SX.sym("t"), ca.SX.sym("T")
    q, rate, known = ca.SX(n, 1), ca.SX(n, 1), ca.SX(n, 1)
    q[actuated], rate[actuated], known[actuated] = ca.vertsplit(motion, count)
    q[rows], rate[rows] = ca.vertsplit(state, size)
    pushes = loads_in_state(tree, loads, t, q, rate / T)
    instant = (tree, q, rate / T, known / T**2)
    if structure(tree).closed:
        qdd = closed_hybrid(*instant, rows, pushes, dynamics=own_inverse(formulation, tree))
    else:
        active = tuple(row in actuated for row in range(n))
        qdd, _ = hybrid_dynamics(*instant, active, pushes, formulation)
    values = ca.vertcat(rate[rows], qdd[rows] * T**2)
    return ca.Function("slope", [state, motion, t, ca.vertcat(T, names)], [values])


def _fit_matrix(motion: Basis, s: np.ndarray) -> np.ndarray:
    """Return the matrix (points, N + 2) of the control points that come nearest to N values at s
    and meet both ends and the slopes there."""
    value, slope = motion.values(s), motion.values(np.array([0.0, 1.0]), 1)
    exact = np.vstack([value[[0, -1]], slope])
    system = np.block([[value.T @ value, exact.T], [exact, np.zeros((4, 4))]])
    right = np.zeros((len(system), len(s) + 2))
    right[: motion.points, : len(s)] = value.T
    right[motion.points, 0] = right[motion.points + 1, len(s) - 1] = right[
        motion.points + 2, -2
    ] = right[motion.points + 3, -1] = 1.0
    return np.linalg.solve(system, right)[: motion.points]

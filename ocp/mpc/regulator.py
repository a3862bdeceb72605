"""Feedback along a planned motion: the linear-quadratic regulator of its own mechanics.

The mechanics are linearised along the plan and the gains follow from Riccati's recursion, backwards
in time, which eliminates the KKT system of the linear-quadratic problem stage by stage (Bryson & Ho
1975, section 5.2; Anderson & Moore 1990, section 2.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.validation import check_type, numbers, positive
from ocp.mpc.standing_plant import hold_feet, plant_slope
from ocp.pickling import portable
from ocp.problem.contact.complementarity import Touch
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution

USUAL = 0.1  # of a largest planned torque, that weighs as one
CLOSE = 1e-9  # of a period, by which a motion may be longer than a whole number of them
TAYLOR = 12  # terms of the exponential of a matrix of norm 1/2: the next one is below rounding


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Feedback:
    """A plan with gains about it: tau = tau(t) + K(t) (x - x(t)), of the state x = (q, qd).

    Attributes:
        tree: what moves, feet that stand held by loops.
        loads: that act on it.
        ground: on which its feet stand, if any.
        t: ends of the periods (N + 1,) s.
        states: planned q and qd (2 n, N + 1), rad or m and rates.
        torques: planned torques (n, N + 1), N m or N, straight in between.
        gains: of each period (N, n, 2 n), N m/rad and so on.
        value: what a deviation of the start costs (2 n, 2 n); NaN where gains are others than
            those of the least such cost.
        transitions, responses: A (N, 2 n, 2 n) and B (N, 2 n, n) of each period: a deviation of the
            state and torques beside the planned ones become A dx + B u at its end.
        slopes: of the state by state and torques (N, 2 n, 3 n), in the middle of each period.
        output_gains: of what is measured (N, n, m), where that is not the state.
        continuous: whether the deviation of each instant is answered; by default that of the
            period's start is, by torques that are held to its end.
    """

    tree: Tree
    loads: tuple[Acting, ...]
    ground: Ground | None
    t: np.ndarray
    states: np.ndarray
    torques: np.ndarray
    gains: np.ndarray
    value: np.ndarray
    transitions: np.ndarray
    responses: np.ndarray
    slopes: np.ndarray
    output_gains: np.ndarray | None = None
    continuous: bool = False

    def __repr__(self) -> str:
        count, n = self.gains.shape[:2]
        return f"Feedback({n} coordinates, {count} periods of {self.t[1] - self.t[0]:.3g} s)"


def feedback(
    solution: Solution,
    *,
    period: float = 0.01,
    position: ArrayLike = 0.05,
    rate: ArrayLike = 0.5,
    torque: ArrayLike | None = None,
    end: float = 0.1,
) -> Feedback:
    """Return the Feedback that keeps a motion by the least of deviations and of torques.

    The least, over corrections u held for a period each, of

        integral (|dx / w_x|^2 + |u / w_u|^2) dt + |dx(T) / (end w_x)|^2,   dx' = A(t) dx + B(t) u

    Args:
        solution: a Solution without phases.
        period: from one measurement of the state to the next (s); a little less where the duration
            is no whole number of periods.
        position: deviations of coordinates that weigh as one (rad or m), a number or (n,).
        rate: likewise of their rates.
        torque: likewise of torques (N m or N); by default a tenth of the largest planned one at
            each joint, and of the largest of all where that joint has none.
        end: part of these deviations that weighs as much at the end as they do for a second.

    Raises:
        ValueError: for what has no feedback here, by name: motions of phases, contacts that switch,
            balls, stays, flexible links, implicit states of elements, point masses and sought
            contacts.
    """
    problem = _checked_problem(check_type("feedback: solution", solution, Solution))
    tree = hold_feet(problem, solution.q(0.0))
    count = ceil(solution.duration / positive("feedback: period", period) - CLOSE)
    t, n = np.linspace(0.0, solution.duration, max(count, 1) + 1), tree.dof
    torques = np.array(solution.tau(t))
    torques[list(structure(tree).passive)] = 0.0
    states = np.vstack([solution.q(t), solution.qd(t)])
    parts = zip(("position", "rate"), (position, rate))
    far = np.hstack([_spread(f"feedback: {name}", value, n) for name, value in parts])
    strong = _usual_torques(torques) if torque is None else _spread("feedback: torque", torque, n)
    loads = tuple(problem.loads)
    slopes = _state_slopes(tree, loads, solution, t)
    pairs = [_period_maps(each, t[1]) for each in slopes]
    driven = np.zeros(n)
    driven[list(structure(tree).drives)] = 1.0
    answered = [(a, b * driven) for a, b in pairs]
    gains, value = _riccati(
        answered, 1 / far**2, 1 / strong**2, positive("feedback: end", end), t[1]
    )
    return Feedback(
        tree=tree,
        loads=loads,
        ground=problem.ground,
        t=t,
        states=states,
        torques=torques,
        gains=gains,
        value=value,
        transitions=np.array([a for a, _ in pairs]),
        responses=np.array([b for _, b in pairs]),
        slopes=slopes,
    )


def answered_period(plan: Feedback, number: int, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the maps over a period of deviations of the state, answered by a gain (n, 2 n), and of
    torques that are held beside, (2 n, 2 n) and (2 n, n)."""
    a, b = plan.transitions[number], plan.responses[number]
    if not plan.continuous:
        return a + b @ gain, b
    slopes = plan.slopes[number].copy()
    slopes[:, : len(a)] += slopes[:, len(a) :] @ gain
    return _period_maps(slopes, plan.t[1])


def _checked_problem(solution: Solution) -> Problem:
    """Return the problem of a solution, in numbers; raise ValueError for what has no feedback."""
    problem = nominal(solution.problem)
    refuse_phases("feedback", problem)
    tree = problem.tree
    unknown = {
        "balls": tree.balls,
        "stays": tree.stays,
        "flexible links": tree.flexible,
        "states of elements that nothing drives": undriven_states(tree),
        "point masses and sought contacts": [
            load for load in problem.loads if isinstance(load, PointMass | Touch)
        ],
    }
    there = [name for name, those in unknown.items() if those]
    if there:
        raise ValueError(f"feedback: {', '.join(there)}: none is known of these")
    return problem


def undriven_states(tree: Tree) -> tuple[int, ...]:
    """Return the rows of states of elements whose laws are implicit."""
    return tuple(row for row in tree.states if row not in structure(tree).drives)


def _spread(what: str, value: ArrayLike, n: int) -> np.ndarray:
    """Return a number or (n,) of them as (n,); raise ValueError unless all are positive."""
    entries = numbers(what, np.broadcast_to(value, (n,)) if np.ndim(value) == 0 else value, (n,))
    return np.array([positive(what, each) for each in entries])


def _usual_torques(torques: np.ndarray) -> np.ndarray:
    """Return the torques (n,) that weigh as one by default, of planned ones (n, N)."""
    peaks = np.abs(torques).max(axis=1)
    return USUAL * np.where(peaks > 0, peaks, max(peaks.max(), 1.0))


def _period_maps(slopes: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, B) of dx(t + h) = A dx(t) + B u from slopes (2 n, 3 n) by state and torques."""
    count, width = slopes.shape
    whole = np.zeros((width, width))
    whole[:count] = slopes
    step = exponential(whole * period)
    return step[:count, :count], step[:count, count:]


def _state_slopes(
    tree: Tree, loads: tuple[Acting, ...], solution: Solution, t: np.ndarray
) -> np.ndarray:
    """Return the slopes (N, 2 n, 3 n) of the state in the middle of the periods."""
    n, middle = tree.dof, (t[1:] + t[:-1]) / 2
    slope, passive = plant_slope(tree, loads), list(structure(tree).passive)
    each = slope.forward(1).map(3 * n)
    state = np.vstack([solution.q(middle), solution.qd(middle)])
    torques = np.array(solution.tau(middle))
    torques[passive] = 0.0
    unit, slopes = np.eye(3 * n), []
    zero = [np.zeros((slope.size1_out(k), 3 * n)) for k in (0, 1)]
    for k, instant in enumerate(middle):
        there = [np.tile(part[:, [k]], 3 * n) for part in (state, torques)]
        base = [*there, np.full((1, 3 * n), instant)]
        seeds = [unit[: 2 * n], unit[2 * n :], np.zeros((1, 3 * n))]
        slopes.append(np.array(each(*base, *zero, *seeds)[0]))
    return np.array(slopes)


def exponential(matrix: np.ndarray) -> np.ndarray:
    """Return the exponential of a matrix, by Taylor's series of 2^-k of it, squared k times."""
    halvings = max(0, ceil(log2(2 * max(np.abs(matrix).sum(axis=1).max(), 0.5))))
    small = matrix / 2**halvings
    term = total = np.eye(len(matrix))
    for k in range(1, TAYLOR + 1):
        term = term @ small / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def _riccati(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    state: np.ndarray,
    torque: np.ndarray,
    end: float,
    period: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gains of all periods (N, n, 2 n), and the value (2 n, 2 n) at the start.

        S = R + B' P B,   K = -S^-1 B' P A,   P <- Q + A' P (A + B K)

    from P = diag(state) / end^2 on, with Q = h diag(state) and R = h diag(torque).
    """
    value, gains = np.diag(state / end**2), []
    for a, b in reversed(pairs):
        ahead = value @ b
        gain = -np.linalg.solve(period * np.diag(torque) + b.T @ ahead, ahead.T @ a)
        value = period * np.diag(state) + a.T @ value @ (a + b @ gain)
        value = (value + value.T) / 2
        gains.append(gain)
    return np.array(gains[::-1]), value

"""Replay of the planned torques by a forward simulation, with another formulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import cast

import casadi as ca
import numpy as np

from ocp.certificate.checks.simulation import (
    Integrator,
    accelerations,
    cvodes_integrator,
    march,
    massless_rows,
    with_state_rates,
)
from ocp.dynamics import FORMULATIONS, hybrid_dynamics
from ocp.dynamics.catalogue import is_comparable
from ocp.dynamics.closed_loops import passive_loop_forces
from ocp.dynamics.formulation_record import Formulation
from ocp.dynamics.formulations.lie_group import LIE_GROUP
from ocp.mechanics.kinematics.kinematics import motions, position, wrench_torques
from ocp.mechanics.kinematics.loop_closure import gap_slope
from ocp.mechanics.kinematics.unilateral_forces import stay_torques
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.motion.collocation_mesh import Mesh, power_series
from ocp.problem.contact.complementarity import Touch, rows_of, touch_size, touches
from ocp.problem.contact.ground import Ground, of_contacts, slots
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.contact.transmitted_wrenches import is_corrected, transmissions
from ocp.problem.instant import Forces, Instant
from ocp.problem.load_evaluation import loads_in_state
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.sampling import dense_instants
from ocp.solution.solution import Solution, stay_forces, touch_forces
from ocp.transcription.variables.interpolation import STEPS, wrench_interpolation

ROUNDED = 12  # digits of instants that are told apart
FORCES = (
    STEPS + 1
)  # coefficients of the forces of stays and contacts, which run as polynomials between nodes


def judging_formulation(planner: Formulation) -> Formulation | None:
    """Return the formulation that simulates the plans of another; None is what suits the tree.

    Built-in methods state the same mechanics and are judged by another one: articulated inertias,
    or the mass matrix of Newton and Euler for plans by that recursion. A formulation of one's own
    may have other mechanics, friction for instance, and is simulated by itself, unless it is marked
    as an approximation.
    """
    if not is_comparable(planner):
        return planner
    return FORMULATIONS["newton_euler"] if planner.name == LIE_GROUP.name else None


def replay(solution: Solution) -> np.ndarray:
    """Return the states (2 n, segments + 1) of a forward simulation, at the motion's breaks.

    Coordinates in rad or m, then their rates; NaN from where it diverged. It starts at the planned
    start and runs segment by segment under the planned torques, without feedback. The torques come
    from the plan's formulation, the motion from another one, so that no formulation vouches for
    itself; a formulation of one's own, whose mechanics may differ, is simulated by itself.
    """
    refuse_phases("replay", solution.problem)
    return march(
        _segment_integrator(solution), planned_states(solution)[:, 0], _segment_parameters(solution)
    )


def replay_instants(solution: Solution) -> np.ndarray:
    """Return the instants s between which a plan is replayed: the motion's breaks, and the nodes
    where forces of stays run between them.
    """
    breaks = solution.problem.motion.breaks
    straight = _force_count(solution) and not solution.problem.motion.collocated
    return np.unique(np.append(breaks, solution.nodes).round(ROUNDED)) if straight else breaks


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviations:
    """Distances of a plan from the motion that its torques make (rad or m); inf where a replay
    diverged, or was LOST.

    Attributes:
        drift: the largest, of a replay of the whole motion.
        goal_drift: that at its end.
        defect: the largest of one segment, simulated from its own planned start.
        gathered: defects of all segments added up with equal signs, without the amplification by an
            unstable motion.
    """

    drift: float
    goal_drift: float
    defect: float
    gathered: float

    @property
    def error(self) -> float:
        """The error of the plan: its drift, or the gathered defects where these are smaller.

        A drift is the gathered defects times the motion's own amplification. In an unstable motion
        that grows without bound and is no error of the plan; in a stable one it is less than one.
        """
        return float(np.min([self.drift, self.gathered]))


def deviations(solution: Solution) -> Deviations:
    """Return the Deviations of a replay of the plan, and of its segments by themselves.

    Segment k, simulated from its planned start, ends (e_k, v_k) off the planned coordinates and
    rates. A body on which nothing else depended would carry that on at constant rate:

        gathered = sum_k (|e_k| + |v_k| (T - t_k)),   t_k the end of segment k

    for every coordinate by itself; the largest counts.
    """
    plan, segment, coefficients = (
        planned_states(solution),
        _segment_integrator(solution),
        _segment_parameters(solution),
    )
    n = solution.problem.tree.dof
    whole = march(segment, plan[:, 0], coefficients, plan=plan)
    errors, shares = _segment_errors(solution, plan, segment, coefficients)
    tree = solution.problem.tree
    drift = np.abs(scale_quaternions(tree, whole) - scale_quaternions(tree, plan))[:n].max(axis=0)
    sizes = drift.max(), drift[-1], errors.max(), shares.sum(axis=1).max()
    drift, goal, defect, gathered = (float(size) if np.isfinite(size) else np.inf for size in sizes)
    return Deviations(drift=drift, goal_drift=goal, defect=defect, gathered=gathered)


def worst_deviations(every: Sequence[Deviations]) -> Deviations:
    """Return the largest Deviations of several motions, each by itself."""
    return Deviations(
        drift=max(each.drift for each in every),
        goal_drift=max(each.goal_drift for each in every),
        defect=max(each.defect for each in every),
        gathered=max(each.gathered for each in every),
    )


def segment_defects(solution: Solution) -> np.ndarray:
    """Return each segment's largest share in the gathered defects (segments,), rad or m; inf where
    its simulation diverges.
    """
    plan, segment, coefficients = (
        planned_states(solution),
        _segment_integrator(solution),
        _segment_parameters(solution),
    )
    shares = _segment_errors(solution, plan, segment, coefficients)[1].max(axis=0)
    motion, ends = solution.problem.motion, replay_instants(solution)
    segment_of = np.searchsorted(motion.breaks[1:-1], (ends[1:] + ends[:-1]) / 2)
    shares = np.where(np.isfinite(shares), shares, np.inf)
    return np.bincount(segment_of, weights=shares, minlength=motion.segments)


def _segment_errors(
    solution: Solution, plan: np.ndarray, segment: Integrator, coefficients: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return |e_k| of all segments (n, segments), and what they carry to the end of the motion."""
    n = solution.problem.tree.dof
    single = march(segment, plan[:, 0], coefficients, anew=plan)
    tree = solution.problem.tree
    errors = np.abs(scale_quaternions(tree, single) - scale_quaternions(tree, plan))[:, 1:]
    left = (1.0 - replay_instants(solution)[1:]) * solution.duration
    return errors[:n], errors[:n] + errors[n:] * left


def scale_quaternions(tree: Tree, states: np.ndarray) -> np.ndarray:
    """Return states (2 n, N) with quaternions of length two, and their rates likewise: they differ
    by the angle (rad) of a small turn, independent of their lengths.
    """
    states, n = np.array(states), tree.dof
    for rows in map(list, tree.balls):
        p, rate = states[rows], states[[n + row for row in rows]]
        length = np.linalg.norm(p, axis=0)
        unit = p / length
        states[rows] = 2 * unit
        along = (unit * rate).sum(axis=0)
        states[[n + row for row in rows]] = 2 * (rate - unit * along) / length
    return states


def quaternion_length_error(solution: Solution) -> float | None:
    """Return the largest distance of a quaternion's length from one on a dense grid; None without
    any."""
    rows = solution.problem.tree.balls
    if not rows:
        return None
    q = solution.q(dense_instants(solution) * solution.duration)
    return max(float(np.abs(np.linalg.norm(q[list(ball)], axis=0) - 1).max()) for ball in rows)


def planned_states(solution: Solution) -> np.ndarray:
    """Return the planned states (2 n, segments + 1), rad or m and rates, at the ends of the
    pieces; rates of elements' states, which follow from these, are zero."""
    ends = replay_instants(solution) * solution.duration
    rates = solution.qd(ends)
    rates[list(solution.problem.tree.states)] = 0.0
    return np.vstack([solution.q(ends), rates])


def _segment_parameters(solution: Solution) -> np.ndarray:
    """Return the parameters of each segment (segments, ..).

    Its start and its length (s), and the coefficients of its polynomials of time.

    They are those of the planned q, or of the torques where these are polynomials of their own;
    then those of the stays' forces.
    """
    motion, T, ends = solution.problem.motion, solution.duration, replay_instants(solution)
    starts, lengths = ends[:-1] * T, np.diff(ends) * T
    if motion.collocated:
        powers, apart = np.arange(motion.degree), _ground_is_variable(solution)
        torques = solution.trace(
            lambda at: at.tau if apart else at.tau + at.ground_torques, motion.nodes * T
        )
        torques = np.vstack([torques, solution.qdd(motion.nodes * T)[_massless_rows(solution)]])
        given = [_ground_wrenches(solution, motion.nodes * T)] if apart else []
        forces = np.vstack([stay_forces(solution), touch_forces(solution), *given])
        mesh, values = cast(Mesh, motion), np.vstack([torques, forces])
        plan = [power_series(mesh, values, k) / length**powers for k, length in enumerate(lengths)]
        drives = np.array([part[: len(torques)].T.ravel() for part in plan])
        held = np.array([part[len(torques) :].T.ravel() for part in plan])
        return np.column_stack([starts, lengths, drives, held])
    orders = range(motion.degree + 1)
    taylor = [solution.points @ motion.values(ends[:-1], k).T / factorial(k) / T**k for k in orders]
    return np.vstack([starts, lengths, *taylor, *_force_series(solution, starts, lengths)]).T


def _force_series(solution: Solution, starts: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Return the coefficients of the forces of stays and contacts, powers of time by powers (rows,
    pieces), on pieces of those starts and lengths (s); nothing without any."""
    if not _force_count(solution):
        return []
    shares = np.linspace(0.0, 1.0, FORCES)
    t = np.minimum(starts[:, None] + np.outer(lengths, shares), solution.duration)
    values = solution.trace(lambda at: ca.vertcat(at.stay_forces, at.contact_forces), t.ravel())
    if _ground_is_variable(solution):
        values = np.vstack([values, _ground_wrenches(solution, t.ravel())])
    values = values.reshape(-1, *t.shape)
    powers = values @ np.linalg.inv(np.vander(shares, increasing=True)).T
    return [powers[:, :, k] / lengths**k for k in range(FORCES)]


def _segment_integrator(solution: Solution) -> Integrator:
    """Return the integrator over one segment, with the parameters of `_segment_parameters`.

    Passive joints get no torque, and contacts push where they are. What moves no mass goes as
    planned: no law says how. Where the ground's wrenches are corrected to balance the motion, the
    root gets what this needs.
    """
    problem, tree = solution.problem, solution.problem.tree
    n, given = tree.dof, problem.motion.collocated
    clock, state = ca.SX.sym("clock"), ca.SX.sym("x", 2 * n)
    start, length = ca.SX.sym("start"), ca.SX.sym("length")
    t = clock * length
    count, led = problem.motion.degree + (not given), _massless_rows(solution)
    taylor = ca.SX.sym("taylor", n + given * len(led), count)
    q, qd, qdd = (_polynomial(taylor, t, order) for order in range(3))
    pushes = ca.SX.sym("pushes", _force_count(solution), count if given else FORCES)
    stays, whole = len(structure(tree).stay_labels), _force_count(solution)
    ends = [0, stays, stays + touch_size(problem.loads), whole]
    forces, touching, standing = ca.vertsplit(_polynomial(pushes, t, 0), ends)
    if given:
        torque, ahead = ca.SX(q[:n]), q[n:]
    else:
        needed = _instant(solution, start + t, (q, qd, qdd), touching).torques_without_ground
        given_there = _stay_torques(tree, q, forces) + _ground_torques(solution, q, standing)
        torque, ahead = _drive_torques(tree, q, needed - given_there), qdd[led]
    held = (
        structure(tree).root
        if problem.ground is not None and not _ground_is_variable(solution)
        else ()
    )
    for row in structure(tree).passive:
        if row not in held:
            torque[row] = 0
    torque = (
        torque
        + _stay_torques(tree, state[:n], forces)
        + _ground_torques(solution, state[:n], standing)
    )
    if led:
        torque[led] = ahead
    acceleration = _accelerations(solution, start + t, state, torque, touching)
    slope = with_state_rates(tree, state, torque, acceleration)
    parameters = ca.vertcat(start, length, ca.vec(taylor), ca.vec(pushes))
    return cvodes_integrator(clock, state, parameters, slope, 1.0, pace=length)


def _accelerations(
    solution: Solution, t: ca.SX, state: ca.SX, torque: ca.SX, touching: ca.SX
) -> ca.SX:
    """Return the accelerations (n,) of a state (2 n,) at the time t (s) under joint torques, of
    what moves no mass its accelerations, and the components of contacts' forces.

    Point masses pull by the accelerations that their pulls f let be: those are linear in f, as are
    the pulls in them.
    """
    problem, n = solution.problem, solution.problem.tree.dof
    masses = [load for load in problem.loads if isinstance(load, PointMass)]
    pulls = ca.SX.sym("pulls", 3 * len(masses))
    others = [load for load in problem.loads if not isinstance(load, PointMass | Touch)]
    loads = (
        *(touch.load(touching[rows_of(problem.loads, touch)]) for touch in touches(problem.loads)),
        *loads_in_state(problem.tree, others, t, state[:n], state[n:]),
        *(Load(point=mass.point, force=pulls[3 * k : 3 * k + 3]) for k, mass in enumerate(masses)),
    )
    tree, mechanics = problem.tree, judging_formulation(solution.formulation)
    led = _massless_rows(solution)
    if led:
        active, method = [row in led for row in range(n)], mechanics or "auto"
        moved = hybrid_dynamics(tree, state[:n], state[n:], torque, active, loads, method)
        qdd = moved[0]
    else:
        qdd = accelerations(tree, mechanics, state[:n], state[n:], torque, loads)
    if not masses:
        return qdd
    at = _instant(solution, t, (state[:n], state[n:], qdd), touching)
    asked: list[Matrix] = [mass.load_at(at).force for mass in masses]
    gap = ca.vcat(asked) - pulls
    at_rest, slope = ca.substitute(gap, pulls, ca.SX.zeros(pulls.shape)), ca.jacobian(gap, pulls)
    return ca.substitute(qdd, pulls, -ca.solve(slope, at_rest))


def _instant(
    solution: Solution, t: ca.SX, motion: tuple[ca.SX, ca.SX, ca.SX], touching: ca.SX
) -> Instant:
    """Return the Instant of a motion (q, qd, qdd) at the time t (s), contacts' forces given."""
    q, qd, qdd = motion
    return Instant(
        tree=solution.problem.tree,
        s=t / solution.duration,
        T=ca.SX(solution.duration),
        q=q,
        qd=qd,
        qdd=qdd,
        loads=tuple(solution.problem.loads),
        forces=Forces(inverse=solution.formulation.inverse, touches=lambda _: touching),
    )


def _ground_is_variable(solution: Solution) -> bool:
    """Tell whether the ground gives what its variables say, and is not corrected for balance."""
    problem = solution.problem
    return solution.stands and not is_corrected(problem.tree, cast(Ground, problem.ground))


def _ground_wrenches(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return wrenches of the ground's contacts (6 contacts, N) at times t (s), N m and N."""
    lines = of_contacts(solution.lifted, len(slots(cast(Ground, solution.problem.ground))))
    return lines @ wrench_interpolation(solution.problem, solution.nodes, t / solution.duration).T


def _ground_torques(solution: Solution, q: ca.SX, standing: ca.SX) -> Matrix:
    """Return the generalized forces (n,) of the ground's contacts at q, zero without any."""
    if not _ground_is_variable(solution):
        return 0
    tree, ground = solution.problem.tree, cast(Ground, solution.problem.ground)
    moves, total = motions(tree, q), ca.SX(tree.dof, 1)
    for each, part in zip(transmissions(tree, ground), ca.vertsplit(standing, 6)):
        place = None if each.point is None else position(tree, q, each.point)
        total += wrench_torques(tree, moves, each.wrench(ground, place, part))
    return total


def _massless_rows(solution: Solution) -> list[int]:
    """Return the rows of coordinates that move no mass, in mechanics of the house."""
    return list(massless_rows(solution.problem.tree)) if is_comparable(solution.formulation) else []


def _force_count(solution: Solution) -> int:
    """Return the number of forces of stays and of components of contact forces."""
    problem = solution.problem
    found = len(structure(problem.tree).stay_labels) + touch_size(problem.loads)
    return (
        found + 6 * len(slots(cast(Ground, problem.ground)))
        if _ground_is_variable(solution)
        else found
    )


def _stay_torques(tree: Tree, q: ca.SX, forces: ca.SX) -> Matrix:
    """Return the generalized forces (n,) of stays at q, zero without any."""
    return stay_torques(tree, motions(tree, q), forces) if tree.stays else 0


def _polynomial(taylor: ca.SX, t: ca.SX, order: int) -> ca.SX:
    """Return a derivative (n,) of the polynomial with coefficients (n, count) at t."""
    terms = (
        factorial(k) / factorial(k - order) * taylor[:, k] * t ** (k - order)
        for k in range(order, taylor.shape[1])
    )
    return sum(terms, ca.SX(0))


def _drive_torques(tree: Tree, q: ca.SX, needed: ca.SX) -> ca.SX:
    """Return the torques (n,) that move a tree as planned.

    Those its open loops would need, less what cut joints give. Where these forces are not
    determined, the least, for all that spare passive joints move it alike.
    """
    if not structure(tree).closed:
        return ca.SX(needed)
    moves, free, rows = motions(tree, q), list(structure(tree).looped), list(structure(tree).cuts)
    slope = gap_slope(tree, moves)
    if structure(tree).determined:
        return needed - slope.T @ passive_loop_forces(tree, moves, needed, tuple(free))
    if not free:
        return ca.SX(needed)
    pull = slope[rows, free]
    return needed - slope[rows, :].T @ (pull @ ca.solve(pull.T @ pull, needed[free]))

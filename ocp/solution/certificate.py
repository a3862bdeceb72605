"""The certificate of a motion, without the solver's word: violations on a dense grid, forward simulation, energy, first-order conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import factorial

import casadi as ca
import numpy as np

from ocp.dynamics import FORMULATIONS, lagrange
from ocp.dynamics.closed_loops import eliminated, linear_in_accelerations
from ocp.dynamics.closed_loops import forward as closed_forward
from ocp.dynamics.lie_group import LIE_GROUP, forward
from ocp.mechanics.flexible import damping_power
from ocp.mechanics.kinematics import kinetic_energy, load_power, poses, potential_energy
from ocp.mechanics.loads import acting
from ocp.mechanics.loops import gap_slope
from ocp.mechanics.structure import structure
from ocp.motion.mesh import Mesh, abscissae
from ocp.motion.spline import basis, quadrature, sample
from ocp.solvers.nlp import kkt_residual, violation
from ocp.transcription.collocation import laws, torque_coefficients
from ocp.transcription.kernels import column
from ocp.transcription.rows import gather_multipliers
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables import free_duration, grid, join

DENSER = 10  # the dense grid has so many steps where the nodes have one
TOLERANCE = 1e-10  # of the integrator, absolute and relative


class NotVerified(RuntimeError):
    """Raised by Verification.require; the message lists what exceeds the tolerance, with names, times and units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """The worst violation of one constraint: at its nodes, on the dense grid, relative to the bound there, and where that is."""

    name: str
    unit: str
    nodes: float
    dense: float
    relative: float
    label: str
    time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found: violations by constraint name; `drift` (rad or m), the largest distance from the plan of a forward simulation under
    the planned torques, `goal_drift` at its end, and `defect`, of one segment simulated from its own planned start, which no instability
    of the motion multiplies; `energy_error`, of the energy balance relative to the energy turned over; `kkt`, the residual of the
    first-order conditions (None for a motion without its problem or multipliers)."""

    violations: Mapping
    drift: float
    goal_drift: float
    defect: float
    energy_error: float
    kkt: float | None

    def require(self, tolerance):
        """Return self if nothing exceeds `tolerance`; raise NotVerified otherwise.

        The tolerance applies to the drift (rad or m), to the energy error, to the first-order residual, and to each dense violation
        relative to its bound (absolute for bounds below 1).
        """
        found = [
            f"{v.name} ({v.label}): violated by {v.dense:.4g} {v.unit} at t = {v.time:.4g} s"
            for v in self.violations.values()
            if not v.relative <= tolerance
        ]
        found += [
            f"{what}: {value:.4g} {unit}"
            for what, value, unit in (
                (
                    "simulation drifts from the plan by",
                    self.drift,
                    f"rad or m (a segment by itself by {self.defect:.4g})",
                ),
                ("energy balance is off by", self.energy_error, "(relative)"),
                ("first-order conditions are off by", 0.0 if self.kkt is None else self.kkt, ""),
            )
            if not value <= tolerance
        ]
        if found:
            raise NotVerified("\n".join([f"not verified to {tolerance:g}:", *found]))
        return self


def verify(solution):
    """Return the Verification of a Solution."""
    drift, goal, defect = _drift(solution)
    return Verification(
        violations=violations(solution),
        drift=drift,
        goal_drift=goal,
        defect=defect,
        energy_error=_energy_error(solution),
        kkt=_kkt(solution),
    )


def violations(solution):
    """Return {name: Violation} for every constraint of the solution's problem, and for passive joints' lack of torque."""
    problem, found = solution.problem, {}
    stages, nodes = isinstance(problem.motion, Mesh), grid(problem, solution.transcription.nodes)
    dense = (
        sample(problem.motion, DENSER * solution.transcription.nodes)
        if stages
        else grid(problem, DENSER * solution.transcription.nodes)
    )
    equal_nodes = abscissae(problem.motion, 0)
    lawful = {
        law.name: equal_nodes if s is None else np.unique(np.concatenate(s))
        for law, s in laws(problem, stages)
    }
    everywhere = np.unique(np.concatenate([dense, nodes, equal_nodes, *lawful.values()]))
    along = [constraint for constraint in problem.requirements if constraint.when != "joined"] + [
        law for law, _ in laws(problem, stages)
    ]
    sizes = []

    def all_rows(at):
        stacks = [
            column(f"constraint {constraint.name!r}", constraint.function(at))
            for constraint in along
        ]
        sizes.extend(stack.shape[0] for stack in stacks)
        return ca.vertcat(*stacks)

    values = (
        solution.trace(all_rows, everywhere * solution.duration)
        if along
        else np.empty((0, len(everywhere)))
    )
    table = dict(
        zip((constraint.name for constraint in along), np.split(values, np.cumsum(sizes)[:-1]))
    )
    for constraint in (*problem.requirements, *along[len(along) - len(lawful) :]):
        if constraint.when == "joined":
            coarse = fine = _worst(
                constraint, np.zeros(1), solution.trace_ends(constraint.function)[:, None], 0.0
            )
        else:
            equal = (
                nodes
                if constraint.when in ("start", "end", "ends")
                else lawful.get(constraint.name, equal_nodes)
            )
            coarse, fine = (
                _worst_along(
                    constraint, everywhere, table[constraint.name], *grids, solution.duration
                )
                for grids in ((nodes, equal), (dense, dense))
            )
        found[constraint.name] = Violation(
            name=constraint.name,
            nodes=coarse[0],
            dense=fine[0],
            relative=fine[1],
            unit=fine[2],
            label=fine[3],
            time=fine[4],
        )
    return found


def _worst_along(constraint, s, values, nodes, equal_nodes, duration):
    """Return the worst of the rows with unequal bounds at the nodes, and of those with equal ones at theirs."""
    found = []
    for grid_, equal in ((nodes, False), (equal_nodes, True)):
        at = np.isin(s, _within(constraint.when, grid_))
        found.append(_worst(constraint, s[at], values[:, at], duration, equal))
    return max(found, key=lambda worst: worst[0])


def _within(when, s):
    """Return those instants of s at which a constraint holds; the nearest to its middle if it holds at none."""
    if isinstance(when, str):
        return (
            s if when in ("path", "hull") else s[{"start": [0], "end": [-1], "ends": [0, -1]}[when]]
        )
    kept = s[when.holds(s)]
    return kept if len(kept) else s[[np.argmin(np.abs(s - (when.start + when.end) / 2))]]


def _worst(constraint, s, values, duration, equal=None):
    """Return (violation, relative violation, unit, label, time) of the worst row and instant."""
    worst = (0.0, 0.0, constraint.unit(0), constraint.label(0), 0.0)
    lower, upper = constraint.bounds(len(values))
    for row in range(len(values)) if equal is None else np.nonzero((lower == upper) == equal)[0]:
        amounts = violation(values[row], lower[row], upper[row])
        k = int(np.argmax(np.where(np.isnan(amounts), np.inf, amounts)))
        if not amounts[k] <= worst[0]:
            bound = upper[row] if values[row, k] > upper[row] else lower[row]
            worst = (
                float(amounts[k]),
                float(amounts[k] / max(1.0, abs(bound))),
                constraint.unit(row),
                constraint.label(row),
                float(s[k] * duration),
            )
    return worst


def simulate(solution):
    """Return the states (2 n, segments + 1), rad or m and their rates, at the motion's breaks, of a forward simulation under the planned
    torques; NaN from where it blew up. Segment by segment with CVODES, from the planned start and without any feedback.

    The plan's torques come from its own formulation, the simulated motion from another one (articulated inertias by the Lie-group recursion,
    for plans by that one the mass matrix of Newton and Euler), so that no formulation vouches for itself.
    """
    return _run(
        solution,
        _simulator(solution, solution.duration / solution.problem.motion.segments),
        afresh=False,
    )


def _run(solution, simulator, afresh):
    """Return the states (2 n, segments + 1) of a simulation, every segment from where the last one ended, or `afresh` from the plan."""
    problem, motion = solution.problem, solution.problem.motion
    n, step, breaks = (
        problem.tree.dof,
        solution.duration / motion.segments,
        motion.breaks * solution.duration,
    )
    planned, stages = np.vstack([solution.q(breaks), solution.qd(breaks)]), isinstance(motion, Mesh)
    states = np.full((2 * n, motion.segments + 1), np.nan)
    states[:, 0] = planned[:, 0]
    torques = solution.tau(motion.nodes * solution.duration) if stages else None
    for interval, start in enumerate(motion.breaks[:-1]):
        if stages:
            plan = (
                torque_coefficients(motion, torques, interval) / step ** np.arange(motion.degree)
            ).T
        else:
            plan = [
                solution.points @ basis(motion, start, k)[0] / factorial(k) / solution.duration**k
                for k in range(motion.degree + 1)
            ]
        try:
            result = simulator(
                x0=(planned if afresh else states)[:, interval],
                p=np.concatenate([[start * solution.duration], *plan]),
            )
        except RuntimeError:  # CVODES gave up: the motion blew up or the mass matrix is singular
            break
        states[:, interval + 1] = np.array(result["xf"][:, -1]).ravel()
    return states


def _drift(solution):
    """Return the largest drift of a forward simulation from the plan, the drift at the end, and the largest of a segment by itself."""
    motion = solution.problem.motion
    planned, simulator = (
        solution.q(motion.breaks * solution.duration),
        _simulator(solution, solution.duration / motion.segments),
    )
    drift, defect = (
        np.abs(_run(solution, simulator, afresh)[: len(planned)] - planned).max(axis=0)
        for afresh in (False, True)
    )
    return tuple(
        float(value) if np.isfinite(value) else np.inf
        for value in (drift.max(), drift[-1], defect.max())
    )


def _simulator(solution, step):
    """Return the CVODES integrator over one segment; parameters are its start time and the Taylor coefficients of the planned q, or of the
    torques where these are polynomials of their own. Passive joints get no torque."""
    problem, n, planner = (
        solution.problem,
        solution.problem.tree.dof,
        solution.transcription.dynamics,
    )
    t, state, start = ca.SX.sym("t"), ca.SX.sym("x", 2 * n), ca.SX.sym("start")
    given = isinstance(problem.motion, Mesh)
    count = problem.motion.degree + (not given)
    taylor, loads = (
        ca.SX.sym("taylor", n, count),
        acting(problem.loads, start + t),
    )
    plan = [
        sum(
            factorial(k) / factorial(k - order) * taylor[:, k] * t ** (k - order)
            for k in range(order, count)
        )
        for order in range(3)
    ]
    torque = (
        ca.SX(plan[0])
        if given
        else _drive(problem.tree, plan[0], planner.inverse(problem.tree, *plan, loads))
    )
    for row in structure(problem.tree).passive:
        torque[row] = 0
    acceleration = _simulated(problem.tree, planner, state[:n], state[n:], torque, loads)
    ode = {
        "x": state,
        "t": t,
        "p": ca.vertcat(start, ca.vec(taylor)),
        "ode": ca.cse(ca.vertcat(state[n:], acceleration)),
    }
    return ca.integrator(
        "simulator",
        "cvodes",
        ode,
        0.0,
        step,
        {
            "abstol": TOLERANCE,
            "reltol": TOLERANCE,
            "max_num_steps": 100000,
            "show_eval_warnings": False,
        },
    )


def _drive(tree, q, needed):
    """Return the torques (n,) that move a tree as planned: those its open loops would need, less what cut joints give; where these forces are
    not determined, the least, for all that spare passive joints move it alike."""
    if not tree.loops:
        return ca.SX(needed)
    frames, free, rows = poses(tree, q), list(structure(tree).passive), list(structure(tree).cuts)
    slope = gap_slope(tree, frames)
    if structure(tree).determined:
        return needed - slope.T @ eliminated(tree, frames, needed, tuple(free))
    pull = slope[rows, free]
    return (
        needed - slope[rows, :].T @ (pull @ ca.solve(pull.T @ pull, needed[free]))
        if free
        else ca.SX(needed)
    )


def _simulated(tree, planner, q, qd, torque, loads):
    """Return the accelerations (n,) by another method than the planner's."""
    inverse = FORMULATIONS["newton_euler"].inverse if planner.name == LIE_GROUP.name else None
    if tree.loops:
        return closed_forward(tree, q, qd, torque, loads, dynamics=inverse)[0]
    if tree.flexible:
        return lagrange.forward(tree, q, qd, torque, loads)
    if inverse is None:
        return forward(tree, q, qd, torque, loads)
    mass, pull = linear_in_accelerations(inverse, tree, q, qd, loads)
    return ca.solve(mass, torque - pull)


def _energy_error(solution):
    """Return the largest gap between the energy gained and the work of joints, ground, loads and damping, relative to the energy turned over."""
    motion = solution.problem.motion
    s, weights = quadrature(motion, "gauss", 2 * motion.degree + 4)

    def energy(at):
        return kinetic_energy(at.tree, at.q, at.qd) + potential_energy(at.tree, at.q)

    def power(at):
        outer = load_power(at.tree, at.q, at.qd, acting(at.loads, at.t))
        return ca.dot(at.unsupported, at.qd) + outer - damping_power(at.tree, at.qd)

    levels = solution.trace(energy, motion.breaks * solution.duration)[0]
    powers = solution.trace(power, s * solution.duration)[0] * weights * solution.duration
    work = np.concatenate([[0.0], np.cumsum(powers.reshape(motion.segments, -1).sum(axis=1))])
    turned = max(np.abs(powers).sum(), np.ptp(levels), 1e-12)
    return float(np.max(np.abs(levels - levels[0] - work)) / turned)


def _kkt(solution):
    """Return the first-order residual of the solution's NLP, rebuilt from the statement, with gradients by the front end's own AD."""
    if not solution.multipliers or not solution.problem.objective.terms:
        return None
    transcribed = transcribe(
        solution.problem, replace(solution.transcription, derivatives="ad", compiled=False)
    )
    nlp, reduction = transcribed.nlp, transcribed.reduction
    x, rows = (
        join(transcribed.layout, solution.points, solution.duration, solution.lifted),
        len(nlp.g_lower),
    )
    multipliers = gather_multipliers(
        transcribed.rows,
        solution.multipliers,
        len(x),
        rows if reduction is None else reduction.rows,
        free=free_duration(solution.problem),
    )
    if reduction is not None:
        x, multipliers = reduction.shrink(x), reduction.gather(*multipliers)
    return kkt_residual(nlp, x, *multipliers)

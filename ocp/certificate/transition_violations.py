"""Violations at the transitions of a motion of phases, independent of the program's rows.

Momentum is that of the mass matrix,

    M(q) (v+ - v-) = sum of J' L,   M = d2 E / dv2 of the kinetic energy E(q, v)

so that no formulation of inverse dynamics vouches for itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.certificate.row_violations import Violation, dense_violation
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint
from ocp.problem.constraints.activations import (
    ACTIVATION,
    drive_states,
    state_units,
    states_of_drives,
)
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.instant import Instant
from ocp.problem.phases.phases import Strike, Transition
from ocp.problem.reserved_names import SEPARATOR
from ocp.solution.solution import Solution, kernel_inputs, lifted_kind
from ocp.transcription.kernels.kernels import as_column
from ocp.transcription.kernels.motion_traces import TracedInstant, trace_across
from ocp.transcription.phases.impacts import energy_lost, mass_of

HARDLY = 1e-6  # of the momentum: a smaller jump is not what a balance is relative to
LEAST = 1e-12  # J, kg m/s: less than that is nothing
Evaluated = tuple[Constraint, np.ndarray, float]  # what is asked, its rows, and when (s)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SolvedTransition:
    """A transition of a finished motion.

    Attributes:
        transition: as stated.
        before, after: Solutions of the phases on both sides.
        time: in the whole motion (s).
        impulses: {point: (3,) N s} of the points that strike.
    """

    transition: Transition
    before: Solution
    after: Solution
    time: float
    impulses: Mapping[str, np.ndarray]

    @property
    def q(self) -> np.ndarray:
        """The coordinates before (n,)."""
        return self.before.q(self.before.duration)

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """The rates (n,) before and after, both in the coordinates before."""
        return self.before.qd(self.before.duration), self.image(self.after.qd(0.0))

    def image(self, values: np.ndarray) -> np.ndarray:
        """Return values (n,) of the phase after in the coordinates of that before."""
        symmetry = self.transition.symmetry
        if symmetry is None:
            return values
        return np.array(symmetry.sign) * values[list(symmetry.index)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """An impact as it is: the `transition`, its `time` (s), the `impulses` {point: (3,) N s}.

    `balance`: what M (v+ - v-) and the impulses differ by, relative to the larger of both, or to a
    millionth of the momentum where hardly anything jumps. `lost` (J) is the kinetic energy that
    went, `formula` (J) what the impulses say of it.
    """

    transition: str
    time: float
    impulses: Mapping[str, tuple[float, ...]]
    balance: float
    lost: float
    formula: float
    energy: float

    @property
    def error(self) -> float:
        """Distance of both energies, relative to the kinetic energy before and after."""
        return abs(self.lost - self.formula) / max(self.energy, LEAST)


def solved_transitions(solution: Solution) -> Iterator[SolvedTransition]:
    """Yield the transitions of a finished motion of phases, in their order."""
    phases, ends, total = solution.parts, {}, 0.0
    for name, phase in phases.items():
        ends[name] = total = total + phase.duration
    for transition in solution.problem.transitions:
        yield SolvedTransition(
            transition=transition,
            before=phases[transition.before],
            after=phases[transition.after],
            time=ends[transition.before],
            impulses=solution.impulses.get(transition.name, {}),
        )


def impacts(solution: Solution) -> tuple[Impact, ...]:
    """Return the Impacts of a finished motion of phases."""
    struck = (meeting for meeting in solved_transitions(solution) if meeting.transition.strikes)
    return tuple(_impact(meeting) for meeting in struck)


def link_violations(solution: Solution) -> dict[str, Violation]:
    """Return {name: Violation} of what joins the phases of a finished motion, and of what is asked
    of both its ends and of durations."""
    return {
        constraint.name: dense_violation(constraint, np.ones(1), values[:, None], time)
        for constraint, values, time in _evaluate_links(solution)
    }


def _evaluate_links(solution: Solution) -> Iterator[Evaluated]:
    """Yield the constraints between phases and on all of them, with their values."""
    for meeting in solved_transitions(solution):
        yield from _continuity(meeting)
        for constraint in meeting.transition.constraints:
            function, places = constraint.function, [(meeting.before, 1.0), (meeting.after, 0.0)]
            values = _joint_values(places, function)
            name = f"{meeting.transition.name}{SEPARATOR}{constraint.name}"
            yield replace(constraint, name=name, when="joined"), values, meeting.time
        for strike in meeting.transition.strikes:
            yield from _strike_rows(meeting, strike)
        if meeting.transition.strikes:
            yield _momentum(meeting)
    first, *_, last = (*solution.parts.values(),) * 2
    whole = () if solution.single_phase else solution.problem.constraints  # else of its only phase
    for constraint in whole:
        if constraint.when == "joined":
            values = _joint_values([(first, 0.0), (last, 1.0)], constraint.function)
            yield constraint, values, solution.duration
        elif constraint.when == "durations":
            durations = {name: ca.SX(T) for name, T in solution.durations.items()}
            column = as_column(constraint.name, constraint.function(durations))
            yield constraint, np.array(ca.evalf(column)).ravel(), solution.duration


def _evaluated_row(
    meeting: SolvedTransition,
    name: str,
    values: np.ndarray,
    lower: float | tuple[float, ...],
    upper: float | tuple[float, ...],
    units: str | tuple[str, ...],
    labels: tuple[str, ...] = (),
) -> Evaluated:
    """Return a constraint of a transition with the `values` of its rows (m,)."""
    constraint = Constraint(
        name=f"{meeting.transition.name}{SEPARATOR}{name}",
        function=lambda *ends: ca.DM(values),
        lower=lower,
        upper=upper,
        when="joined",
        labels=labels,
        units=units,
    )
    return constraint, values, meeting.time


def _continuity(meeting: SolvedTransition) -> Iterator[Evaluated]:
    """Yield differences of the quantities that must be equal on both sides."""
    transition, moving = meeting.transition, meeting.before.problem.tree.moving
    for quantity in transition.quantities:
        end, start = (
            getattr(phase, quantity)(t)
            for phase, t in ((meeting.before, meeting.before.duration), (meeting.after, 0.0))
        )
        gained = np.zeros(len(moving))
        if transition.symmetry is not None and quantity == "q":
            gained = np.array(transition.symmetry.shift)
        units = tuple(unit_of(joint, quantity) for joint in moving)
        labels = tuple(joint.name for joint in moving)
        bound, apart = tuple(gained), end - meeting.image(start)
        yield _evaluated_row(meeting, quantity, apart, bound, bound, units, labels)
    rows = list(states_of_drives(transition, meeting.before.problem, meeting.after.problem))
    if rows:
        end = meeting.before.trace(drive_states, meeting.before.duration)[rows]
        labels = tuple(moving[row].name for row in rows)
        units = state_units(meeting.before.problem.tree, rows)
        apart = end - meeting.image(meeting.after.trace(drive_states, 0.0))[rows]
        yield _evaluated_row(meeting, ACTIVATION, apart, 0.0, 0.0, units, labels)


def _strike_rows(meeting: SolvedTransition, strike: Strike) -> Iterator[Evaluated]:
    """Yield the laws of a point that strikes: how it leaves, and the room of its impulse."""
    tree, normal = meeting.before.problem.tree, np.array(strike.normal, dtype=float)
    jacobian = _jacobian(meeting, strike.point)
    before, left = (jacobian @ rates for rates in meeting.rates)
    rows = [float(normal @ left + float(strike.restitution) * (normal @ before))]
    if strike.sticks:
        rows += (left - normal * (normal @ left)).tolist()
    labels = ("normal", "x across", "y across", "z across")[: len(rows)]
    yield _evaluated_row(
        meeting, f"leaving.{strike.point}", np.array(rows), 0.0, 0.0, "m/s", labels
    )
    impulse, mass = meeting.impulses[strike.point], mass_of(tree)
    push = float(normal @ impulse)
    if strike.slips:
        slip, pull = (each - normal * (normal @ each) for each in (left, impulse))
        law = pull * np.linalg.norm(slip) + float(strike.friction or 0.0) * push * slip
        unit, labels = f"({mass:.4g} J)", ("x across", "y across", "z across")
        yield _evaluated_row(
            meeting, f"slipping.{strike.point}", law / mass, 0.0, 0.0, unit, labels
        )
    room = [push]
    if strike.friction is not None:
        pull = float(np.linalg.norm(impulse - push * normal))
        room.append(float(strike.friction or 0.0) * push - pull)
    labels, unit = ("push", "friction")[: len(room)], f"({mass:.4g} N s)"
    yield _evaluated_row(
        meeting, f"impulse.{strike.point}", np.array(room) / mass, 0.0, np.inf, unit, labels
    )


def _momentum(meeting: SolvedTransition) -> Evaluated:
    """Return the difference of M (v+ - v-) and the impulses."""
    tree = meeting.before.problem.tree
    gained, given = _balance(meeting)
    mass, labels = mass_of(tree), tuple(joint.name for joint in tree.moving)
    unit = f"({mass:.4g} N s)"
    return _evaluated_row(meeting, "momentum", (gained - given) / mass, 0.0, 0.0, unit, labels)


def _balance(meeting: SolvedTransition) -> tuple[np.ndarray, np.ndarray]:
    """Return M (v+ - v-) and the sum of J' L, (n,) each, N s or N m s."""
    before, left = meeting.rates
    gained, given = _mass_matrix(meeting) @ (left - before), np.zeros(len(before))
    for point, impulse in meeting.impulses.items():
        given += _jacobian(meeting, point).T @ impulse
    return gained, given


def _mass_matrix(meeting: SolvedTransition) -> np.ndarray:
    """Return M (n, n) as the curvature of the kinetic energy over the rates, with point masses."""
    tree, rates = meeting.before.problem.tree, ca.SX.sym("qd", len(meeting.q))
    energy = kinematics.kinetic_energy(tree, ca.SX(meeting.q), rates)
    mass = np.array(ca.DM(ca.evalf(ca.hessian(energy, rates)[0])))
    for load in meeting.before.problem.loads:
        if isinstance(load, PointMass):
            jacobian = _jacobian(meeting, load.point)
            mass = mass + float(load.mass) * jacobian.T @ jacobian
    return mass


def _jacobian(meeting: SolvedTransition, point: str) -> np.ndarray:
    """Return the Jacobian of a point's velocity by the rates, (3, n)."""
    slopes = kinematics.jacobian(meeting.before.problem.tree, ca.DM(meeting.q), point)
    return np.array(ca.DM(slopes))[3:]


def _impact(meeting: SolvedTransition) -> Impact:
    gained, given = _balance(meeting)
    mass, (before, left) = _mass_matrix(meeting), meeting.rates
    kinetic = [float(rates @ mass @ rates) / 2 for rates in (before, left)]
    carried = np.abs(mass) @ (np.abs(before) + np.abs(left))
    size = max(np.abs(gained).max(), np.abs(given).max(), HARDLY * carried.max(), LEAST)
    return Impact(
        transition=meeting.transition.name,
        time=meeting.time,
        impulses={point: tuple(push.tolist()) for point, push in meeting.impulses.items()},
        balance=float(np.abs(gained - given).max() / size),
        lost=kinetic[0] - kinetic[1],
        formula=energy_lost(
            meeting.before.problem.tree, meeting.q, before, left, dict(meeting.impulses)
        ),
        energy=sum(kinetic),
    )


def _joint_values(
    ends: list[tuple[Solution, float]], function: Callable[[Instant, Instant], Matrix]
) -> np.ndarray:
    """Return function(Instant, Instant) (m,) at instants s of two phases."""
    places = [
        TracedInstant(
            problem=each.problem, formulation=each.formulation, s=s, wrenches=lifted_kind(each)
        )
        for each, s in ends
    ]
    traced, rated = trace_across(places, function)
    return traced(*(kernel_inputs(each, np.array([s]), rated=rated)[:, 0] for each, s in ends))

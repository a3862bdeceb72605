"""The certificate of a motion, without the solver's word.

Violations on a dense grid, forward simulation, energy, first-order conditions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ocp.certificate.beam_stretch import Slope, steepest
from ocp.certificate.energy import energy_error
from ocp.certificate.flight_momentum import Flight, flights
from ocp.certificate.formulation_error import Approximated, approximated, exactly
from ocp.certificate.optimality import first_order, program_again
from ocp.certificate.phase_consistency import misfit_of_phases, refusals_of_phases, stated_parts
from ocp.certificate.replay import Deviations, deviations, lengths, worst_deviations
from ocp.certificate.self_consistency import bare, misfit, refusals
from ocp.certificate.transition_violations import Impact, impacts
from ocp.certificate.violations import Violation, violations, with_links
from ocp.dynamics.catalogue import is_comparable
from ocp.mechanics.values.validation import instance
from ocp.notebooks import table
from ocp.pickling import portable
from ocp.progress import say
from ocp.refinement.resolution_check import finer
from ocp.solution.margins import Reserve, reserve_lines, reserves
from ocp.solution.objective_values import Cost, cost, cost_of_all
from ocp.solution.report import Line, aligned, certificate_lines, certified, violation_lines
from ocp.solution.solution import Solution
from ocp.solvers.iteration_log import attentive
from ocp.solving.arguments import check_solution

Error = tuple[str, float | None, str]  # what is off by how much, and its unit
FIRST_ORDER = "first-order conditions are off by"
EXACTLY = 1e-12  # no certificate is told to be closer


class NotVerified(RuntimeError):
    """Raised by Verification.require, and by verify of what is no motion of its problem.

    The message lists what exceeds the tolerance, with names, times and units.
    """


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """What a certificate says: violations, how well the motion obeys its mechanics, optimality.

    `deviations` (rad or m) say how far a forward simulation under the planned torques leaves the
    plan: as a whole, at its end, and segment by segment. `energy_error`, of the energy balance
    under the reported torques, is relative to the energy turned over; None for a formulation of
    one's own, of whose energies nothing is known. `kkt` is the residual of the first-order
    conditions, `objective` the integral that the objective names, on a fine grid and with the
    torques that the motion needs, and `objective_error` how far the program's own sum is from it,
    relative; all three are None where the statement is not whole. `refusals` are lines on what no
    tolerance excuses: a statement that is not whole, a solve that was not done, and whatever the
    solution reports that is not so. `mechanics` that were simulated: "built-in", by another
    formulation than the plan's, or the name of a formulation of one's own, by that one itself.
    `approximation`: how far a formulation by tables, or one that leaves something out, is from the
    exact mechanics, which judge its motion; None for others. `slope`: how steep links with shapes
    of first order become, a warning that judges nothing; None without such links.
    Of a motion of `phases` {name: Verification} each is judged as a motion of its own, simulated
    from its own start; the whole has their violations and what joins them, the largest of their
    deviations and energy errors, and first-order conditions and objective of all, which those of a
    phase alone do not have. `impacts` and `flights`: what struck, and where nothing bore.
    `lengths`: how far those of quaternions are from one, of which no pose depends and which judge
    nothing; None without balls. `reserves` {joint and side: Reserve}: the least that is left of
    what drives can over angle and speed; nothing where that is not said.
    """

    violations: Mapping[str, Violation]
    deviations: Deviations
    energy_error: float | None
    kkt: float | None
    objective: float | None
    objective_error: float | None
    refusals: tuple[str, ...] = ()
    mechanics: str = "built-in"
    slope: Slope | None = None
    approximation: Approximated | None = None
    phases: Mapping[str, "Verification"] = field(default_factory=dict)
    impacts: tuple[Impact, ...] = ()
    flights: tuple[Flight, ...] = ()
    lengths: float | None = None
    reserves: Mapping[str, Reserve] = field(default_factory=dict)

    @property
    def drift(self) -> float:
        """The largest distance of the simulated motion from the plan (rad or m)."""
        return self.deviations.drift

    @property
    def goal_drift(self) -> float:
        """Their distance at the end (rad or m)."""
        return self.deviations.goal_drift

    @property
    def defect(self) -> float:
        """The largest distance at the end of a segment simulated from its own start (rad or m)."""
        return self.deviations.defect

    def require(self, tolerance: float) -> "Verification":
        """Return self if nothing exceeds `tolerance` or is refused; raise NotVerified otherwise.

        The tolerance applies to every row of every constraint at every instant, relative to its
        bound (absolute for bounds below 1); to the deviation of the simulation that `Deviations`
        judge by (rad or m); to the energy error, to the first-order residual, and to the error of
        the objective. What is not a number exceeds every tolerance. Raises ValueError for a
        tolerance that is no number.
        """
        instance("tolerance", tolerance, int, float, np.integer, np.floating)
        faults = [*self.refusals, *(line for _, line in self._beyond(tolerance))]
        if faults:
            lines = [f"not verified to {tolerance:g}:", *faults, *self._next(tolerance)]
            raise NotVerified("\n".join(lines))
        return self

    @property
    def tightest(self) -> float:
        """The least tolerance that `require` takes; infinite where something is refused."""
        if self.refusals:
            return np.inf
        sizes = [value for value, _ in self._judged()]
        return max((np.inf if np.isnan(value) else value for value in sizes), default=0.0)

    def verdict(self, tolerance: float | None = None) -> str:
        """Return in a line whether it is certified: to the tolerance, or to the tightest one."""
        if tolerance is None:
            tolerance = _rounded_up(self.tightest)
        faults = [*self.refusals, *(line for _, line in self._beyond(tolerance))]
        to = f" to {tolerance:g}" if np.isfinite(tolerance) else ""
        if not faults:
            return f"certified{to}"
        others = f", and {len(faults) - 1} more" if faults[1:] else ""
        return f"not certified{to}: {faults[0]}{others}"

    def _beyond(self, tolerance: float) -> Iterator[tuple[float, str]]:
        """Yield what exceeds the tolerance, with a line."""
        return (judged for judged in self._judged() if not judged[0] <= tolerance)

    def _next(self, tolerance: float) -> Iterator[str]:
        """Yield what to do about what exceeds the tolerance."""
        lines = [line for _, line in self._beyond(tolerance)]
        if any(not line.startswith(FIRST_ORDER) for line in lines):
            yield finer(tolerance)
        elif lines:
            yield "next: a tighter tolerance of the solver, on the command line --tol 1e-8"

    def _judged(self) -> Iterator[tuple[float, str]]:
        """Yield all that a tolerance is compared with, and what it says where it is exceeded."""
        for worst in self.violations.values():
            yield (
                worst.relative,
                f"{worst.name} ({worst.label}): violated by {worst.dense:.4g} {worst.unit} "
                f"at t = {worst.time:.4g} s",
            )
        parts = [*self._moving(), *(pair for name in self.phases for pair in self._of(name))]
        errors = (
            *parts,
            (FIRST_ORDER, self.kkt, ""),
            ("objective is off its integral by", self.objective_error, "(relative)"),
            *(error for each in self.impacts for error in _struck(each)),
        )
        for what, value, unit in errors:
            if value is not None:
                yield value, f"{what}: {value:.4g} {unit}".rstrip()
        known = self.approximation
        if known is not None:
            yield known.relative, f"dynamics {known.dynamics!r} is an approximation: {known}"

    def _moving(self) -> Iterator[Error]:
        """Yield the errors of a motion's mechanics; those of phases are each phase's."""
        if not self.phases:
            yield "simulation drifts from the plan by", self.deviations.judged, self._drifting()
            yield "energy balance is off by", self.energy_error, "(relative)"

    def _of(self, name: str) -> Iterator[Error]:
        """Yield the errors of a phase's mechanics."""
        for what, value, unit in self.phases[name]._moving():
            yield f"phase {name!r}: {what}", value, unit

    def _drifting(self) -> str:
        apart = self.deviations
        return (
            f"rad or m (in all by {apart.drift:.4g}, segments gather {apart.gathered:.4g}, "
            f"one by itself {apart.defect:.4g})"
        )

    def __repr__(self) -> str:
        worst = max(self.violations.values(), key=lambda one: one.relative, default=None)
        where = "no constraints" if worst is None else f"{worst.name} by {worst.relative:.2e}"
        return (
            f"Verification(worst={where!r}, drift={self.drift:.2e}, "
            f"energy_error={_short(self.energy_error)}, kkt={_short(self.kkt)})"
        )

    def __str__(self) -> str:
        return aligned(self._lines())

    def _repr_html_(self) -> str:
        return table(self._lines())

    def _lines(self) -> list[Line]:
        numbers = certified(self)
        return [
            ("certificate", self.verdict()),
            ("worst violation", "at nodes / on the dense grid"),
            *violation_lines(numbers["violations"]),
            *certificate_lines(numbers["verification"]),
            *reserve_lines(self.reserves),
        ]


def _rounded_up(tolerance: float) -> float:
    """Return a tolerance in two digits, no less than it is."""
    if not np.isfinite(tolerance):
        return tolerance
    size = 10.0 ** (np.floor(np.log10(max(tolerance, EXACTLY))) - 1)
    return float(f"{size * (np.floor(tolerance / size) + 1):.2g}")


def _short(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2e}"


def _struck(each: Impact) -> Iterator[Error]:
    """Yield the errors of an impact."""
    yield f"{each.transition}: momentum is off its balance by", each.balance, "(relative)"
    yield f"{each.transition}: energy lost is off the impulses' by", each.error, "(relative)"


@attentive()
def verify(solution: Solution) -> Verification:
    """Return the Verification of a Solution.

    `.require(tolerance)` raises NotVerified for one that does not pass. Raises NotVerified at once
    for one whose numbers are not those of any motion of its problem.
    """
    check_solution("verify", solution)
    say("certifies: simulates forward, looks between the nodes, rebuilds the program")
    if solution.problem.phases or solution.phases:
        return _of_phases(solution)
    transcribed = _again(solution)
    _check_fit(misfit(solution, transcribed))
    costs = None if solution.missing else cost(solution, transcribed)
    judged = costs is not None and not bare(solution, transcribed)
    return replace(
        _moved(solution, costs),
        kkt=first_order(solution, transcribed) if judged else None,
        refusals=refusals(solution, transcribed, costs),
        approximation=approximated(solution, transcribed, judged),
    )


def _again(solution: Solution) -> Any:
    """Return the program of a solution's problem: the one that is kept where it is of that very
    problem and transcription, or else one that is made again, without kernels of derivatives, of
    which but a product is asked for. Either is differentiated by the solver's front end."""
    known = solution.program and solution.program.of(solution.problem, solution.transcription)
    if known is not None:
        return known
    settings = replace(solution.transcription, derivatives="solver", kernels="virtual")
    return program_again(solution, settings)


def _check_fit(reason: str) -> None:
    if reason:
        raise NotVerified(f"not a motion of its problem: {reason}")


def _moved(solution: Solution, costs: Cost | None) -> Verification:
    """Return what is known of a motion alone, whether or not it is the best."""
    planner = solution.formulation
    return Verification(
        violations=violations(solution),
        deviations=deviations(solution),
        energy_error=energy_error(solution) if is_comparable(planner) else None,
        kkt=None,
        objective=None if costs is None else costs.dense,
        objective_error=None if costs is None else costs.error,
        mechanics="built-in" if is_comparable(planner) else planner.name,
        slope=steepest(solution),
        lengths=lengths(solution),
        reserves=reserves(exactly(solution)),
        flights=flights(solution) if solution.problem.tree.balls else (),
    )


def _of_phases(solution: Solution) -> Verification:
    """Return the Verification of a motion of phases."""
    _check_fit(misfit_of_phases(solution))
    transcribed, reported = _again(solution), solution
    solution = stated_parts(solution)
    programs = dict(zip(solution.phases, transcribed.parts))
    for name, part in programs.items():
        reason = misfit(solution.phases[name], part)
        _check_fit(f"phase {name!r}: {reason}" if reason else "")
    costs = {
        name: None if solution.missing else cost(solution.phases[name], part)
        for name, part in programs.items()
    }
    parts = {name: _moved(phase, costs[name]) for name, phase in solution.phases.items()}
    every = [each for each in costs.values() if each is not None]
    whole = cost_of_all(every) if every else None
    judged = whole is not None and not bare(solution, transcribed)
    return _joined(
        solution,
        parts,
        kkt=first_order(solution, transcribed) if judged else None,
        objective=None if whole is None else whole.dense,
        objective_error=None if whole is None else whole.error,
        refusals=refusals_of_phases(reported, transcribed, costs),
        approximation=approximated(solution, transcribed, judged),
    )


def _joined(solution: Solution, parts: Mapping[str, Verification], **known: Any) -> Verification:
    """Return the Verification of a whole motion from those of its phases and what is `known` of
    all."""
    errors = [each.energy_error for each in parts.values() if each.energy_error is not None]
    slopes = [each.slope for each in parts.values() if each.slope is not None]
    first = next(iter(parts.values()))
    return Verification(
        violations=with_links(solution, {n: each.violations for n, each in parts.items()}),
        deviations=worst_deviations([each.deviations for each in parts.values()]),
        energy_error=max(errors, default=None),
        mechanics=first.mechanics,
        slope=max(slopes, key=lambda slope: slope.angle, default=None),
        lengths=max((each.lengths for each in parts.values() if each.lengths), default=None),
        phases=parts,
        impacts=impacts(solution),
        flights=flights(solution),
        reserves=reserves(exactly(solution)),
        **known,
    )

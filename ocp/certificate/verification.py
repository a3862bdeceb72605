"""Verification record: numbers, verdict and text of a certificate."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ocp.certificate.certificate_lines import certificate_lines, violation_lines
from ocp.certificate.checks.beam_stretch import Slope
from ocp.certificate.checks.flight_momentum import Flight
from ocp.certificate.checks.formulation_error import ApproximationError
from ocp.certificate.checks.replay_motion import Deviations
from ocp.certificate.resolution_check import refinement_advice
from ocp.certificate.row_violations import Violation
from ocp.certificate.transition_violations import Impact
from ocp.mechanics.values.validation import check_type
from ocp.pickling import portable
from ocp.solution.margins import Reserve, reserve_lines
from ocp.text_tables import Line, align, html_table

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
    approximation: ApproximationError | None = None
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
        check_type("tolerance", tolerance, int, float, np.integer, np.floating)
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
            yield refinement_advice(tolerance)
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
            *(error for each in self.impacts for error in _impact_errors(each)),
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
        return align(self._lines())

    def _repr_html_(self) -> str:
        return html_table(self._lines())

    def _lines(self) -> list[Line]:
        numbers = certificate_and_violations(self)
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


def _impact_errors(each: Impact) -> Iterator[Error]:
    """Yield the errors of an impact."""
    yield f"{each.transition}: momentum is off its balance by", each.balance, "(relative)"
    yield f"{each.transition}: energy lost is off the impulses' by", each.error, "(relative)"


def certificate_and_violations(verification: Verification) -> dict[str, Any]:
    """Return a certificate as plain data: its violations and its numbers."""
    return {
        "violations": {
            each.name: violation_data(each) for each in verification.violations.values()
        },
        "verification": certificate_data(verification),
    }


def violation_data(worst: Violation) -> dict[str, Any]:
    return {
        "nodes": worst.nodes,
        "dense": worst.dense,
        "relative": worst.relative,
        "unit": worst.unit,
        "row": worst.label,
        "time": worst.time,
    }


def certificate_data(certificate: Verification, tolerance: float | None = None) -> dict[str, Any]:
    slope, known = certificate.slope, certificate.approximation
    return {
        "verdict": certificate.verdict(tolerance),
        "simulation_drift": certificate.drift,
        "goal_drift": certificate.goal_drift,
        "defect": certificate.defect,
        "gathered": certificate.deviations.gathered,
        "objective": certificate.objective,
        "objective_error": certificate.objective_error,
        "refusals": list(certificate.refusals),
        "energy_error": certificate.energy_error,
        "kkt": certificate.kkt,
        "mechanics": certificate.mechanics,
        "slope": None if slope is None else asdict(slope) | {"stretch": slope.stretch},
        "approximation": None if known is None else asdict(known) | {"torques": str(known)},
        "lengths": certificate.lengths,
        **crossed(certificate),
    }


def crossed(certificate: Verification) -> dict[str, Any]:
    """Return what a certificate says of phases, as plain data."""
    return {
        "impacts": [asdict(each) | {"error": each.error} for each in certificate.impacts],
        "flights": [asdict(each) for each in certificate.flights],
    }

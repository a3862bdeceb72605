"""Verification record: numbers, verdict and text of a certificate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from ocp.certificate.certificate_lines import Figures, certificate_lines, violation_lines
from ocp.certificate.checks.beam_stretch import Slope
from ocp.certificate.checks.convergence import KEPT, Convergence, convergence_data
from ocp.certificate.checks.flight_momentum import Flight
from ocp.certificate.checks.formulation_error import ApproximationError
from ocp.certificate.checks.ground_energy import GroundEnergy
from ocp.certificate.checks.replay_motion import Deviations
from ocp.certificate.resolution_check import refinement_advice
from ocp.certificate.row_violations import Violation
from ocp.certificate.transition_violations import Impact
from ocp.mechanics.values.validation import check_type
from ocp.pickling import portable
from ocp.problem.reserved_names import phase_label
from ocp.solution.strength_reserves import Reserve, reserve_lines
from ocp.text_tables import Line, align, html_table

FIRST_ORDER = "first-order conditions are off by"
EXACTLY = 1e-12  # no certificate is told to be closer


class NotVerified(RuntimeError):
    """Raised by Verification.require, and by verify of what is no motion of its problem.

    The message lists what exceeds the tolerance, with names, times and units.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A number that a tolerance is compared with.

    `evaluate(record)` returns it, or None where it is not known; `words` and `unit(record)` make
    the line of a fault. Records are the Verification of a motion or of a whole, and Impacts.
    """

    words: str
    evaluate: Callable[[Any], float | None]
    unit: Callable[[Any], str] = lambda record: "(relative)"


def _drift_words(certificate: "Verification") -> str:
    apart = certificate.deviations
    return (
        f"rad or m (in all by {apart.drift:.4g}, segments gather {apart.gathered:.4g}, "
        f"one by itself {apart.defect:.4g})"
    )


MOTION_CHECKS = (  # of a motion, or of each phase
    Check(
        words="simulation drifts from the plan by",
        evaluate=lambda certificate: certificate.deviations.error,
        unit=_drift_words,
    ),
    Check(words="energy balance is off by", evaluate=attrgetter("energy_error")),
    Check(
        words="the ground gives",
        evaluate=lambda certificate: certificate.ground and certificate.ground.judged,
        unit=lambda certificate: "of the work that joints do",
    ),
)
PROGRAM_CHECKS = (  # of the whole program
    Check(words=FIRST_ORDER, evaluate=attrgetter("kkt"), unit=lambda certificate: ""),
    Check(words="objective is off its integral by", evaluate=attrgetter("objective_error")),
)
IMPACT_CHECKS = (
    Check(words="momentum is off its balance by", evaluate=attrgetter("balance")),
    Check(words="energy lost is off the impulses' by", evaluate=attrgetter("error")),
)


@portable
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """Numbers of a certificate.

    Attributes:
        violations: {constraint: Violation} on the dense grid.
        deviations: of a forward simulation under the planned torques (rad or m).
        energy_error: of the energy balance under the reported torques, relative to the energy
            turned over; None for a formulation of one's own, whose energies are unknown.
        kkt: residual of the first-order conditions; None where the statement is not whole.
        objective: its integral on a fine grid with the torques that the motion needs; None
            likewise.
        objective_error: distance of the program's own sum from it, relative; None likewise.
        refusals: lines on faults that no tolerance excuses: an incomplete statement, an unfinished
            solve, and false entries of the solution.
        mechanics: "built-in", simulated by another formulation than the plan's, or the name of a
            formulation of one's own, simulated by itself.
        slope: steepest link with first-order shapes, a warning that judges nothing; None without.
        approximation: distance of an approximate formulation from exact mechanics; None for others.
        phases: {phase: Verification}, each judged as a motion of its own; the whole has the worst
            of their numbers, and first-order conditions and objective, which a phase alone lacks.
        impacts, flights: between phases, and of motions without ground.
        ground: energy that the ground gives, which is judged where the statement allows none
            (`dissipation`); None without feet that stand.
        lengths: largest distance of a quaternion's length from one, which judges nothing.
        reserves: {joint and side: Reserve}, the least strength left.
        convergence: what the next basis changes, where that was solved too, else None.
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
    ground: GroundEnergy | None = None
    lengths: float | None = None
    reserves: Mapping[str, Reserve] = field(default_factory=dict)
    convergence: Convergence | None = None

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
        bound (absolute for bounds below 1), to every Check, and to what the next basis changes,
        where that was solved: objective and duration, and twice the tolerance to curves, of their
        range. A number that is nan exceeds every tolerance.

        Raises:
            NotVerified: listing the faults, with names, times and units.
            ValueError: for a tolerance that is no number.
        """
        check_type("tolerance", tolerance, int, float, np.integer, np.floating)
        exceeding = self._faults(tolerance)
        faults = [*self.refusals, *exceeding]
        if any(not line.startswith(FIRST_ORDER) for line in exceeding):
            faults.append(refinement_advice(tolerance))
        elif exceeding:
            faults.append("next: a tighter tolerance of the solver, on the command line --tol 1e-8")
        if faults:
            raise NotVerified("\n".join([f"not verified to {tolerance:g}:", *faults]))
        return self

    @property
    def tightest(self) -> float:
        """The least tolerance that `require` takes; infinite where something is refused."""
        if self.refusals:
            return np.inf
        values = (value for value, _ in self._measures())
        return max((np.inf if np.isnan(value) else value for value in values), default=0.0)

    @property
    def parts(self) -> Mapping[str, "Verification"]:
        """The certificates of the phases {name: Verification}; a motion without phases is its only
        one, of no name."""
        return self.phases or {"": self}

    def verdict(self, tolerance: float | None = None) -> str:
        """Return in a line whether it is certified: to the tolerance, or to the tightest one."""
        if tolerance is None:
            tolerance = _rounded_up(self.tightest)
        faults = [*self.refusals, *self._faults(tolerance)]
        to = f" to {tolerance:g}" if np.isfinite(tolerance) else ""
        if not faults:
            return f"certified{to}"
        others = f", and {len(faults) - 1} more" if faults[1:] else ""
        return f"not certified{to}: {faults[0]}{others}"

    def _faults(self, tolerance: float) -> list[str]:
        """Return a line for every measure that exceeds the tolerance."""
        return [line for value, line in self._measures() if not value <= tolerance]

    def _measures(self) -> Iterator[tuple[float, str]]:
        """Yield every number that a tolerance is compared with, and its line where it exceeds."""
        for worst in self.violations.values():
            yield (
                worst.relative,
                f"{worst.name} ({worst.label}): violated by {worst.dense:.4g} {worst.unit} "
                f"at t = {worst.time:.4g} s",
            )
        motions = {phase_label(name): part for name, part in self.parts.items()}
        judged: list[tuple[str, Any, tuple[Check, ...]]] = [
            *((prefix, part, MOTION_CHECKS) for prefix, part in motions.items()),
            ("", self, PROGRAM_CHECKS),
            *((f"{each.transition}: ", each, IMPACT_CHECKS) for each in self.impacts),
        ]
        for prefix, record, checks in judged:
            for check in checks:
                value = check.evaluate(record)
                if value is not None:
                    yield value, f"{prefix}{check.words}: {value:.4g} {check.unit(record)}".rstrip()
        if self.convergence is not None:
            yield self.convergence.share, f"not converged: {self.convergence.words}"
        known = self.approximation
        if known is not None:
            yield known.relative, f"dynamics {known.dynamics!r} is an approximation: {known}"

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
        return [
            ("certificate", self.verdict()),
            ("worst violation", "at nodes / on the dense grid"),
            *violation_lines(violations_data(self.violations)),
            *certificate_lines(certificate_data(self)),
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


def violations_data(violations: Mapping[str, Violation]) -> dict[str, dict[str, float | str]]:
    """Return violations as plain data, by the names of their constraints."""
    return {
        worst.name: {
            "nodes": worst.nodes,
            "dense": worst.dense,
            "relative": worst.relative,
            "unit": worst.unit,
            "row": worst.label,
            "time": worst.time,
        }
        for worst in violations.values()
    }


def certificate_data(certificate: Verification, tolerance: float | None = None) -> Figures:
    """Return a certificate's numbers as plain data, with its verdict at a `tolerance`, or at the
    tightest that it passes."""
    slope, known = certificate.slope, certificate.approximation
    ground = certificate.ground
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
        "ground": None if ground is None else asdict(ground) | {"share": ground.share},
        "lengths": certificate.lengths,
        "impacts": [asdict(each) | {"error": each.error} for each in certificate.impacts],
        "flights": [asdict(each) for each in certificate.flights],
        KEPT: certificate.convergence and convergence_data(certificate.convergence),
    }

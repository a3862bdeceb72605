"""The certificate of a motion, without the solver's word.

Violations on a dense grid, forward simulation, energy, first-order conditions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp.dynamics.catalogue import is_built_in
from ocp.mechanics.flexible import damping_power
from ocp.mechanics.kinematics import kinetic_energy, load_power, potential_energy
from ocp.motion import quadrature
from ocp.problem.instant import Instant
from ocp.solution.bending import Slope, steepest
from ocp.solution.bounds import Violation, violations
from ocp.solution.replaying import drifts
from ocp.solution.report import Line, aligned, certificate_lines, certified, table, violation_lines
from ocp.solution.solution import Solution
from ocp.solvers.nlp import kkt_residual
from ocp.transcription.multipliers import gather_multipliers
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables import free_duration, join


class NotVerified(RuntimeError):
    """Raised by Verification.require.

    The message lists what exceeds the tolerance, with names, times and units.
    """


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification:
    """What a certificate says: violations, how well the motion obeys its mechanics, optimality.

    `drift` (rad or m) is the largest distance from the plan of a forward simulation under the
    planned torques, `goal_drift` that at its end, and `defect` that of one segment simulated from
    its own planned start, which no instability of the motion multiplies. `energy_error`, of the
    energy balance, is relative to the energy turned over; None for a formulation of one's own, of
    whose energies nothing is known. `kkt`, the residual of the first-order conditions, is None for
    a motion without its problem or multipliers. `mechanics` that were simulated: "built-in", by
    another formulation than the plan's, or the name of a formulation of one's own, by that one
    itself. `slope`: how steep links with shapes of first order become, a warning that judges
    nothing; None without such links.
    """

    violations: Mapping[str, Violation]
    drift: float
    goal_drift: float
    defect: float
    energy_error: float | None
    kkt: float | None
    mechanics: str = "built-in"
    slope: Slope | None = None

    def require(self, tolerance: float) -> "Verification":
        """Return self if nothing exceeds `tolerance`; raise NotVerified otherwise.

        The tolerance applies to the drift (rad or m), to the energy error, to the first-order
        residual, and to each dense violation relative to its bound (absolute for bounds below 1).
        """
        faults = [
            f"{v.name} ({v.label}): violated by {v.dense:.4g} {v.unit} at t = {v.time:.4g} s"
            for v in self.violations.values()
            if not v.relative <= tolerance
        ]
        drift_unit = f"rad or m (a segment by itself by {self.defect:.4g})"
        numbers = (
            ("simulation drifts from the plan by", self.drift, drift_unit),
            ("energy balance is off by", self.energy_error, "(relative)"),
            ("first-order conditions are off by", self.kkt, ""),
        )
        faults += [
            f"{what}: {value:.4g} {unit}"
            for what, value, unit in numbers
            if value is not None and not value <= tolerance
        ]
        if faults:
            raise NotVerified("\n".join([f"not verified to {tolerance:g}:", *faults]))
        return self

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
        head = ("worst violation", "at nodes / on the dense grid")
        numbers = certified(self)
        return [
            head,
            *violation_lines(numbers["violations"]),
            *certificate_lines(numbers["verification"]),
        ]


def _short(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2e}"


def verify(solution: Solution) -> Verification:
    """Return the Verification of a Solution.

    `.require(tolerance)` raises NotVerified for one that does not pass.
    """
    drift, goal, defect = drifts(solution)
    planner = solution.formulation
    return Verification(
        violations=violations(solution),
        drift=drift,
        goal_drift=goal,
        defect=defect,
        energy_error=_energy_error(solution) if is_built_in(planner) else None,
        kkt=_kkt(solution),
        mechanics="built-in" if is_built_in(planner) else planner.name,
        slope=steepest(solution),
    )


def _energy_error(solution: Solution) -> float:
    """Return the largest gap between energy gained and work done, of the energy turned over.

    The work is that of joints, ground, loads and damping.
    """
    motion = solution.problem.motion
    s, weights = quadrature(motion, "gauss", 2 * motion.degree + 4)

    def energy(at: Instant) -> Any:
        return kinetic_energy(at.tree, at.q, at.qd) + potential_energy(at.tree, at.q)

    def power(at: Instant) -> Any:
        outer = load_power(at.tree, at.q, at.qd, at.acting)
        return ca.dot(at.unsupported, at.qd) + outer - damping_power(at.tree, at.qd)

    levels = solution.trace(energy, motion.breaks * solution.duration)[0]
    powers = solution.trace(power, s * solution.duration)[0] * weights * solution.duration
    work = np.concatenate([[0.0], np.cumsum(powers.reshape(motion.segments, -1).sum(axis=1))])
    turned = max(np.abs(powers).sum(), np.ptp(levels), 1e-12)
    return float(np.max(np.abs(levels - levels[0] - work)) / turned)


def _kkt(solution: Solution) -> float | None:
    """Return the first-order residual of the solution's NLP, rebuilt from the statement.

    Gradients are by the front end's own automatic differentiation.
    """
    if not solution.multipliers or not solution.problem.objective.terms:
        return None
    transcribed = transcribe(
        solution.problem, replace(solution.transcription, derivatives="ad", compiled=False)
    )
    nlp, reduction = transcribed.nlp, transcribed.reduction
    x = join(transcribed.layout, solution.points, solution.duration, solution.lifted)
    rows = len(nlp.g_lower)
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

"""Report section on muscles: peaks, ranges of fibres, work and metabolic energy."""

from collections.abc import Mapping
from functools import partial
from math import ceil

import casadi as ca
import numpy as np

from ocp.mechanics.muscles import Muscle, efficiency, muscles_of
from ocp.mechanics.values.types import Matrix
from ocp.motion import quadrature
from ocp.problem import fibre_of, metabolic_powers
from ocp.problem.instant import Instant
from ocp.report.mechanism_report import Report
from ocp.solution.solution import Solution
from ocp.text_tables import Line

SHOWN = 5  # lines of the muscles that are most active
# Settling times of a tendon in a segment: with 10 an arm's drift has not begun to fall with the
# mesh, with 2 it is some 1e-3 (Radau's method, `muscle_elements.md`).
TOO_STIFF, FOLLOWED = 10.0, 2.0


def _course(name: str, at: Instant) -> Matrix:
    """Return activation, force (over F_0), fibre length and power of active fibres (over F_0) of a
    muscle."""
    row, fibre = at.tree.coordinate(f"{name}.activation"), fibre_of(at, name)
    return ca.vertcat(at.q[row], fibre.tendon, fibre.length, -fibre.active * fibre.velocity)


def muscles_data(solution: Solution) -> Report:
    """Return {muscle: report} over all phases; {} without any.

    A report has the peaks of `activation`, at the `time` (s), and of `force` (N), the `fibre`'s
    (least, largest) length over the optimal one, the positive `work` (J) of active fibres, and the
    metabolic `energy` (J) after Bhargava, Pandy & Anderson (2004), half of the fibres slow; and the
    `mesh`, None but for a tendon too stiff for it: the time (s) in which that settles, the longest
    segment (s), and the number of segments that would follow it.
    """
    known: dict[str, Report] = {}
    begin = 0.0
    for motion in solution.parts.values():
        chosen = muscles_of(motion.problem.tree)
        basis = motion.problem.motion
        s, weights = quadrature(basis, "gauss", 2 * basis.degree + 4)
        s, weights = np.append(s, basis.breaks), np.append(weights, 0.0 * basis.breaks)
        t = s * motion.duration
        powers = motion.trace(metabolic_powers, t) if chosen else ()
        for each, power in zip(chosen, powers):
            activation, force, fibre, rate = motion.trace(partial(_course, each.name), t)
            largest = float(each.force)
            scale = largest * each.fastest * float(each.fibre)
            own = {
                "activation": float(activation.max()),
                "time": begin + float(t[activation.argmax()]),
                "force": float(force.max()) * largest,
                "fibre": (float(fibre.min()), float(fibre.max())),
                "work": float(np.maximum(rate, 0.0) @ weights) * motion.duration * scale,
                "energy": float(power @ weights) * motion.duration,
                "mesh": _finer_mesh(each, motion),
            }
            known[each.name] = _merge_reports(known[each.name], own) if each.name in known else own
        begin += motion.duration
    return known


def _finer_mesh(muscle: Muscle, motion: Solution) -> tuple[float, float, int] | None:
    """Return the settling time of a tendon that settles many times over in a segment of the motion,
    the longest of those (s), and how many would do."""
    longest = float(np.diff(motion.problem.motion.breaks).max()) * motion.duration
    if not muscle.compliant or longest < TOO_STIFF * muscle.settling_time:
        return None
    count = ceil(motion.duration / (FOLLOWED * muscle.settling_time))
    return muscle.settling_time, longest, count


def _merge_reports(before: Report, after: Report) -> Report:
    """Return the report of a muscle over two stretches of time."""
    peak = max((before, after), key=lambda each: each["activation"])
    (low, high), (lowest, highest) = before["fibre"], after["fibre"]
    return {
        "activation": peak["activation"],
        "time": peak["time"],
        "force": max(before["force"], after["force"]),
        "fibre": (min(low, lowest), max(high, highest)),
        "work": before["work"] + after["work"],
        "energy": before["energy"] + after["energy"],
        "mesh": after["mesh"] if before["mesh"] is None else before["mesh"],
    }


def muscle_lines(known: Mapping[str, Report]) -> list[Line]:
    """Return a line on all muscles together, and one for each of those that are most active."""
    if not known:
        return []
    work, energy = (sum(each[what] for each in known.values()) for what in ("work", "energy"))
    active = sorted(known, key=lambda name: -known[name]["activation"])
    return [
        (
            "muscles",
            f"{len(known)}: positive work of fibres {work:.4g} J, metabolic energy {energy:.4g} J, "
            f"efficiency {efficiency(work, energy):.3g}",
        ),
        *(
            (
                "muscle",
                f"{name}: activation {row['activation']:.2f} at {row['time']:.2f} s, at most "
                f"{row['force']:.0f} N, fibre {row['fibre'][0]:.2f} to {row['fibre'][1]:.2f} of "
                f"the optimal length, {row['energy']:.3g} J",
            )
            for name, row in ((name, known[name]) for name in active[:SHOWN])
        ),
        *(
            (
                "tendon",
                f"{name}: too stiff for the mesh, settles in {1000 * row['mesh'][0]:.2g} ms of "
                f"segments of {1000 * row['mesh'][1]:.2g} ms: {row['mesh'][2]} would follow it, or "
                "a rigid tendon",
            )
            for name, row in known.items()
            if row["mesh"] is not None
        ),
    ]

"""Report sections on coordinates, cut joints, unilateral joints and force elements."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements import Muscle
from ocp.mechanics.elements.generalized_forces import forces_of, powers_by_element
from ocp.mechanics.kinematics.unilateral_forces import stay_units
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.motion import quadrature
from ocp.problem.instant import Instant
from ocp.solution.solution import Solution
from ocp.text_tables import Line

Report: TypeAlias = Mapping[str, Any]  # as data: numbers, words, lists and groups by name


def loops_data(solution: Solution) -> Report:
    """Return the largest forces of cut joints (N or N m), and their redundant rows; {} for an open
    tree."""
    drawn = structure(solution.problem.tree)
    if not drawn.closed:
        return {}
    peaks = np.abs(solution.loop_forces(solution.times())).max(axis=1)
    return {
        "forces": {
            label: {"peak": float(peak), "unit": "N" if unit == "m" else "N m"}
            for label, unit, peak in zip(drawn.cut_labels, drawn.cut_units, peaks)
        },
        "redundant": list(drawn.redundant),
    }


def stays_data(solution: Solution) -> dict[str, str]:
    """Return the largest force of every side of a stay in words; {} without any."""
    tree = solution.problem.tree
    if not tree.stays:
        return {}
    peaks = solution.stay_forces(solution.times()).max(axis=1)
    units = ("N" if unit == "m" else "N m" for unit in stay_units(tree))
    return {
        label: f"{peak:.4g} {unit}"
        for label, unit, peak in zip(structure(tree).stay_labels, units, peaks)
    }


def loop_lines(loops: Report) -> list[Line]:
    entries = []
    for label, entry in loops.get("forces", {}).items():
        passes = f"at most {entry['peak']:.4g} {entry['unit']}"
        if label in loops["redundant"]:
            passes = "redundant, passes nothing"
        entries.append(("cut joint", f"{label}: {passes}"))
    return entries


def element_powers(at: Instant) -> Matrix:
    """Return the power (W) of each force element on the motion of the links, a column in their
    order;
    rotors included.
    """
    powers = powers_by_element(at.tree, at.q, at.qd, at.qdd)
    return ca.vertcat(ca.DM(0, 1), *powers.values())


def elements_data(solution: Solution) -> dict[str, dict[str, float]]:
    """Return {force element, muscles left out: its work (J) on the links, the part that it takes
    (J) and its peak (W)}; {} without any.
    """
    known: dict[str, dict[str, float]] = {}
    for motion in solution.parts.values():
        acting = forces_of(motion.problem.tree)
        names = [element.name for element in acting]
        if all(isinstance(element, Muscle) for element in acting):
            continue
        basis = motion.problem.motion
        s, weights = quadrature(basis, "gauss", 2 * basis.degree + 4)
        powers = motion.trace(element_powers, s * motion.duration)
        for name, element, power in zip(names, acting, powers):
            if isinstance(element, Muscle):
                continue
            entry = known.setdefault(name, {"work": 0.0, "taken": 0.0, "peak": 0.0})
            entry["work"] += float(power @ weights) * motion.duration
            entry["taken"] += float(np.minimum(power, 0.0) @ weights) * motion.duration
            entry["peak"] = max(entry["peak"], float(np.abs(power).max()))
    return known


def element_lines(elements: Mapping[str, Mapping[str, float]]) -> list[Line]:
    """Return a line for each force element."""
    return [
        (
            "element",
            f"{name}: does {entry['work']:.4g} J, takes {-entry['taken']:.4g} J and gives "
            f"{entry['work'] - entry['taken']:.4g} J, at most {entry['peak']:.4g} W",
        )
        for name, entry in elements.items()
    ]


def coordinate_counts(tree: Tree) -> dict[str, int]:
    """Return the numbers of coordinates, of the root's coordinates, and of fixed joints."""
    return {
        "all": tree.dof,
        "root": len(structure(tree).root),
        "fixed": sum(joint.kind == "fixed" for joint in tree.joints),
    }


def coordinate_words(counts: Mapping[str, int]) -> str:
    """Return `coordinate_counts` in words, as "38 coordinates (6 of the root, 17 joints fixed)"."""
    rest = [f"{counts['root']} of the root"] if counts["root"] else []
    rest += [f"{counts['fixed']} joints fixed"] if counts["fixed"] else []
    return f"{counts['all']} coordinates" + (f" ({', '.join(rest)})" if rest else "")

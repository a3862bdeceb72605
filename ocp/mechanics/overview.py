"""A mechanism in a table: a row for each joint, and the link that it carries."""

from math import isinf
from typing import TYPE_CHECKING, Any

from ocp.mechanics.values.units import unit_of
from ocp.notebooks import table

if TYPE_CHECKING:
    from ocp.mechanics.model.tree import Tree

HEADER = ("joint", "kind", "on", "position", "velocity", "torque or force", "link's mass")


def html_of(tree: "Tree") -> str:
    """Return a tree as a table in HTML: joints, their limits, masses, and what else there is."""
    rows = []
    for joint, link in zip(tree.joints, tree.links):
        limits = [
            between(pair, unit_of(joint, quantity))
            for pair, quantity in (
                (joint.position, "q"),
                (joint.velocity, "qd"),
                (joint.torque, "tau"),
            )
        ]
        moved = limits if joint.kind != "fixed" else [""] * len(limits)
        moved[2] = moved[2] if joint.actuated else "none"
        rows.append((joint.name, joint.kind, joint.parent, *moved, f"{link.mass:g} kg"))
    gravity = ", ".join(f"{part + 0.0:g}" for part in tree.gravity)
    counts = (("points", tree.points), ("loops", tree.loops), ("stays", tree.stays))
    rest = [
        f"{name} {', '.join(each.name for each in several)}" for name, several in counts if several
    ]
    if tree.elements:
        rest.append(f"{len(tree.elements)} elements")
    title = "; ".join([f"{tree.dof} coordinates", f"gravity ({gravity}) m/s2", *rest])
    return table(rows, HEADER, f"Tree: {title}")


def between(pair: Any, unit: str) -> str:
    """Return limits in words, nothing where there are none."""
    lower, upper = pair
    if isinf(lower) and isinf(upper):
        return ""
    return f"{lower:g} to {upper:g} {unit}".rstrip()

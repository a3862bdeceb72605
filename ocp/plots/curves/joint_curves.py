"""Curves of joints over time: what of a motion is drawn, its labels, limits, colours and dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.muscles import muscles_of
from ocp.plots.canvas import COLOURS, Look, Looks, shades
from ocp.plots.curves.phase_curves import curve
from ocp.problem.constraints.strength import strengths, torque_bounds
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.transcription.kernels.motion_traces import ByIdentity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bands = Mapping[str, tuple[np.ndarray, np.ndarray]]
Lines = tuple[np.ndarray, np.ndarray]
LABELS = {  # of what turns and of what slides
    "q": ("angle (rad)", "slide (m)"),
    "qd": ("angular velocity (rad/s)", "velocity (m/s)"),
    "tau": ("torque (N m)", "force (N)"),
    "tau_rate": ("torque rate (N m/s)", "force rate (N/s)"),
    "qdd": ("angular acceleration (rad/s²)", "acceleration (m/s²)"),
    "qddd": ("angular jerk (rad/s³)", "jerk (m/s³)"),
    "force": ("joint force, norm (N)",) * 2,
    "moment": ("joint moment, norm (N m)",) * 2,
}
ASKED = {"q": "joint_limits", "qd": "velocity_limits"}  # by the constraint of that name
COMPONENTS = {
    "q": "quaternion",
    "qd": "its rate (1/s)",
    "qdd": "its acceleration (1/s²)",
    "qddd": "its jerk (1/s³)",
    "tau": "by quaternion (N m)",
    "tau_rate": "its rate (N m/s)",
}
AMPLITUDES = {
    "q": ("amplitude (rad)", "amplitude (m)"),
    "qd": ("its rate (rad/s)", "its rate (m/s)"),
    "qdd": ("its acceleration (rad/s²)", "its acceleration (m/s²)"),
    "qddd": ("its jerk (rad/s³)", "its jerk (m/s³)"),
}
LIMITS = {  # shaded, of joints
    "q": "position",
    "qd": "velocity",
    "tau": "torque",
    "tau_rate": "torque_rate",
    "qddd": "jerk",
}
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.2, 1.2, 1.2)))
NORMS = ("force", "moment")
MANY = 8  # more joints have panels of their own
NEAR = 2  # times the largest value: limits farther off are out of view


@dataclass(frozen=True, slots=True)
class Profile:
    """Curves of a `quantity` (a key of LABELS) of `joints`."""

    quantity: str
    joints: Sequence[Joint]


def trace_joints(
    solution: Solution, quantities: Sequence[str]
) -> tuple[np.ndarray, dict[str, dict[str, np.ndarray]]]:
    """Return times (N,), s, and {quantity: {joint: values (N,)}}."""
    known = {}
    for quantity in dict.fromkeys(quantities):
        t, known[quantity] = _trace(ByIdentity(solution), quantity)
    return t, known


@lru_cache(maxsize=8)  # a page looks at the same curves several times
def _trace(same: ByIdentity, quantity: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return times (N,), s, and {joint: values (N,)} of a quantity of a Solution."""
    tree = same.value.problem.tree
    t, values = curve(same.value, partial(_values, quantity, tree))
    names = tree.names if quantity in NORMS else [joint.name for joint in tree.moving]
    return t, dict(zip(names, values))


def axis_label(tree: Tree, panel: Profile) -> str:
    """Return the label of a panel's axis of values."""
    first = panel.joints[0]
    if first.ball and panel.quantity in COMPONENTS:
        return COMPONENTS[panel.quantity]
    labels = LABELS if first.name in tree.names else AMPLITUDES
    label = labels[panel.quantity][first.kind == "prismatic"]
    lines = [each.line for each in muscles_of(tree)]
    if panel.quantity in NORMS and None in lines:  # these pull across joints and load them more
        return label.replace(",", f" without {lines.count(None)} of {len(lines)} muscles,")
    return label


def is_held(problem: Problem, quantity: str) -> bool:
    """Tell whether joints' limits of a quantity are shown: those of positions and velocities where
    a constraint asks for them."""
    if quantity not in ASKED:
        return quantity in LIMITS
    every = (each for part in problem.parts.values() for each in part.requirements)
    return any(each.name == ASKED[quantity] for each in every)


def joints_by_kind(tree: Tree, quantity: str) -> list[list[Joint]]:
    """Return the joints that turn, those that slide, modal amplitudes likewise, and balls.

    Only what there is, and of torques only joints that drive, if any do, or elements.
    """
    shown = [joint for joint in tree.moving if joint.kind != "state"]
    if quantity == "tau":
        drives = {tree.moving[row].name for row in structure(tree).drives}
        named = [joint for joint in shown if joint.name in tree.names] or shown
        shown = [joint for joint in shown if joint.name in drives] if drives else named
    groups: dict[tuple[bool, ...], list[Joint]] = {}
    for joint in shown:
        kind = (joint.name not in tree.names, joint.ball, joint.kind == "prismatic")
        groups.setdefault(kind, []).append(joint)
    return [groups[kind] for kind in sorted(groups)]


def limited_quantity(tree: Tree, quantity: str) -> list[str]:
    """Return the quantity if any joint limits it."""
    limits = [getattr(joint, LIMITS[quantity]) for joint in tree.moving]
    return [quantity] if any(isfinite(bound) for pair in limits for bound in pair) else []


def bands(solution: Solution, quantity: str) -> Bands:
    """Return {joint: (lower, upper), each (N,)} of what drives can over angle and speed, at the
    times of `traced`; nothing for anything but torques, and of drives of which that is not said."""
    tree = solution.problem.tree
    known = {each.joint for each in strengths(tree)} if quantity == "tau" else set()
    if not known:
        return {}
    lower, upper = np.split(curve(solution, partial(_bounds, tree))[1], 2)
    rows = {joint: tree.coordinate(joint) for joint in known}
    return {joint: (lower[row], upper[row]) for joint, row in rows.items()}


def _bounds(tree: Tree, motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return the strengths of a tree's drives (2n, N) at times (N,) of a motion or phase."""
    if not strengths(motion.problem.tree):
        return np.repeat([-np.inf, np.inf], tree.dof)[:, None] + np.zeros(len(t))
    return motion.trace(torque_bounds, t)


def _values(quantity: str, tree: Tree, motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return a quantity of all joints of a tree (m, N) at times (N,) of a motion or phase, not a
    number of joints that a phase does not have."""
    if quantity in NORMS:
        moment, force = motion.reactions(t)
        norms = np.linalg.norm(force if quantity == "force" else moment, axis=0)
        known = dict(zip(motion.problem.tree.names, norms))
        return np.array([known.get(name, np.full(len(t), np.nan)) for name in tree.names])
    return getattr(motion, quantity)(t)


def shade(axes: Axes, panel: Profile, lines: Lines, looks: Looks, known: Bands) -> None:
    """Shade what lies beyond a panel's limits, and beyond the bands `known` that vary in time.

    `lines` are times (N,) and values (m, N). What is shaded is grey if all joints share their
    limits, else in the joint's colour.
    """
    joints, (t, values) = panel.joints, lines
    limits = [getattr(joint, LIMITS[panel.quantity]) for joint in joints]
    values = values[:, np.isfinite(values).all(axis=0)]  # but for the gaps between phases
    reach = NEAR * np.abs(values).max()
    varying = [bound for joint in joints for side in known.get(joint.name, ()) for bound in side]
    every = [*(bound for pair in limits for bound in pair), *varying]
    near = [bound for bound in every if abs(bound) <= reach]
    seen = [values.min(), values.max(), *near]
    margin = 0.07 * np.ptp(seen) or 1.0
    low, high = min(seen) - margin, max(seen) + margin
    for pair, joint in dict(zip(limits, joints)).items():
        look = _beyond(joint, looks, len({*limits}) == 1)
        beyond = min(low, pair[0] - margin), max(high, pair[1] + margin)
        for bound, far in zip(pair, beyond):
            if isfinite(bound):
                axes.axhspan(bound, far, **look)
    for joint in joints:
        if joint.name in known:
            look = _beyond(joint, looks, len(joints) == 1)
            for bound, far in zip(known[joint.name], (low, high)):
                if np.isfinite(bound).any():
                    axes.fill_between(t, np.clip(bound, low, high), far, **look)
    axes.set_ylim(low, high)


def _beyond(joint: Joint, looks: Looks, alike: bool) -> Look:
    """Return the style of the area beyond a joint's limits."""
    colour, alpha = ("0.5", 0.25) if alike else (looks[joint.name]["color"], 0.15)
    return {"facecolor": (colour, alpha), "edgecolor": colour, "linewidth": 0.7, "zorder": 0}


def joint_styles(tree: Tree) -> Looks:
    """Return {joint name: line style}."""
    moving = [joint.name for joint in tree.moving if joint.kind != "state"]
    return line_styles(list(dict.fromkeys([*tree.names, *moving])))


def line_styles(names: Sequence[str]) -> Looks:
    """Return {name: line style} of several; dashes help where colours do not."""
    colours, width = palette(len(names))
    return {
        name: {"color": colours[k], "linestyle": DASHES[k % len(DASHES)], "linewidth": width}
        for k, name in enumerate(names)
    }


def palette(count: int) -> tuple[tuple[str, ...] | np.ndarray, float]:
    """Return as many colours and the width (pt) of their lines; many are mapped and thin."""
    if count <= MANY:
        return COLOURS, 1.3
    return shades("viridis", 0.0, 0.9)(np.linspace(0.0, 1.0, count)), 0.9

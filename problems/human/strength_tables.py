"""Strength and passive tissue of people, in tables and a picture: women and men, young and old.

Torques (N m) are of the same stature and mass for all; the picture draws what is left of strength
over the angle at rest, and what passive tissue gives there, the other joints at 0.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ocp import Strength, Tree
from ocp.cli import exit_status
from ocp.mechanics import element_torques
from ocp.models.human import NAMES, ROOT, capacity, human, volumes
from ocp.plots import COLOURS, SMALL, WIDTH, picture, style
from ocp.studies import markdown

PEOPLE: dict[str, dict] = {
    "man, 20": {"sex": "male", "age": 20.0},
    "man, 70": {"sex": "male", "age": 70.0},
    "woman, 20": {"sex": "female", "age": 20.0},
    "woman, 70": {"sex": "female", "age": 70.0},
}
SHOWN = ("hip_flex_r", "hip_abd_r", "knee_flex_r", "ankle_df_r", "spine1_flex", "elb_flex_r")
WAYS = (1, -1)
COUNT = 91  # angles of a curve


def rows(percentile: float, kind: str) -> list[list[str]]:
    """Return the lines of the table: joint and direction, isometric best of each of PEOPLE, the
    angle (deg) and muscle volume (cm3)."""
    trees = [human(strength=kind, percentile=percentile, **who) for who in PEOPLE.values()]
    muscles, lines = volumes(trees[0]), []
    for joint in (name for name in NAMES if name not in ROOT and not name.endswith("_l")):
        if joint not in muscles:
            continue
        for way in WAYS:
            peaks = [f"{capacity(tree, joint, way):.0f}" for tree in trees]
            volume = f"{muscles[joint][(way + 1) // 2]:.0f}"
            sign = "+" if way == 1 else "-"
            lines.append(
                [f"{joint.removesuffix('_r')} {sign}", *peaks, _best(trees[0], joint, way), volume]
            )
    return lines


def _best(tree: Tree, joint: str, way: int) -> str:
    """Return the angle (deg) in a joint's range at which it is strongest, or that all are alike."""
    angles = np.radians(_range(tree, joint))
    left = _left(tree, joint, way, angles)
    return "any" if np.ptp(left) < 1e-9 else f"{np.degrees(angles[int(np.argmax(left))]):.0f}"


def _range(tree: Tree, joint: str) -> np.ndarray:
    lower, upper = np.degrees(tree.moving[tree.coordinate(joint)].position)
    return np.linspace(lower, upper, COUNT)


def _left(tree: Tree, joint: str, way: int, angles: np.ndarray) -> np.ndarray:
    """Return the strength (N m) at angles (rad), at rest."""
    for each in tree.elements:
        if isinstance(each, Strength) and (each.joint, each.direction) == (joint, way):
            return np.array([float(each.capacity(x, 0.0)) for x in angles])
    return np.full(len(angles), float(capacity(tree, joint, way)))


def draw(path: str, percentile: float) -> None:
    """Draw strength and passive moment over the angle of the SHOWN joints."""
    trees = {
        name: human(strength="angle", percentile=percentile, passive=True, **who)
        for name, who in PEOPLE.items()
    }
    with picture(path, WIDTH, 6.6) as figure:
        grid: Any = figure.subplots(3, 2)
        for axes, joint in zip(grid.ravel(), SHOWN):
            _panel(axes, trees, joint)
        for axes in grid[-1]:
            axes.set_xlabel("angle (deg)")
        grid[0, 1].legend(fontsize=SMALL, frameon=False, loc="center", ncol=2)


def _panel(axes: Any, trees: dict[str, Tree], joint: str) -> None:
    first = next(iter(trees.values()))
    angles = _range(first, joint)
    for colour, (name, tree) in zip(COLOURS, trees.items()):
        for way in WAYS:
            label = name if way == 1 else None
            values = way * _left(tree, joint, way, np.radians(angles))
            axes.plot(angles, values, color=colour, linewidth=1.2, label=label)
    row, rest = first.coordinate(joint), ca.DM.zeros(first.dof)
    given = []
    for angle in np.radians(angles):
        q = ca.DM.zeros(first.dof)
        q[row] = angle
        given.append(float(element_torques(first, q, rest)[row]))
    axes.plot(angles, given, color="0.4", linestyle=(0, (3, 1.5)), linewidth=1.2, label="passive")
    style(axes, joint.removesuffix("_r"), "N m")


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table; draw where asked."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.strength_tables", description=__doc__, allow_abbrev=False
    )
    words = "of strength, 1 to 99 (default: 84.13, a mean and one deviation)"
    parser.add_argument("--percentile", type=float, default=84.13447460685429, help=words)
    parser.add_argument("--plot", metavar="FILE", help="draw it: .png, .svg or .pdf")
    asked = parser.parse_args(arguments)
    header = ["N m", *PEOPLE, "best at (deg)", "muscle (cm3)"]
    print(markdown("", header, rows(asked.percentile, "angle")))
    if asked.plot:
        draw(asked.plot, asked.percentile)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(run))

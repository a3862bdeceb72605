"""The figure of a human: what it is drawn by, and the planes it is seen in."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ocp import Tree
from ocp.models.human import worn
from ocp.plots import COLOURS, Body

LEG = ("hip", "knee", "ankle", "heel", "ball_med", "toe")
SIDE = (
    *pairwise(LEG),
    ("ankle", "ball_med"),
    ("C7T1", "shoulder"),
    ("shoulder", "elbow"),
    ("elbow", "wrist"),
    ("wrist", "grip"),
)
MIDLINE = ("C7T1", "T6", "L5S1", "pelvis_origin")


def _sided(letter: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name if name in MIDLINE else f"{name}_{letter}" for name in pair) for pair in SIDE
    )


BODY = Body(
    bars={
        "left": _sided("l"),
        "middle": (("hip_r", "hip_l"), *pairwise(MIDLINE), ("C7T1", "neck")),
        "right": _sided("r"),
    },
    colours={"right": COLOURS[1], "left": COLOURS[0], "middle": "0.25"},
    force=COLOURS[2],
    balls={"head": ("middle", 0.10)},
    middle="pelvis_origin",
)
# Planes of view: forward and up, left and up, forward and left
SIDEWAYS, FRONT, ABOVE = (2, 1), (0, 1), (2, 0)
WATER = 1000.0  # kg/m3: balls of what is worn are drawn as large as its mass of water
ALONG_HEAD = {"neck": 0.18, "head": 0.60}  # of the way from the neck's root to the head's top


def laden(tree: Tree) -> Body:
    """Return the BODY with a ball for each load that a tree wears."""
    sides = {"r": "right", "l": "left"}
    loads = {
        name: (
            sides.get(name[-2:].strip("_"), "middle"),
            float(np.cbrt(0.75 * mass / WATER / np.pi)),
        )
        for name, mass in worn(tree).items()
    }
    return replace(BODY, balls={**BODY.balls, **loads}, beside=[*loads])


def body_points(tree: Tree | None = None) -> dict[str, Callable[..., Any]]:
    """Return {name: function(Instant)} of all that BODY is drawn by, and that a tree wears."""
    names = {name for pairs in BODY.bars.values() for pair in pairs for name in pair} - {"neck"}
    names |= set() if tree is None else set(worn(tree))
    points = {name: lambda at, name=name: at.position(name) for name in sorted(names)}
    return points | {
        name: lambda at, part=part: (
            (1 - part) * at.position("C7T1") + part * at.position("head_top")
        )
        for name, part in ALONG_HEAD.items()
    }

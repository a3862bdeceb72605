"""Picture of a model at rest: bodies, muscles, the surfaces that they wrap over, and points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ocp.mechanics.elements import Element
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.muscles.wrapping import SURFACES, WrapCylinder, WrapEllipsoid, WrapPast
from ocp.mechanics.muscles.wrapping import Surface as Wrap
from ocp.mechanics.values.parameters import nominal
from ocp.motion.spline import BSpline
from ocp.plots.bodies.animation import Stick, draw, stage
from ocp.plots.bodies.scenery import Placed, link_poses
from ocp.plots.bodies.solid_triangles import Solid, scenery
from ocp.plots.bodies.stick_figures import stick
from ocp.plots.canvas import SMALL, picture
from ocp.problem.objectives import Objective
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.transcription.transcription_settings import Transcription

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = 3.0  # lengths of cylinders, which have no ends, over their radii
WRAP = (0.62, 0.80, 0.93, 1.0)  # red, green, blue and opacity of surfaces
MARKER = "#c2185b"


def still_motion(tree: Tree, q: np.ndarray | None = None) -> Solution:
    """Return the motion of a tree that stays in a posture.

    Args:
        tree: the mechanism.
        q: (n,) coordinates (rad, m); neutral ones by default.
    """
    place = np.array(nominal(tree).neutral if q is None else q, dtype=float)
    problem = Problem(
        tree=tree, motion=BSpline(points=4, degree=3), duration=1.0, objective=Objective(terms=())
    )
    return Solution(
        problem=problem,
        transcription=Transcription(),
        points=np.tile(place[:, None], 4),
        duration=1.0,
        objective=0.0,
        terms=(),
        status="posed",
        success=True,
        multipliers={},
        statistics={},
    )


def plot_model(tree: Tree, path: str | Path | None = None, q: np.ndarray | None = None) -> Figure:
    """Return a figure of a tree in a posture: bodies, muscles, surfaces of wraps, points.

    Args:
        tree: the mechanism.
        path: of a file, if any.
        q: (n,) coordinates (rad, m); neutral ones by default.

    Raises:
        ValueError: an unknown suffix.
    """
    still, t = still_motion(tree, q), np.zeros(1)
    flat, ways = stick(still, t), link_poses(still, t)
    wraps = [Placed(solid=each, poses=_pose(each, ways)) for each in wrap_solids(tree)]
    body = replace(flat, axes=("x", "y", "z"), solids=(*flat.solids, *wraps))
    if flat.muscles and not any(link.visuals for link in tree.links):
        body = replace(body, solids=wraps, bars={**flat.bars, "link": _bare(flat), "bone": ()})
    with picture(path, 6.0, 7.0) as figure:
        scene = stage(figure, figure.add_gridspec(1, 1)[0], body)
        draw(scene, 0)
        spots = scene.camera.flat(body.places[0][[*body.tips.values()]].reshape(-1, 3))
        scene.axes.plot(*spots.T, linestyle="", marker=".", markersize=4, color=MARKER, zorder=2.6)
        said = [f"{len(tree.links)} links"]
        said += [f"{len(body.muscles)} muscles"] if body.muscles else []
        said += [f"{len(wraps)} surfaces to wrap over"] if wraps else []
        said += [f"{len(body.tips)} points"] if body.tips else []
        scene.axes.set_title(", ".join(said), fontsize=SMALL)
    return figure


def wrap_solids(tree: Tree) -> Iterator[Solid]:
    """Yield the surfaces that muscles wrap over, each once, as solids on their links.

    Args:
        tree: the mechanism.
    """
    surfaces = dict.fromkeys(each for element in tree.elements for each in _surfaces(element))
    for each in surfaces:
        visual = Visual(pose=each.pose, colour=WRAP, **_form(each))
        k = -1 if each.link == GROUND else tree.link_index(each.link)
        for solid in scenery((visual,)):
            yield replace(solid, link=k)


def _bare(figure: Stick) -> list[tuple[int, int]]:
    """Return the bars from joint to joint, those to points left out: muscles show around them."""
    tips = {*figure.tips.values()}
    bars = [*figure.bars.get("link", ()), *figure.bars.get("bone", ())]
    return [pair for pair in bars if not tips & {*pair}]


def _surfaces(element: Element) -> Iterator[Wrap]:
    line = getattr(element, "line", None)
    for each in () if line is None else line.points:
        if isinstance(each, SURFACES):
            yield each


def _form(wrap: Wrap) -> dict:
    """Return kind and size of the solid of a surface."""
    if isinstance(wrap, WrapEllipsoid):
        return {"kind": "ellipsoid", "size": wrap.radii}
    if isinstance(wrap, WrapCylinder) or (isinstance(wrap, WrapPast) and wrap.shape == "cylinder"):
        return {"kind": "cylinder", "size": (wrap.radius, LONG * float(nominal(wrap.radius)))}
    return {"kind": "sphere", "size": (wrap.radius,)}


def _pose(solid: Solid, ways: np.ndarray) -> np.ndarray:
    return np.eye(4)[None] if solid.link < 0 else ways[solid.link]

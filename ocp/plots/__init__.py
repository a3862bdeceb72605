"""Pictures: one canvas, and drawings of motions, bodies and curves."""

from ocp.plots.bodies.animation import FILMS, Stick, bodies_of, film, film_bytes, pace
from ocp.plots.bodies.model_picture import plot_model, still_motion
from ocp.plots.bodies.side_views import ARROW, Body, Scene, plan, rulers, scene, show, strip
from ocp.plots.bodies.stick_figures import plot_snapshots, snapshots, stick
from ocp.plots.canvas import (
    COLOURS,
    PICTURES,
    SMALL,
    TEXT,
    WIDTH,
    Margins,
    check_suffix,
    grid,
    picture,
    style,
)
from ocp.plots.curves.charts import Curve, Panel, lines, panels
from ocp.plots.curves.element_curves import plot_elements
from ocp.plots.curves.jacobian_pattern import spy
from ocp.plots.curves.motion_curves import plot_joints, plot_outputs, plot_reactions, plot_torques
from ocp.plots.curves.solver_iterations import plot_convergence
from ocp.plots.overview import plot
from ocp.plots.panel_grid import Band, Tile, Trace, draw_tiles, handles
from ocp.plots.scene_page import Page, animate, page, page_of, player, scene_data

__all__ = [
    "ARROW",
    "COLOURS",
    "FILMS",
    "PICTURES",
    "SMALL",
    "TEXT",
    "WIDTH",
    "Band",
    "Body",
    "Curve",
    "Margins",
    "Page",
    "Panel",
    "Scene",
    "Stick",
    "Tile",
    "Trace",
    "animate",
    "bodies_of",
    "check_suffix",
    "draw_tiles",
    "film",
    "film_bytes",
    "grid",
    "handles",
    "lines",
    "pace",
    "page",
    "page_of",
    "panels",
    "picture",
    "plan",
    "player",
    "plot",
    "plot_convergence",
    "plot_elements",
    "plot_joints",
    "plot_model",
    "plot_outputs",
    "plot_reactions",
    "plot_snapshots",
    "plot_torques",
    "rulers",
    "scene",
    "scene_data",
    "show",
    "snapshots",
    "spy",
    "stick",
    "still_motion",
    "strip",
    "style",
]

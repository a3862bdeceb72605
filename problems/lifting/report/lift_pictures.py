"""Pictures of a lift: figures with the box, the ground from above, curves, the front."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import body_weight
from ocp.plots import COLOURS, SMALL, TEXT, WIDTH, picture, plan, scene, strip, style
from ocp.problems.gait.pictures.human_figure import ABOVE, BODY, FRONT, SIDEWAYS, body_points
from ocp.problems.lifting.report.curves import HANDS, Lift, box_mass, lifted
from ocp.problems.lifting.report.disturbed_lifts import draw_disturbed
from ocp.problems.lifting.report.low_back import BACK
from ocp.problems.lifting.statement.stepping import AHEAD
from ocp.storage import write

CORNERS = (
    (0, 1),
    (1, 3),
    (3, 2),
    (2, 0),
    (4, 5),
    (5, 7),
    (7, 6),
    (6, 4),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
)  # the edges of a box
INSTANTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the lift, that are drawn
BOXED = replace(
    BODY,
    bars={**BODY.bars, "box": tuple((f"corner {a}", f"corner {b}") for a, b in CORNERS)},
    colours={**BODY.colours, "box": COLOURS[4], AHEAD: BODY.colours["left"]},
    middle="ankle_r",
)
PANELS = (
    ("hip", "hip_flex"),
    ("knee", "knee_flex"),
    ("ankle", "ankle_df"),
    ("shoulder", "shou_flex"),
    ("elbow", "elb_flex"),
)
SIDES = (("right", "_r", COLOURS[1], "-"), ("left", "_l", COLOURS[0], (0, (5, 1.5))))


def draw(solution: Solution, path: str | Path) -> None:
    """Draw the lift to `path`, and its curves to the file of that name with "-curves" added.

    Or the front, if there is one, or how far off its way noise takes it, if it was asked for. Of a
    front the numbers are written beside it, to the file of that name as .csv.
    """
    if solution.statistics.get("front"):
        draw_front(solution.statistics["front"], path)
        return
    if solution.statistics.get("disturbed"):
        draw_disturbed(solution.statistics["disturbed"], path)
        return
    plot_lift(solution, path)
    plot_curves(solution, Path(path).with_stem(f"{Path(path).stem}-curves"))


def plot_lift(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page: the lift from the side and the front, and the ground from above.

    Written to `path`, if any, as .png, .svg or .pdf. Raises ValueError naming any other suffix.
    """
    with picture(path, WIDTH, 7.6) as figure:
        s = np.linspace(0.0, 1.0, 121)
        t, points = solution.duration * np.array(INSTANTS), drawn_points(solution)
        figures = scene(solution, t, points, bodies=True)
        above = scene(solution, solution.duration * s, {})
        side, front, ground = figure.subplots(3, 1, height_ratios=(2.2, 2.2, 1.6))
        labels = [f"{solution.duration * instant:.2f} s" for instant in INSTANTS]
        strip(side, figures, BOXED, SIDEWAYS, 1.4, labels)
        strip(front, figures, BOXED, FRONT, 1.4, labels)
        side.set_title(
            f"the lift of {box_mass(solution):.1f} kg from the right side, "
            "with the ground's forces",
            fontsize=TEXT,
        )
        front.set_title("from the front", fontsize=TEXT)
        handles = plan(ground, above, BOXED, ABOVE, s)
        ground.set_title(
            "from above: the soles, and where the zero moment point goes", fontsize=TEXT
        )
        ground.set(xlabel="ahead, z (m)", ylabel="to the left, x (m)")
        figure.legend(
            handles=handles, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False
        )
    return figure


def plot_curves(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page of a lift over time, written to `path`, if any.

    Angles, torques within limits, the moment at L5/S1, and the forces in joints, hands and feet.
    Raises ValueError naming an unknown suffix.
    """
    lift = lifted(solution, solution.times(241))
    weight = body_weight(solution.problem.tree)
    with picture(path, WIDTH, 9.4) as figure:
        panels = figure.subplots(5, 3, sharex=True)
        _angles(panels[:2], lift)
        _torques(panels[2:4], lift)
        _forces(panels[4], lift, weight)
        for axes in panels[4]:
            axes.set_xlabel("time (s)", fontsize=TEXT)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False
        )
    return figure


def _angles(panels: Any, lift: Lift) -> None:
    """Draw the angles of joints, and how trunk, lumbar spine and pelvis lean."""
    for axes, (name, joint) in zip(panels.ravel(), PANELS):
        _sides(axes, lift, lift.angles, joint, f"{name} angle (deg)")
    lean = {"trunk": lift.trunk, "lumbar": lift.lumbar, "pelvis": lift.angles["glob_rx"]}
    _lines(panels[1, 2], lift, lean, "forward lean (deg)")


def _torques(panels: Any, lift: Lift) -> None:
    """Draw the torques of joints within their limits, and the moment at L5/S1."""
    for axes, (name, joint) in zip(panels.ravel(), PANELS):
        _sides(axes, lift, lift.torques, joint, f"{name} torque (N m)", limits=True)
    _lines(panels[1, 2], lift, {"extension": lift.burden.extending}, "moment at L5/S1 (N m)")
    _beyond(panels[1, 2], [-limit for limit in lift.limits[BACK][::-1]])


def _forces(panels: Any, lift: Lift, weight: float) -> None:
    """Draw the forces in joints and on the hands (N), and on feet over the weight (N)."""
    inside = {
        "L5/S1 along": lift.burden.pressing,
        "L5/S1 across": lift.burden.shearing,
        "hip": lift.inner["hip"],
        "knee": lift.inner["knee"],
    }
    _lines(panels[0], lift, inside, "force in joints (N)")
    pull = sum(lift.pulls[hand] for hand in HANDS)
    _lines(panels[1], lift, {"down": -pull[1], "back": -pull[2]}, "pull of the box (N)")
    ahead = sum(force[2] for force in lift.forces.values()) / weight
    feet = {f"{name}, up": force[1] / weight for name, force in lift.forces.items()}
    _lines(panels[2], lift, feet | {"both, ahead": ahead}, "force on feet (weights)")


def draw_front(front: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Draw stability against effort, both less is better, to `path`.

    The numbers are written to the file of that name as .csv.
    """
    with picture(path, WIDTH, 4.4) as figure:
        axes = figure.subplots()
        good = [entry for entry in front if entry["status"] == "Solve_Succeeded"]
        effort, off = ([entry[name] for entry in good] for name in ("effort", "stability"))
        axes.plot(effort, off, color=COLOURS[0], marker="o", markersize=4, linewidth=1.2)
        for entry in good:
            axes.annotate(
                f"{entry['weight']:.3g}",
                (entry["effort"], entry["stability"]),
                (4, 4),
                textcoords="offset points",
                fontsize=SMALL,
            )
        style(
            axes,
            "dynamic effort, the integral of the squared shares of the torque limits (s)",
            "instability, the same of the way of the zero moment point\n"
            "from the middle of the soles, over half their length (s)",
        )
        axes.set_title(
            "effort against stability; at each point the weight of effort", fontsize=TEXT
        )
    keys = list(front[0])
    lines = [",".join(_text(entry[key]) for key in keys) for entry in front]
    write(Path(path).with_suffix(".csv"), "\n".join([",".join(keys), *lines, ""]))


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def drawn_points(solution: Solution) -> dict[str, Any]:
    """Return {name: function(Instant)} of all that the body and the box are drawn by."""
    box = solution.problem.outputs["box"]
    return body_points() | {
        f"corner {k}": lambda at, k=k: box(at)[3 * k : 3 * k + 3] for k in range(8)
    }


def _sides(
    axes: Any,
    lift: Lift,
    values: Mapping[str, np.ndarray],
    joint: str,
    title: str,
    *,
    limits: bool = False,
) -> None:
    for side, letter, colour, dash in SIDES:
        axes.plot(
            lift.t,
            values[joint + letter],
            color=colour,
            linestyle=dash,
            linewidth=1.4,
            label=f"{side} side",
        )
    if limits:
        _beyond(axes, lift.limits[f"{joint}_r"])
    _dress(axes, lift, title)


def _lines(axes: Any, lift: Lift, lines: Mapping[str, np.ndarray], title: str) -> None:
    for colour, (name, line) in zip(COLOURS[2:] + COLOURS[:2], lines.items()):
        axes.plot(lift.t, line, color=colour, linewidth=1.4, label=name)
    if len(lines) > 1:
        axes.legend(fontsize=SMALL - 1, frameon=False, handlelength=1.2)
    _dress(axes, lift, title)


def _dress(axes: Any, lift: Lift, title: str) -> None:
    style(axes, "", "")
    axes.set_title(title, fontsize=TEXT, pad=3)
    axes.set_xlim(0.0, lift.t[-1])


def _beyond(axes: Any, limits: Any) -> None:
    """Shade what lies beyond the limits, where they come into view; the view stays as it is."""
    low, high = axes.get_ylim()
    for bound, far in zip(limits, (low, high)):
        if low < bound < high:
            axes.axhspan(
                bound,
                far,
                facecolor="0.8",
                edgecolor="0.5",
                linewidth=0.7,
                zorder=0,
                label="beyond the torque limit",
            )
    axes.set_ylim(low, high)

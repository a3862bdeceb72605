"""Pictures of a walk: the step in figures and from above, and the gait cycle."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ocp.models.human import normative
from ocp.problems.gait.cycle import Cycle, cycle
from ocp.problems.gait.figure import ABOVE, BODY, FRONT, SIDEWAYS, body_points
from ocp.problems.gait.footprints import soles

from ocp import Solution
from ocp.plots import (
    COLOURS,
    SMALL,
    TEXT,
    WIDTH,
    picture,
    plan,
    plot,
    rulers,
    scene,
    strip,
    style,
)

INSTANTS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the step, that are drawn
RIGHT, LEFT = COLOURS[1], COLOURS[0]
MEASURED = {"winter": "0.55", "fukuchi": "0.1", "falisse": COLOURS[2]}
SOURCE = {
    "winter": "Winter, mean ± SD (no less than 0.05 BW)",
    "fukuchi": "Fukuchi, mean",
    "falisse": "Falisse, one adult ± SD",
}
# Panels of the cycle: title, ours, {source: the measured quantity}; of forces with the sign that
# turns it to ours
ANGLES = (
    ("hip flexion", "hip_flex", {"winter": "hip_flex_deg", "fukuchi": "hip_flex_deg"}),
    ("knee flexion", "knee_flex", {"winter": "knee_flex_deg", "fukuchi": "knee_flex_deg"}),
    ("ankle dorsiflexion", "ankle_df", {"winter": "ankle_df_deg", "fukuchi": "ankle_df_deg"}),
    ("hip abduction", "hip_abd", {"falisse": "hip_abd_deg"}),
    ("shoulder flexion", "shou_flex", {"falisse": "arm_flex_deg"}),
    ("elbow flexion", "elb_flex", {"falisse": "elbow_flex_deg"}),
)
TORQUES = (
    ("hip torque, flexion +", "hip_flex", {"falisse": "tau_hip_flex_Nm_kg"}),
    ("knee torque, flexion +", "knee_flex", {"falisse": "tau_knee_flex_Nm_kg"}),
    ("ankle torque, dorsiflexion +", "ankle_df", {"falisse": "tau_ankle_df_Nm_kg"}),
)
FORCES = (
    ("vertical force", 1, {"winter": ("grf_vertical_BW", 1.0)}),
    ("fore-aft force, forward +", 2, {"winter": ("grf_foreaft_BW", 1.0)}),
    ("sideways force, inward +", 0, {"falisse": ("grf_right_BW", -1.0)}),
)
INNER = (
    ("hip joint force", "hip_flex"),
    ("knee joint force", "knee_flex"),
    ("ankle joint force", "ankle_df"),
)


ROWS = (  # of the picture of the cycle
    "angle (deg)",
    "angle (deg)",
    "torque (N m/kg)",
    "force (body weights)",
    "norm (body weights)",
)


def draw(solution: Solution, path: str | Path) -> None:
    """Draw the step to `path`, and its cycle to the file of that name with "-cycle" added.

    Of a walk in phases it is the overview alone.
    """
    if solution.phases:
        plot(solution, path)
        return
    plot_walk(solution, path)
    plot_cycle(solution, Path(path).with_stem(f"{Path(path).stem}-cycle"))


def plot_walk(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page: the step from the side and the front, and the ground from above.

    The ground's forces and the zero moment point are shown too. Written to `path`, if any, as .png,
    .svg or .pdf. Raises ValueError naming any other suffix.
    """
    with picture(path, WIDTH, 7.2) as figure:
        T, switches = solution.duration, solution.problem.ground.switches
        s = np.unique(np.concatenate([np.linspace(0, 1, 201), switches]))
        figures = scene(solution, T * np.array(INSTANTS), body_points())
        above = scene(solution, T * s, {})
        side, front, ground = figure.subplots(3, 1, height_ratios=(2.1, 2.2, 2.2))
        labels = [f"{50 * instant:g} %" for instant in INSTANTS]
        strip(side, figures, BODY, SIDEWAYS, 1.0, labels)
        strip(front, figures, BODY, FRONT, 1.0, labels)
        rulers(front, BODY, 1.6, -0.27)
        side.set_title(
            "the step from the right side, at percentages of the gait cycle", fontsize=TEXT
        )
        front.set_title("from the front", fontsize=TEXT)
        _footprints(ground, solution)
        handles = plan(ground, above, BODY, ABOVE, s)
        ground.set_title(
            "from above: soles (grey), supports (coloured), "
            "and where the zero moment point is when they change",
            fontsize=TEXT,
        )
        ground.set(xlabel="forward, z (m)", ylabel="to the left, x (m)")
        figure.legend(
            handles=handles, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False
        )
    return figure


def plot_cycle(solution: Solution, path: str | Path | None = None) -> Any:
    """Return one page over the gait cycle of the right leg, written to `path`, if any.

    Joint angles, torques per body mass, ground forces and the norms of joint forces, of both legs,
    with measured curves behind. Raises ValueError naming an unknown suffix.
    """
    with picture(path, WIDTH, 9.6) as figure:
        walk, panels = cycle(solution), figure.subplots(5, 3, sharex=True)
        _draw_angles(panels[:2], walk)
        _draw_torques(panels[2], walk)
        for axes, (title, row, measured) in zip(panels[3], FORCES):
            _panel(axes, walk, walk.forces["right"][row], title, measured)
        for axes, (title, joint) in zip(panels[4], INNER):
            _panel(axes, walk, walk.joint_forces[f"{joint}_r"], title, {})
        for row, unit in zip(panels, ROWS):
            row[0].set_ylabel(unit, fontsize=TEXT)
        for axes in panels[4]:
            axes.set_xlabel("gait cycle (%)", fontsize=TEXT)
        figure.align_ylabels(panels[:, 0])
        handles = {}
        for axes in panels.ravel():
            handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels())}
        figure.legend(
            handles.values(),
            handles,
            loc="outside lower center",
            ncols=3,
            fontsize=SMALL,
            frameon=False,
        )
    return figure


def _draw_angles(panels: Any, walk: Cycle) -> None:
    for axes, (title, joint, measured) in zip(panels.ravel(), ANGLES):
        curves = {source: (name, 1.0) for source, name in measured.items()}
        _panel(axes, walk, walk.angles[f"{joint}_r"], title, curves)


def _draw_torques(panels: Any, walk: Cycle) -> None:
    """Draw torques over the body's mass within their limits, of the joints that move."""
    for axes, (title, joint, measured) in zip(panels, TORQUES):
        name = f"{joint}_r"
        if name in walk.torques:
            curves = {source: (quantity, 1.0) for source, quantity in measured.items()}
            _panel(axes, walk, walk.torques[name] / walk.mass, title, curves)
            beyond(axes, [limit / walk.mass for limit in walk.limits[name]])


def beyond(axes: Any, limits: Any) -> None:
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


def _footprints(axes: Any, solution: Solution) -> None:
    for sole in soles(solution, 0):
        axes.fill(
            *sole[:, list(ABOVE)].T, facecolor="0.93", edgecolor="0.7", linewidth=0.6, zorder=1
        )


def _panel(
    axes: Any,
    walk: Cycle,
    right: np.ndarray,
    title: str,
    measured: Mapping[str, tuple[str, float]],
) -> None:
    """Draw a quantity of both legs, and behind it what was measured."""
    for source, (quantity, sign) in measured.items():
        _draw_measured(axes, walk.percent, source, quantity, sign)
    axes.plot(
        walk.percent,
        walk.left(right),
        color=LEFT,
        linewidth=1.0,
        linestyle=(0, (5, 1.5)),
        zorder=3,
        label="left leg",
    )
    axes.plot(walk.percent, right, color=RIGHT, linewidth=1.6, zorder=4, label="right leg")
    axes.axvline(
        walk.toe_off,
        color="0.4",
        linewidth=0.7,
        linestyle=(0, (2, 2)),
        zorder=1,
        label="right toe off",
    )
    axes.set_title(title, fontsize=TEXT, pad=3)
    style(axes, "", "")
    axes.set(xlim=(0, 100), xticks=(0, 25, 50, 75, 100))


def _draw_measured(axes: Any, percent: np.ndarray, source: str, quantity: str, sign: float) -> None:
    """Draw the mean of what was measured, and its spread where it is known."""
    record = normative(source)
    mean, spread = sign * record.mean(quantity, percent), record.spread(quantity, percent)
    if spread is not None:
        axes.fill_between(
            percent,
            mean - spread,
            mean + spread,
            facecolor=(MEASURED[source], 0.28),
            linewidth=0,
            zorder=1,
            label=SOURCE[source],
        )
    axes.plot(
        percent,
        mean,
        color=MEASURED[source],
        linewidth=0.9,
        linestyle="-" if spread is not None else (0, (1, 1)),
        zorder=2,
        label=SOURCE[source] if spread is None else "_",
    )

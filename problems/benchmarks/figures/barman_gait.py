"""The figures of Barman (2020), chapter V: a step of a human of 55 joints."""

from typing import Any

import numpy as np

from ocp.certificate import Extreme, contact_quality
from ocp.mechanics import positions
from ocp.models.human import GAIT_FROZEN, human
from ocp.plots import SMALL, TEXT, plan, rulers, scene, strip, style
from ocp.problems.benchmarks.figures import answers
from ocp.problems.benchmarks.figures.mechanisms import tabulate
from ocp.problems.benchmarks.figures.page import Page, behind, curves, legend, mark, peaks
from ocp.problems.gait.pictures.human_figure import ABOVE, BODY, FRONT, SIDEWAYS, body_points
from ocp.problems.gait.report.gait_cycle import JOINTS, Cycle, cycle
from ocp.problems.gait.statement.constraint_families import MID_SWING
from ocp.problems.gait.statement.thesis_gait import total

SOURCE = "Barman 2020, "
INSTANTS = np.linspace(0.0, 1.0, 7)  # of the step, that are drawn
LETTERS = "abc"
BRANCHES = {  # beginnings of joints' names
    "global": ("glob_",),
    "spine": ("spine",),
    "neck": ("neck_", "head_"),
    "arms": ("clav_", "shou_", "elb_", "wri_"),
    "legs": ("hip_", "knee_", "ankle_", "toe_"),
}
FORCES = (("lateral, inward +", 0), ("vertical", 1), ("fore-aft, forward +", 2))
KNEE = 60, 5  # deg: how far the knee is bent in the middle of its swing (eq. 5.9)
OURS = "our gait: 38 joints, 8 control points"


def _skeleton(figure: Any) -> str:
    body, (side, front, right) = human(), figure.subplots(1, 3, width_ratios=(1, 1, 2.2))
    q = np.zeros(body.dof)
    names = sorted({name for pairs in BODY.bars.values() for pair in pairs for name in pair})
    names = [name for name in names if name != "neck"] + ["head_top"]
    spots = dict(zip(names, (np.array(p).ravel() for p in positions(body, q, names))))
    spots["neck"] = spots["C7T1"] + 0.18 * (spots["head_top"] - spots["C7T1"])
    for axes, plane in ((side, SIDEWAYS), (front, FRONT)):
        for part, pairs in BODY.bars.items():
            for pair in pairs:
                bar = np.transpose([spots[name][list(plane)] for name in pair])
                axes.plot(*bar, color=BODY.colours[part], linewidth=2, solid_capstyle="round")
        axes.plot(
            *spots["head_top"][list(plane)],
            marker="o",
            markersize=9,
            color="0.25",
            fillstyle="none",
        )
        axes.set_aspect("equal")
        axes.margins(x=0.5)
        axes.locator_params(axis="x", nbins=3)
        style(axes, f"{'xyz'[plane[0]]} (m)", "y (m)" if axes is side else "")
    rows = []
    for branch, starts in BRANCHES.items():
        known = [joint.name for joint in body.joints if joint.name.startswith(starts)]
        still = sum(name in GAIT_FROZEN for name in known)
        rows.append((branch, str(len(known)), str(len(known) - still), str(still)))
    rows.append(("all", *(str(sum(int(row[k]) for row in rows)) for k in (1, 2, 3))))
    tabulate(right, ("branch", "joints", "active in our gait", "frozen there"), rows, 0.1)
    return (
        f"{len(body.joints)} joints, {body.dof} of them active in our gait; mass "
        f"{sum(link.mass for link in body.links):.1f} kg"
    )


def _snapshots(figure: Any) -> str:
    solution = answers.literal_walk()
    T, switches = solution.duration, solution.problem.ground.switches
    s = np.unique(np.concatenate([np.linspace(0, 1, 201), switches]))
    side, ground = figure.subplots(2, 1, height_ratios=(1.3, 1))
    labels = [f"{50 * instant:.0f} %" for instant in INSTANTS]
    strip(side, scene(solution, T * INSTANTS, body_points()), BODY, SIDEWAYS, 1.0, labels)
    rulers(side, BODY, 1.6)
    handles = plan(ground, scene(solution, T * s, {}), BODY, ABOVE, s)
    ground.set(xlabel="forward, z (m)", ylabel="to the left, x (m)")
    ground.set_title("from above: supports, and where the zero moment point goes", fontsize=TEXT)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False
    )
    record, counts = contact_quality(solution), solution.statistics
    worst = min(record.margins.values(), key=lambda entry: entry.value)
    return (
        f"J = {solution.objective:.4f} on {counts['variables']} variables and "
        f"{counts['constraints']} rows, {total(solution).active} of them active; on a dense grid "
        f"the pressure leaves a foot by {_outside(worst):.0f} mm, the zero moment point the "
        f"support by {_outside(record.zmp):.1f} mm, and a contact slips by "
        f"{1e3 * record.slip.value:.1f} mm"
    )


def _outside(margin: Extreme) -> float:
    """Return the excess (mm) beyond a margin."""
    return 1e3 * max(0.0, -margin.value)


def _cycles() -> tuple[Cycle, Cycle]:
    return cycle(answers.literal_walk()), cycle(answers.walk())


def _panels(figure: Any, lines: Any, unit: str) -> None:
    """Draw three panels over the gait cycle; `lines` {title: (literal, our gait), (M,) each}."""
    panels = figure.subplots(1, 3)
    literal, own = _cycles()
    for letter, axes, (title, (line, other)) in zip(LETTERS, panels, lines.items()):
        behind(axes, own.percent, [other], OURS)
        curves(axes, literal.percent, {"55 joints, 6 control points": line}, ("gait cycle (%)", ""))
        mark(axes, literal.toe_off, "right toe off")
        axes.set_title(f"({letter}) {title}", fontsize=TEXT)
        axes.set(xlim=(0, 100), xticks=(0, 25, 50, 75, 100))
    panels[0].set_ylabel(unit, fontsize=TEXT)


def _angles(figure: Any) -> str:
    literal, own = _cycles()
    lines = {
        name: (literal.angles[f"{joint}_r"], own.angles[f"{joint}_r"])
        for name, joint in JOINTS.items()
    }
    _panels(figure, lines, "flexion (deg)")
    bent, slack = KNEE
    look: dict[str, Any] = {"color": "0.2", "capsize": 3, "marker": "o", "markersize": 3}
    words = f"printed at mid-swing: {bent} ± {slack} deg"
    figure.axes[1].errorbar(50 * (1 + MID_SWING), bent, slack, zorder=5, label=words, **look)
    legend(figure)
    return "; ".join(
        f"{name} {line.min():.0f} to {line.max():.0f} deg" for name, (line, _) in lines.items()
    )


def _forces(figure: Any) -> str:
    literal, own = _cycles()
    lines = {name: (literal.forces["right"][row], own.forces["right"][row]) for name, row in FORCES}
    _panels(figure, lines, "ground force (body weights)")
    legend(figure)
    lateral, vertical, fore_aft = literal.forces["right"]
    other = own.forces["right"][1]
    return (
        f"peaks of the vertical force in stance: {peaks(vertical[stance_of(literal)])}, up to "
        f"{vertical.max():.2f} body weights (our gait {peaks(other[stance_of(own)])}, up to "
        f"{other.max():.2f}); fore-aft {fore_aft.min():.2f} to {fore_aft.max():.2f}, lateral "
        f"{lateral.min():.2f} to {lateral.max():.2f}, whose sign changes in stance "
        f"{reversals(lateral[stance_of(literal)])} times"
    )


def reversals(line: np.ndarray) -> int:
    """Return the number of sign changes of a curve."""
    signs = np.sign(line[line != 0])
    return int((signs[1:] != signs[:-1]).sum())


def stance_of(walk: Cycle) -> np.ndarray:
    """Return which instants of the cycle are the right leg's stance, (M,) of bool."""
    return walk.percent <= walk.toe_off


def _inner(figure: Any) -> str:
    literal, own = _cycles()
    lines = {
        name: (literal.joint_forces[f"{joint}_r"], own.joint_forces[f"{joint}_r"])
        for name, joint in JOINTS.items()
    }
    _panels(figure, lines, "internal force, norm (body weights)")
    legend(figure)
    vertical = literal.forces["right"][1][stance_of(literal)]
    alike = ", ".join(
        f"{name} {np.corrcoef(line[stance_of(literal)], vertical)[0, 1]:+.2f}"
        for name, (line, _) in lines.items()
    )
    swing = ", ".join(
        f"{name} {line[~stance_of(literal)].mean():.2f}" for name, (line, _) in lines.items()
    )
    return (
        f"correlation with the vertical ground force in stance: {alike}; means in swing: {swing} "
        "body weights"
    )


BODY_DATA = (
    "the thesis prints no anthropometric data; ours, from the literature, is a man of 1.75 m and "
    "75 kg"
)
TASK = (
    "bounds hold at our nodes, contacts within tolerances in place of exactly; of the print no "
    "values are known"
)
PAGES = (
    Page(
        name="barman-5-1",
        source=SOURCE + "Fig. 5.1",
        caption="The skeleton with 55 freedoms: a global branch, spine, neck, arms and legs, and "
        "which of them are frozen for walking.",
        printed="55 freedoms, 6 of them global; 38 active",
        draw=_skeleton,
        differs=BODY_DATA,
        height=3.2,
    ),
    Page(
        name="barman-5-2",
        source=SOURCE + "Fig. 5.2",
        caption="One step of the predicted cyclic walk, with the ground's forces (green).",
        printed="1.2 m/s, step of 0.6 m; 330 variables, 1726 constraints, 244 active; smooth, "
        "balanced, knee bent in mid-swing, arms against legs, spine straight",
        draw=_snapshots,
        differs=BODY_DATA + "; a step, seen at percentages of the gait cycle, and from above",
        height=5.0,
    ),
    Page(
        name="barman-5-3",
        source=SOURCE + "Fig. 5.3",
        caption="Joint angles of the right leg over a stride, from heel strike to heel strike.",
        printed="magnitudes and trends as in Xiang et al. (2009b); knee bent by 60 ± 5 deg in the "
        "middle of its swing (eq. 5.9)",
        draw=_angles,
        differs=TASK + "; grey: our own gait, whose certificate passes at 1e-2",
        height=2.8,
    ),
    Page(
        name="barman-5-4",
        source=SOURCE + "Fig. 5.4",
        caption="Ground reaction forces on the right foot over a stride.",
        printed="the vertical force has two peaks; fore-aft it brakes and then drives; sideways it "
        "pushes all through stance",
        draw=_forces,
        differs=TASK + "; counted are peaks that tower by a tenth of the force",
        height=2.8,
    ),
    Page(
        name="barman-5-5",
        source=SOURCE + "Fig. 5.5",
        caption="Norms of the internal forces of the right leg's joints over a stride.",
        printed="in stance all three follow the vertical ground force; in swing they differ",
        draw=_inner,
        differs=TASK,
        height=2.8,
    ),
)

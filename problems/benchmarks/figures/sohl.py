"""The figures of Sohl & Bobrow (2001), section 5: two rods and two acrobots."""

from collections.abc import Mapping
from functools import partial
from math import pi
from typing import Any

import numpy as np

from ocp import Solution, Tree
from ocp.models.swing_ups.acrobot import acrobot
from ocp.models.swing_ups.branched_acrobot import branched_acrobot
from ocp.plots import COLOURS, SMALL, style
from ocp.problems.benchmarks.figures import answers
from ocp.problems.benchmarks.figures.mechanisms import angle, note, sketch, spans, tabulate
from ocp.problems.benchmarks.figures.page import (
    Page,
    beside,
    curves,
    legend,
    mark,
    trajectory,
    way_of,
)
from ocp.problems.swing_ups import sohl_swing

SOURCE = "Sohl & Bobrow 2001, "
FIRST, LAST = 73.57, 9.9  # N2 m2 s: costs of the first and the final path, as printed
STARTS = (-1.0, -1.3)  # rad: of the passive joint, as printed
FRAMES, ROW = 14, 7  # of a sequence, and of one row of it
PITCH = 1.15  # of a sequence, in widths of its widest frame


def sequence(axes: Any, tree: Tree, t: np.ndarray, q: np.ndarray) -> None:
    """Draw the links at FRAMES equal steps of a motion q (n, N) over t (N,), in rows from the left.

    Links are coloured; the passive joint is a dot; each frame stands over its time.
    """
    steps = np.linspace(0, len(t) - 1, FRAMES).round().astype(int)
    shots = [spans(tree, q[:, k]) for k in steps]
    ends = np.array([[end[:2] for end in span] for shot in shots for span in shot.values()])
    low, high = ends.min(axis=(0, 1)), ends.max(axis=(0, 1))
    pitch = PITCH * np.maximum(high - low, 0.3 * (high - low).max()) + (0, 0.12 * (high - low)[1])
    for number, (k, shot) in enumerate(zip(steps, shots)):
        row, column = divmod(number, ROW)
        shift = pitch * (column, -row)
        for colour, (start, end) in zip(COLOURS, shot.values()):
            bar = np.transpose([start[:2] + shift, end[:2] + shift])
            axes.plot(*bar, color=colour, linewidth=1.6, solid_capstyle="round")
        root = next(iter(shot.values()))[0][:2] + shift
        axes.plot(*root, marker="o", markersize=3, color="0.2", zorder=3)
        words = f"{t[k]:.2f} s" if number else "t = 0"
        place = shift + ((low[0] + high[0]) / 2, low[1] - 0.03 * (high - low)[1])
        axes.text(*place, words, fontsize=6, ha="center", va="top")
    axes.set_aspect("equal")
    axes.set_axis_off()


def _swing(figure: Any, solution: Solution) -> None:
    """Draw a sequence, and below it angles and torques of the driven joints over time."""
    tree, t = solution.problem.tree, solution.times(601)
    q, tau = solution.q(t), solution.tau(t)
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.45, 1))
    sequence(top.subplots(), tree, t, q)
    left, right = bottom.subplots(1, 2)
    names = [joint.name for joint in tree.joints]
    curves(left, t, dict(zip(names, q)), ("time (s)", "angle (rad)"))
    mark(left, pi / 2, "goal of the passive joint, π/2", across=True)
    curves(right, t, dict(zip(names[1:], tau[1:])), ("time (s)", "torque (N m)"), first=1)
    legend(bottom)


def _first_path(figure: Any) -> str:
    solution = answers.straight_rods()
    trajectory(figure, solution, 11)
    return f"J = {beside(solution.objective, FIRST, 'N² m² s', 2)}; {way_of(solution, 'tip')}"


def _last_path(figure: Any) -> str:
    solution = answers.rods()
    left, right = figure.subfigures(1, 2, width_ratios=(2.2, 1))
    trajectory(left, solution, 13, sides=0.02)
    costs(right.subplots(), {"printed": (FIRST, LAST), "ours": _own_costs()})
    q = solution.q(solution.times(401))
    return (
        f"J = {beside(solution.objective, LAST, 'N² m² s', 2)}; the first rod dips to "
        f"{q[0].min():.2f} rad, the second folds to {q[1][np.abs(q[1]).argmax()]:.2f} rad"
    )


def costs(axes: Any, pairs: Mapping[str, tuple[float, float]]) -> None:
    """Draw the costs of the first and the final path as bars."""
    for k, (name, pair) in enumerate(pairs.items()):
        x = np.arange(2) + 0.4 * (k - 0.5)
        bars = axes.bar(x, pair, 0.38, color=("0.6", COLOURS[0])[k], label=name)
        axes.bar_label(bars, [f"{cost:.2f}" for cost in pair], fontsize=SMALL, padding=1)
    axes.set_xticks(range(2), ["first path", "final path"])
    axes.set_axisbelow(True)
    style(axes, "", "J (N² m² s)")
    axes.legend(fontsize=SMALL, frameon=False)


def _own_costs() -> tuple[float, float]:
    return answers.straight_rods().objective, answers.rods().objective


def _begun(figure: Any, robot: str) -> str:
    solution = answers.first_swing(robot)
    _swing(figure, solution)
    angles = solution.q(solution.times(601))[0]
    return (
        f"J = {solution.objective:.5g} N² m² s, effort {_effort(solution):.4g} of it; the passive "
        f"joint swings between {angles.min():.2f} and {angles.max():.2f} rad, its goal being "
        f"{pi / 2:.2f}"
    )


def _effort(solution: Solution) -> float:
    return next(weight * value for name, weight, value in solution.terms if name == "effort")


def _solved(figure: Any, solution: Solution) -> str:
    _swing(figure, solution)
    said = sohl_swing.report(solution)
    return (
        f"J = {solution.objective:.4f} N² m² s, effort {_effort(solution):.4f} of it; the end is "
        f"{abs(said['angle_left']):.3f} rad off the vertical at {said['rate_left']:.3f} rad/s, "
        f"after {said['reversals']} reversals of the passive joint"
    )


def _upright(figure: Any, start: float) -> str:
    return _solved(figure, answers.acrobot(start))


def _branch(figure: Any, number: int) -> str:
    return _solved(figure, answers.branched()[number])


def _model(figure: Any, tree: Tree, q: np.ndarray, names: Mapping[str, float]) -> str:
    """Sketch a tree beside its data; `names` {angle: direction from which it turns (rad)}."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
    drawn = sketch(left, tree, q)
    starts = [start[:2] for start, _ in drawn.values()]
    for place, (name, rest), turn in zip(starts, names.items(), q):
        angle(left, place, rest, turn, 0.32, name)
    for name, (start, end) in drawn.items():
        way = (end - start)[:2]
        aside = 20 * np.array([way[1], -way[0]]) / np.hypot(*way)
        note(left, start[:2] + 0.7 * way, name, aside)
    left.margins(0.25, 0.2)
    rows = [
        (
            joint.name,
            f"{link.mass:g}",
            f"{np.linalg.norm(np.subtract(*drawn[joint.name])):g}",
            f"{np.array(link.inertia)[2][2]:.3g}",
            "motor" if joint.actuated else "none",
        )
        for joint, link in zip(tree.joints, tree.links)
    ]
    tabulate(right, ("link", "mass (kg)", "length (m)", "inertia (kg m²)", "drive"), rows)
    total = sum(link.mass for link in tree.links)
    driven = sum(joint.actuated for joint in tree.joints)
    return f"{len(tree.links)} links of {total:g} kg in all, driven joints: {driven}"


def _acrobot_model(figure: Any) -> str:
    posture = np.array([-1.0, 0.7])
    return _model(figure, acrobot(), posture, {"q1": 0.0, "q2": posture[0]})


def _branched_model(figure: Any) -> str:
    trunk = 1.0
    posture = np.array([trunk, 0.45, -0.45])
    lean = pi / 6
    names = {"q1": 0.0, "q2": trunk + lean, "q3": trunk - lean}
    return _model(figure, branched_acrobot(), posture, names)


SPONG = "the weights c1 = c2 = 1000, Spong's parameters and 3 s are ours: none is printed"
OWN = "the weights c1 = c2 = 1000, the rods and 3 s are ours: none is printed"
RODS = (
    "no parameters are printed: two rods of 1 m, whose mass and time are fitted to both costs, so "
    "that these prove nothing"
)
PAGES = (
    Page(
        name="sohl-01",
        source=SOURCE + "Fig. 1",
        caption="Two driven rods in a vertical plane, from horizontal to vertical: the first path.",
        printed=f"J = {FIRST} along a smooth first guess that keeps the ends",
        draw=_first_path,
        differs=RODS + "; the guess is one cubic polynomial from end to end",
        height=3.8,
    ),
    Page(
        name="sohl-02",
        source=SOURCE + "Fig. 2",
        caption="Two driven rods: the final path of least effort, a local optimum.",
        printed=f"J = {LAST}; it swings down and folds, swings up the first rod, then pumps the "
        "second into place",
        draw=_last_path,
        differs=RODS + "; the best of 16 starts",
        height=3.8,
    ),
    Page(
        name="sohl-03",
        source=SOURCE + "Fig. 3",
        caption="The acrobot: two links, a motor at the elbow and none at the base.",
        printed="a sketch without numbers",
        draw=_acrobot_model,
        differs="the paper prints no parameters; these are Spong's (1995)",
        height=2.9,
    ),
    Page(
        name="sohl-04",
        source=SOURCE + "Fig. 4",
        caption="The acrobot: the first path of its swing-up.",
        printed="a very poor guess: the passive joint does not even begin to rise",
        draw=partial(_begun, robot="acrobot"),
        differs="the guess is not printed; ours leaves the elbow at rest while the base swings "
        "freely; " + SPONG,
        height=4.6,
    ),
    Page(
        name="sohl-05",
        source=SOURCE + "Fig. 5",
        caption="The acrobot: swing-up of least effort from q1(0) = -1.0, at rest.",
        printed="the lower link pumps energy into the first, which then rises to the vertical",
        draw=partial(_upright, start=STARTS[0]),
        differs=SPONG,
        height=4.6,
    ),
    Page(
        name="sohl-06",
        source=SOURCE + "Fig. 6",
        caption="The acrobot: swing-up of least effort from q1(0) = -1.3, at rest.",
        printed="a slightly different motion from that of Fig. 5",
        draw=partial(_upright, start=STARTS[1]),
        differs=SPONG,
        height=4.6,
    ),
    Page(
        name="sohl-07",
        source=SOURCE + "Fig. 7",
        caption="The branched acrobot: a trunk without motor at its base and two driven legs.",
        printed="a sketch without numbers",
        draw=_branched_model,
        differs="the paper prints no parameters; rods of our own, legs 30 degrees to either side "
        "at zero angles",
        height=2.9,
    ),
    Page(
        name="sohl-08",
        source=SOURCE + "Fig. 8",
        caption="The branched acrobot: the first path of its swing-up from q1(0) = -1.0.",
        printed="a first guess, with all other positions and velocities zero",
        draw=partial(_begun, robot="branched"),
        differs="the guess is not printed; ours leaves both legs at rest while the trunk swings "
        "freely; " + OWN,
        height=4.6,
    ),
    Page(
        name="sohl-09",
        source=SOURCE + "Fig. 9",
        caption="The branched acrobot: a swing-up that is a local optimum, from q1(0) = -1.0.",
        printed="a local minimum, without numbers",
        draw=partial(_branch, number=0),
        differs=OWN + "; begun with the best of six collocated motions",
        height=4.6,
    ),
    Page(
        name="sohl-10",
        source=SOURCE + "Fig. 10",
        caption="The branched acrobot: another swing-up, a local optimum too.",
        printed="another local minimum, from another first guess",
        draw=partial(_branch, number=1),
        differs=OWN + "; begun with the next of them",
        height=4.6,
    ),
)

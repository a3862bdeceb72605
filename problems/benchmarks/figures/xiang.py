"""The figures of Xiang, Arora & Abdel-Malek (2009)."""

from functools import partial
from typing import Any

import numpy as np

from ocp import Solution, simulate
from ocp.mechanics import position
from ocp.models.arms.two_link import two_link
from ocp.plots import COLOURS, SMALL, TEXT, style
from ocp.problems.benchmarks.figures import answers, sensitivities
from ocp.problems.benchmarks.figures.mechanisms import (
    POSTURE,
    angle,
    arrow,
    axes_of,
    frames,
    note,
    sketch,
    spans,
    tabulate,
    two_link_sketch,
)
from ocp.problems.benchmarks.figures.page import (
    FINE,
    Page,
    behind,
    beside,
    bounds,
    curves,
    excess,
    legend,
    mark,
    path_of_tip,
    trajectory,
    turns,
    way_of,
)

SOURCE = "Xiang, Arora & Abdel-Malek 2009, "
FASTEST, LIFTED = 0.3934, 0.520  # s, as printed (section 6)
OTHERS = {"Furukawa 2002": 0.3945, "Wang et al. 2005": 0.394}  # s, as the paper quotes them
CRANKS = (0.6, 2.2, 3.8)  # rad: at which the closed loop is sketched faintly
LOAD, GRAVITY = 10.0, 9.8062  # N, m/s2 (section 6.4)
JOINTS = ("q1, shoulder", "q2, elbow")


def _loop(figure: Any) -> str:
    solution = answers.four_bar()
    tree, t = solution.problem.tree, solution.times(241)
    crank, force = solution.q(t)[0], solution.loop_forces(t)
    pins = [solution.trace(lambda at, name=name: at.position(name), t) for name in PINS]
    gap = np.linalg.norm(pins[0] - pins[1], axis=0)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    left = figure.add_subplot(grid[:, 0])
    for turn in CRANKS:
        q = solution.q(t[np.argmin(np.abs(crank - turn))])
        for start, end in spans(tree, q).values():
            left.plot(*np.transpose([start, end])[:2], color="0.82", linewidth=2, zorder=1)
    k = int(np.linalg.norm(force, axis=0).argmax())
    sketch(left, tree, solution.q(t[k]))
    pin, push = pins[0][:2, k], 0.06 * force[:, k] / np.linalg.norm(force[:, k])
    for sign, words, colour in ((1, "f, on the rocker", 1), (-1, "-f, on the coupler", 0)):
        arrow(left, pin, pin + sign * push, colour=COLOURS[colour])
        note(left, pin + sign * push, words, (sign * 36, 12), COLOURS[colour])
    left.margins(0.22, 0.16)
    forces, gaps = (figure.add_subplot(grid[row, 1]) for row in range(2))
    curves(forces, t, {"f, x": force[0], "f, y": force[1]}, ("", "force at the cut (N)"))
    forces.legend(fontsize=SMALL, frameon=False)
    gaps.semilogy(t, np.maximum(gap, 1e-18), color=COLOURS[2], linewidth=1.0)
    style(gaps, "time (s)", "gap at the cut (m)")
    return (
        f"the pin passes up to {np.linalg.norm(force[:, k]):.2f} N (sketched then) and opens by "
        f"at most {gap.max():.1e} m over {t[-1]:g} s"
    )


PINS = ("coupler end", "rocker end")


def _mechanism(figure: Any) -> str:
    left, tip = two_link_sketch(figure, GRAVITY, "Table 1")
    arrow(left, tip, tip - [0, 0.14])
    note(left, tip, "f", (8, -16), COLOURS[1])
    arrow(left, (0.1, 0.6), (0.1, 0.48), "g", COLOURS[2], 10)
    return "the model two_link, whose numbers stand beside the sketch"


def _coordinates(figure: Any) -> str:
    tree = two_link()
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    drawn = sketch(left, tree, POSTURE)
    (base, elbow), _ = ([end[:2] for end in ends] for ends in drawn.values())
    for number, pose in enumerate([np.eye(4), *frames(tree, POSTURE)]):
        axes_of(left, pose, 0.13, str(number))
    angle(left, base, 0.0, POSTURE[0], 0.22, "θ1")
    angle(left, elbow, POSTURE[0], POSTURE[1], 0.22, "θ2")
    left.margins(0.2, 0.15)
    turned = frames(tree, (0.0, 0.0))
    steps = np.diff([0.0, *(pose[0, 3] for pose in turned)])
    rows = [
        (f"{k}", f"θ{k}", f"{turned[k - 1][2, 3]:g}", f"{step:g}", f"{_twist(turned[k - 1]):g}")
        for k, step in enumerate(steps, 1)
    ]
    tabulate(right, ("link", "θ", "d (m)", "a (m)", "α (rad)"), rows)
    return "the frames of the model's links, each at its link's far end with x along the link"


def _twist(pose: np.ndarray) -> float:
    return float(np.arctan2(pose[2, 1], pose[2, 2]))


def _profiles(figure: Any, solution: Solution, printed: float, quantity: str, words: str) -> Any:
    """Draw both joints' curves of a quantity with the printed time; return the axes."""
    axes, t = figure.subplots(), solution.times(401)
    curves(axes, t, dict(zip(JOINTS, getattr(solution, quantity)(t))), ("time (s)", words))
    mark(axes, printed, f"printed T = {printed:g} s")
    axes.margins(x=0.02)
    return axes


def _fastest_angles(figure: Any) -> str:
    solution, fine = answers.fastest(), answers.nearly_fastest()
    axes = _profiles(figure, solution, FASTEST, "q", "joint angle (rad)")
    behind(axes, fine.times(), fine.q(fine.times()), FINE)
    legend(figure)
    return f"T = {beside(solution.duration, FASTEST, 's')}; {excess(solution)}"


def _fastest_torques(figure: Any) -> str:
    solution, fine = answers.fastest(), answers.nearly_fastest()
    axes = _profiles(figure, solution, FASTEST, "tau", "joint torque (N m)")
    t = fine.times(801)
    tau = fine.tau(t)
    behind(axes, t, tau, FINE)
    bounds(axes)
    legend(figure)
    return (
        f"{excess(solution)}; signs change at {turns(t, tau[0])} (shoulder) and "
        f"{turns(t, tau[1])} (elbow) on the finer spline, which needs {fine.duration:.5f} s"
    )


def _history(figure: Any) -> str:
    solution, (whole, near) = answers.fastest(), figure.subplots(1, 2)
    steps = [(step.number, step.objective) for step in solution.history]
    look: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linewidth": 1.2, "label": "ours"}
    for axes, words in ((whole, "travel time T (s)"), (near, "the same, near the end")):
        axes.plot(*zip(*steps), color=COLOURS[0], **look)
        mark(axes, FASTEST, f"printed T = {FASTEST:g} s", across=True)
        for (name, value), colour in zip(OTHERS.items(), (COLOURS[1], COLOURS[2])):
            axes.axhline(value, color=colour, linewidth=0.9, label=f"{name}, {value:g} s")
        axes.locator_params(axis="x", integer=True)
        style(axes, "iteration", words)
    near.set(xlim=(len(steps) / 2, len(steps) - 0.5), ylim=(0.3905, 0.3985))
    legend(figure)
    seconds = solution.statistics["solve_cpu_seconds"]
    return (
        f"{len(steps) - 1} iterations, {seconds:.2f} processor seconds; T = "
        f"{beside(solution.duration, FASTEST, 's')}"
    )


def _lift_angles(figure: Any) -> str:
    solution = answers.lift()
    _profiles(figure, solution, LIFTED, "q", "joint angle (rad)")
    legend(figure)
    return f"T = {beside(solution.duration, LIFTED, 's')}; J = {solution.objective:.6f}"


def _lift_torques(figure: Any) -> str:
    solution = answers.lift()
    axes = _profiles(figure, solution, LIFTED, "tau", "joint torque (N m)")
    bounds(axes)
    legend(figure)
    peak = np.abs(solution.tau(solution.times(401))).max(axis=1)
    return f"largest torques {peak[0]:.2f} and {peak[1]:.2f} N m; {excess(solution)}"


def _lift_path(figure: Any) -> str:
    solution = answers.lift()
    axes, tree = trajectory(figure, solution, sides=0.1), solution.problem.tree
    t = solution.times(401)
    start = solution.q(t[0]), solution.qd(t[0])
    driven = simulate(tree, solution.tau(t), start, solution.duration, solution.problem.loads)
    drift = np.abs(driven.q - solution.q(t)).max()
    spots = np.array([np.array(position(tree, q, "tip")).ravel()[:2] for q in driven.q.T])
    axes.plot(*spots.T, color=COLOURS[1], linewidth=1.2, linestyle=(0, (3, 2)), zorder=5)
    axes.set_title("grey: path of tip; dashed: the same simulated from the torques", fontsize=SMALL)
    return f"{way_of(solution, 'tip')}; driven by its torques, the arm leaves it by {drift:.1e} rad"


def _sensitivities(figure: Any) -> str:
    solution = answers.lift()
    t = solution.times(81)
    recursion = sensitivities.recursive(solution, t)
    others = {
        "closed forms, eqs. 71-82": sensitivities.closed(solution, t, LOAD, GRAVITY),
        "finite differences": sensitivities.differences(solution, t),
        "composite bodies (ours)": sensitivities.composites(solution, t),
    }
    looks = (("o", 10), ("x", 8), ("+", 6))
    panels = figure.subplots(4, 3, sharex=True)
    for k, axes in enumerate(panels.ravel()):
        torque, by = divmod(k, 6)
        axes.plot(
            t, recursion[torque, by], color="0.6", linewidth=2.2, label="recursive, eqs. 21-35"
        )
        for number, ((name, values), (marker, every)) in enumerate(zip(others.items(), looks)):
            axes.plot(
                t,
                values[torque, by],
                color=COLOURS[number],
                linestyle="",
                marker=marker,
                markersize=4,
                markerfacecolor="none",
                markevery=every,
                label=name,
            )
        style(axes, "time (s)" if k > 8 else "", "")
        axes.set_title(f"∂τ{torque + 1}/∂{sensitivities.BY[by]}", fontsize=TEXT, pad=4)
        low, high = axes.get_ylim()
        axes.set_ylim(low - max(0, 0.05 - (high - low)), high + max(0, 0.05 - (high - low)))
    legend(figure)
    worst = {name: np.abs(values - recursion).max() for name, values in others.items()}
    return "from the recursion differ at most " + ", ".join(
        f"{name} by {value:.1e}" for name, value in worst.items()
    )


KNOTS = (
    "IPOPT in place of SNOPT; 22 control points a joint on 20 segments and bounds at the knots, as "
    "in the paper"
)
DENSER = (
    "IPOPT in place of SNOPT; bounds at four instants of each of the 20 segments; the paper "
    "does not say where it puts them"
)
PAGES = (
    Page(
        name="xiang-04",
        source=SOURCE + "Fig. 4",
        caption="A closed loop cut at one joint: where its two ends meet is a constraint, and what "
        "the cut joint passes acts as an external force on either side.",
        printed="a sketch without numbers, beside eqs. 38",
        draw=_loop,
        differs="the paper sketches any chain whose last link is constrained; here it is the "
        "four-bar mechanism of this project, cut at the pin of coupler and rocker, over one turn "
        "with the least effort",
    ),
    Page(
        name="xiang-05",
        source=SOURCE + "Figs. 5 and 15, Table 1",
        caption="The two-link arm in a vertical plane: relative angles, torques, and its data; the "
        "load f and gravity g act in example 2 alone.",
        printed="L = 0.4 m, m = 0.5 kg, I = 0.1 kg m², torques within ±10 N m",
        draw=_mechanism,
        differs="nothing in the data; inertias are about the centres of mass (dots), as the closed "
        "forms of the appendix have them",
        height=2.9,
    ),
    Page(
        name="xiang-06",
        source=SOURCE + "Fig. 6, Table 2",
        caption="Coordinate frames of the two-link arm after Denavit and Hartenberg.",
        printed="a1 = L1, a2 = L2, all other constants zero",
        draw=_coordinates,
        differs="nothing: the table beside is read off the model's frames at zero angles",
        height=2.9,
    ),
    Page(
        name="xiang-07",
        source=SOURCE + "Fig. 7",
        caption="Example 1, rest to rest in minimum time: joint angles.",
        printed=f"T = {FASTEST} s; (0, -2) to (1, -1) rad",
        draw=_fastest_angles,
        differs=KNOTS + "; no setting tried gives the printed T, which lies above the optimum",
    ),
    Page(
        name="xiang-08",
        source=SOURCE + "Fig. 8",
        caption="Example 1, rest to rest in minimum time: joint torques.",
        printed=f"T = {FASTEST} s, torques within ±10 N m",
        draw=_fastest_torques,
        differs=KNOTS + "; cubic splines smear the jumps of the bang-bang optimum over one segment",
    ),
    Page(
        name="xiang-09",
        source=SOURCE + "Fig. 9",
        caption="Example 1, rest to rest in minimum time: the arm at equal steps of time.",
        printed="the trajectory alone, without numbers",
        draw=partial(path_of_tip, answer=answers.fastest),
        differs="early postures are light, late ones dark; the path of the tip is added",
        height=3.6,
    ),
    Page(
        name="xiang-10",
        source=SOURCE + "Fig. 10",
        caption="Example 1: the cost, which is the travel time, from iteration to iteration.",
        printed="T = 0.3934 s in 1.07 s of CPU at 1.40 GHz; quoted beside: 0.3945 s (Furukawa "
        "2002), 0.394 s (Wang et al. 2005)",
        draw=_history,
        differs="IPOPT, an interior point method, in place of the SQP of SNOPT; the first guess is "
        "straight between the ends as in the paper, which does not print with what T it begins",
    ),
    Page(
        name="xiang-11",
        source=SOURCE + "Fig. 11",
        caption="Example 2, a load of 10 N lifted against gravity, time and effort mixed with "
        "u = 0.01: joint angles.",
        printed=f"T = {LIFTED:.3f} s; (1.32, -2.37) to (2.80, -2.37) rad",
        draw=_lift_angles,
        differs=DENSER,
    ),
    Page(
        name="xiang-12",
        source=SOURCE + "Fig. 12",
        caption="Example 2, a load lifted: joint torques.",
        printed=f"T = {LIFTED:.3f} s, torques within ±10 N m",
        draw=_lift_torques,
        differs=DENSER,
    ),
    Page(
        name="xiang-13",
        source=SOURCE + "Fig. 13",
        caption="Example 2, a load lifted: the arm at equal steps of time, and its tip's path as "
        "its torques drive it.",
        printed="the torques, integrated by a multibody program, gave a trajectory that matched "
        "well",
        draw=_lift_path,
        differs="our simulator, CVODES with articulated inertias, in place of ADAMS",
        height=3.6,
    ),
    Page(
        name="xiang-14",
        source=SOURCE + "Fig. 14",
        caption="Example 2: the torques' sensitivities along the optimum, by the recursion and by "
        "the closed forms.",
        printed="the two match closely",
        draw=_sensitivities,
        differs="the paper does not say which sensitivities it drew; these are all twelve by "
        "angles, rates and accelerations (primes; N m per rad, rad/s, rad/s²), with finite "
        "differences and our composite bodies beside",
        height=6.0,
    ),
)

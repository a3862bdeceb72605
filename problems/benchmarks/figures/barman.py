"""The figures of Barman (2020), chapter IV: two arms of two links."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ocp import Solution
from ocp.problems.benchmarks.figures import answers
from ocp.problems.benchmarks.figures.mechanisms import two_link_sketch
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
    peaks,
    turns,
)

SOURCE = "Barman 2020, "
TURNING, SLIDING = 0.392, 0.5585  # s, as printed (sections 4.1, 4.2)
SWITCHES = {
    "link 1 just over 0.2 s": 0.2,
    "link 2 after 0.25 s": 0.25,
}  # of torques, as the text tells
HINGES = ("link 1", "link 2")
SLIDES = ("f1, slide (N)", "τ2, hinge (N m)")
ALTERED: dict[str, tuple[dict[str, float], str]] = {  # one datum each; these come near the print
    "stroke 0.5 m": ({"stroke": 0.5}, "-"),
    "weight u 0.00442": ({"u": 0.00442}, "--"),
}


def _mechanism(figure: Any) -> str:
    two_link_sketch(figure, 0.0, "Table 4.2")
    return "the model two_link, whose numbers stand beside the sketch"


def _torques(figure: Any) -> str:
    solution, fine = answers.fastest(), answers.nearly_fastest()
    axes, t = figure.subplots(), solution.times(401)
    curves(axes, t, dict(zip(HINGES, solution.tau(t))), ("time (s)", "joint torque (N m)"))
    times = fine.times(801)
    tau = fine.tau(times)
    behind(axes, times, tau, FINE)
    mark(axes, TURNING, f"printed T = {TURNING:g} s")
    for (name, time), marker in zip(SWITCHES.items(), "dv"):
        look = {"marker": marker, "markersize": 6, "color": "0.35", "linestyle": ""}
        axes.plot(time, 0.0, label=f"text: {name}", **look)
    bounds(axes)
    legend(figure)
    return (
        f"T = {beside(solution.duration, TURNING, 's')}; {excess(solution)}; near the optimum "
        f"link 1 changes sign at {turns(times, tau[0])}, link 2 at {turns(times, tau[1])}"
    )


def norms(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Return the norms (n, N) of the forces that joints pass to their links."""
    return np.linalg.norm(solution.reactions(t)[1], axis=0)


def _forces(figure: Any) -> str:
    solution = answers.fastest()
    axes, t = figure.subplots(), solution.times(401)
    first, second = norms(solution, t)
    curves(axes, t, dict(zip(HINGES, (first, second))), ("time (s)", "joint force, norm (N)"))
    mark(axes, TURNING, f"printed T = {TURNING:g} s")
    axes.set_ylim(bottom=0)
    legend(figure)
    above = 100 * np.mean(first > second)
    return (
        f"{peaks(first)} and {peaks(second)} peaks, up to {first.max():.1f} and {second.max():.1f} "
        f"N; link 1 has the larger one for {above:.0f} % of the time, and at the end "
        f"{first[-1]:.2f} beside {second[-1]:.2f} N"
    )


def _actuation(figure: Any) -> str:
    solution = answers.sliding()
    axes, t = figure.subplots(), solution.times(401)
    tau = solution.tau(t)
    words = ("time (s)", "actuating force (N), torque (N m)")
    curves(axes, t, dict(zip(SLIDES, tau)), words)
    others = _altered(axes, lambda other, times: other.tau(times))
    mark(axes, SLIDING, f"printed T = {SLIDING:g} s")
    bounds(axes)
    legend(figure)
    signs = ["from + to -" if line[0] > 0 > line[-1] else "from - to +" for line in tau]
    return (
        f"T = {beside(solution.duration, SLIDING, 's')}; {others}; the force goes {signs[0]}, the "
        f"torque {signs[1]}; {excess(solution)}"
    )


def _altered(axes: Any, values: Callable[[Solution, np.ndarray], np.ndarray]) -> str:
    """Draw the curves of motions with one datum altered; return their durations in words."""
    words = []
    for name, (data, dash) in ALTERED.items():
        other = answers.sliding(**data)
        times = other.times(401)
        behind(axes, times, values(other, times), f"altered: {name}", dash)
        words.append(f"{other.duration:.4f} s with {name}")
    return ", ".join(words)


def _inner(figure: Any) -> str:
    solution = answers.sliding()
    axes, t = figure.subplots(), solution.times(401)
    slide, hinge = norms(solution, t)
    lines = {"prismatic joint": slide, "revolute joint": hinge}
    curves(axes, t, lines, ("time (s)", "joint force, norm (N)"))
    _altered(axes, norms)
    mark(axes, SLIDING, f"printed T = {SLIDING:g} s")
    axes.set_ylim(bottom=0)
    legend(figure)
    return (
        f"{peaks(slide)} and {peaks(hinge)} peaks, up to {slide.max():.1f} and {hinge.max():.1f} "
        f"N; the revolute joint has the smaller one for {100 * np.mean(hinge < slide):.0f} % of "
        "the time"
    )


KNOTS = "IPOPT in place of SNOPT; 22 control points a joint, bounds at the knots of the spline"
DATA = (
    "the printed T does not follow from the printed data, by which the slide goes from 0.1 to pi/4 "
    "m; grey: motions with one datum altered that come near it, a shorter stroke likelier than a "
    "lighter effort"
)
PAGES = (
    Page(
        name="barman-4-1",
        source=SOURCE + "Fig. 4.1, Tables 4.1 and 4.2",
        caption="The arm with two revolute joints: relative angles and its data.",
        printed="L = 0.4 m, m = 0.5 kg, I = 0.1 kg m² about the centre of mass, within ±10 N m",
        draw=_mechanism,
        differs="nothing in the data: it is the arm of Xiang et al. (2009), its plane horizontal: "
        "the joints bear the weight",
        height=2.9,
    ),
    Page(
        name="barman-4-2",
        source=SOURCE + "Fig. 4.2",
        caption="Two revolute joints, rest to rest in minimum time: torques that jump from "
        "bound to bound.",
        printed=f"T = {TURNING} s; link 1 leaves its upper bound just over 0.2 s, link 2 is at the "
        "lower bound for a short time and goes back to it after 0.25 s",
        draw=_torques,
        differs=KNOTS + ", their number not printed in the thesis",
    ),
    Page(
        name="barman-4-3",
        source=SOURCE + "Fig. 4.3",
        caption="Two revolute joints, minimum time: norms of the internal forces of the joints.",
        printed="two peaks; that of the first link is the larger until both merge near the end",
        draw=_forces,
        differs="a third, lower peak follows; the norms come nearest to each other two thirds of "
        "the way and do not merge; the weight of the links is counted; no values are printed",
    ),
    Page(
        name="barman-4-4",
        source=SOURCE + "Fig. 4.4",
        caption="Two revolute joints, minimum time: the arm at equal steps of time.",
        printed="the trajectory alone, said to resemble that of Xiang et al. (2009)",
        draw=partial(path_of_tip, answer=answers.fastest),
        differs="early postures are light, late ones dark; the path of the tip is added",
        height=3.6,
    ),
    Page(
        name="barman-4-5",
        source=SOURCE + "Fig. 4.5",
        caption="A sliding and a turning joint, time and effort mixed with u = 0.01: what drives "
        "them.",
        printed=f"T = {SLIDING} s; the force goes from a positive to a negative peak, the torque "
        "from a negative to a positive one",
        draw=_actuation,
        differs=DATA,
    ),
    Page(
        name="barman-4-6",
        source=SOURCE + "Fig. 4.6",
        caption="A sliding and a turning joint: norms of the internal forces of the joints.",
        printed="both have two peaks; that of the revolute joint is the lower",
        draw=_inner,
        differs=DATA + "; the norm counts the driving force and the weight of the links",
    ),
    Page(
        name="barman-4-7",
        source=SOURCE + "Fig. 4.7",
        caption="A sliding and a turning joint: the arm at equal steps of time.",
        printed="a translation and a rotation",
        draw=partial(path_of_tip, answer=answers.sliding),
        differs="literal data; the table is read as in our model pr, the second link along the "
        "slide at q2 = 0",
        height=4.0,
    ),
)

"""The counts of Book (1983), section 6; the report prints no figure of them."""

from typing import Any

import numpy as np

from ocp.plots import COLOURS, style
from ocp.problems.benchmarks.dynamics.compare_book import (
    ADDITIONS,
    CASES,
    MULTIPLICATIONS,
    STATED,
    counted,
    polynomial,
    rigid_for,
)
from ocp.problems.benchmarks.figures.page import Page, legend, mark
from ocp.problems.benchmarks.operations import dense, printed

SOURCE = "Book 1983, section 6"
JOINTS, FLEXIBLE, MODES = 6, 2, (1, 2, 3, 4)  # the text's example is that with three modes
WALKER = 4491  # multiplications of a rigid simulation with 12 freedoms, as the text quotes
RATIOS = {"inverse, 3x3 / Newton-Euler": 2.66, "simulation, flexible / rigid": 2.67}


def _counts(figure: Any) -> str:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    pairs = {m: counted(JOINTS, FLEXIBLE, m) for m in MODES}
    kinds = (("multiplications", MULTIPLICATIONS), ("additions", ADDITIONS))
    for place, (name, powers) in enumerate(kinds):
        values = [polynomial(powers, JOINTS, FLEXIBLE, m) for m in MODES]
        colour = COLOURS[place]
        left.plot(MODES, values, color=colour, linestyle=(0, (4, 1.5)), label=f"Book, {name}")
        ours = [pairs[m][place] for m in MODES]
        left.plot(MODES, ours, color=colour, marker="o", markersize=4, label=f"ours, {name}")
    left.plot(
        3, STATED, linestyle="", marker="*", markersize=11, color="0.2", label=f"text: {STATED:,}"
    )
    left.set_xticks(MODES)
    style(left, "modes on each of 2 flexible links, 6 joints", "operations")
    x = np.arange(len(CASES))
    for k, (name, heights) in enumerate(
        (
            ("Book, multiplications", [polynomial(MULTIPLICATIONS, *case) for case in CASES]),
            ("ours, multiplications", [counted(*case)[0] for case in CASES]),
        )
    ):
        right.set_axisbelow(True)
        bars = right.bar(x + 0.4 * k - 0.2, heights, 0.38, color=("0.7", COLOURS[0])[k], label=name)
        right.bar_label(bars, [f"{height:,.0f}" for height in heights], fontsize=5.2, padding=1)
    right.set_xticks(x, ["{}, {}, {}".format(*case) for case in CASES])
    style(right, "joints, flexible links, modes on each", "multiplications")
    legend(figure)
    example = polynomial(MULTIPLICATIONS, JOINTS, FLEXIBLE, 3)
    return (
        f"{pairs[3][0]:,} multiplications for the text's example, where the polynomial gives "
        f"{example:,.0f} and the text {STATED:,}"
    )


def _ratios(figure: Any) -> str:
    axes, joints = figure.subplots(), 2 * JOINTS
    tables = printed("hollerbach_3x3", joints)[0] / printed("newton_euler", joints)[0]
    rigid = dense("hollerbach_3x3", joints)[0] / dense("newton_euler", joints)[0]
    flexible = counted(JOINTS, FLEXIBLE, 3)[0]
    paid = rigid_for(JOINTS, FLEXIBLE, 3)
    values = {
        "printed": list(RATIOS.values()),
        "from the printed counts": [tables, STATED / WALKER],
        "ours": [rigid, flexible / WALKER],
    }
    for k, (name, heights) in enumerate(values.items()):
        bars = axes.bar(np.arange(2) + 0.27 * (k - 1), heights, 0.25, color=COLOURS[k], label=name)
        axes.bar_label(bars, [f"{height:.2f}" for height in heights], fontsize=7, padding=1)
    axes.set_xticks(range(2), list(RATIOS))
    mark(axes, 1.0, "equal cost", across=True)
    axes.margins(y=0.12)
    axes.set_axisbelow(True)
    style(axes, "", "ratio of multiplications, 12 freedoms")
    legend(figure)
    return (
        f"{flexible:,} multiplications of the flexible model over the {WALKER:,} quoted of "
        f"Walker's rigid one; 3x3 over Newton-Euler {rigid:.2f} by our counts; what the flexible "
        f"model's accelerations cost would pay for {paid} rigid joints, {paid - JOINTS} of them "
        "imaginary, by articulated inertias, additions counted too"
    )


PAGES = (
    Page(
        name="book-counts",
        source=SOURCE,
        caption="Multiplications and additions of a flexible arm in simulation form, J and R of "
        "J z'' = R, against the number of joints, flexible links and modes.",
        printed=f"two polynomials in n, n_f and m; about {STATED:,} multiplications at n = 6, "
        "n_f = 2, m = 3 (star)",
        draw=_counts,
        differs="ours count one general chain in numbers with repetitions kept once, his whole "
        "matrix products averaged over joint kinds; his polynomial misses the text's number by 648",
    ),
    Page(
        name="book-ratios",
        source=SOURCE,
        caption="What the 4x4 matrices cost with twelve freedoms: inverse dynamics of rigid links, "
        "and simulation with flexible ones beside a rigid model.",
        printed="2.66 of inverse dynamics, 2.67 of simulation (12,009 over 4,491 of Walker); for "
        "less work 15 imaginary joints beside the 6 real ones",
        draw=_ratios,
        differs="of Walker's only the number is quoted; ours over it mixes two ways to count",
        height=2.8,
    ),
)

"""The tables of Hollerbach (1980), and the crossover that its text tells of."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ocp.plots import COLOURS, SMALL, style
from ocp.problems.benchmarks.figures.mechanisms import tabulate
from ocp.problems.benchmarks.figures.page import Page, legend, mark
from ocp.problems.benchmarks.operations import TABLE_I, TABLE_II, Pair, dense, leading, printed

SOURCE = "Hollerbach 1980, "
LARGEST, FARTHEST = 12, 24  # joints: counted, and drawn by the printed polynomials
WHAT = ("multiplications", "additions")
NAMES = {
    "uicker_kahn": "Uicker/Kahn",
    "waters": "Waters",
    "hollerbach_4x4": "Hollerbach (4x4)",
    "hollerbach_3x3": "Hollerbach (3x3)",
    "newton_euler": "Newton-Euler",
    "configuration_space": "Horn, Raibert",
}
CROSSOVER = 9  # joints from which on tables cost more than Newton-Euler, as the text says
POWERS = ("", " n", " n²", " n³", " n⁴")


def polynomial(coefficients: Sequence[float]) -> str:
    """Return a polynomial in n as text, highest power first, fractions as the paper writes them."""
    words = ""
    for power, number in zip(range(len(coefficients) - 1, -1, -1), coefficients):
        if number:
            whole, rest = divmod(Fraction(abs(number)).limit_denominator(24), 1)
            shown = " ".join(str(part) for part in (whole, rest) if part)
            shown = "" if shown == "1" and power else shown
            sign = "-" if number < 0 else "+"
            start = f" {sign} " if words else sign.replace("+", "")
            words += start + (shown + POWERS[power]).lstrip()
    return words


def counted(method: str, place: int) -> str:
    """Return our dense count as a polynomial, exact from two joints on, as text."""
    term = leading(lambda n: dense(method, n), LARGEST)
    if term is None:
        return f"{dense(method, LARGEST)[place]} at n = {LARGEST}"
    numbers = range(2, term[0] + 3)
    values = [dense(method, n)[place] for n in numbers]
    fit = np.polyfit(numbers, values, term[0])
    return polynomial([float(Fraction(c).limit_denominator(24)) for c in fit])


def _first_table(figure: Any) -> str:
    *tables, bottom = figure.subplots(3, 1, height_ratios=(1, 1, 1.2))
    for place, axes in enumerate(tables):
        rows = [
            (NAMES[method], polynomial(TABLE_I[method][place]), counted(method, place))
            for method in TABLE_I
        ]
        tabulate(axes, (WHAT[place], "table I", "ours"), rows, 0.14, SMALL - 0.6)
    n = range(1, LARGEST + 1)
    for colour, method in zip(COLOURS, TABLE_I):
        ratios = [sum(dense(method, k)) / sum(printed(method, k)) for k in n]
        bottom.plot(n, ratios, color=colour, marker="o", markersize=3, label=NAMES[method])
    bottom.axhline(1.0, color="0.4", linewidth=0.8)
    style(bottom, "joints n", "operations, ours / table")
    legend(figure)
    last = {NAMES[m]: sum(dense(m, LARGEST)) / sum(printed(m, LARGEST)) for m in TABLE_I}
    return f"of the table's operations at n = {LARGEST}: " + ", ".join(
        f"{name} {ratio:.2f}" for name, ratio in last.items()
    )


def _second_table(figure: Any) -> str:
    several: tuple[tuple[str, Callable[[str], Pair]], ...] = (
        ("printed, table II", lambda method: TABLE_II[method]),
        ("table I at n = 6", lambda method: printed(method, 6)),
        ("ours, every entry a symbol", lambda method: dense(method, 6)),
    )
    panels = figure.subplots(2, 1, sharex=True)
    for place, axes in enumerate(panels):
        for k, (name, count) in enumerate(several):
            x = np.arange(len(TABLE_II)) + 0.28 * (k - 1)
            heights = [count(method)[place] for method in TABLE_II]
            bars = axes.bar(x, heights, 0.26, color=(COLOURS[k], "0.75")[k == 1], label=name)
            axes.bar_label(bars, [f"{height:,}" for height in heights], fontsize=5.8, padding=1)
        axes.set_yscale("log")
        axes.set_axisbelow(True)
        axes.set_ylim(100, 3e5)
        axes.set_xticks(range(len(TABLE_II)), [NAMES[method] for method in TABLE_II])
        style(axes, "", WHAT[place])
    panels[0].tick_params(labelbottom=False)
    legend(figure)
    own, rival = (sum(dense(m, 6)) for m in ("hollerbach_3x3", "newton_euler"))
    return (
        f"the Newton-Euler sweeps take {100 * (1 - rival / own):.0f} % less than Hollerbach (3x3)"
    )


def _crossover(figure: Any) -> str:
    panels, n = figure.subplots(1, 2, sharey=True), np.arange(1, LARGEST + 1)
    far = np.arange(1, FARTHEST + 1)
    for place, axes in enumerate(panels):
        for colour, method in zip(COLOURS, TABLE_I):
            look: dict[str, Any] = {"color": colour, "linewidth": 1.2}
            ours = [dense(method, k)[place] for k in n]
            table = np.polyval(TABLE_I[method][place], far)
            axes.plot(far, np.where(table > 0, table, np.nan), linestyle=(0, (4, 1.5)), **look)
            axes.plot(n, ours, label=NAMES[method], marker="o", markersize=2.5, **look)
        mark(axes, CROSSOVER, f"text: tables cost more from n = {CROSSOVER}")
        axes.set(xscale="log", yscale="log", ylim=(3, 1e7))
        axes.set_xticks([1, 2, 3, 6, 9, 12, 24], ["1", "2", "3", "6", "9", "12", "24"])
        axes.minorticks_off()
        style(axes, "joints n", "" if place else "operations")
        axes.set_title(WHAT[place], fontsize=SMALL + 1)
    legend(figure)
    found = [[_crossing(count, place) for place in range(2)] for count in (printed, dense)]
    (times, plus), (own_times, own_plus) = found
    return (
        f"Newton-Euler costs less by table I from n = {times} (×) and {plus} (+), by our counts "
        f"from {own_times} (×) and {own_plus} (+)"
    )


def _crossing(count: Callable[[str, int], Pair], place: int) -> int:
    """Return from how many joints on Newton-Euler costs less than tables."""
    n = FARTHEST
    while count("newton_euler", n - 1)[place] < count("configuration_space", n - 1)[place]:
        n -= 1
    return n


RULE = (
    "ours count the same way, each entry of each matrix a symbol, but keep and reuse what they have"
)
PAGES = (
    Page(
        name="hollerbach-table-1",
        source=SOURCE + "Table I",
        caption="Multiplications and additions of the torques of n joints by six methods.",
        printed="polynomials in n, with the scan's halves read so that table II follows",
        draw=_first_table,
        differs=RULE + "; ours are exact from n = 2 on",
        height=5.2,
    ),
    Page(
        name="hollerbach-table-2",
        source=SOURCE + "Table II",
        caption="Multiplications and additions of the torques of six joints by six methods.",
        printed="66,271 and 51,548 (Uicker/Kahn) down to 468 and 264 (Horn, Raibert), in blue; "
        "Newton-Euler 60 % below the recursive Lagrangian",
        draw=_second_table,
        differs="table I gives 67,143 multiplications for Uicker/Kahn where table II prints "
        "66,271; " + RULE,
        height=4.6,
    ),
    Page(
        name="hollerbach-crossover",
        source=SOURCE + "section on configuration space",
        caption="Operations against the number of joints: where looked-up tables stop paying. "
        "Dashed: the polynomials of table I; dots: our counts.",
        printed=f"tables cost fewest operations below n = {CROSSOVER}, Newton-Euler from there on",
        draw=_crossover,
        differs="a count of operations alone, as the paper's: what is looked up costs nothing",
        height=4.2,
    ),
)

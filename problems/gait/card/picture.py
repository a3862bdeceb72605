"""The report card as one page: every curve before people's, and the faults below."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from ocp import Solution
from ocp.plots import COLOURS, SMALL, TEXT, Band, Margins, Tile, Trace, draw_tiles, handles, picture
from ocp.problems.gait.card.curves import CURVES, PERCENT
from ocp.problems.gait.card.norms import Norms, norms
from ocp.problems.gait.card.report import report_card
from ocp.problems.gait.card.words import card_lines

RIGHT, LEFT = COLOURS[1], COLOURS[0]
MEASURED = {"winter": "0.55", "fukuchi": "0.1", "falisse": COLOURS[2]}
CYCLE = (0, 50, 100)  # %, at which ticks are
COLUMNS, WIDTH = 5, 10.0  # panels in a row; in
PANEL, WORDS = 1.46, 2.3  # in, how high a panel is, and the words below
MARGINS = Margins(left=0.42, right=0.1, top=0.45, below=0.24, between=0.44)
FAULTS = 9  # that are written below
LETTERS = 84, 96  # of a line of the words below, in two columns side by side
TINY = 6  # pt


def plot_card(
    solution: Solution,
    path: str | Path | None = None,
    *,
    card: Mapping[str, Any] | None = None,
    files: Sequence[str | Path] = (),
) -> Any:
    """Return the page of a report card, written to `path`, if any, as .png, .svg or .pdf.

    Each panel has a curve over the cycle of the right leg, and dashed of the left one where it has
    its own, before the mean and one standard deviation of each source, and r, their mean, in the
    corner. The `card` is made where it is not given; `files` are tables of people's curves beside
    those of the house. Raises ValueError naming any other suffix.
    """
    card = report_card(solution, files) if card is None else card
    known, shades = norms(files), dict(MEASURED)
    for k, source in enumerate(name for name in known if name not in shades):
        shades[source] = COLOURS[3 + k % 5]
    rows = -(-len(CURVES) // COLUMNS)
    high = MARGINS.top + rows * (PANEL + MARGINS.below) + WORDS
    sources = known if card["against"] else {}
    tiles = [tile(name, card, sources, shades) for name in CURVES]
    with picture(path, WIDTH, high, fixed=True) as figure:
        looks: dict = {"size": TINY, "x": "gait cycle (%)"}
        draw_tiles(figure, tiles, [PANEL] * rows, MARGINS, COLUMNS, **looks)
        _words(figure.add_axes((0, 0, 1, WORDS / high)), card)
        named = handles(tiles)
        figure.legend(
            named.values(),
            named,
            loc="upper center",
            ncols=len(named),
            fontsize=SMALL,
            frameon=False,
        )
    return figure


def measured(
    name: str, known: Mapping[str, Norms], shades: Mapping[str, Any]
) -> tuple[list[Trace], list[Band]]:
    """Return the sources' data, `known` by name, of the curve `name`, in their `shades`: means, and
    a deviation about them."""
    traces, bands = [], []
    for source, each in known.items():
        if name not in each.bands:
            continue
        band, shade = each.bands[name], shades[source]
        if band.spread is not None:
            low, high = band.mean - band.spread, band.mean + band.spread
            bands.append(Band(x=PERCENT, low=low, high=high, colour=(shade, 0.22)))
        traces.append(Trace(x=PERCENT, y=band.mean, colour=shade, width=0.8, label=source))
    return traces, bands


def tile(
    name: str, card: Mapping[str, Any], known: Mapping[str, Norms], shades: Mapping[str, Any]
) -> Tile:
    """Return the panel of one curve before those of people."""
    traces, bands = measured(name, known, shades)
    if card["left"] is not None:
        left, look = card["left"]["curves"][name], {"width": 1.1, "dash": "--"}
        traces.append(Trace(x=PERCENT, y=left, colour=LEFT, label="ours, left leg", **look))
    ours = card["curves"][name]
    traces.append(Trace(x=PERCENT, y=ours, colour=RIGHT, width=1.5, label="ours"))
    return Tile(
        title=f"{CURVES[name].title} ({CURVES[name].unit})",
        traces=traces,
        bands=bands,
        ticks=CYCLE,
        corner=f"r {card['r'][name]:+.2f}" if name in card["r"] else "",
    )


def _words(axes: Any, card: Mapping[str, Any]) -> None:
    """Write the summary and the worst faults side by side."""
    axes.set_axis_off()
    summary = [line for line in card_lines(card) if not line.startswith(("r, ", "faults"))]
    faults = [f"{k}. {text}" for k, text in enumerate(card["faults"][:FAULTS], 1)]
    more = len(card["faults"]) - len(faults)
    faults += [f"and {more} more"] if more > 0 else []
    title = "faults, the worst first" if faults else "no faults"
    for x, head, lines, most in (
        (MARGINS.left / WIDTH, "in numbers", [*summary, *card["remarks"]], LETTERS[0]),
        (0.5, title, faults, LETTERS[1]),
    ):
        broken = [part for line in lines for part in wrap(" ".join(line.split()), most)]
        axes.text(x, 0.86, head, fontsize=TEXT, fontweight="bold", va="top")
        axes.text(x, 0.75, "\n".join(broken), fontsize=SMALL, va="top", linespacing=1.3)

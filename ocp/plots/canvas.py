"""One canvas for all pictures: pages, colours, letters, axes, files written whole or not at all.

Pages are matplotlib figures on its Agg canvas, without pyplot and so without window or global
state; matplotlib loads when the first one is made.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import compress, crc32

import numpy as np

from ocp.storage.atomic_files import write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Transform

Frame: TypeAlias = Any  # axes in a plane, or in space
Look: TypeAlias = dict[str, Any]  # of a line or a patch, by keywords of matplotlib
Looks: TypeAlias = Mapping[str, Look]

PICTURES = (".png", ".svg", ".pdf")
# Okabe & Ito (2008), told apart by colour-blind eyes; without the yellow, which white paper
# swallows, with a grey, and with the wine and olive of Tol (2021) where eight do not suffice
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F"),
    *("#882255", "#999933"),
)
WIDTH, DPI = 7.2, 200  # in, of a page between its margins; dots per in
TEXT, SMALL = 8, 7  # pt, of labels and of what stands beside them
LABELLED = (0.24, 0.46)  # in: how far labels of a fixed grid are below and left of their axes


def check_suffix(path: str | Path, known: Sequence[str] = PICTURES) -> None:
    """Raise ValueError naming the file unless its suffix is one of those `known`."""
    if Path(path).suffix.lower() not in known:
        raise ValueError(
            f"{path}: suffix {Path(path).suffix!r}: expected one of {', '.join(known)}"
        )


@contextmanager
def picture(
    path: str | Path | None, width: float, height: float, *, fixed: bool = False
) -> Iterator[Figure]:
    """Give an empty Figure of `width` and `height` (in) to draw in; write it if there is a path.

    Its axes find room for their words, or with `fixed` are where a `grid` puts them, which takes a
    fraction of the time. Nothing is written if drawing fails, and words stand as they are: a dollar
    sign in a name begins no formula. Raises ValueError naming a suffix that is no picture's.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if path is not None:
        check_suffix(path)
    figure = Figure(figsize=(width, height), layout="constrained")
    if fixed:
        _keep_places(figure)
    FigureCanvasAgg(figure)
    yield figure
    for text in _texts(figure):
        text.set_parse_math(False)
    if path is not None:
        engine = figure.get_layout_engine()
        if engine is not None:  # lay it out for good: else it is drawn twice
            engine.execute(figure)
            _keep_places(figure)
        write(path, _bytes(figure, Path(path).suffix[1:].lower()))


def _bytes(figure: Figure, kind: str) -> bytes:
    """Return the file of a figure: its kind is "png", "svg" or "pdf".

    Letters are not hinted, which would take a quarter of a page's time and shows in larger pixels
    alone.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with rc_context({"text.hinting": "none"}):
        if kind != "png":
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=DPI)
            return buffer.getvalue()
        figure.dpi = DPI
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return _png(np.asarray(canvas.buffer_rgba())[..., :3])


def _png(pixels: np.ndarray) -> bytes:
    """Return the .png of pixels (H, W, 3), opaque and with rows as they are (ISO/IEC 15948).

    Other writers choose a filter for each row, which takes twice as long and makes pages of lines
    and words larger.
    """
    high, wide, _ = pixels.shape
    rows = np.zeros((high, 1 + 3 * wide), dtype=np.uint8)  # each after the number of its filter
    rows[:, 1:] = pixels.reshape(high, -1)
    dots = round(DPI / 0.0254)  # in a metre
    chunks = {
        b"IHDR": pack(">2I5B", wide, high, 8, 2, 0, 0, 0),
        b"pHYs": pack(">2IB", dots, dots, 1),
        b"IDAT": compress(rows.tobytes(), 1),
        b"IEND": b"",
    }
    parts = [
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
        for kind, data in chunks.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _keep_places(figure: Figure) -> None:
    """Lay a figure out no more, whatever the user's settings of matplotlib are."""
    from matplotlib import rc_context

    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """What a grid leaves free (in): `left`, `right` and `top` of the page, `below` each row and
    `between` columns."""

    left: float
    right: float
    top: float
    below: float
    between: float = 0.0


def grid(
    figure: Figure, heights: Sequence[float], margins: Margins, columns: int = 1
) -> list[list[Axes]]:
    """Return rows of new axes of a fixed figure, the uppermost first, so many `columns` in each.

    Rows are `heights` (in) high, within `margins`. Labels of axes stand where tick labels leave
    room.
    """
    width, height = figure.get_size_inches()
    rows: list[list[Axes]] = []
    for boxes in places((width, height), heights, margins, columns):
        rows.append([])
        for left, low, wide, high in boxes:
            share = (left / width, low / height, wide / width, high / height)
            axes = figure.add_axes(share)
            below, beside = (
                _beyond(axes, *way) for way in ((0.0, -LABELLED[0]), (-LABELLED[1], 0.0))
            )
            axes.xaxis.set_label_coords(0.5, 0.0, below)
            axes.yaxis.set_label_coords(0.0, 0.5, beside)
            rows[-1].append(axes)
    return rows


def _beyond(axes: Axes, x: float, y: float) -> Transform:
    """Return places by shares of axes, so far (in) beyond them, also where these become smaller to
    be true to scale."""
    from matplotlib.transforms import ScaledTranslation

    return axes.transAxes + ScaledTranslation(x, y, axes.figure.dpi_scale_trans)


def places(
    page: tuple[float, float], heights: Sequence[float], margins: Margins, columns: int = 1
) -> list[list[tuple[float, float, float, float]]]:
    """Return (left, bottom, width, height), in, of the cells of a grid on a page of a width and
    height (in), row by row, the uppermost first."""
    width, height = page
    free = width - margins.left - margins.right - margins.between * (columns - 1)
    wide, low, rows = free / columns, height - margins.top, []
    for high in heights:
        low -= high
        starts = [margins.left + k * (wide + margins.between) for k in range(columns)]
        rows.append([(start, low, wide, high) for start in starts])
        low -= margins.below
    return rows


def pixels_in_unit(axes: Axes) -> float:
    """Return the pixels of a unit along x in the file, of axes whose limits are known."""
    axes.apply_aspect()
    inches = axes.bbox.width / axes.figure.dpi
    return float(DPI * inches / np.ptp(axes.get_xlim()))


def style(axes: Axes, x: str, y: str) -> None:
    """Give axes their labels, `x` and `y`, small letters and a faint grid."""
    axes.set_xlabel(x, fontsize=TEXT)
    axes.set_ylabel(y, fontsize=TEXT)
    axes.tick_params(which="both", labelsize=SMALL)
    axes.grid(True, linewidth=0.4, color="0.88")


def label_of(name: str) -> str:
    """Return a name as the label of a line, which matplotlib leaves out if it begins with "_"."""
    return f" {name}" if name.startswith("_") else name


def _texts(artist: Artist) -> Iterator[Text]:
    """Yield all words of a figure but the numbers at its axes, which may be powers of ten."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    if isinstance(artist, Axis):  # whose ticks are made when they are first drawn
        yield from (artist.label, artist.offsetText)
        return
    for part in artist.get_children():
        if isinstance(part, Text):
            yield part
        yield from _texts(part)


def shades(name: str, low: float = 0.0, high: float = 1.0) -> ListedColormap:
    """Return the part of matplotlib's colour map of that name between two shares of it."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[name](np.linspace(low, high, 256)))

"""Pages to draw on, on matplotlib's Agg canvas without pyplot and so without window or global state; it loads when a picture is made."""

import io
from contextlib import contextmanager
from pathlib import Path

from ocp.solution.files import write

PICTURES = (".png", ".svg", ".pdf")
# Okabe & Ito (2008), told apart by colour-blind eyes; without the yellow, which white paper swallows, and with a grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
WIDTH, TEXT, SMALL, DPI = 7.2, 8, 7, 200  # of a page between its margins, in; of letters, pt


def check_suffix(path, known):
    """Raise ValueError naming the file unless its suffix is one of those known."""
    if Path(path).suffix.lower() not in known:
        raise ValueError(
            f"{path}: suffix {Path(path).suffix!r}: expected one of {', '.join(known)}"
        )


@contextmanager
def picture(path, width, height):
    """Give an empty Figure (in) to draw in, and write it if there is a path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if path is not None:
        check_suffix(path, PICTURES)
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    yield figure
    if path is not None:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=DPI)
        write(path, buffer.getvalue())


def style(axes, x, y):
    """Give axes their labels, small letters and a faint grid."""
    axes.set_xlabel(x, fontsize=TEXT)
    axes.set_ylabel(y, fontsize=TEXT)
    axes.tick_params(which="both", labelsize=SMALL)
    axes.grid(True, linewidth=0.4, color="0.88")

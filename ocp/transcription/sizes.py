"""How large a program will be, counted before it is built, and a warning where that is too much."""

import warnings
from collections.abc import Iterable

from ocp.transcription.requests import Request
from ocp.transcription.variables import Layout

# Measured on minimum-time arms of 1000 to 3000 points and Radau of order 9 to 40: what building
# takes grows with unknowns times rows
BYTES, SECONDS = 16.0, 2e-7
MOST_BYTES, MOST_SECONDS = 2e9, 30.0  # of what is built without a word


class SizeWarning(UserWarning):
    """Given for a program that takes long, or much memory, before its solver begins."""


def warn_of_size(layout: Layout, requests: Iterable[Request]) -> None:
    """Warn if building the program will take more than MOST_SECONDS or MOST_BYTES."""
    rows = sum(len(request.numbers) * len(request.s) for request in requests)
    if layout.problem.motion.collocated:
        rows += 2 * layout.size // 3  # of q, qd, qdd those two that others determine
    places = layout.size * rows
    if places * BYTES <= MOST_BYTES and places * SECONDS <= MOST_SECONDS:
        return
    warnings.warn(
        f"{layout.size} unknowns and about {rows} rows take about {places * SECONDS:.0f} s and "
        f"{places * BYTES / 1e9:.1f} GB to build before the solver begins; fewer points, "
        "intervals or nodes, or a lower order, make it less",
        SizeWarning,
        stacklevel=2,
    )

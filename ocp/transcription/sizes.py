"""Sizes of programs, estimated before these are built.

A warning where building takes long, an error where no memory holds the program.
"""

import os
import warnings
from collections.abc import Iterable
from math import prod

from ocp.problem.statement import Problem
from ocp.transcription.methods import Method
from ocp.transcription.requests import Request
from ocp.transcription.variables.layout import Layout

# Measured on minimum-time arms of 1000 to 4000 points and Radau of order 9 to 40: what building
# takes grows with unknowns times rows
BYTES, SECONDS = 16.0, 2e-7
# Measured on chains of 50 to 100 joints, whose dynamics' second derivatives grow with the squared
# depths of all joints, and on functions of 2000 to 10,000 rows: up to a first iteration
DEPTH_SECONDS, ROW_SECONDS = 1.2e-4, 1e-4
MOST_BYTES, MOST_SECONDS = 2e9, 30.0  # of what is built without a word
BEYOND = 1.5  # times the memory there is: an estimate that is refused, since it may be too high
FAR_BEYOND = 10.0  # the same of one that does not know the rows
PER_INTERVAL = ("nodes", "order")  # settings of methods: instants on each interval


class SizeWarning(UserWarning):
    """Given for a program that takes long, or much memory, before its solver begins."""


def check_size(problem: Problem, method: Method) -> None:
    """Raise ValueError naming the settings if a motion has so many unknowns and instants that no
    memory holds their program, before anything is built."""
    intervals = getattr(method, "intervals", None)
    on_mesh = intervals is not None  # there stages are unknowns, whatever the spline's points
    settings = {"intervals": intervals} if on_mesh else {"points": problem.motion.points}
    settings |= {name: getattr(method, name, None) or 1 for name in PER_INTERVAL}
    instants = prod(settings.values())
    unknowns = problem.tree.dof * (instants if on_mesh else problem.motion.points)
    size = unknowns * instants * BYTES
    if size > MOST_BYTES and size > FAR_BEYOND * memory():
        many = ", ".join(f"{name} ({value})" for name, value in settings.items() if value > 1)
        raise ValueError(
            f"size: {unknowns} unknowns at {instants} instants take about {size / 1e9:.3g} GB, of "
            f"which there are {memory() / 1e9:.3g}; expected fewer of {many}"
        )


def warn_of_size(layout: Layout, requests: Iterable[Request]) -> None:
    """Warn if building the program will take more than MOST_SECONDS or MOST_BYTES.

    Raises ValueError if no memory holds it.
    """
    rows = sum(len(request.numbers) * len(request.s) for request in requests)
    if layout.problem.motion.collocated:
        rows += 2 * layout.size // 3  # of q, qd, qdd those two that others determine
    tree, places = layout.problem.tree, layout.size * rows
    depths: list[int] = []  # number of coordinates that move each link
    for parent, own in zip(tree.parents, tree.spans):
        depths.append(len(own) + (depths[parent] if parent >= 0 else 0))
    moved = (depth for depth, own in zip(depths, tree.spans) if own)
    dynamics = DEPTH_SECONDS * sum(depth**2 for depth in moved)
    functions = ROW_SECONDS * rows
    seconds, size = places * SECONDS + dynamics + functions, places * BYTES
    if size <= MOST_BYTES and seconds <= MOST_SECONDS:
        return
    words = (
        f"{layout.size} unknowns and about {rows} rows take about "
        f"{seconds:.0f} s and {size / 1e9:.1f} GB to build before the solver begins; "
    )
    fewer = "fewer points, intervals or nodes, or a lower order, make it less"
    if dynamics + functions > places * SECONDS:
        fewer = f"fewer joints in line (of {tree.dof} coordinates) or rows make it less"
    if size > BEYOND * memory():
        raise ValueError(f"size: {words}there are {memory() / 1e9:.3g} GB; {fewer}")
    warnings.warn(words + fewer, SizeWarning, stacklevel=2)


def memory() -> float:
    """Return the memory of this machine (bytes); infinite where it is not known."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")

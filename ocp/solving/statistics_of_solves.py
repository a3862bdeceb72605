"""Total statistics of several solves: iterations, calls and seconds."""

from collections.abc import Iterable, Mapping, Sequence

from ocp.solution.solution import Statistics
from ocp.solvers.nlp import Option

SECONDS = ("build_seconds", "solve_seconds", "solve_cpu_seconds", "total_seconds")
ADDED = ("iterations", *SECONDS)


def total_statistics(every: Sequence[Statistics]) -> dict[str, Option]:
    """Return the total iterations, calls and seconds of several solves' statistics."""
    sums = {name: sum(each[name] for each in every) for name in ADDED}
    return sums | {"calls": total_calls(each["calls"] for each in every)}


def total_calls(every: Iterable[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """Return {function: [times called, seconds]} of several solves or stages, added up."""
    sums: dict[str, list[float]] = {}
    for calls in every:
        for name, (count, seconds) in calls.items():
            before = sums.get(name, [0, 0.0])
            sums[name] = [before[0] + count, before[1] + seconds]
    return sums

"""Least and greatest values of a problem's outputs, as numbers of a study."""

from ocp.report.report import output_ranges
from ocp.solution.solution import Solution


def outputs(solution: Solution) -> dict[str, float]:
    """Return the least and the greatest value over the motion of each row of the problem's outputs,
    as "tip 0 least", or "power most" of one that has one row alone."""
    measured: dict[str, float] = {}
    for name, ends in output_ranges(solution).items():
        rows = len(ends["least"])
        labels = [name] if rows == 1 else [f"{name} {row}" for row in range(rows)]
        for end, values in ends.items():
            measured |= {f"{label} {end}": value for label, value in zip(labels, values)}
    return measured

"""Benchmark curves from a table of costs: performance profiles and data profiles.

Dolan & More (2002); More & Wild (2009). A table is {solver: {problem: cost}}; a cost is positive,
in whatever unit, and infinite or absent where the solver failed. A staircase is a tuple of corners
(cost, share of the problems within it).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf, log

from ocp.plots import Curve

Table = Mapping[str, Mapping[str, float]]
Stairs = tuple[tuple[float, float], ...]
DASHES, COLOURS = ("solid", "dashed", "dotted"), 10  # a dash for so many solvers


def ratios(table: Table) -> dict[str, dict[str, float]]:
    """Return {solver: {problem: cost over the least cost of any solver}}, infinite where it failed.

    Problems that nobody solved are left out (Dolan & More 2002, section 2). Raises ValueError
    naming a cost that is not positive.
    """
    for solver, costs in table.items():
        for name, cost in costs.items():
            if not cost > 0:
                raise ValueError(
                    f"cost of {solver} on {name}: expected a positive number, got {cost}"
                )
    names = sorted({name for costs in table.values() for name in costs})
    best = {name: min(costs.get(name, inf) for costs in table.values()) for name in names}
    return {
        solver: {name: costs.get(name, inf) / least for name, least in best.items() if least < inf}
        for solver, costs in table.items()
    }


def performance_profile(table: Table) -> dict[str, Stairs]:
    """Return {solver: staircase}: the share of problems solved within a factor of the best.

    rho(tau) = size{problems: ratio <= tau} / problems   (Dolan & More 2002, eq. 2.1).
    """
    return {
        solver: _stairs(costs.values(), len(costs), 1.0) for solver, costs in ratios(table).items()
    }


def data_profile(table: Table, problems: Collection[str]) -> dict[str, Stairs]:
    """Return {solver: staircase}: the share of all `problems` solved within a budget.

    The unit of the budget is that of the costs rather than a simplex gradient (More & Wild 2009,
    eq. 2.8).
    """
    return {
        solver: _stairs([costs.get(name, inf) for name in problems], len(problems), 0.0)
        for solver, costs in table.items()
    }


def share(stairs: Stairs, abscissa: float) -> float:
    """Return the height of a staircase at an abscissa."""
    return max((height for corner, height in stairs if corner <= abscissa), default=0.0)


def rank_solvers(profile: Mapping[str, Stairs]) -> list[str]:
    """Return the solvers, those first that solve most at last, and of these the quickest."""
    return sorted(
        profile,
        key=lambda solver: (-share(profile[solver], inf), _slowness(profile[solver]), solver),
    )


def curves(
    profile: Mapping[str, Stairs],
    start: float,
    end: float,
    order: Sequence[str] | None = None,
) -> list[Curve]:
    """Return a Curve for each solver, a staircase from `start` to `end`.

    Its place in the `order` says how it looks, by default as they are `ranked`; solvers of the
    order that the profile does not have are left out.
    """
    names = rank_solvers(profile) if order is None else order
    return [
        _curve(solver, number, profile[solver], start, end)
        for number, solver in enumerate(names)
        if solver in profile
    ]


def _curve(solver: str, number: int, stairs: Stairs, start: float, end: float) -> Curve:
    x, y = [start], [share(stairs, start)]
    for corner, height in stairs:
        if start < corner <= end:
            x += [corner, corner]
            y += [y[-1], height]
    return Curve(
        label=solver,
        x=(*x, end),
        y=(*y, y[-1]),
        colour=number,
        dash=DASHES[number // COLOURS % len(DASHES)],
    )


def _slowness(stairs: Stairs) -> float:
    """Return the mean logarithm of the costs of what was solved."""
    below = [0.0, *(height for _, height in stairs)]
    steps = [
        log(corner) * (height - before)
        for (corner, height), before in zip(stairs, below)
        if corner > 0
    ]
    return sum(steps) / (stairs[-1][1] or 1.0)


def _stairs(costs: Iterable[float], count: int, start: float) -> Stairs:
    """Return the corners from `start` on, where the share is 0 unless some cost is no greater."""
    corners = {start: 0.0}
    for rank, cost in enumerate(sorted(cost for cost in costs if cost < inf), start=1):
        corners[max(cost, start)] = rank / count
    return tuple(corners.items())

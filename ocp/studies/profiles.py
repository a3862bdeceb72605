"""Benchmark curves from a table of costs: performance profiles (Dolan & More 2002) and data profiles (More & Wild 2009).

A table is {solver: {problem: cost}}; a cost is positive, in whatever unit, and infinite or absent where the solver failed.
"""

from math import inf, log

from ocp.plots import Curve


def ratios(table):
    """Return {solver: {problem: cost over the least cost of any solver}}, infinite where it failed   (Dolan & More 2002, section 2).

    Problems that nobody solved are left out. Raises ValueError naming a cost that is not positive.
    """
    names = {name for costs in table.values() for name in costs}
    for solver, costs in table.items():
        for name, cost in costs.items():
            if not cost > 0:
                raise ValueError(
                    f"cost of {solver} on {name}: expected a positive number, got {cost}"
                )
    best = {name: min(costs.get(name, inf) for costs in table.values()) for name in sorted(names)}
    return {
        solver: {name: costs.get(name, inf) / least for name, least in best.items() if least < inf}
        for solver, costs in table.items()
    }


def performance_profile(table):
    """Return {solver: ((tau, share), ...)}, the corners of a rising staircase: the share of problems whose ratio is at most tau."""
    return {
        solver: _stairs(list(found.values()), len(found), 1.0)
        for solver, found in ratios(table).items()
    }


def data_profile(table, problems):
    """Return {solver: ((budget, share), ...)}: the share of the `problems`, solved by anybody or not, that cost at most the budget.

    (More & Wild 2009, eq. 2.8, the unit of the budget being that of the costs rather than a simplex gradient.)
    """
    return {
        solver: _stairs([costs.get(name, inf) for name in problems], len(problems), 0.0)
        for solver, costs in table.items()
    }


def share(stairs, abscissa):
    """Return the height of a staircase at an abscissa."""
    return max((height for corner, height in stairs if corner <= abscissa), default=0.0)


def ranked(profile):
    """Return the solvers, those first that solve most at last, and of these the quickest."""
    return sorted(
        profile,
        key=lambda solver: (-share(profile[solver], inf), _slowness(profile[solver]), solver),
    )


def curves(profile, start, end, order=None):
    """Return a Curve for each solver, a staircase from `start` to `end`, in an order that says how it looks, by default as they are `ranked`;
    solvers of the order that the profile does not have are left out."""
    dashes, found = ("solid", "dashed", "dotted"), []
    for number, solver in enumerate(ranked(profile) if order is None else order):
        if solver not in profile:
            continue
        x, y = [start], [share(profile[solver], start)]
        for corner, height in profile[solver]:
            if start < corner <= end:
                x, y = [*x, corner, corner], [*y, y[-1], height]
        found.append(
            Curve(
                label=solver,
                x=(*x, end),
                y=(*y, y[-1]),
                colour=number,
                dash=dashes[number // 10 % 3],
            )
        )
    return found


def _slowness(stairs):
    """Return the mean logarithm of the costs of what was solved."""
    below = [0.0, *(height for _, height in stairs)]
    return sum(
        log(corner) * (height - before)
        for (corner, height), before in zip(stairs, below)
        if corner > 0
    ) / (stairs[-1][1] or 1.0)


def _stairs(costs, count, start):
    """Return the corners (cost, share of `count` within it), from (start, 0 unless some cost is no greater) on."""
    corners = {start: 0.0}
    for position, cost in enumerate(sorted(cost for cost in costs if cost < inf), start=1):
        corners[max(cost, start)] = position / count
    return tuple(corners.items())

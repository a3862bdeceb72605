"""Chains of cells, and the lowest branch that any of them has seen.

A local optimum that is followed from cell to cell is a branch, on which the objective J is smooth
in the parameters p: between neighbours it grows by the mean of their slopes,

    J_b - J_a = (dJ/dp_a + dJ/dp_b) (p_b - p_a) / 2 + O((p_b - p_a)^3)

A chain runs from the middle of its design outwards, since from there all is near; a cell with
several neighbours that are nearer to the middle starts from the one whose tangent is lowest there,
and so on the lowest branch that has come as far. Where an objective then steps up from the above,
the higher one is solved again from the lower one, until nothing steps up any more. Where slopes are
not known, as they are on a plan, every cell is solved again from its neighbours. A solve from
another start is a cell of its own, which knows the one from which it starts: so a chain is the same
whenever, and by however many processes, it is solved.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ocp.studies.content import Content, Recipe, cell, content
from ocp.studies.designs import Cells, is_number, outwards
from ocp.studies.rows import Cell

Plan = list[tuple[Cell, int | None]]  # cells, each with the place of the one from which it starts
Known = Mapping[str, Cell]
Links = dict[int, tuple[Cell, int | None]]  # cells of a design, each with the one it starts from
Pair = tuple[int, int]
UNLIKE = 3.0  # usual steps of a smooth objective beyond which one is none
SLIGHT = 1e-6  # of an objective: by which another must be less to be lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The `cells` of a design, each of which starts from a neighbour, from the middle outwards.

    `nearer` are the neighbours of each on the lines of a grid that come before it in `order`, or
    else the nearest cell that does.
    """

    cells: tuple[Cell, ...]
    nearer: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    def onward(self, begun: Mapping[int, Cell], known: Known) -> Links:
        """Return what can begin beside what has `begun`, in order, each with where it starts.

        Those are cells that have one neighbour, and of those with several the ones whose neighbours
        are known all: they start from that whose branch is foretold to be the lowest here.
        """
        links: Links = {}
        cells = dict(begun)
        for k in self.order:
            near = self.nearer[k]
            if k in cells or not all(each in cells for each in near):
                continue
            done = [(each, known[cells[each].id]) for each in near if cells[each].id in known]
            if len(near) > 1 and len(done) < len(near):
                continue
            first = min(done, key=lambda one: _foretold(one[1], self.cells[k]), default=(None,))[0]
            donor = first if len(near) > 1 else next(iter(near), None)
            after = None if donor is None else cells[donor]
            cells[k] = cell(self.cells[k].parameters, _content(self.cells[k]), after)
            links[k] = cells[k], donor
        return links


def chained(recipe: Recipe, cells: Cells) -> Chain:
    """Return the Chain of a design."""
    order, nearer = outwards(cells)
    lines = lines_of(cells)
    beside: dict[int, list[int]] = {}
    for a, b in (pair for each in lines.values() for line in each for pair in pairwise(line)):
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    rank = {k: number for number, k in enumerate(order)}
    inner = [[j for j in beside.get(k, []) if rank[j] < rank[k]] for k in range(len(cells))]
    return Chain(
        cells=tuple(cell(parameters, content(recipe, parameters)) for parameters in cells),
        nearer=tuple(
            tuple(inner[k]) or (() if nearest is None else (nearest,))
            for k, nearest in enumerate(nearer)
        ),
        order=tuple(order),
    )


def _content(one: Cell) -> Content:
    return {name: part for name, part in one.content.items() if name != "after"}


def _foretold(a: Cell, b: Cell) -> float:
    """Return the height that a cell's slopes foretell at another, infinite if it was not solved,
    and nan where its slopes are not known."""
    slopes = a.statistics.get("slopes", {})
    changes = {name: b.parameters[name] - a.parameters[name] for name in _moved(a, b)}
    if not a.solved:
        return np.inf
    return _height(a) + sum(slopes.get(name, np.nan) * step for name, step in changes.items())


def _moved(a: Cell, b: Cell) -> list[str]:
    """Return the names of the numbers in which two cells differ."""
    both = [name for name, value in a.parameters.items() if is_number(value)]
    return [name for name in both if a.parameters[name] != b.parameters[name]]


def place_of(one: Cell) -> str:
    """Return by what cells are known that differ only in where they start."""
    return json.dumps({**one.content, "after": None}, sort_keys=True)


def lowest(plan: Plan, known: Known) -> dict[str, Cell]:
    """Return {place: Cell} of the lowest cells of a plan, of equally low ones the first."""
    best: dict[str, Cell] = {}
    for planned, _ in plan:
        one, place = known.get(planned.id, planned), place_of(planned)
        former = best.setdefault(place, one)
        if _height(one) < _height(former) - SLIGHT * abs(_height(one)):
            best[place] = one
    return best


def further(plan: Plan, known: Known) -> Plan:
    """Return what is to be solved again, and from where, now that the cells of a plan are done.

    What steps up from a neighbour, and what failed beside one that did not: each from the one that
    it is highest above, once that is not itself to be solved again; it is believed if that leads no
    lower. Where slopes are not known, from all.
    """
    cells = list(lowest(plan, known).values())
    rows = {one.id: k for k, (one, _) in enumerate(plan)}
    firsts = {place_of(one): one.id for one, _ in reversed(plan)}.values()
    suspects: dict[Pair, tuple[Cell, float]] = {}
    believed: dict[int, float] = {}
    for a, b, step in _suspects(cells):
        again = cell(cells[b].parameters, _content(cells[b]), cells[a])
        if again.id in rows and again.id not in firsts:
            believed[b] = max(step, believed.get(b, 0.0))
        elif cells[a].solved and again.id not in rows:
            suspects[a, b] = again, step
    untried = {
        (a, b): (again, step)
        for (a, b), (again, step) in suspects.items()
        if not step <= believed.get(b, 0.0)
    }
    high = {b for _, b in untried}
    highest: dict[int, tuple[float, int]] = {}
    for (a, b), (_, step) in untried.items():
        if not np.isnan(step) and step > highest.get(b, (0.0, a))[0]:
            highest[b] = step, a
    chosen = {(a, b) for b, (_, a) in highest.items()}
    calm = {(a, b) for a, b in chosen if a not in high} or chosen
    return [
        (again, rows[cells[a].id])
        for (a, b), (again, step) in untried.items()
        if np.isnan(step) or (a, b) in calm
    ]


def _suspects(cells: Sequence[Cell]) -> Iterator[tuple[int, int, float]]:
    """Yield neighbours (a, b) of which b may be on a higher branch than a, or failed, and by how
    much it steps up, nan where that is not known."""
    for name, lines in lines_of([one.parameters for one in cells]).items():
        pairs = [pair for line in lines for pair in pairwise(line)]
        steps = [_step(name, cells[a], cells[b]) for a, b in pairs]
        sizes = sorted(abs(step) for step in steps if not np.isnan(step))
        usual = sizes[(len(sizes) - 1) // 2] if len(sizes) > 1 else 0.0  # the lower median
        for pair, step in zip(pairs, steps):
            for (a, b), up in ((pair, step), (pair[::-1], -step)):
                slight = SLIGHT * abs(cells[a].objective or 0.0)
                if not up <= max(UNLIKE * usual, slight):
                    yield a, b, up


def lines_of(design: Cells) -> dict[str, list[list[int]]]:
    """Return {parameter: lines} of a design: cells that differ in this number alone, in order."""
    lines: dict[str, list[list[int]]] = {}
    for name in design[0] if design else ():
        groups: dict[str, list[int]] = {}
        for k, values in enumerate(design):
            if is_number(values[name]):
                others = {key: value for key, value in values.items() if key != name}
                groups.setdefault(json.dumps(others, sort_keys=True), []).append(k)
        ordered = [sorted(group, key=lambda k: design[k][name]) for group in groups.values()]
        lines[name] = [line for line in ordered if len(line) > 1]
    return lines


def _step(name: str, a: Cell, b: Cell) -> float:
    """Return by how much a cell is higher than a smooth objective from its neighbour, nan where
    slopes are not known."""
    slopes = [one.statistics.get("slopes", {}).get(name) for one in (a, b)]
    if None in slopes or not (a.solved and b.solved):
        return np.nan
    apart = b.parameters[name] - a.parameters[name]
    return _height(b) - _height(a) - apart * sum(slopes) / 2


def _height(one: Cell) -> float:
    """Return the objective of a cell, infinite if it was not solved."""
    return one.objective if one.solved and one.objective is not None else np.inf

"""Chains of cells, and the lowest branch that any of them has seen.

A local optimum that is followed from cell to cell is a branch, on which the objective J is smooth
in the parameters p: between neighbours it grows by the mean of their slopes,

    J_b - J_a = (dJ/dp_a + dJ/dp_b) (p_b - p_a) / 2 + O((p_b - p_a)^3)

A chain runs from the middle of its design outwards, since from there all is near; a cell with
several neighbours that are nearer to the middle starts from one on the lowest branch of these.
Where an objective then steps up from the above, the higher one is solved again from the lower one,
and so are the neighbours of what came down by that, until nothing steps up any more. Where slopes
are not known, as they are on a plan, every cell is solved again from its neighbours. A solve from
another start is a cell of its own, which knows the one from which it starts: so a chain is the same
whenever, and by however many processes, it is solved.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ocp.studies.parameter_designs import Cells, is_number, order_outwards
from ocp.studies.store.cell_specification import Content, Recipe, cell, content_of
from ocp.studies.store.row_format import Cell

Plan = list[tuple[Cell, int | None]]  # cells, each with the place of the one from which it starts
Known = Mapping[str, Cell]
Links = dict[int, tuple[Cell, int | None]]  # cells of a design, each with the one it starts from
Pair = tuple[int, int]
THIRD = 0.25  # of the second order that the third may be, where neighbours are on one branch
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
        """Return {index: (cell, index of the cell from which it starts)} of what can begin now, in
        order.

        Cells with one neighbour can; those with several wait until all of these are known, and
        start from
        one on their lowest branch.

        Args:
            begun: cells that have begun, by index.
            known: {id: Cell} of the file.
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
            donor = _donor(dict(done), self.cells[k]) if len(near) > 1 else next(iter(near), None)
            after = None if donor is None else cells[donor]
            cells[k] = cell(self.cells[k].parameters, _content(self.cells[k]), after)
            links[k] = cells[k], donor
        return links


def chain_design(recipe: Recipe, cells: Cells) -> Chain:
    """Return the Chain of a design, from its middle outwards.

    Args:
        recipe: of the cells.
        cells: {parameter: value} of each.
    """
    order, nearer = order_outwards(cells)
    lines = lines_of(cells)
    beside: dict[int, list[int]] = {}
    for a, b in (pair for each in lines.values() for line in each for pair in pairwise(line)):
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    rank = {k: number for number, k in enumerate(order)}
    inner = [[j for j in beside.get(k, []) if rank[j] < rank[k]] for k in range(len(cells))]
    return Chain(
        cells=tuple(cell(parameters, content_of(recipe, parameters)) for parameters in cells),
        nearer=tuple(
            tuple(inner[k]) or (() if nearest is None else (nearest,))
            for k, nearest in enumerate(nearer)
        ),
        order=tuple(order),
    )


def _content(one: Cell) -> Content:
    return {name: part for name, part in one.content.items() if name != "after"}


def _donor(done: Mapping[int, Cell], one: Cell) -> int:
    """Return which of several neighbours a cell starts from: of those that are on no higher branch
    than another the one whose way to the cell is the straightest, as slopes turn between them."""
    solved = {k: each for k, each in done.items() if each.solved} or done
    low = {k: a for k, a in solved.items() if not any(_is_above(a, c) for c in solved.values())}
    turns = {
        k: max(abs(_along(c, a, one) - _along(a, a, one)) for c in solved.values())
        for k, a in (low or solved).items()
    }
    return min(turns, key=lambda k: (np.isnan(turns[k]), turns[k]))


def _is_above(a: Cell, b: Cell) -> bool:
    """Tell whether a cell is higher than a smooth objective from another.

    The mean of both slopes is off by the third order, each slope by the second, half of their turn.
    """
    rise, turn = _along(a, b, a), _along(a, b, a) - _along(b, b, a)
    return _height(a) - _height(b) - rise + turn / 2 > _slight(a) + THIRD * abs(turn) / 2


def _foretold(a: Cell, b: Cell) -> float:
    """Return the height that slopes of a cell predict at another; infinite if not solved, nan
    without slopes."""
    if not a.solved:
        return np.inf
    return _height(a) + _along(a, a, b)


def _along(one: Cell, a: Cell, b: Cell) -> float:
    """Return the growth of the objective from a to b by the slopes of a cell, nan where they are
    not known."""
    slopes = one.statistics.get("slopes", {})
    moved = [name for name in a.parameters if is_number(a.parameters[name])]
    steps = {name: b.parameters[name] - a.parameters[name] for name in moved}
    return sum(slopes.get(name, np.nan) * step for name, step in steps.items() if step)


def place_of(one: Cell) -> str:
    """Return the key that cells share which differ only in where they start."""
    return json.dumps({**one.content, "after": None}, sort_keys=True)


def lowest_cells(plan: Plan, known: Known) -> dict[str, Cell]:
    """Return {place: Cell} of the lowest cells of a plan, of equally low ones the first."""
    best: dict[str, Cell] = {}
    for planned, _ in plan:
        one, place = known.get(planned.id, planned), place_of(planned)
        former = best.setdefault(place, one)
        if _height(one) < _height(former) - SLIGHT * abs(_height(one)):
            best[place] = one
    return best


def solves_to_repeat(plan: Plan, known: Known) -> Plan:
    """Return cells to solve again, each with the row of the cell from which it starts.

    Those are cells above a neighbour, neighbours of cells that came down when they were solved
    again,
    and failed cells beside solved ones: each from its least likely neighbour that is not itself to
    be
    solved again, or from all where slopes are not known.
    """
    cells = list(lowest_cells(plan, known).values())
    places = {place_of(one): one.id for one, _ in reversed(plan)}
    firsts = [known.get(places[place_of(one)], one) for one in cells]
    rows = {one.id: k for k, (one, _) in enumerate(plan)}
    untried: dict[Pair, tuple[Cell, float]] = {}
    for a, b, unlike in _steps_up(cells):
        again = _again(cells[a], cells[b])
        if again.id not in rows:
            untried[a, b] = again, unlike
    for a, b, unlike in _branch_followers(cells, firsts):
        again = _again(cells[a], cells[b])
        if again.id not in rows:
            untried.setdefault((a, b), (again, unlike))
    untried = {pair: other for pair, other in untried.items() if cells[pair[0]].solved}
    chosen = _calm(untried)
    return [
        (again, rows[cells[a].id])
        for (a, b), (again, unlike) in untried.items()
        if np.isnan(unlike) or (a, b) in chosen
    ]


def _again(a: Cell, b: Cell) -> Cell:
    """Return the cell that is another solved again from one."""
    return cell(b.parameters, _content(b), a)


def _calm(untried: Mapping[Pair, tuple[Cell, float]]) -> set[Pair]:
    """Return the least likely of the neighbours from which each cell may be solved again, where
    that is not to be itself, or else of all."""
    high = {b for _, b in untried}
    least: dict[int, tuple[float, int]] = {}
    for (a, b), (_, unlike) in untried.items():
        if not np.isnan(unlike) and unlike > least.get(b, (0.0, a))[0]:
            least[b] = unlike, a
    chosen = {(a, b) for b, (_, a) in least.items()}
    return {(a, b) for a, b in chosen if a not in high} or chosen


def _steps_up(cells: Sequence[Cell]) -> Iterator[tuple[int, int, float]]:
    """Yield neighbours (a, b) of which b may be on a higher branch than a, or failed, and by how
    many usual steps it is higher, nan where that is not known."""
    for name, pairs in _pairs(cells).items():
        usual = _usual(name, cells, pairs)
        for a, b in pairs:
            unlike = _step(name, cells[a], cells[b]) / max(usual, _slight(cells[a]) / UNLIKE)
            for pair, up in (((a, b), unlike), ((b, a), -unlike)):
                if not up <= UNLIKE:
                    yield *pair, up


def _branch_followers(
    cells: Sequence[Cell], firsts: Sequence[Cell]
) -> Iterator[tuple[int, int, float]]:
    """Yield neighbours (a, b) of which a came down from a branch, on which b seems to be still, but
    not from b, and by how many usual steps the branch of a is foretold to be lower there."""
    for name, pairs in _pairs(cells).items():
        usual = _usual(name, cells, pairs)
        for a, b in (*pairs, *(pair[::-1] for pair in pairs)):
            led = cells[a].content["after"] == cells[b].id
            if led or cells[a].id == firsts[a].id or cells[b].id != firsts[b].id:
                continue
            lower = _foretold(firsts[a], cells[b]) - _foretold(cells[a], cells[b])
            stays = abs(_step(name, cells[a], cells[b])) > abs(_step(name, firsts[a], cells[b]))
            if stays and lower > _slight(cells[b]):
                yield a, b, lower / max(usual, _slight(cells[a]) / UNLIKE)


def _pairs(cells: Sequence[Cell]) -> dict[str, list[Pair]]:
    """Return {parameter: neighbours} of cells along its lines."""
    lines = lines_of([one.parameters for one in cells])
    return {
        name: [pair for line in each for pair in pairwise(line)] for name, each in lines.items()
    }


def _usual(name: str, cells: Sequence[Cell], pairs: Sequence[Pair]) -> float:
    """Return the lower median of the steps between neighbours, zero of a single one."""
    steps = [abs(_step(name, cells[a], cells[b])) for a, b in pairs]
    sizes = sorted(step for step in steps if not np.isnan(step))
    return sizes[(len(sizes) - 1) // 2] if len(sizes) > 1 else 0.0


def _slight(one: Cell) -> float:
    """Return by how much another must be lower than a cell."""
    return SLIGHT * abs(one.objective or 1.0)


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

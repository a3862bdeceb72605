"""Chains of cells, and the lowest branch that any of them has seen.

A local optimum that is followed from cell to cell is a branch, on which the objective J is smooth
in the parameters p: between neighbours it grows by the mean of their slopes,

    J_b - J_a = (dJ/dp_a + dJ/dp_b) (p_b - p_a) / 2 + O((p_b - p_a)^3)

Where it steps up from that, the higher one is solved again from the lower one, until nothing steps
up any more. Where slopes are not known, as they are on a plan, every cell is solved again from its
neighbours. A solve from another start is a cell of its own, which knows the one from which it
starts: so a chain is the same whenever, and by however many processes, it is solved.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ocp.studies.content import Recipe, cell, content
from ocp.studies.designs import Cells, is_number, neighbours
from ocp.studies.rows import Cell

Plan = list[tuple[Cell, int | None]]  # cells, each with the place of the one from which it starts
Known = Mapping[str, Cell]
Pair = tuple[int, int]
UNLIKE = 3.0  # usual steps of a smooth objective beyond which one is none
SLIGHT = 1e-6  # of an objective: by which another must be less to be lower


def chained(recipe: Recipe, cells: Cells) -> Plan:
    """Return the plan of a design in which each cell starts from its nearest neighbour."""
    plan: Plan = []
    for parameters, near in zip(cells, neighbours(cells)):
        data = content(recipe, parameters)
        plan.append((cell(parameters, data, None if near is None else plan[near][0]), near))
    return plan


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
    it is highest above, once that is not itself to be solved again. Where slopes are not known,
    from all.
    """
    cells = list(lowest(plan, known).values())
    rows = {one.id: k for k, (one, _) in enumerate(plan)}
    untried: dict[Pair, tuple[Cell, float]] = {}
    for a, b, step in _suspects(cells):
        data = {name: part for name, part in cells[b].content.items() if name != "after"}
        again = cell(cells[b].parameters, data, cells[a])
        if cells[a].solved and again.id not in rows:
            untried[a, b] = again, step
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

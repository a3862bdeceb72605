"""Chains of cells, and the lowest branch that any of them has seen.

A local optimum that is followed from cell to cell is a branch, on which the objective is smooth in
the parameters. Where it steps between two neighbours, the higher one is solved again from the lower
one, and what comes out lower is handed on to its own neighbours. A solve of a cell from another
start is a cell of its own, which knows the one from which it starts: so a chain is the same
whenever, and by however many processes, it is solved.
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
ORDER = 3  # of the differences in which a step is looked for
UNLIKE = 4.0  # median deviations beyond which a step is none of a smooth objective
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

    What is higher than a neighbour by more than is smooth, what failed beside one that did not, and
    the neighbours of what was lowered.
    """
    best = lowest(plan, known)
    places, cells = list(best), list(best.values())
    first = {place_of(one): one for one, _ in reversed(plan)}
    rows = {one.id: k for k, (one, _) in enumerate(plan)}
    lowered = {k for k, place in enumerate(places) if cells[k].id != first[place].id}
    more: Plan = []
    for a, b in dict.fromkeys(_suspects([one.parameters for one in cells], cells, lowered)):
        data = {name: part for name, part in cells[b].content.items() if name != "after"}
        again = cell(first[places[b]].parameters, data, cells[a])
        if cells[a].solved and again.id not in rows:
            more.append((again, rows[cells[a].id]))
    return more


def _suspects(design: Cells, cells: Sequence[Cell], lowered: set[int]) -> Iterator[Pair]:
    """Yield pairs of neighbours (a, b) of which b may be on a higher branch than a."""
    heights = np.array([_height(one) if one.solved else np.nan for one in cells])
    for name, lines in lines_of(design).items():
        numbers = [[design[k][name] for k in line] for line in lines]
        steps = [step for line, p in zip(lines, numbers) for step in _steps(p, heights[line])]
        pairs = [pair for line in lines for pair in pairwise(line)]
        usual, limit = _usual(steps)
        for (a, b), step in zip(pairs, steps):
            odd = abs(step - usual) > max(limit, SLIGHT * abs(heights[a]))
            for one, other, up in ((a, b, step > usual), (b, a, step < usual)):
                handed_on = one in lowered and cells[one].content["after"] != cells[other].id
                if handed_on or (odd and up) or not cells[other].solved:
                    yield one, other


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


def _steps(p: Sequence[float], heights: np.ndarray) -> list[float]:
    """Return by how much each height steps over the one before it, smooth changes aside.

    A difference of ORDER, in which those vanish, over that of a unit step there: of the points
    p_k around it with weights w_k = 1 / prod (p_k - p_j), j != k.
    """
    count = min(ORDER + 1, len(p))
    steps = []
    for k in range(1, len(p)):
        begin = min(max(k - count // 2, 0), len(p) - count)
        near = np.array(p[begin : begin + count], dtype=float)
        apart = near[:, None] - near + np.eye(count)
        weights = 1.0 / np.prod(apart, axis=1)
        steps.append(float(weights @ heights[begin : begin + count] / weights[k - begin :].sum()))
    return steps


def _usual(steps: Sequence[float]) -> tuple[float, float]:
    """Return the usual step, and by how much one may differ that is smooth."""
    known = np.array([step for step in steps if np.isfinite(step)])
    if not known.size:
        return 0.0, np.inf
    usual = float(np.median(known))
    return usual, UNLIKE * float(np.median(np.abs(known - usual)))


def _height(one: Cell) -> float:
    """Return the objective of a cell, infinite if it was not solved."""
    return one.objective if one.solved and one.objective is not None else np.inf

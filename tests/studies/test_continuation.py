"""Chains keep the lowest branch: what steps up beside its neighbours is solved again from these."""

import math
from dataclasses import replace

import numpy as np
import pytest
from study_cells import PLANNED, doubled, paused, problem

from ocp import Parameter, Solver, prepare
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.studies import open_study, sweep
from ocp.studies.cell_dispatch import Route
from ocp.studies.continuation import (
    chain_design,
    lines_of,
    lowest_cells,
    place_of,
    solves_to_repeat,
)
from ocp.studies.parameter_designs import grid
from ocp.studies.parameter_slopes import slopes
from ocp.studies.store.cell_specification import cell, recipe
from ocp.studies.store.row_format import FAILED, SOLVED

LINE = {"torque": [8.0 + k for k in range(8)], "points": [6]}
STEP = 0.002  # of the higher branch, one part in a thousand
FIELD = {"torque": [8.0, 9.0, 10.5, 11.0, 12.5, 14.0], "points": [5, 6, 7, 8, 9, 10]}


def smooth(one):
    """An objective without branches."""
    torque, points = one.parameters["torque"], one.parameters["points"]
    return 2.0 + math.exp(-torque / 8.0) + math.exp(-points / 6.0)


def came(one, height):
    """A cell that came to a height, with the slopes there."""
    torque, points = one.parameters["torque"], one.parameters["points"]
    slopes = {"torque": -math.exp(-torque / 8.0) / 8.0, "points": -math.exp(-points / 6.0) / 6.0}
    return replace(one, status=SOLVED, objective=height, statistics={"slopes": slopes})


def settled(over, lifted=(), failed=(), steep=True):
    """How many cells were solved again, and the heights of all over the lowest branch at the end.

    At first those of `lifted` places are on a branch that is a STEP higher, and `failed` ones on
    none; a cell from another one then comes out on the branch of that. Unless `steep` nobody knows
    slopes.
    """
    route, known = Route([], chain_design(recipe(problem, None, Solver()), grid(over))), {}
    while fresh := route.onward(known):
        places = {one.id: k for k, one in route.begun.items()}
        for one in fresh:
            k = places[one.id]
            known[one.id] = came(one, smooth(one) + STEP * list(lifted).count(k))
            if k in failed:
                known[one.id] = replace(one, status=FAILED)
    plan, count = route.plan, len(route.plan)
    for _ in range(20):
        if not steep:
            known = {key: replace(one, statistics={}) for key, one in known.items()}
        more = solves_to_repeat(plan, known)
        for one, near in more:
            seed = known[plan[near][0].id]
            known[one.id] = came(one, smooth(one) + seed.objective - smooth(seed))
        if not more:
            best = lowest_cells(plan, known)
            return len(plan) - count, [one.objective - smooth(one) for one in best.values()]
        plan += more
    raise AssertionError("no end")


@pytest.mark.parametrize(
    ("over", "lifted"),
    [
        (LINE, {3}),
        (LINE, {3, 4}),
        (LINE, {0, 1, 2, 3}),
        (LINE, [3, 3, 4]),
        (FIELD, {14, 15, 20, 21}),
        (FIELD, set(range(18, 36))),
        (FIELD, set(range(36)) - {17}),
    ],
    ids=["one", "middle", "half a line", "two branches", "a patch", "half a field", "all but"],
)
def test_every_cell_above_comes_down_to_the_lowest_branch_at_once(over, lifted):
    again, heights = settled(over, lifted)
    assert again == len(set(lifted)) and np.abs(heights).max() < 1e-12


@pytest.mark.parametrize("over", [LINE, FIELD], ids=["line", "field"])
def test_what_is_smooth_is_not_solved_again(over):
    again, heights = settled(over)
    assert not again and np.abs(heights).max() < 1e-12


def test_without_slopes_every_cell_is_tried_from_its_neighbours():
    assert settled(LINE, steep=False)[0] == 7  # the chain itself went the other way
    again, heights = settled(FIELD, {14, 15, 20, 21}, steep=False)
    assert again >= 2 * 60 - 35 and np.abs(heights).max() < 1e-12


def test_what_failed_is_tried_from_its_neighbours():
    again, heights = settled(LINE, failed={2, 3})
    assert again >= 2 and np.abs(heights).max() < 1e-12


def begun(lifted=(), failed=()):
    """{cell: the one that it starts from} of a chain over FIELD, some of it higher, or failed."""
    chain = chain_design(recipe(problem, None, Solver()), grid(FIELD))
    known, cells, donors = {}, {}, {}
    while links := chain.onward(cells, known):
        for k, (one, donor) in links.items():
            cells[k], donors[k] = one, donor
            known[one.id] = came(one, smooth(one) + 50 * STEP * (k in lifted))
            if k in failed:
                known[one.id] = replace(one, status=FAILED)
    assert len(cells) == 36 and chain.order[0] == 20
    return donors


def test_a_chain_starts_in_the_middle_from_the_neighbour_of_the_lowest_branch():
    assert begun()[20] is None and begun()[14] == begun()[19] == 20
    assert begun(lifted={14})[13] == 19 and begun(lifted={19})[13] == 14
    assert begun(failed={14})[13] == 19 and begun(failed={19})[13] == 14


def test_a_cell_of_a_chain_waits_for_all_of_its_neighbours():
    chain = chain_design(recipe(problem, None, Solver()), grid(FIELD))
    cells = {k: one for k, (one, _) in chain.onward({}, {}).items()}
    known = {cells[k].id: came(cells[k], smooth(cells[k])) for k in (14, 19)}
    assert len(cells) == 11  # of the middle's row and column
    assert 13 not in chain.onward(cells, {cells[14].id: known[cells[14].id]})
    assert 13 in chain.onward(cells, known)


def test_neighbours_of_what_came_down_follow_it_though_the_step_is_usual():
    route, known = Route([], chain_design(recipe(problem, None, Solver()), grid(FIELD))), {}
    while fresh := route.onward(known):
        for one in fresh:
            k = next(k for k, other in route.begun.items() if other.id == one.id)
            rough = (
                10 * STEP * (-1) ** sum(divmod(k, 6))
            )  # so no step between neighbours is unlikely
            known[one.id] = came(one, smooth(one) + rough)
    assert not solves_to_repeat(route.plan, known)
    first, beside = route.begun[20], known[route.begun[14].id]
    down = cell(first.parameters, {**first.content}, beside)
    route.add([(down, list(route.cells).index(beside.id))])
    known[down.id] = came(down, known[first.id].objective - STEP)
    again = [one.parameters for one, near in solves_to_repeat(route.plan, known)]
    assert beside.parameters not in again and 0 < len(again) <= 3


def test_lines_run_along_numbers_and_keep_the_rest():
    design = grid({"a": [3.0, 1.0, 2.0], "word": ["x", "y"], "b": [5]})
    assert lines_of(design) == {"a": [[2, 4, 0], [3, 5, 1]], "word": [], "b": []}


def test_slopes_are_those_of_solves_beside():
    names = {"torque": (10.0, "N m"), "load": (10.0, "N"), "u": (0.01, "")}
    given = {name: Parameter(name, *stated) for name, stated in names.items()}
    plan = prepare(lift(points=6, **given), solver=Solver(options={"tol": 1e-10}))
    solution = plan.solve()
    found = slopes(solution)
    for name, (value, _) in names.items():
        beside = [plan.solve(solution, **{name: value + h}).objective for h in (1e-4, -1e-4)]
        assert found[name] == pytest.approx((beside[0] - beside[1]) / 2e-4, rel=1e-4)
    assert slopes(replace(solution, multipliers={})) == slopes(replace(solution, plan=None)) == {}


def test_a_chain_in_a_file_is_resumed_and_counts_its_lowest_cells():
    over = {"torque": [7.0, 8.0, 9.0, 10.0], "points": 6}
    how = {"file": "a.sqlite", "workers": 0, "method": doubled}
    first, seen = sweep(PLANNED, over, chain=True, **how), []
    assert [one.parameters["torque"] for one in first.cells] == over["torque"]
    assert max(one.objective for one in first.cells) < 0.6
    kept = open_study("a.sqlite").cells
    assert len(kept) == 7 and {one.id for one in first.cells} < {one.id for one in kept}
    assert len({place_of(one) for one in kept}) == 4
    again = sweep(PLANNED, over, chain=True, watch=seen.append, **how)
    assert again.cells == first.cells and not seen


def test_a_chain_that_was_interrupted_goes_on_as_if_it_had_not_been():
    over = {"torque": [8.0, 9.0, 10.0], "points": 6}
    how = {"workers": 0, "method": paused, "chain": True}
    with pytest.raises(KeyboardInterrupt):
        sweep(PLANNED, over, file="a.sqlite", **how)
    assert [one.status for one in open_study("a.sqlite").cells] == ["solved", "solved", "pending"]
    resumed, whole = (sweep(PLANNED, over, file=f"{name}.sqlite", **how) for name in "ab")
    for one, other in zip(resumed.cells, whole.cells):
        assert one.id == other.id and one.objective == other.objective
        assert one.statistics["iterations"] == other.statistics["iterations"]
    assert len(open_study("a.sqlite").cells) == len(open_study("b.sqlite").cells) == 5

"""Designs: grids, values side by side, Latin hypercubes, neighbours."""

import numpy as np
import pytest

from ocp.studies import grid, latin_hypercube, side_by_side
from ocp.studies.parameter_designs import design, order_outwards


def test_grids_run_through_the_last_name_first_and_zips_side_by_side():
    assert grid({"a": [1, 2], "b": ("x", "y"), "c": 5}) == [
        {"a": a, "b": b, "c": 5} for a in (1, 2) for b in "xy"
    ]
    assert side_by_side({"a": [1, 2], "b": [3, 4], "c": 5}) == [
        {"a": 1, "b": 3, "c": 5},
        {"a": 2, "b": 4, "c": 5},
    ]
    assert design([{"a": 1}, {"a": 3}]) == [{"a": 1}, {"a": 3}]
    for wrong, message in (
        ({"a": []}, "a: expected at least one"),
        ([], "no cells"),
        ([{"a": 1}, {"b": 1}], "expected the parameters a"),
    ):
        with pytest.raises(ValueError, match=message):
            design(wrong)
    with pytest.raises(ValueError, match="equally many values of each parameter, got a 2, b 1"):
        side_by_side({"a": [1, 2], "b": [3]})


def test_a_latin_hypercube_has_one_value_in_every_band():
    cells = latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=3)
    assert sorted(np.floor((np.array([cell["a"] for cell in cells]) - 1) * 5)) == list(range(10))
    assert sorted(cell["n"] for cell in cells) == list(range(5, 15))
    assert {cell["c"] for cell in cells} == {"x"}
    assert cells == latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=3)
    assert cells != latin_hypercube({"a": (1.0, 3.0), "n": (5, 14), "c": "x"}, 10, seed=4)
    with pytest.raises(ValueError, match="a: expected a lower and an upper bound"):
        latin_hypercube({"a": (3, 1)}, 4)


def test_cells_come_from_the_middle_outwards_each_beside_a_nearer_one():
    assert order_outwards(grid({"a": [1, 2, 3], "b": [10, 20]})) == (
        [2, 0, 4, 3, 1, 5],
        [2, 3, None, 2, 2, 3],
    )
    speeds = [{"a": 1.2}, {"a": 0.8}, {"a": 1.6}, {"a": 0.9}]
    assert order_outwards(speeds) == ([0, 3, 1, 2], [None, 3, 0, 0])
    words = grid({"a": ["x", "y"], "b": [1, 2, 3]})
    assert order_outwards(words) == ([1, 0, 2, 4, 3, 5], [1, None, 1, 4, 1, 4])

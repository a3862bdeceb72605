"""Motions as tables of pandas."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import solve
from ocp.problems.arms.two_link_time import problem


@pytest.fixture(scope="module")
def solution():
    return solve(replace(problem(points=8), outputs={"tip": lambda at: at.position("tip")}))


def test_without_pandas_the_hint_says_how_to_install_it(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="needs pandas: install the extra `data`"):
        ocp.to_dataframe(solution)


def test_a_frame_holds_the_motion_its_units_and_outputs(solution):
    pytest.importorskip("pandas", reason="needs the extra `data`")
    frame = ocp.to_dataframe(solution, count=11)
    t = solution.times(11)
    np.testing.assert_array_equal(frame.index, t)
    assert frame.index.name == "time" and len(frame.columns) == 4 * 2 + 3
    np.testing.assert_array_equal(frame["elbow.torque"], solution.tau(t)[1])
    np.testing.assert_array_equal(frame["shoulder"], solution.q(t)[0])
    np.testing.assert_array_equal(frame["tip.1"], solution.output("tip", t)[1])
    assert frame.attrs["units"]["elbow.rate"] == "rad/s"
    with pytest.raises(ValueError, match="to_dataframe: count: expected at least 2 times, got 1"):
        ocp.to_dataframe(solution, 1)

"""States and controls of a motion are written in the columns of an OpenSim model."""

import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_texts import ACTING, MUSCLES, leg, written

from ocp import (
    BSpline,
    Problem,
    at_end,
    at_start,
    effort,
    load_model,
    read_table,
    save_table,
    solve,
)
from ocp.interchange import opensim_states


@pytest.fixture(scope="module")
def motion(tmp_path_factory):
    """A swing of a leg by a motor and a muscle, and the path of its file."""
    text = leg(MUSCLES[0], *ACTING[1:])
    path = written(text, tmp_path_factory.mktemp("leg"))
    tree = load_model(path)
    still = dict.fromkeys(("hip", "knee"), 0.0)
    problem = Problem(
        tree=tree,
        motion=BSpline(points=10),
        duration=0.2,
        objective=effort(),
        constraints=(at_start(tree, q=still), at_end(tree, q=still | {"hip": 0.1})),
    )
    return solve(problem).require(coarse=True), path


def test_columns_are_paths_in_the_model(motion):
    solution, path = motion
    table = opensim_states(solution, path, rate=50)
    assert table.labels == (
        "/jointset/hip_joint/hip/value",
        "/jointset/hip_joint/hip/speed",
        "/jointset/knee_joint/knee/value",
        "/jointset/knee_joint/knee/speed",
        "/forceset/moving/activation",
        "/forceset/moving",
        "/forceset/motor",
    )
    tree = solution.problem.tree
    hip, muscle = tree.coordinate("hip"), tree.coordinate("moving.activation")
    np.testing.assert_allclose(table.values[0], solution.q(table.t)[hip])
    np.testing.assert_allclose(table.values[5], solution.tau(table.t)[muscle])
    np.testing.assert_allclose(table.values[6], solution.tau(table.t)[hip] / 30)


@needs_opensim
def test_opensim_takes_the_table_as_states_of_the_model(motion, tmp_path):
    solution, path = motion
    table = opensim_states(solution, path, rate=50)
    save_table(table, tmp_path / "swing.sto")
    request = {"model": str(path), "table": str(tmp_path / "swing.sto")}
    values = opensim_answers(MODELS, states_of_table=request)["states_of_table"]
    np.testing.assert_allclose(values["hip"], table.values[0], atol=1e-12)
    np.testing.assert_allclose(values["knee"], table.values[2], atol=1e-12)
    assert read_table(tmp_path / "swing.sto").labels == table.labels

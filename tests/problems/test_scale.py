"""Growth is measured row by row: of trees that branch, walks of many steps, two bodies, studies."""

import json
import os

import numpy as np
import pytest
from made_up_rows import doubled, nested

from ocp import prepare, solve, verify
from ocp.mechanics import positions
from ocp.models.human import mirror
from ocp.problems.benchmarks.scale.__main__ import run
from ocp.problems.benchmarks.scale.cases.programs import human_walk, lift, planar_walk
from ocp.problems.benchmarks.scale.cases.riding import MARK, bodies
from ocp.problems.benchmarks.scale.cases.steps import steps
from ocp.problems.benchmarks.scale.cases.trees import LENGTH, MASS, SHAPES, depths
from ocp.problems.benchmarks.scale.cluster import on_cluster, on_processes
from ocp.problems.benchmarks.scale.coordinator import coordinated
from ocp.problems.benchmarks.scale.entries import chosen, measure
from ocp.problems.benchmarks.scale.growth import exponent
from ocp.problems.benchmarks.scale.measured import measured, timing, walked
from ocp.problems.benchmarks.scale.paper import Constants, constants_of, pace
from ocp.problems.benchmarks.scale.shown import largest
from ocp.problems.benchmarks.scale.store import alone, filled, kept, stored
from ocp.problems.gait import effort_step
from ocp.problems.gait.statement.mirrored_stride import strides

KNOWN = Constants(
    coordinator=0.002,
    commit=0.004,
    scheduler=0.005,
    client=0.001,
    node=0.0,
    megabyte=0.02,
    start=2.0,
    result=1e5,
    file=1e5,
)


def nonzeros(shape, joints):
    nlp = prepare(*problem_of(lift(shape, joints, "variables"))).transcribed.nlp
    return nlp.jacobian.sparsity_out(1).nnz()


def problem_of(case):
    return case.problem, case.transcription


def test_exponents_of_made_up_growth_are_found():
    sizes = [2, 5, 10, 40]
    assert np.isclose(exponent(sizes, [3.0 * n**1.25 for n in sizes]), 1.25)
    bent = [n if n <= 10 else n**3 for n in sizes]
    assert np.isclose(exponent(sizes, bent, (0, 10)), 1.0)
    assert np.isnan(exponent([5, 5], [1.0, 2.0]))
    with pytest.raises(ValueError, match="as many values as sizes"):
        exponent([1, 2], [1.0])
    with pytest.raises(ValueError, match="positive"):
        exponent([1, 2], [1.0, 0.0])


@pytest.mark.parametrize("shape, joints", [("chain", 6), ("star", 11), ("caterpillar", 10)])
def test_trees_of_all_shapes_weigh_and_reach_the_same(shape, joints):
    tree = SHAPES[shape](joints)
    assert tree.dof == joints and np.isclose(sum(link.mass for link in tree.links), MASS)
    assert np.isclose(max(depths(tree.parents)) * -tree.links[0].com[2] * 2, LENGTH)


def test_trees_of_other_numbers_of_joints_are_refused():
    for shape in ("star", "caterpillar"):
        with pytest.raises(ValueError, match="joints: expected"):
            SHAPES[shape](12)


def test_a_star_has_as_many_nonzeros_for_each_limb_and_a_chain_more_for_each_joint():
    star = np.diff([nonzeros("star", n) for n in (7, 11, 15)])
    chain = np.diff([nonzeros("chain", n) for n in (4, 8, 12)])
    assert star[0] == star[1] and chain[1] > 1.5 * chain[0]


def test_a_measured_row_tells_where_an_iteration_went():
    row = measured(lift("boughs", 7, "variables"))
    assert row["status"] == "Solve_Succeeded" and row["joints"] == 7
    parts = row["functions"] + row["systems"] + row["rest"]
    assert 0 < row["functions"] < row["iteration"] and np.isclose(parts, row["iteration"])
    assert row["instants"] == 21 and row["megabytes"] > 20


def test_a_lift_passes_its_certificate():
    case = lift("star", 7, "variables")
    assert verify(solve(*problem_of(case))).require(5e-2)


def test_timing_is_read_from_a_log():
    log = (
        "OverallAlgorithm....................:      0.377 (sys:      0.003 wall:      0.585)\n"
        " Lagrangian Hessian.................:      0.088 (sys:      0.000 wall:      0.135)\n"
    )
    assert timing(log) == pytest.approx({"OverallAlgorithm": 0.38, "Lagrangian Hessian": 0.088})


@pytest.mark.commands
def test_steps_one_after_the_other_cost_what_one_costs():
    two = planar_walk(2)
    walk = solve(two.problem, guess=two.guess).require(coarse=True)
    assert np.isclose(walk.objective, 469.649703)
    first, second = (phase.points for phase in walk.phases.values())
    assert np.allclose(first, second, atol=1e-5)


@pytest.mark.commands
def test_steps_by_way_of_one_are_that_step_again_and_again():
    row = walked(human_walk(2).problem)
    assert np.isclose(row["objective"], 2.42505, atol=1e-4)  # of one step
    assert 0 < row["iterations"] - row["of one step"] < 10


def test_strides_begin_anew_a_stride_further_on():
    stride = effort_step(stride="full")
    walk = strides(stride, 2)
    assert [phase.name for phase in walk.phases][4:] == [
        f"{phase.name} 2" for phase in stride.phases
    ]
    assert len(walk.links) == 7 and walk.links[3].symmetry is stride.symmetry
    with pytest.raises(ValueError, match="expected 1 or an even number"):
        steps(3)


def test_a_child_on_the_back_is_a_body_of_its_own():
    problem, guess, _ = bodies(76)
    tree = problem.tree
    assert tree.dof == 76 and guess.q.shape == (76, 2)
    back, hips, own = positions(tree, np.zeros(76), ("T6", f"{MARK}hip_r", "hip_r"))
    assert float(hips[1]) > float(own[1]) and float(hips[2]) < float(back[2])
    index, _ = mirror(bodies(38)[0].tree)
    assert problem.symmetry.index[:38] == tuple(index)
    assert np.array_equal(np.array(problem.symmetry.index[38:]) - 38, index)
    assert all(joint.actuated for joint in tree.moving[38:])
    with pytest.raises(ValueError, match="expected 38 or 55"):
        bodies(57)


@pytest.mark.commands
def test_rows_are_kept_one_by_one_and_a_run_goes_on(tmp_path):
    path, seen = tmp_path / "rows.json", []
    kept(path, "known", {"size": 1})
    rows = filled(
        path, ["known", "dies", "refuses", "fourth"], doubled, lambda *row: seen.append(row)
    )
    assert [name for name, _ in seen] == ["dies", "refuses", "fourth"]
    assert rows["known"] == {"size": 1} and rows["dies"] == {"failed": "its process died"}
    assert rows["refuses"] == {"failed": "ValueError: it is refused"}
    assert rows["fourth"]["size"] == 6 and rows["fourth"]["process"] != os.getpid()
    assert stored(path) == rows and [file.name for file in tmp_path.iterdir()] == ["rows.json"]
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="is no file of rows"):
        stored(path)


@pytest.mark.commands
def test_a_row_may_have_processes_of_its_own():
    assert alone(nested, "inner", 60.0) == {"within": 5}


@pytest.mark.commands
def test_a_row_that_takes_too_long_is_given_up(tmp_path):
    rows = filled(tmp_path / "rows.json", ["slow"], doubled, limit=0.0)
    assert rows["slow"] == {"failed": "longer than 0 s"}


@pytest.mark.commands
def test_the_command_measures_what_is_missing_and_prints_tables(tmp_path, capsys):
    asked = ["--only", "chains: star, torques v", "--largest", "11"]
    asked += ["--file", str(tmp_path / "rows.json")]
    assert run([*asked, "--plot", str(tmp_path / "growth.png")]) == 0
    first = capsys.readouterr()
    assert "chains: star, torques variables: 11: Solve_Succeeded" in first.err
    assert "largest solved within a minute" in first.out
    assert run(asked) == 0
    again = capsys.readouterr()
    assert again.out == first.out and again.err == ""
    assert (tmp_path / "growth.png").stat().st_size > 1000
    assert run(["--only", "chain saws"]) == 2


def test_every_row_has_a_name_of_its_own():
    names = [each.name for each in chosen()]
    assert len(set(names)) == len(names) > 60
    with pytest.raises(ValueError, match="there is none of this name"):
        measure("chains: rope: 3")


def test_the_largest_problem_of_a_minute_is_the_one_of_most_variables():
    row = {"status": "Solve_Succeeded", "build": 1.0, "solve": 2.0, "variables": 10, "rows": 5}
    row |= {"jacobian": 20, "hessian": 7, "joints": 3, "instants": 4}
    slow, failed = row | {"solve": 60.0, "variables": 90}, row | {"status": "x", "variables": 80}
    words = largest({"a": row, "b": row | {"variables": 11}, "slow": slow, "failed": failed})
    assert words == "b: 11 variables (24 states at 4 instants), 5 rows, 27 nonzeros, 3 s"


def test_handing_out_cells_solves_one_and_writes_all():
    row = coordinated(5)
    assert row["bytes"] > 1000 and row["file"] > row["bytes"] / 2
    assert 0 < row["database"] < row["coordinator"] and row["commit"] > 0


def test_on_paper_the_slowest_part_sets_the_pace():
    alone, few = pace(KNOWN, 1.0, 1000), pace(KNOWN, 10.0, 100)
    assert alone.limit == "hands" and np.isclose(alone.cells, 1 / 0.012)
    assert np.isclose(alone.busy, alone.cells) and few.limit == "workers" and few.busy == 100
    batched = pace(KNOWN, 1.0, 1000, together=100)
    assert batched.hands > 2 * alone.hands and batched.limit == "scheduler"
    handed = {"coordinator": 2.0, "commit": 4.0, "bytes": 1e5, "file": 1e5}
    cluster = {"scheduler": 5.0, "client": 1.0, "node": 0.0, "megabyte": 20.0, "first": 2.0}
    assert constants_of(handed, cluster) == KNOWN


@pytest.mark.commands
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_named_nodes_gives_what_processes_give():
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    local, nodes = on_processes(2), on_cluster(2)
    assert nodes["nodes"] == ["node-a", "node-b"] and nodes["solved"] == local["solved"] == 24
    assert nodes["objective"] == local["objective"]
    assert json.dumps(nodes)

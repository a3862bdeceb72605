"""Solutions saved whole, and given back whole or not at all."""

import json
import os

import numpy as np
import pytest

import ocp
from ocp.models.arms.pr import pr
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest


def test_saving_and_loading_keeps_everything(lifted, tmp_path):
    ocp.save(lifted, tmp_path / "lift.npz")
    again, t = ocp.load(tmp_path / "lift.npz", lift(points=12)), lifted.times(9)
    assert np.array_equal(again.tau(t), lifted.tau(t))
    assert again.history == lifted.history
    assert again.terms == lifted.terms
    assert ocp.verify(again) == ocp.verify(lifted)
    bare = ocp.load(tmp_path / "lift.npz")
    assert np.array_equal(bare.tau(t), lifted.tau(t))
    assert bare.status == "Solve_Succeeded"
    assert ocp.verify(bare) == ocp.verify(lifted)
    assert bare.missing == again.missing == lifted.missing == ()
    assert bare.problem.tree == lifted.problem.tree and bare.problem.loads == lifted.problem.loads
    with np.load(tmp_path / "lift.npz") as file:
        header = json.loads(str(file["header"]))
        assert header["joints"] == ["shoulder", "elbow"]
        assert np.array_equal(file["tau"], lifted.tau(file["t"]))
    assert os.listdir(tmp_path) == ["lift.npz"]


def test_a_saved_failure_stays_a_failure(tmp_path):
    failed = ocp.solve(fastest(points=12), solver=ocp.Solver(options={"max_iter": 3}))
    ocp.save(failed, tmp_path / "failed.npz")
    with pytest.raises(ocp.NotSolved, match="Maximum_Iterations_Exceeded"):
        ocp.load(tmp_path / "failed.npz").require()


def test_an_interrupted_write_leaves_the_old_file(lifted, tmp_path, monkeypatch):
    target = tmp_path / "lift.npz"
    ocp.save(lifted, target)
    before = target.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        ocp.save(lifted, target)
    assert target.read_bytes() == before and os.listdir(tmp_path) == ["lift.npz"]


def test_files_that_are_no_results_are_named(lifted, tmp_path):
    ocp.save(lifted, tmp_path / "good.npz")
    content = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.npz").write_text("no result")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "objects.npz", header=np.array([{}], dtype=object))
    for name, reason in {
        "cut.npz": rf"of its {len(content) // 2} bytes, the end is not that of a .npz: cut off",
        "text.npz": "it begins with b'no result', a .npz with b'PK'",
        "other.npz": "it has no digest",
        "objects.npz": "",
    }.items():
        words = rf"{name}: not a result file of this program, or damaged \({reason}"
        with pytest.raises(ValueError, match=words):
            ocp.load(tmp_path / name)
    with pytest.raises(
        ValueError,
        match=r"good\.npz: belongs to another model: its joints are shoulder, elbow; "
        "expected slide, hinge",
    ):
        arm = pr()
        ocp.load(
            tmp_path / "good.npz",
            ocp.Problem(
                tree=arm, motion=ocp.BSpline(points=12), duration=1.0, objective=ocp.effort()
            ),
        )
    with pytest.raises(FileNotFoundError):
        ocp.load(tmp_path / "absent.npz")


@pytest.mark.parametrize("name", ["lift", "lift.mat"])
def test_a_file_of_another_ending_is_not_written(lifted, name, tmp_path):
    with pytest.raises(ValueError, match=rf"{name}: expected a file that ends in .npz, got '"):
        ocp.save(lifted, tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_a_path_where_the_solution_stands_is_told(lifted, tmp_path):
    with pytest.raises(ValueError, match="save: expected a Solution, got str 'lift.npz'"):
        ocp.save("lift.npz", lifted)


def test_names_where_times_or_numbers_are_expected_are_told(lifted):
    with pytest.raises(
        ValueError, match=r"numbers \(s\), got str 'elbow'; .*coordinate\('elbow'\)"
    ):
        lifted.q("elbow")
    with pytest.raises(
        KeyError, match=r"multipliers: no 'at_endq' \(did you mean 'at_end.q'\?\); "
    ):
        lifted.multipliers["at_endq"]
    with pytest.raises(ValueError, match="tolerance: expected int or float.*, got str '1e-3'"):
        ocp.verify(lifted).require("1e-3")

"""Output files of a run on a full disk: every loss is reported."""

import errno
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ocp import OwnFile, Views, load, read_table
from ocp.cli.commands.run import run_task
from ocp.problems.arms.two_link_time import TASK as FASTEST
from ocp.problems.hopping.pogo_hop import TASK as HOP

SHORT = ["--points", "8", "--quiet"]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A folder to run in, and `places` where a result may go instead."""
    (tmp_path / "run").mkdir()
    for name, variable in (("temporary", "TMPDIR"), ("home", "HOME")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path


def test_a_film_that_nothing_here_makes_is_refused_before_anything_is_solved(
    inside, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert run_task(FASTEST, [*SHORT, "--animate", "a.mp4"]) == 2
    words = "two_link_time: error: --animate: a film as .mp4 needs ffmpeg: install the extra `film`"
    assert capsys.readouterr().err.startswith(words)


def fill(monkeypatch, *folders):
    """Let no file below these folders reach the disk."""
    kept = os.replace

    def full(source, target):
        if any(folder in Path(source).absolute().parents for folder in folders):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        kept(source, target)

    monkeypatch.setattr(os, "replace", full)


def test_a_full_disk_after_the_solve_loses_nothing(inside, monkeypatch, capsys):
    fill(monkeypatch, inside / "run")
    flags = ["--save", "a.npz", "--report", "r.json", "--animate", "a.html"]
    assert run_task(FASTEST, [*SHORT, *flags]) == 3
    output = capsys.readouterr()
    assert "objective" in output.out
    lines = output.err.splitlines()
    assert lines[0] == "two_link_time: --save: [Errno 28] a.npz: cannot be written: " + os.strerror(
        errno.ENOSPC
    )
    assert lines[2].startswith("two_link_time: --report: ") and "r.json" in lines[2]
    assert lines[3].startswith("two_link_time: --animate: ")
    place = Path(lines[1].partition("the solution was saved as ")[2])
    assert place.parent.parent == inside / "temporary" and place.name == "a.npz"
    assert place.parent.stat().st_mode & 0o777 == 0o700
    assert load(place).success and os.listdir(inside / "run") == []


def test_the_next_place_is_tried_and_none_left_empty(inside, monkeypatch, capsys):
    fill(monkeypatch, inside / "run", inside / "temporary")
    assert run_task(FASTEST, [*SHORT, "--save", "a.npz"]) == 3
    place = Path(capsys.readouterr().err.partition("the solution was saved as ")[2].strip())
    assert place.parent.parent == inside / "home" and load(place).success
    assert os.listdir(inside / "temporary") == []


def test_without_any_room_that_is_said(inside, monkeypatch, capsys):
    fill(monkeypatch, inside)
    assert run_task(FASTEST, [*SHORT, "--save", "a.npz"]) == 3
    assert "the solution could not be saved anywhere else" in capsys.readouterr().err
    assert [os.listdir(inside / name) for name in ("run", "temporary", "home")] == [[], [], []]


def test_a_failure_to_solve_is_told_before_one_to_write(inside, monkeypatch, capsys):
    fill(monkeypatch, inside / "run")
    assert run_task(FASTEST, [*SHORT, "--save", "a.npz", "--option", "max_iter=2"]) == 1
    assert "the solution was saved as " in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--save", "--report"])
def test_a_device_is_refused_before_the_solve(inside, capsys, flag):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    assert run_task(FASTEST, [*SHORT, flag, "/dev/full"]) == 2
    assert "/dev/full: is a device, expected a new or a regular file" in capsys.readouterr().err


def test_a_guess_may_be_of_another_problem_with_the_same_joints(inside, capsys):
    assert run_task(FASTEST, [*SHORT, "--save", "a.npz"]) == 0
    assert run_task(FASTEST, [*SHORT, "--torque", "9", "--points", "11", "--guess", "a.npz"]) == 0


def test_a_motion_is_left_as_a_table(inside):
    assert run_task(FASTEST, [*SHORT, "--motion", "arm.mot"]) == 0
    table = read_table("arm.mot")
    assert table.labels == ("shoulder", "elbow") and table.units == ("rad", "rad")


def test_forces_are_left_as_a_table_where_there_is_a_ground(inside, capsys):
    assert run_task(HOP, ["--quiet", "--forces", "hop.mot", "--motion", "hop.yaml"]) == 0
    assert read_table("hop.mot").labels[1] == "foot_force_vy"
    assert "joint_names" in Path("hop.yaml").read_text()
    assert run_task(FASTEST, [*SHORT, "--forces", "arm.mot"]) == 2
    assert "--forces: this problem has no ground" in capsys.readouterr().err


def test_a_table_of_another_kind_is_refused_before_the_solve(inside, capsys):
    assert run_task(FASTEST, [*SHORT, "--motion", "arm.csv", "--forces", "./arm.csv"]) == 2
    assert "--forces: ./arm.csv is the file of --motion too" in capsys.readouterr().err
    assert run_task(FASTEST, [*SHORT, "--motion", "arm.trc"]) == 2
    words = "--motion: expected a file ending in .mot, .sto, .csv, .yaml, .yml, .mcap, got"
    assert words in capsys.readouterr().err


def test_a_problem_leaves_a_file_of_its_own_where_it_is_asked_for(tmp_path, capsys):
    def note(solution, path):
        Path(path).write_text(f"{solution.duration:.4f}")

    own = OwnFile(name="note", words="write the duration", endings=(".txt",), write=note)
    task = replace(FASTEST, views=Views(files=(own,)))
    path = str(tmp_path / "note.txt")
    assert run_task(task, [*SHORT, "--note", path]) == 0
    assert Path(path).read_text() == "0.4050"  # s, of 8 points
    assert run_task(task, [*SHORT, "--note", str(tmp_path / "note.png")]) == 2
    assert "--note: expected a file ending in .txt" in capsys.readouterr().err
    assert run_task(task, [*SHORT, "--note", path, "--save", path]) == 2
    assert "is the file of --" in capsys.readouterr().err


def test_a_report_is_made_only_where_it_is_told_or_left(tmp_path, capsys):
    made = []

    def report(solution):
        made.append(solution)
        return {"seconds": solution.duration}

    views = Views(report=report, lines=lambda data: ["all of it"], brief=lambda _: ["in brief"])
    task, path, points = replace(FASTEST, views=views), str(tmp_path / "r.json"), SHORT[:2]
    assert run_task(task, points) == 0 and not made
    told = capsys.readouterr().out
    assert "in brief" in told and "all of it" not in told
    assert run_task(task, [*points, "--details"]) == 0 and len(made) == 1
    assert "all of it" in capsys.readouterr().out
    assert run_task(task, [*points, "--quiet", "--report", path]) == 0 and len(made) == 2
    assert '"seconds"' in Path(path).read_text()

"""Files of studies survive anything: locks, full disks, interruptions, programs killed."""

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import study_cells
from study_cells import FOUR, blocking, problem, stopped

from ocp.cli.commands.study import command, values
from ocp.problems.arms.two_link_time import TASK
from ocp.studies import StudyFileError, grid, open_study, sweep
from ocp.studies.store import database as ledger
from ocp.studies.store.outdated_cells import enter_cells

ROOT = Path(__file__).parents[2]


def test_ctrl_c_loses_nothing_that_was_finished():
    with pytest.raises(KeyboardInterrupt):
        sweep(problem, FOUR, file="a.sqlite", workers=0, method=stopped)
    assert [cell.status for cell in open_study("a.sqlite").cells] == [
        "solved",
        "solved",
        "pending",
        "pending",
    ]
    study_cells.HELD.append(sqlite3.connect(":memory:"))
    assert len(sweep(problem, FOUR, file="a.sqlite", workers=0, method=stopped).solved) == 4


def test_a_file_locked_meanwhile_loses_no_finished_cell(inside):
    how = {
        "file": "a.sqlite",
        "workers": 0,
        "method": blocking,
        "how": {"file": str(inside / "a.sqlite")},
    }
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: is locked by another program .*; 1 finished cell that it did not take",
    ) as stop:
        sweep(problem, FOUR, **how)
    kept = Path(re.search(r"are in (\S+),", str(stop.value))[1])
    assert open_study(kept).cells[0].status == "solved"
    assert [cell.status for cell in open_study("a.sqlite").cells] == ["pending"] * 4
    with pytest.raises(StudyFileError, match="a.sqlite: is locked"):
        sweep(problem, FOUR, **how)
    study_cells.HELD[0].close()
    seen = []
    assert len(sweep(problem, FOUR, watch=seen.append, **how).solved) == 4
    assert len(seen) == 3
    assert not kept.exists()


def test_a_full_disk_loses_no_finished_cell(monkeypatch):
    connect, pages = ledger._connect, {"a.sqlite": 18}

    def small(path, readonly):
        connection = connect(path, readonly)
        connection.execute(f"PRAGMA max_page_count = {pages.get(path.name, 1000)}")
        return connection

    monkeypatch.setattr(ledger, "_connect", small)
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: cannot be written: no room on the disk .*; 1 finished cell that it did",
    ):
        sweep(problem, FOUR, file="a.sqlite", workers=0)
    finished, seen = len(open_study("a.sqlite").solved), []
    pages["a.sqlite"], (kept,) = 1000, Path().glob(".a.sqlite.rescued-*/*")
    assert finished in (1, 2) and kept.parent.stat().st_mode & 0o777 == 0o700
    assert len(sweep(problem, FOUR, file="a.sqlite", workers=0, watch=seen.append).solved) == 4
    assert len(seen) == 3 - finished
    with ledger.Ledger("a.sqlite") as file:
        enter_cells(file, sweep(problem, {"torque": [9.0]}, workers=0).cells)
    pages |= {"a.sqlite": 1, "part.sqlite": 1}
    with pytest.raises(
        StudyFileError,
        match="a.sqlite: .*; 1 finished cell could not be kept elsewhere either: .*no room",
    ):
        sweep(problem, {"torque": [9.0]}, file="a.sqlite", workers=0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "text.sqlite",
            b"no data base at all, but long enough " * 30,
            "text.sqlite: is not a study file, or is damaged",
        ),
        ("nowhere/a.sqlite", None, "nowhere/a.sqlite: folder nowhere does not exist"),
        ("temporary", None, "temporary: cannot be opened"),
    ],
)
def test_a_file_that_cannot_be_one_is_named(name, content, message):
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(StudyFileError, match=message):
        sweep(problem, FOUR, file=name, workers=0)
    assert content is None or Path(name).read_bytes() == content


def test_another_program_s_data_base_is_left_alone():
    connection = sqlite3.connect("a.sqlite")
    connection.execute("CREATE TABLE cells (mine TEXT)")
    connection.close()
    before = Path("a.sqlite").read_bytes()
    with pytest.raises(StudyFileError, match="a.sqlite: is not a study file of this program"):
        sweep(problem, FOUR, file="a.sqlite", workers=0)
    assert Path("a.sqlite").read_bytes() == before
    with pytest.raises(StudyFileError, match="b.sqlite: there is no such file"):
        open_study("b.sqlite")


@pytest.mark.commands
def test_a_killed_study_is_resumed_and_its_file_opens_while_it_runs(inside):
    words = [
        sys.executable,
        "-m",
        "ocp",
        "study",
        "two_link_time",
        "--set",
        "torque=5:15:6",
        "--set",
        "points=6",
        "--file",
        "a.sqlite",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*words, "--workers", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as study:
        for _ in range(2):
            study.stdout.readline()
        running = open_study("a.sqlite")
        study.kill()
    cut = open_study("a.sqlite")
    assert len(running.cells) == len(cut.cells) == 6
    assert 2 <= len(running.solved) <= len(cut.solved) < 6
    assert running.solution(running.solved[0]).success
    assert command(words[4:] + ["--workers", "0", "--quiet"]) == 0
    whole = sweep(TASK, grid({"torque": values("5:15:6"), "points": 6}), workers=0)
    resumed = open_study("a.sqlite")
    assert [(cell.id, cell.parameters, cell.objective) for cell in resumed.cells] == [
        (cell.id, cell.parameters, cell.objective) for cell in whole.cells
    ]

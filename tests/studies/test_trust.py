"""A study file is data: nothing that it names is imported or called but what is handed over."""

import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from study_cells import objectives, problem

from ocp import Solver, Transcription
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.studies import StudyFileError, Task, open_study, sweep
from ocp.studies.store import unsaved_cells
from ocp.studies.store.cell_specification import content_of, recipe
from ocp.studies.store.database import Ledger
from ocp.studies.store.function_trust import Trust
from ocp.studies.store.row_format import Cell, identity, result_of

TWO = {"torque": [8.0, 10.0]}
MARK = "a_planted_function_ran"
PLANTED = f"open({MARK!r}, 'w')\n\n\ndef problem(torque=10.0, points=6):\n    pass\n"
NAMES = ("os:mkdir", "planted:problem", "{folder}/planted.py:problem")


def planted(path, changes, archive, key=None):
    """Write a study of one solved cell with a changed content, all its sums being right."""
    data = content_of(recipe(problem, Transcription(), Solver()), {}) | {"after": None} | changes
    cell = Cell(id=key or identity(data), parameters={"torque": 10.0}, content=data)
    result = result_of(replace(cell, status="solved", objective=1.0), archive)
    with Ledger(path) as ledger:
        ledger.plan([cell])
        ledger.finish(cell, result)
    return cell


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The bytes of a solution."""
    path = tmp_path_factory.mktemp("sound") / "a.sqlite"
    done = sweep(problem, {"torque": [10.0]}, file=path, workers=0)
    with Ledger(path) as ledger:
        return ledger.archive(done.cells[0].id)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["problem", "method", "measure", "dynamics", "rule", "plugin"])
def test_opening_a_study_runs_nothing_that_it_names(place, name, archive, inside, monkeypatch):
    monkeypatch.syspath_prepend(str(inside))
    Path("planted.py").write_text(PLANTED)
    name = name.format(folder=inside)
    parts = content_of(recipe(problem, Transcription(), Solver()), {})
    changes = {
        "dynamics": {"transcription": parts["transcription"] | {"dynamics": name}},
        "rule": {"transcription": parts["transcription"] | {"method": name}},
        "plugin": {"solver": parts["solver"] | {"plugin": name}},
    }.get(place, {place: name})
    if name == "os:mkdir":
        changes |= {"arguments": {"path": MARK}, "how": {"path": MARK}}
    planted("a.sqlite", changes, archive)
    for trust in ((), problem, Task(problem), [problem, Transcription()]):
        study = open_study("a.sqlite", trust=trust)
        study.write_csv("t.csv")
        try:
            study.solution(study.cells[0])
        except ValueError as error:
            assert "a.sqlite: cell {'torque': 10.0}: " in str(error)
    assert not os.path.exists(MARK) and "planted" not in sys.modules


def test_only_what_is_handed_over_gives_a_solution_its_functions():
    sweep(problem, TWO, file="a.sqlite", workers=0)
    plain, whole = open_study("a.sqlite"), open_study("a.sqlite", trust=Task(problem))
    cell = plain.cells[0]
    assert (plain.solution(cell).points == whole.solution(cell).points).all()
    names = [one.name for one in whole.solution(cell).problem.constraints]
    assert names == [one.name for one in problem(torque=8.0).constraints]
    other = open_study("a.sqlite", trust=lift)
    with pytest.raises(StudyFileError, match="study_cells:problem: is named by the file and not"):
        other.solution(cell)
    with pytest.raises(ValueError, match="expected a function of a module"):
        open_study("a.sqlite", trust=lambda: problem())


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": "study_cells:TORQUES"},
        {"dynamics": "study_cells:problem"},
        {"method": "study_cells:problem"},
        {"arguments": [1]},
        {"arguments": {"mass": 1.0}},
        {"arguments": {"torque": {"a": 1}, "points": 6}},
        {"arguments": {"torque": 11.0, "points": 6}},
    ],
)
def test_what_is_trusted_is_called_as_what_it_is_alone(changes, archive):
    settings = content_of(recipe(problem, Transcription(), Solver()), {})["transcription"]
    own = {name: changes[name] for name in ("dynamics", "method") if name in changes}
    planted("a.sqlite", {"transcription": settings | own} if own else changes, archive)
    study = open_study("a.sqlite", trust=problem)
    with pytest.raises(StudyFileError, match="^a.sqlite: cell {'torque': 10.0}: "):
        study.solution(study.cells[0])


def test_a_name_of_a_file_stands_for_what_is_trusted_and_never_for_a_place():
    trust = Trust({"reach:problem": problem})
    assert trust.find("/anywhere/reach.py:problem") is problem
    for name in ("reach:problem.__globals__", "/anywhere/other.py:problem", "os:system", ""):
        with pytest.raises(ValueError, match="not trusted"):
            trust.find(name)


def test_a_pending_cell_is_solved_as_its_sweep_says_and_not_as_the_file_does(archive):
    own = sweep(problem, {"torque": [10.0]}, workers=0).cells[0]
    with Ledger("a.sqlite") as ledger:
        ledger.plan([replace(own, content=own.content | {"problem": "os:mkdir"})])
    assert open_study("a.sqlite").cells[0].status == "damaged"
    done = sweep(problem, {"torque": [10.0]}, file="a.sqlite", workers=0)
    assert objectives(done) == [own.objective] and "was damaged" in done.notes[0]
    assert open_study("a.sqlite").cells[0].content == own.content
    planted("b.sqlite", {"measure": "study_cells:speeds"}, archive, own.id)
    assert "its content is not what its id stands for" in open_study("b.sqlite").cells[0].reason
    again = sweep(problem, {"torque": [10.0]}, file="b.sqlite", workers=0, measure=None)
    assert objectives(again) == [own.objective] != [1.0]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER UPDATE ON cells BEGIN DELETE FROM solutions; END",
        "CREATE VIEW v AS SELECT load_extension('evil')",
        "CREATE TABLE more (x TEXT)",
        "CREATE INDEX i ON cells (abs(place))",
        "PRAGMA user_version = 9",
    ],
)
def test_a_file_with_more_in_it_than_a_study_is_refused(statement):
    sweep(problem, TWO, file="a.sqlite", workers=0)
    with sqlite3.connect("a.sqlite") as connection:
        connection.execute(statement)
    connection.close()
    for opened in (open_study, lambda path: sweep(problem, TWO, file=path, workers=0)):
        with pytest.raises(StudyFileError, match="a.sqlite: is not a study file"):
            opened("a.sqlite")


def test_rescued_cells_count_in_a_private_folder_alone_and_for_cells_that_are_wanted(inside):
    first = sweep(problem, TWO, file="a.sqlite", workers=0)
    wanted = sweep(problem, {"torque": [9.0]}, workers=0).cells[0]
    with Ledger("a.sqlite") as ledger:
        ledger.plan([wanted])
    lies = {"status": "failed", "reason": "it is mine", "archive": None}
    folders = {name: inside / f".a.sqlite.rescued-{name}" for name in ("open", "private", "link")}
    for name in ("open", "private"):
        folders[name].mkdir(mode=0o755 if name == "open" else 0o700)
        with Ledger(folders[name] / unsaved_cells.NAME) as other:
            for cell in [*first.cells, wanted] if name == "private" else [wanted]:
                blank = replace(cell, status="pending")
                other.plan([blank])
                other.finish(blank, result_of(cell, None) | lies | {"reason": name})
    folders["link"].symlink_to(folders["open"])
    seen = []
    done = sweep(problem, {"torque": [8.0, 9.0]}, file="a.sqlite", workers=0, watch=seen.append)
    assert [cell.status for cell in done.cells] == ["solved", "failed"] and not seen
    assert done.cells[1].reason == "private" and done.cells[0].objective == objectives(first)[0]
    assert len(done.notes) == 2 and not folders["private"].exists() and folders["open"].exists()

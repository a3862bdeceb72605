"""Cells are known by the problem as it is built; what was stated otherwise is marked."""

import sqlite3
import sys
from pathlib import Path

import pytest
from study_cells import objectives, problem

from ocp import Parameter, Task, solve
from ocp.problem import duration
from ocp.studies import StudyFileError, open_study, sweep
from ocp.studies.store import cell_specification, function_addresses
from ocp.studies.store.database import Ledger
from ocp.studies.store.digests import code_digest, problem_digest
from ocp.studies.store.function_addresses import module_at
from ocp.studies.store.repair import _copy
from ocp.studies.task import task_of

OWN = '''"""An arm of one's own."""

from ocp.problems.arms.two_link_time import problem as fastest

from ocp import Parameter, Task

SHARE = 1.0  # of the torque


def problem(torque: float = 10.0, points: int = 6):
    """`torque`: limit (N m); `points`: control points."""
    return fastest(torque=SHARE * torque, points=points)


def work(solution):
    """Measure the solution."""
    return {"work": scaled(solution.duration)}


def scaled(value):
    return 2.0 * value


PLAIN = Task(problem)
PLANNED = Task(problem, parameters=[Parameter("torque", 10.0, "N m", 1.0, 50.0)])
'''
TWO = {"torque": [8.0, 10.0]}


@pytest.fixture
def stated(inside, monkeypatch):
    """Return a function that writes a file and returns its module, as a new process loads it."""

    def load(text, name="own.py"):
        path = inside / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for loaded in list(function_addresses.LOADED.values()):
            sys.modules.pop(loaded.__name__, None)
        function_addresses.LOADED.clear()
        return module_at(str(path))

    monkeypatch.setattr(sys, "path", list(sys.path))
    # bytecode is told by second and length of a file: edits of this test may share both
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield load
    function_addresses.LOADED.clear()
    sys.modules.pop("own", None)


def statuses(path="a.sqlite"):
    """Statuses of all cells of a file."""
    return [cell.status for cell in open_study(path).cells]


@pytest.mark.parametrize("task", ["PLAIN", "PLANNED"])
def test_an_edited_problem_is_solved_anew_and_its_old_cells_are_marked(task, stated):
    seen, how = [], {"file": "a.sqlite", "workers": 0}
    first = sweep(getattr(stated(OWN), task), TWO, watch=seen.append, **how)
    edited = getattr(stated(OWN.replace("SHARE = 1.0", "SHARE = 0.5")), task)
    second = sweep(edited, TWO, watch=seen.append, **how)
    alone = sweep(edited, TWO, workers=0)
    assert len(seen) == 4 and objectives(second) == objectives(alone) != objectives(first)
    assert statuses() == ["outdated", "outdated", "solved", "solved"]
    assert "2 of its cells are outdated" in second.notes[0]
    kept = open_study("a.sqlite")
    assert kept.solved == kept.cells[2:] and kept.outdated == kept.cells[:2]
    assert "have meant another problem" in kept.cells[0].reason
    back = sweep(getattr(stated(OWN), task), TWO, watch=seen.append, **how)
    assert len(seen) == 4 and objectives(back) == objectives(first)
    assert statuses() == ["solved", "solved", "outdated", "outdated"]


def test_an_edited_comment_or_docstring_solves_nothing_again(stated):
    seen = []
    how = {"file": "a.sqlite", "workers": 0, "watch": seen.append}
    first = sweep(stated(OWN).PLAIN, TWO, measure=stated(OWN).work, **how)
    text = OWN.replace("# of the torque", "# of what the motors give").replace("Measure the", "A")
    module = stated("# a line more\n" + text)
    second = sweep(module.PLAIN, TWO, measure=module.work, **how)
    assert len(seen) == 2 and first.cells == second.cells and not second.notes


def test_what_is_measured_is_part_of_a_cell_with_the_functions_that_it_uses(stated):
    how = {"file": "a.sqlite", "workers": 0}
    module = stated(OWN)
    first = sweep(module.PLAIN, {"torque": [8.0]}, measure=module.work, **how)
    module = stated(OWN.replace("2.0 * value", "3.0 * value"))
    second = sweep(module.PLAIN, {"torque": [8.0]}, measure=module.work, **how)
    old, new = (done.cells[0].measured["work"] for done in (first, second))
    assert new == pytest.approx(1.5 * old) and statuses() == ["outdated", "solved"]


def test_cells_that_were_not_asked_for_since_their_problem_changed_are_outdated_too(stated):
    seen, how = [], {"file": "a.sqlite", "workers": 0}
    sweep(stated(OWN).PLAIN, {"torque": [8.0, 10.0, 12.0]}, **how)
    weaker = OWN.replace("torque=SHARE * torque", "torque=torque if torque > 9 else torque / 2")
    sweep(stated(weaker).PLAIN, {"torque": [8.0]}, **how)
    assert statuses() == ["outdated", "outdated", "outdated", "solved"]
    sweep(stated(weaker).PLAIN, {"torque": [12.0]}, watch=seen.append, **how)
    assert not seen  # it means what it did
    assert statuses() == ["outdated", "outdated", "solved", "solved"]


def test_new_cells_of_a_changed_problem_outdate_the_old_ones(stated):
    how = {"file": "a.sqlite", "workers": 0}
    sweep(stated(OWN).PLAIN, {"torque": [8.0]}, **how)
    sweep(stated(OWN).PLAIN, {"torque": [9.0]}, **how)
    assert statuses() == ["solved", "solved"]
    sweep(stated(OWN.replace("SHARE = 1.0", "SHARE = 0.5")).PLAIN, {"torque": [10.0]}, **how)
    assert statuses() == ["outdated", "outdated", "solved"]
    sweep(stated(OWN.replace("SHARE = 1.0", "SHARE = 0.9")).PLAIN, {"torque": [9.0]}, **how)
    assert statuses() == ["outdated", "outdated", "outdated", "solved"]


@pytest.mark.parametrize("task", ["PLAIN", "PLANNED"])
def test_a_file_that_is_edited_while_its_study_runs_gives_no_number(task, stated, inside):
    begun = getattr(stated(OWN), task)
    edited = OWN.replace("SHARE = 1.0", "SHARE = 0.50")  # bytecode is told by its length too
    (inside / "own.py").write_text(edited, encoding="utf-8")
    (cell,) = sweep(begun, {"torque": [8.0]}, workers=1, file="a.sqlite").cells
    assert cell.status == "failed" and "its file was edited since" in cell.reason


def test_files_of_one_name_in_two_folders_never_meet(stated):
    how = {"file": "a.sqlite", "workers": 0}
    texts = {"left": OWN, "right": OWN.replace("SHARE = 1.0", "SHARE = 0.5"), "third": OWN}
    done = {
        folder: sweep(stated(text, f"{folder}/own.py").PLAIN, {"torque": [8.0]}, **how)
        for folder, text in texts.items()
    }
    ids = {each.cells[0].id for each in done.values()}
    assert len(ids) == 3 and statuses() == ["solved"] * 3
    assert objectives(done["left"]) == objectives(done["third"]) != objectives(done["right"])


def test_another_version_of_the_package_solves_anew(monkeypatch):
    seen, how = [], {"file": "a.sqlite", "workers": 0}
    sweep(problem, {"torque": [8.0]}, watch=seen.append, **how)
    monkeypatch.setattr(cell_specification, "VERSION", "99.0")
    sweep(problem, {"torque": [8.0]}, watch=seen.append, **how)
    assert len(seen) == 2 and statuses() == ["outdated", "solved"]


def test_a_problem_that_could_not_be_stated_is_tried_again_when_it_can(stated):
    how = {"file": "a.sqlite", "workers": 0}
    failing = OWN.replace(
        "    return fastest", "    raise ValueError('not yet')\n    return fastest"
    )
    first = sweep(stated(failing).PLAIN, {"torque": [8.0]}, **how)
    assert first.cells[0].reason == "ValueError: not yet"
    assert sweep(stated(OWN).PLAIN, {"torque": [8.0]}, **how).cells[0].solved


def test_what_a_problem_leaves_open_is_part_of_its_digest():
    def stated(share, value=10.0):
        torque = Parameter("torque", value, "N m", 1.0, 50.0)
        return lambda: problem(torque=torque + share * (torque - 10.0))

    digests = [
        problem_digest(build, problem)
        for build in (stated(0.0), stated(0.0), stated(0.5), stated(0.0, 11.0))
    ]
    assert digests[0] == digests[1] and len(set(digests)) == 3


def test_code_is_told_apart_by_what_it_does():
    def scaled(factor):
        return lambda value: factor * value

    def documented(value):
        """Return it."""
        return value

    def plain(value):
        return value

    assert code_digest(scaled(2.0)) == code_digest(scaled(2.0)) != code_digest(scaled(3.0))
    assert code_digest(documented) == code_digest(plain)
    assert code_digest(solve) is code_digest(duration) is None  # the version stands for these


def test_a_file_of_an_earlier_format_is_refused_with_the_cure():
    sweep(problem, {"torque": [8.0]}, file="a.sqlite", workers=0)
    with sqlite3.connect("a.sqlite") as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(StudyFileError, match="format 3, got 2: solve again into another file"):
        open_study("a.sqlite")


def test_marks_are_kept_where_a_file_is_mended(stated):
    how = {"file": "a.sqlite", "workers": 0}
    sweep(stated(OWN).PLAIN, {"torque": [8.0]}, **how)
    sweep(stated(OWN.replace("SHARE = 1.0", "SHARE = 0.5")).PLAIN, {"torque": [8.0]}, **how)
    with Ledger("a.sqlite") as ledger:
        assert _copy(ledger, Path("b.sqlite")) == 0
    assert statuses("b.sqlite") == ["outdated", "solved"]


def test_any_callable_is_swept_in_this_process(stated):
    shares = [0.5, 1.0]
    studies = [
        sweep(
            lambda torque=10.0, share=share: problem(torque=share * torque, points=6),
            {"torque": [10.0]},
            workers=0,
            file="a.sqlite",
            measure=lambda solution: {"twice": 2 * solution.duration},
        )
        for share in shares
    ]
    assert [objectives(one) for one in studies] == [
        objectives(sweep(problem, {"torque": [torque]}, workers=0)) for torque in (5.0, 10.0)
    ]
    cell = studies[0].cells[0]
    assert cell.measured == {"twice": pytest.approx(2 * cell.duration)}
    assert studies[0].solution(cell).problem.tree.joints[0].torque == (-5.0, 5.0)
    with pytest.raises(ValueError, match="with workers=0 any function is taken"):
        sweep(lambda torque=10.0: problem(torque), {"torque": [8.0]}, workers=1)


def test_a_problem_without_a_name_is_a_task_all_the_same(stated):
    task = Task(lambda points=6: problem(points=points))
    assert sweep(task, {}, workers=0).cells[0].solved
    assert task_of(stated(OWN + "\nTASK = PLAIN\n")).problem.__name__ == "problem"

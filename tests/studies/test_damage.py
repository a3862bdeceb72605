"""Damaged and planted study files: one kind of error, nothing run, little memory, no cell more."""

import json
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from study_cells import objectives, problem

from ocp.certificate.certify_solution import certify
from ocp.studies import StudyFileError, open_study, sweep
from ocp.studies.store import row_format
from ocp.studies.store.database import Ledger
from ocp.studies.store.row_format import result_of

ROOT = Path(__file__).parents[2]
THREE = {"torque": [8.0, 10.0, 12.0]}
READER = """
import random, sys
from ocp.studies import StudyFileError, open_study

def peak():  # MB of this program alone: what getrusage says begins with that of its parent
    status = open("/proc/self/status").read().split()
    return int(status[status.index("VmHWM:") + 1]) // 1024

content, rng, seen = open("a.sqlite", "rb").read(), random.Random(12), []
for _ in range(150):
    place, bit = rng.randrange(len(content)), 1 << rng.randrange(8)
    with open("b.sqlite", "wb") as file:
        file.write(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
    try:
        study = open_study("b.sqlite")
    except StudyFileError as error:
        assert isinstance(error, ValueError) and str(error).startswith("b.sqlite: "), error
        seen.append(0)
        continue
    whole = 0
    for cell in study.cells:
        try:
            whole += study.solution(cell).success
        except StudyFileError as error:
            assert str(error).startswith("b.sqlite: cell "), error
    seen.append(whole)
assert "study_cells" not in sys.modules
print(*seen, peak())
"""


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A study of three cells, and the bytes of its file."""
    path = tmp_path_factory.mktemp("solved") / "a.sqlite"
    return sweep(problem, THREE, file=path, workers=0), path.read_bytes()


@pytest.fixture
def three(solved, inside):
    """A study of three cells in a file."""
    study, content = solved
    (inside / "a.sqlite").write_bytes(content)
    return study


def changed(query, *values):
    """Change the file behind the back of the program."""
    with sqlite3.connect("a.sqlite") as connection:
        connection.execute(query, values)
    connection.close()


@pytest.mark.commands
def test_150_flipped_bytes_cost_a_cell_each_at_most(monkeypatch):
    sweep(problem, {"torque": [8.0, 10.0]}, file="a.sqlite", workers=0)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'tests'}")
    command = [sys.executable, "-W", "error", "-c", READER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    *whole, memory = map(int, done.stdout.split())
    assert len(whole) == 150 and memory < 300
    assert sum(count >= 1 for count in whole) >= 143  # the rest is the page that says what is in it
    assert sum(count == 1 for count in whole) > 50  # and no flip in a cell is overlooked


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("UPDATE cells SET objective = ? WHERE place = 2", 0.1),
        ("UPDATE cells SET status = ? WHERE place = 2", "pending"),
        ("UPDATE cells SET content = ? WHERE place = 2", "[" * 100000),
        ("UPDATE cells SET terms = ? WHERE place = 2", "x" * (row_format.TEXT + 1)),
        ("UPDATE cells SET parameters = ? WHERE place = 2", b"\xff\xfe"),
        ("UPDATE cells SET place = ? WHERE place = 2", "second"),
        ("UPDATE solutions SET archive = ? WHERE rowid = 2", b"PK"),
        ("DELETE FROM solutions WHERE rowid = ?", 2),
    ],
)
def test_a_cell_that_was_changed_is_told_and_solved_anew_alone(query, value, three):
    changed(query, value)
    study = open_study("a.sqlite")
    sound = [cell for cell in study.cells if cell.id != three.cells[1].id]
    assert [cell.objective for cell in sound] == [objectives(three)[0], objectives(three)[2]]
    broken = next(cell for cell in study.cells if cell not in sound)
    with pytest.raises(StudyFileError, match=f"a.sqlite: cell {broken.id}: .*is damaged"):
        study.solution(broken)
    study.write_csv("t.csv")
    seen = []
    again = sweep(problem, THREE, file="a.sqlite", workers=0, watch=seen.append)
    assert len(seen) == 1 and objectives(again) == objectives(three)
    assert again.notes == (f"a.sqlite: cell {broken.id}: was damaged",)
    assert all(again.solution(cell).success for cell in again.cells)


@pytest.mark.parametrize("name", ["parameters", "terms", "statistics", "content"])
def test_data_of_another_shape_are_no_cell_whatever_their_sums(name, three):
    with Ledger("a.sqlite") as ledger:
        row = list(ledger.connection.execute("SELECT * FROM cells WHERE place = 2").fetchone()[:-1])
        shapes = {"terms": '{"a": "b"}', "content": '{"problem": 1}'}
        row[row_format.COLUMNS.index(name)] = shapes.get(name, "[1]")
        values = (*row, row_format._digest(row), row[0])
        columns = ", ".join(f"{column} = ?" for column in (*row_format.COLUMNS, "digest"))
        ledger.connection.execute(f"UPDATE cells SET {columns} WHERE id = ?", values)
    assert [cell.status for cell in open_study("a.sqlite").cells] == ["solved", "solved", "damaged"]


def test_a_torn_file_is_mended_and_kept_beside(three, inside):
    content = bytearray(Path("a.sqlite").read_bytes())
    connection = sqlite3.connect("a.sqlite")
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_cells_1'"
    ).fetchone()
    connection.close()
    content[(page - 1) * 4096 : page * 4096] = random.Random(0).randbytes(4096)
    Path("a.sqlite").write_bytes(content)
    assert objectives(open_study("a.sqlite")) == objectives(three)
    seen = []
    again = sweep(problem, THREE, file="a.sqlite", workers=0, watch=seen.append)
    assert not seen and objectives(again) == objectives(three)
    assert "was damaged and is mended, all of its cells were read" in again.notes[0]
    (kept,) = inside.glob("a.sqlite.damaged-*/a.sqlite")
    assert kept.read_bytes()[4096:] == content[4096:]
    assert all(again.solution(cell).success for cell in again.cells)
    assert sweep(problem, THREE, file="a.sqlite", workers=0).notes == ()


def test_any_torn_page_is_told_as_such(three):
    content, counts = Path("a.sqlite").read_bytes(), []
    for start in range(4096, len(content), 4096):
        torn = bytes(b ^ 0x5A for b in content[start : start + 4096])
        Path("b.sqlite").write_bytes(content[:start] + torn + content[start + 4096 :])
        cells = open_study("b.sqlite").cells
        assert len(cells) <= 4 and all(cell.status in ("solved", "damaged") for cell in cells)
        counts.append(sum(cell.solved for cell in cells))
    assert sum(count == 3 for count in counts) > len(counts) * 3 // 4


def test_rows_that_share_their_pages_are_not_read_on_and_on(three, monkeypatch):
    monkeypatch.setattr("ocp.studies.store.database.TEXT", 100)
    monkeypatch.setattr(Ledger, "_size", lambda ledger: 1000)
    with pytest.raises(StudyFileError, match="a.sqlite: is damaged: its cells are longer than"):
        open_study("a.sqlite")


def test_a_result_larger_than_a_study_holds_has_failed(three, monkeypatch):
    cell = replace(three.cells[0], status="pending")
    result = result_of(three.cells[0], b"x" * 100)
    monkeypatch.setattr(row_format, "ARCHIVE", 50)
    with Ledger("b.sqlite") as ledger:
        ledger.plan([cell])
        ledger.finish(cell, result)
        assert "is larger than a study holds" in ledger.cell(cell.id).reason
        assert ledger.archive(cell.id) is None


def test_a_cell_of_a_file_is_certified_without_any_function(three):
    study = open_study("a.sqlite")
    solution = study.solution(study.cells[0])
    assert not solution.missing and certify(solution).require(1e-2)
    assert json.loads(json.dumps(study.cells[0].content)) == study.cells[0].content

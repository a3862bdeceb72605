"""Damaged files are read or refused by name, whatever the damage; see tests/mutated_files.py."""

import mutated_files
import pytest
from mutated_files import KINDS, lay_out, outcome, outcomes, written

ABORTS = """import os, sys
for case in range(int(sys.argv[3]), int(sys.argv[4])):
    if case == 1:
        os.abort()
    print('"read"', flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_refused_by_name(tmp_path, kind):
    if kind == "mjcf":
        pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    lay_out(kind, tmp_path)
    words = [outcome(kind, written(kind, case, 1, tmp_path)) for case in range(20)]
    assert set(words) == {"read", "refused"}


@pytest.mark.parametrize("error", [KeyError("a"), ValueError("no name"), OverflowError("large")])
def test_other_errors_are_told(tmp_path, monkeypatch, error):
    def fail(path):
        raise error

    monkeypatch.setattr(mutated_files, "read_table", fail)
    assert outcome("csv", tmp_path / "damaged.csv") == f"{type(error).__name__}: {error}"


def test_a_reader_that_ends_the_interpreter_is_told_and_the_next_is_tried(tmp_path, monkeypatch):
    (tmp_path / "reader.py").write_text(ABORTS)
    monkeypatch.setattr(mutated_files, "__file__", str(tmp_path / "reader.py"))
    expected = [(0, "read"), (1, "ended by signal 6"), (2, "read")]
    assert [*outcomes("csv", 0, 3, tmp_path)] == expected

"""Errors of a user's own file on the command line: its name and line, and no traceback."""

import pytest

from ocp.cli.main import command
from ocp.studies.store.function_addresses import module_at
from ocp.studies.task import Task, task_of

FILES = {
    "broken": ("def problem(:\n", 1, "SyntaxError: invalid syntax"),
    "absent": ("import os\nimport nosuch\n", 2, "ModuleNotFoundError: No module named 'nosuch'"),
    "raising": ("LIMITS = {}\nTOP = LIMITS['elbow']\n", 2, "KeyError: 'elbow'"),
    "building": ("def problem(n: int = 3):\n    return (1, 2)[n]\n", 2, "IndexError: tuple index"),
    "refused": (
        "from ocp import BSpline\n\n\ndef problem():\n    return BSpline(points=2)\n",
        5,
        "control points: a spline of degree 3 needs at least 4, got 2",
    ),
}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """An empty working folder, from which modules are imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "file"), FILES.items(), ids=FILES)
def test_an_error_of_one_s_own_file_is_told_by_its_line(name, file, inside, capsys):
    text, line, words = file
    (inside / f"own_{name}.py").write_text(text)
    for given in (f"./own_{name}.py", f"own_{name}"):
        assert command(["run", given]) == 2
        error = capsys.readouterr().err
        assert f"own_{name}.py, line {line}: {words}" in error and "Traceback" not in error


def test_the_error_itself_stays_the_cause(inside):
    (inside / "own_cause.py").write_text("def problem():\n    return 1 / 0\n")
    with pytest.raises(ValueError, match="line 2: ZeroDivisionError") as caught:
        task_of(module_at("./own_cause.py")).state({})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_elsewhere_is_raised_as_it_is():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n'"):
        Task(lambda: None).state({"n": 1})

"""Every problem of the gallery can be studied and compared: found, built and begun elsewhere."""

import json
from dataclasses import asdict

import pytest
from study_cells import POSED, problem

from ocp import Solver, solve
from ocp.cli.commands.list_problems import tasks
from ocp.diagnosis import minimal_relaxation
from ocp.solving import plan
from ocp.solving.starts import random_starts
from ocp.studies import solve_cell, sweep
from ocp.studies.comparison import child_process, comparison
from ocp.studies.comparison import limited_run as solver_runs
from ocp.studies.comparison.comparison import compare
from ocp.studies.store import cell_specification

TASKS = tasks()
REACHED = "reached: the program is built next"


class Reached(ValueError):
    """Raised where a method has come as far as this test follows it."""


@pytest.fixture
def stopped(monkeypatch):
    """Solves that stop where the program is built, of problems that are built once."""
    build, known = cell_specification.open_statement, {}

    def once(data, find, left_open=()):
        key = json.dumps([data["problem"], data["arguments"]])
        if key not in known:
            known[key] = build(data, find, left_open)
        return known[key]

    def stop(*arguments, **named):
        raise Reached(REACHED)

    for module in (solve_cell, cell_specification):
        monkeypatch.setattr(module, "open_statement", once)
    for module in (plan, minimal_relaxation):
        monkeypatch.setattr(module, "transcribe", stop)
    monkeypatch.setattr(random_starts, "transcribe_phase", stop)
    monkeypatch.setattr(cell_specification, "problem_digest", lambda build, source: "0" * 32)
    monkeypatch.setattr(child_process.resource, "setrlimit", lambda *limits: None)
    monkeypatch.setattr(child_process, "WITHIN", [])


def executed(job, folder):
    """Return the Run of a job as `execute` does, in this process."""
    task, result = folder / "run.json", folder / "result.json"
    task.write_text(json.dumps(asdict(job)))
    child_process.main(str(task), str(result))
    child_process.WITHIN.clear()
    return solver_runs._conclude(job.run, json.loads(result.read_text()), 0, False, "")


@pytest.mark.parametrize("name", TASKS)
def test_a_problem_of_the_gallery_has_its_row(name, stopped, inside, monkeypatch):
    row = solve_cell.run_cell(json.loads(json.dumps(cell_of(TASKS[name]).content)))
    if row["reason"].startswith("MissingExtra"):
        pytest.skip(row["reason"])
    assert (row["status"], row["reason"]) == ("failed", f"Reached: {REACHED}")
    monkeypatch.setattr(comparison, "execute", lambda job: executed(job, inside))
    (run,) = compare(TASKS[name], ["ipopt"]).runs
    assert (run.problem, run.reason) == (TASKS[name].name, REACHED)


def cell_of(task):
    """The only cell of a study of a task with its defaults."""
    recipe = cell_specification.recipe(task, None, Solver())
    return cell_specification.cell({}, cell_specification.content_of(recipe, {}))


@pytest.mark.commands
def test_a_method_from_a_posture_travels_to_processes_of_studies_and_comparisons():
    expected = solve(problem()).objective
    (one,) = sweep(POSED, {}, workers=1).cells
    assert one.content["method"] == {
        "record": "ocp.solving.starts.postures:FromPosture",
        "fields": {"angles": [0.3, -0.5]},
    }
    (run,) = compare(POSED, ["ipopt"], seconds=60).runs
    assert (one.status, run.verdict) == ("solved", "solved")
    assert one.objective == pytest.approx(expected) == pytest.approx(run.objective, rel=1e-6)

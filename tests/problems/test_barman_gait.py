"""The gait of the thesis: its size, its nine families, what it leaves out, and what is active."""

from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from whole_graphs import program_of

from ocp import Radau, Solver, Spline, Transcription
from ocp.cli.commands.run import run_task
from ocp.problem import path
from ocp.problems.arms import two_link_time
from ocp.problems.benchmarks.motions import compare_contact
from ocp.problems.benchmarks.motions.compare_contact import counted, fit, freedom, stated
from ocp.problems.benchmarks.motions.compare_contact import run as compare
from ocp.problems.gait import effort_step as step_of
from ocp.problems.gait.statement import thesis_gait
from ocp.problems.gait.statement.active_constraints import Activity, of_row
from ocp.problems.gait.statement.constraint_families import FAMILIES, family_of
from ocp.problems.human.barman_gait import TASK, problem
from ocp.solving.solution_from_outcome import ADDED
from ocp.studies.store.cell_specification import recipe
from ocp.transcription import Multipliers, transcribe_phase
from ocp.transcription.kernels.row_values import RowValues
from ocp.transcription.transcribe import transcribe


@dataclass(frozen=True, kw_only=True)
class Step:
    """What stands for a Solution where nobody looks further."""

    problem: object
    status: str
    statistics: dict
    multipliers: dict = field(default_factory=dict)


@cache
def whole(of):
    """The families of a gait from which none is left out."""
    return families_of(of())


def families_of(stated):
    """The families of what a problem asks for, without what the ground's feet bring along."""
    return {family_of(constraint.name) for constraint in stated.requirements}


def test_the_only_unknowns_are_55_joints_by_6_control_points():
    stated = problem()
    assert stated.tree.dof == 55 and TASK.transcription.method.layout(stated).size == 330
    assert [term.name for _, term in stated.objective.terms] == ["dynamic_effort"]
    assert not stated.symmetry.accelerations
    assert families_of(stated) == {*FAMILIES} - {"places"}  # within the contact's own rows


@pytest.mark.parametrize("of", [problem, step_of])
@pytest.mark.parametrize("name", [*FAMILIES])
def test_each_family_can_be_left_out_and_the_others_stay(name, of):
    every, left = whole(of), families_of(of(without=name))
    if name in ("contact", "places"):  # which the same rows ask for where both are
        assert left == (every - {"contact"} | {"places"} if name == "contact" else every)
    else:
        assert left == every - {name}
    assert family_of("dynamics") is None


def test_all_families_can_be_left_out():
    stated = problem(without=", ".join(FAMILIES))
    assert stated.requirements == () and stated.symmetry is None


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="without: unknown families speed; expected some of angl"):
        problem(without="speed,angles")
    with pytest.raises(ValueError, match="without: expected a text, as 'angles,torques', got"):
        problem(without=("angles",))
    with pytest.raises(ValueError, match="contact: expected a number of at least 0 .m., got -1"):
        problem(contact=-1.0)
    with pytest.raises(ValueError, match="slip: expected a number of at least 0 .m/s., got nan"):
        problem(slip=float("nan"))
    with pytest.raises(ValueError, match="hold: expected one of throughout, ends, got 'never'"):
        problem(hold="never")


def test_a_task_runs_with_its_own_transcription_unless_flags_say_otherwise(capsys):
    """On the command line, and in studies and comparisons, which make their recipe of it."""
    seen = []

    def keep(statement, transcription, solver, **settings):
        seen.append(transcription.method)
        raise ValueError("enough")

    task = replace(two_link_time.TASK, method=keep, transcription=TASK.transcription)
    for flags in ([], ["--nodes", "3"], ["--method", "radau"]):
        assert run_task(task, flags) == 2
    assert seen == [
        Spline(nodes=5, torques="explicit"),
        Spline(nodes=3, torques="explicit"),
        Radau(),
    ]
    assert recipe(TASK, None, Solver()).transcription == TASK.transcription
    assert recipe(problem, None, Solver()).transcription == Transcription()
    with pytest.raises(TypeError, match="task: transcription: expected a Transcription, got dict"):
        replace(task, transcription={"nodes": 3})


def test_snopt_meets_the_torque_limits_last_and_all_solves_count(monkeypatch):
    """Without them it finds a motion, then the least effort; the third solve has everything."""
    asked = []

    def spent(statement, transcription, solver, **settings):
        names = {family_of(constraint.name) for constraint in statement.constraints}
        asked.append((names, len(statement.objective.terms), dict(solver.options)))
        calls = {"jac_g": [4, 0.5]}
        numbers = dict.fromkeys(ADDED, 3) | {"calls": calls, "stages": [len(asked)]}
        return Step(problem=statement, status="ended", statistics=numbers)

    monkeypatch.setattr(thesis_gait, "solve", spent)
    monkeypatch.setattr(thesis_gait, "walk", spent)
    monkeypatch.setattr(thesis_gait, "EASED", "ipopt")  # SNOPT itself may not be here
    monkeypatch.setattr(thesis_gait, "CLOSER", {"ipopt": {"tol": 1e-5, "max_wall_time": 99.0}})
    solver = Solver(options={"max_wall_time": 10.0})
    last = thesis_gait.predict(problem(), TASK.transcription, solver)
    (first, nothing, options), (eased, effort, left), (every, again, rest) = asked
    assert first == eased and every - eased == {"torques"}
    assert (nothing, effort, again) == (0, 1, 1)
    assert options == {"tol": 1e-3, "max_wall_time": 10.0}
    assert (left["max_wall_time"], rest["max_wall_time"]) == (7.0, 4.0)
    assert (left["tol"], rest["tol"]) == (1e-3, 1e-5)
    whole = {"calls": {"jac_g": [12, 1.5]}, "stages": [1, 2, 3]}
    assert last.statistics == dict.fromkeys(ADDED, 9) | whole
    thesis_gait.predict(problem(), TASK.transcription, solver, feasible=False)
    assert len(asked) == 4


def test_constant_is_constant():
    for of in (problem, step_of):
        stated = of(objective="constant", without=",".join(FAMILIES))
        assert stated.objective.terms == ()
        nlp = transcribe(stated, TASK.transcription).nlp
        assert float(nlp.objective(np.linspace(0.0, 1.0, len(nlp.lower)))) == 0.0
    assert [term.name for _, term in step_of().objective.terms] == ["dynamic_effort", "smoothness"]


def test_an_inequality_is_active_where_its_pull_outweighs_its_distance():
    """Three rows of one constraint within [-1, 1]: at a bound, near it without a pull, and free."""
    values = {"a": (1.0, 0.5), "b": (0.9, 0.0), "c": (0.0, 1e-9)}  # value and multiplier
    limits = path("slip.right.1", lambda at: at.q, lower=-1.0, upper=1.0, labels=tuple(values))
    rows = [
        RowValues(constraint=limits, number=k, s=np.array([0.5]), values=np.array([value]))
        for k, (value, _) in enumerate(values.values())
    ]
    known = Multipliers(s=np.array([0.5]), labels=tuple(values), values=np.zeros((3, 1)))
    pulls = {
        ("slip.right.1", name): (known, np.array([pull])) for name, (_, pull) in values.items()
    }
    assert [of_row(row, pulls).active for row in rows] == [1, 0, 0]
    fixed = path("mirrored.q", lambda at: at.q, lower=0.0, upper=0.0)
    row = RowValues(constraint=fixed, number=0, s=np.array([0.0, 1.0]), values=np.zeros(2))
    assert of_row(row, {}) == Activity(rows=2, equalities=2)
    assert (Activity(rows=1, at_bounds=1) + of_row(row, {})).active == 3


def test_feet_in_their_places_at_both_ends_alone_leave_heights_and_rates_along_the_contact():
    """Eq. 5.4 asks for heights and rates, eq. 5.10 for places, the end being the start's image."""
    names = {each.name: each.labels for each in problem(hold="ends").requirements}
    assert names["contact.right.1"] == ("heel_r.y",)
    assert names["slip.right.1"] == ("heel_r.x", "heel_r.y", "heel_r.z")
    assert {"heel_r.x", "heel_r.z", "toe_l.x"} <= {*names["places.start"]}
    assert not any(label.endswith(".y") for label in names["places.start"])
    assert "places.end" not in names
    free = problem(hold="ends", without="symmetry,contact")
    (end,) = [each for each in free.requirements if each.name == "places.end"]
    assert {"heel_l.x", "heel_l.y", "heel_l.z", "ball_med_r.z"} <= {*end.labels}


def test_six_points_have_room_for_the_equalities_of_exact_contact_at_their_abscissae():
    """Pelvis and legs have 20 coordinates of n - 2 free points; all rows are independent there."""
    assert [freedom(stated(points, "y, v")) for points in (6, 12)] == [80, 200]
    transcribed = transcribe_phase(stated(6, "y, v"), TASK.transcription)
    x = 0.1 * np.random.default_rng(1).standard_normal(330)
    assert counted(transcribed, x) == (57, 57)


def test_exact_contact_goes_on_from_where_its_solve_stopped(monkeypatch):
    monkeypatch.setattr(compare_contact, "ITERATIONS", 2)
    done = fit(6, "y, v")
    assert (done.equalities, done.rank, done.again.left_out) == (57, 57, 0)
    assert done.solution.statistics["iterations"] == done.again.outcome.iterations == 2


def test_exact_contact_that_does_not_go_on_goes_by_way_of_rows_that_are_far_apart(monkeypatch):
    asked = []

    def solved(nlp, solver, x):
        asked.append((len(nlp.g_lower), solver.options.get("mu_init"), x.tolist()))
        done = len(asked) > 1
        return SimpleNamespace(x=x + len(asked), success=done, iterations=len(asked))

    monkeypatch.setattr(compare_contact, "minimize", solved)
    x = ca.MX.sym("x", 2)
    rows = ca.vertcat(x[0], x[0] + 1e-4 * x[1])
    bounds = {"g_lower": (0.0, 0.0), "g_upper": (0.0, 0.0)}
    nlp = program_of(x, ca.sumsqr(x), rows, **bounds)
    again = compare_contact.without_dependent(nlp, Solver(), np.zeros(2))
    assert asked == [(2, None, [0, 0]), (1, None, [0, 0]), (2, 1e-4, [2, 2])]
    assert (again.before, again.left_out, again.outcome.iterations) == (2, 0, 3)


def test_too_few_points_for_a_spline_are_refused(capsys):
    assert compare(["3"]) == 2 and "expected at least 4 points, got 3" in capsys.readouterr().err

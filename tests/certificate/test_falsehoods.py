"""Whatever a solution says of itself that is not so, its certificate refuses.

The motions pass; each falsehood by itself does not, and the reason names it.
"""

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import crouched

import ocp
from ocp.certificate import violations
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers.statuses import ACCEPTABLE
from ocp.transcription.kernels.row_values import row_values

TOLERANCE = 1e-2


@pytest.fixture(scope="module")
def by_variables():
    """A motion whose torques at the nodes are variables."""
    return ocp.solve(lift(points=12), ocp.Transcription(method=ocp.Spline(torques="variables")))


@pytest.fixture(scope="module")
def collocated():
    """A motion whose torques are polynomials of their own."""
    return ocp.solve(lift(points=12), ocp.Transcription(method=ocp.Radau(intervals=12)))


@pytest.fixture(scope="module")
def timed():
    """A motion in a given time."""
    return ocp.solve(replace(lift(points=12), duration=0.6))


def refused(solution, tolerance=TOLERANCE):
    """The lines with which a certificate refuses a solution."""
    with pytest.raises(ocp.NotVerified) as error:
        ocp.verify(solution).require(tolerance)
    return str(error.value)


def worst_of(solution, name):
    """The Violation of a constraint of a solution."""
    return violations(solution)[name]


@pytest.mark.parametrize("name", ["lifted", "by_variables", "collocated", "timed"])
def test_what_is_true_passes(name, request):
    ocp.verify(request.getfixturevalue(name)).require(TOLERANCE)


@pytest.mark.parametrize("value", [0.30, -1e9, np.nan])
def test_another_objective_is_refused(lifted, value):
    assert f"objective: reported {value:.9g}, its variables make it 0.84" in refused(
        replace(lifted, objective=value), 1e3
    )


def test_another_term_of_the_objective_is_refused(lifted):
    name, weight, value = lifted.terms[1]
    terms = (lifted.terms[0], (name, weight, 1.001 * value))
    assert f"effort: reported {1.001 * value:.9g}" in refused(replace(lifted, terms=terms), 1e3)
    assert "reported terms duration, the problem has duration, effort" in refused(
        replace(lifted, terms=lifted.terms[:1])
    )


def test_a_status_that_no_solved_program_has_is_refused(lifted):
    assert "status 'infeasible': not what ipopt says when it is done" in refused(
        replace(lifted, status="infeasible"), 1e3
    )
    assert "the solver ended with 'Solve_Succeeded'" in refused(
        replace(lifted, status=ACCEPTABLE[0]), 1e3
    )
    assert "not solved: Solve_Succeeded" in refused(replace(lifted, success=False), 1e3)


@pytest.mark.parametrize("name", ["lifted", "collocated", "timed"])
def test_a_stretched_duration_is_refused(name, request):
    solution = request.getfixturevalue(name)
    text = refused(replace(solution, duration=1.01 * solution.duration))
    assert "duration: reported" in text


def test_a_duration_out_of_bounds_is_a_violation_with_its_unit(lifted):
    worst = ocp.verify(replace(lifted, duration=6.0)).violations["duration"]
    assert (worst.dense, worst.unit, worst.label) == (pytest.approx(1.0), "s", "T")
    assert worst.relative == pytest.approx(0.2)


def test_torque_variables_of_zero_are_refused(by_variables):
    silent = replace(by_variables, lifted=0 * by_variables.lifted)
    worst = ocp.verify(silent).violations["dynamics"]
    t = by_variables.nodes * by_variables.duration
    peaks = np.abs(by_variables.tau(t)).max(axis=1)
    assert worst.relative == pytest.approx(1.0) and worst.unit == "N m"
    assert worst.nodes == pytest.approx(peaks[("shoulder", "elbow").index(worst.label)], rel=1e-6)
    text = refused(silent)
    assert "dynamics (" in text and "effort: reported" in text


def test_ground_wrenches_that_do_not_carry_the_motion_are_refused():
    """A tenth of all wrenches is taken away: a tenth of the weight is left to the root."""
    solution = crouched()
    weak = solution.lifted.copy()
    weak[-12:] *= 0.9
    weak = replace(solution, lifted=weak)
    rows = row_values(weak.problem, weak.transcription, weak.points, weak.duration, weak.lifted)
    law = [row for row in rows if row.constraint.name == "dynamics"]
    lacking = next(row.values for row in law if row.constraint.label(row.number) == "z")
    forces = solution.trace(lambda at: at.reaction.force(), solution.nodes * solution.duration)
    weight = body_weight(solution.problem.tree)
    peak = np.abs(forces[2]).max()
    assert weight * np.abs(lacking).max() == pytest.approx(0.1 * peak, rel=1e-3)
    assert ocp.verify(weak).violations["dynamics"].relative >= np.abs(lacking).max()
    assert "dynamics (" in refused(weak, 0.1)
    assert ocp.verify(solution).violations["dynamics"].nodes < 1e-6


def test_stretched_torque_polynomials_are_refused(collocated):
    loud = replace(collocated, lifted=1.01 * collocated.lifted)
    honest, certificate = ocp.verify(collocated), ocp.verify(loud)
    assert certificate.violations["dynamics"].relative == pytest.approx(0.01, rel=0.2)
    assert certificate.energy_error > 100 * honest.energy_error > 0
    assert certificate.objective == honest.objective  # of the motion, which is the same
    assert "effort: reported" in refused(loud, 1e3)


def test_control_points_moved_in_a_file_are_refused(lifted, tmp_path):
    points = lifted.points.copy()
    points[:, -1] += 0.5
    ocp.save(replace(lifted, points=points), tmp_path / "moved.npz")
    text = refused(ocp.load(tmp_path / "moved.npz", lift(points=12)), 0.1)
    assert re.search(r"at_end.q \(\w+\): violated by 0.5 rad", text) and "first-order" in text


def test_a_stopped_solve_is_refused(lifted):
    stopped = ocp.solve(lift(points=12), solver=ocp.Solver(options={"max_iter": 8}))
    assert "not solved: Maximum_Iterations_Exceeded" in refused(stopped, 1e9)


def test_what_its_file_could_not_hold_makes_it_impossible_to_judge(lifted):
    part = replace(lifted, missing=("constraint 'own' (no data)",))
    assert (
        "its file lacks constraint 'own' (no data), so that it cannot be judged: load("
        in refused(part, 1e9)
    )
    certificate = ocp.verify(part)
    assert (certificate.kkt, certificate.objective) == (None, None)


def test_a_statement_without_its_multipliers_cannot_be_judged(lifted):
    text = refused(replace(lifted, multipliers={}), 1e9)
    assert "no multipliers: whether the motion is optimal cannot be judged" in text
    assert ocp.verify(replace(lifted, multipliers={})).kkt is None


def test_a_statement_that_is_not_the_one_that_was_solved_is_refused(lifted):
    fewer = replace(lifted.problem, constraints=lifted.problem.constraints[:-1])
    assert "multipliers of torque_limits: the problem has no such constraints" in refused(
        replace(lifted, problem=fewer), 1e9
    )


def test_multipliers_by_what_is_no_name_are_refused(lifted):
    odd = {True: lifted.multipliers["torque_limits"]}
    text = refused(replace(lifted, multipliers=dict(lifted.multipliers) | odd), 1e9)
    assert "multipliers of True: the problem has no such constraints" in text


def test_a_problem_with_nothing_to_minimise_is_judged_like_any_other():
    arm = lift(points=12).tree
    still = (ocp.at_start(arm, q=(-0.3, 0.2), qd=0.0), ocp.at_end(arm, q=(0.2, 0.1), qd=0.0))
    nothing = replace(lift(points=12), objective=ocp.Objective(terms=()), constraints=still)
    solution = ocp.solve(nothing)
    certificate = ocp.verify(solution).require(1e-3)
    assert (certificate.objective, certificate.objective_error) == (0.0, 0.0)
    assert "objective: reported 0.3" in refused(replace(solution, objective=0.3))


def test_a_row_far_over_its_own_bound_is_not_hidden_by_a_larger_amount(lifted):
    """1 of 100 is 1 %, 0.3 of 0.5 is not."""
    both = ocp.Constraint(
        name="mixed",
        function=lambda at: (101.0 + 0 * at.q[0], 0.8 + 0 * at.q[0]),
        lower=-np.inf,
        upper=(100.0, 0.5),
        labels=("far", "near"),
        units=("m", "rad"),
    )
    statement = replace(lifted.problem, constraints=(*lifted.problem.constraints, both))
    worst = worst_of(replace(lifted, problem=statement), "mixed")
    assert (worst.label, worst.unit) == ("near", "rad")
    assert worst.dense == worst.relative == pytest.approx(0.3)


@pytest.mark.parametrize("upper", [0.0, np.inf], ids=["equality", "no bound"])
def test_a_row_that_is_not_a_number_is_refused_at_any_tolerance(lifted, upper):
    nowhere = ocp.Constraint(
        name="nowhere",
        function=lambda at: (at.q[0], ca.sqrt(-1 - at.q[0] ** 2)),
        lower=(-10.0, -upper),
        upper=(10.0, upper),
        labels=("sound", "broken"),
    )
    statement = replace(lifted.problem, constraints=(*lifted.problem.constraints, nowhere))
    text = refused(replace(lifted, problem=statement), 1e12)
    assert "nowhere (broken): violated by nan" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"duration": np.nan}, "duration: expected a positive number of s, got nan"),
        ({"duration": -1.0}, "duration: expected a positive number of s, got -1"),
        ({"points": np.zeros((2, 11))}, "control points: expected numbers of shape"),
        ({"points": np.zeros((2, 12)) * 1j}, "control points: expected real numbers"),
        ({"lifted": np.zeros((2, 3))}, "lifted: expected numbers of shape"),
        ({"nodes": np.linspace(0.0, 0.9, 37)}, "nodes: torques and ground wrenches stand at other"),
    ],
)
def test_what_is_no_motion_of_its_problem_is_refused_at_once(by_variables, changes, words):
    with pytest.raises(ocp.NotVerified, match=words):
        ocp.verify(replace(by_variables, **changes))


@pytest.mark.parametrize("name", ["at_start.q", "torque_limits"])
def test_a_constraint_without_its_multipliers_is_refused(lifted, name):
    fewer = {key: known for key, known in lifted.multipliers.items() if key != name}
    text = refused(replace(lifted, multipliers=fewer), 1e9)
    assert f"multipliers of {name}: missing" in text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda known: {"values": known.values[:, :-1]}, "expected numbers of shape"),
        (lambda known: {"s": known.s[1:]}, "expected numbers of shape"),
        (lambda known: {"values": known.values * 1j}, "expected real numbers"),
        (lambda known: {"s": known.s**2}, "stand at other instants than the program's"),
    ],
    ids=["values", "instants", "complex", "shifted"],
)
def test_multipliers_of_other_rows_or_instants_are_refused_at_once(lifted, changed, words):
    known = lifted.multipliers["torque_limits"]
    other = dict(lifted.multipliers) | {"torque_limits": replace(known, **changed(known))}
    with pytest.raises(ocp.NotVerified, match=f"multipliers of torque_limits: {words}"):
        ocp.verify(replace(lifted, multipliers=other))


def test_a_weight_that_the_problem_does_not_have_is_refused(lifted):
    name, weight, value = lifted.terms[1]
    terms = (lifted.terms[0], (name, 2 * weight, value))
    text = refused(replace(lifted, terms=terms), 1e9)
    assert f"{name}: reported weight {2 * weight:.9g}, the problem's is {weight:.9g}" in text


@pytest.mark.parametrize("lost", ["plugin", "stages"])
def test_statistics_that_do_not_say_how_the_solver_ended_are_refused(lifted, lost):
    fewer = {key: value for key, value in lifted.statistics.items() if key != lost}
    status = "infeasible" if lost == "plugin" else lifted.status
    text = refused(replace(lifted, statistics=fewer, status=status), 1e9)
    assert "statistics: name no solver, or not how it ended" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("problem", None),
        ("transcription", "radau"),
        ("objective", "0.3"),
        ("duration", None),
        ("multipliers", None),
        ("statistics", None),
    ],
)
def test_a_field_of_another_kind_is_named(lifted, field, value):
    with pytest.raises(ValueError, match=f"^verify: {field} of the solution: expected"):
        ocp.verify(replace(lifted, **{field: value}))


@pytest.mark.parametrize("name", ["at_start.q", "torque_limits"])
def test_multipliers_that_are_no_numbers_are_refused(lifted, name):
    known = lifted.multipliers[name]
    broken = {name: replace(known, values=known.values * np.nan)}
    text = refused(replace(lifted, multipliers=dict(lifted.multipliers) | broken), 1e9)
    assert f"multipliers of {name}: not all are numbers" in text


def test_a_control_point_that_is_no_number_is_refused_everywhere(lifted):
    points = lifted.points.copy()
    points[1, 4] = np.nan
    text = refused(replace(lifted, points=points), 1e9)
    for words in ("torque_limits", "simulation", "energy", "first-order", "objective is off"):
        assert words in text

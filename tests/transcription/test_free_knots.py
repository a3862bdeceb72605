"""Knots as variables: the program's values are those on given knots, its derivatives exact."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import crouch
from limited_arm import arm_of_all_rows
from whole_graphs import assert_exact

import ocp
from ocp.diagnosis.explain import rows_at
from ocp.models.arms.two_link import two_link
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.motion.free_knots import with_widths
from ocp.transcription import transcribe_phase
from ocp.transcription.transcribe import program_of_phase
from ocp.transcription.variables.layout import join_variables, motion_at, split_variables


def arm_problem(**changes):
    """Two links with every kind of row and term that free knots take."""
    bend = ocp.path("bend", lambda at: at.q[0] * at.q[1], lower=-0.2, upper=-0.2)
    return arm_of_all_rows(
        bend, **{"motion": ocp.BSpline(points=7, degree=4, knots="free")} | changes
    )


def cart_problem(**changes):
    """A cart that swings a pole which nothing drives."""
    tree = cart_pole()
    settings = {
        "tree": tree,
        "motion": ocp.BSpline(points=9, knots="free"),
        "duration": 2.0,
        "objective": ocp.effort(),
        "constraints": (ocp.at_start(tree, q=0.0, qd=0.0), ocp.at_end(tree, q=(0.5, 1.0))),
    }
    return ocp.Problem(**settings | changes)


COARSE = ocp.Spline(nodes=2)
CASES = {
    "free duration": (arm_problem(), ocp.Transcription(method=COARSE)),
    "automatic": (cart_problem(duration=(1.0, 3.0)), ocp.Transcription(derivatives="ad")),
    "lifted": (arm_problem(), ocp.Transcription(method=ocp.Spline(nodes=2, torques="variables"))),
    "passive": (cart_problem(), ocp.Transcription(method=COARSE)),
    "periodic": (
        arm_problem(symmetry=ocp.periodic(two_link()), duration=0.7),
        ocp.Transcription(method=COARSE),
    ),
}


def case(name, seed=3):
    """A transcribed problem and variables drawn at random."""
    transcribed, rng = transcribe_phase(*CASES[name]), np.random.default_rng(seed)
    motion, layout = transcribed.problem.motion, transcribed.layout
    points = rng.uniform(-1, 1, (transcribed.problem.tree.dof, motion.points))
    knots = with_widths(motion, rng.uniform(0.3, 2.0, motion.segments))
    lifted = rng.uniform(-3, 3, layout.place.shape)
    return transcribed, join_variables(
        layout, points, transcribed.problem.duration[0] + 0.7, lifted, knots
    )


def derivatives(nlp, x, lam):
    """Gradient, Jacobian and Hessian of the Lagrangian that the solver is given."""
    hessian = nlp.hessian("exact")(x, [], 1.7, lam)
    parts = nlp.gradient(x, [])[1], nlp.jacobian(x, [])[1], ca.triu2symm(hessian)
    return [np.array(part) for part in parts]


@pytest.mark.parametrize("name", CASES)
def test_assembled_derivatives_equal_those_of_the_whole_graph(name):
    transcribed, x = case(name)
    assert_exact(transcribed.nlp, x)


@pytest.mark.parametrize("name", ["passive", "lifted"])
def test_derivatives_by_knots_are_those_of_finite_differences(name):
    transcribed, x = case(name)
    nlp, step = transcribed.nlp, 1e-4
    lam = np.random.default_rng(5).standard_normal(len(nlp.g_lower))
    gradient, jacobian, hessian = derivatives(nlp, x, lam)

    def look(point):
        slope, rows, _ = derivatives(nlp, point, lam)
        values = [float(nlp.objective(point)), *np.array(nlp.constraints(point)).ravel()]
        return np.concatenate([values, 1.7 * slope.ravel() + rows.T @ lam])

    exact = np.vstack([gradient.T, jacobian, hessian])
    scale = np.abs(exact).max(axis=1)
    for column in range(len(x))[transcribed.layout.widths]:
        away = step * np.eye(len(x))[column]
        near, far = (look(x + k * away) - look(x - k * away) for k in (1, 2))
        found = (8 * near - far) / (12 * step)
        assert (np.abs(found - exact[:, column]) <= 1e-8 * np.maximum(scale, 1.0)).all()


@pytest.mark.parametrize("name", CASES)
def test_the_program_of_free_knots_is_that_of_the_same_knots_given(name):
    transcribed, x = case(name)
    whole, (still, same) = program_of_phase(transcribed), transcribed.on_given_knots(x)
    assert not still.layout.moving and len(same) == len(x) - transcribed.problem.motion.segments
    assert float(still.nlp.objective(same)) == pytest.approx(float(transcribed.nlp.objective(x)))
    ours = {(row.name, t): v for row in rows_at(whole, x) for t, v in zip(row.t, row.values)}
    compared = 0
    for row in rows_at(program_of_phase(still), same):
        for t, value in zip(row.t, row.values):
            near = [v for (name, at), v in ours.items() if name == row.name and abs(at - t) < 1e-9]
            if near and row.constraint.when != "hull":  # Greville abscissae are other instants
                compared += 1
                assert near == [pytest.approx(value, rel=1e-9, abs=1e-9)]
    assert compared > 10
    assert motion_at(transcribed.layout, x).breaks == pytest.approx(still.problem.motion.breaks)
    for one, other in zip(
        split_variables(transcribed.layout, x), split_variables(still.layout, same)
    ):
        np.testing.assert_array_equal(one, other)


def test_widths_are_bounded_by_the_spacing_and_part_the_whole_motion():
    transcribed, x = case("free duration")
    nlp, columns = transcribed.nlp, transcribed.layout.widths
    assert (nlp.lower[columns] == 1e-3).all() and np.isinf(nlp.upper[columns]).all()
    rows = {placed.name: placed for placed in transcribed.rows}
    total = rows["knots"].row.item()
    assert nlp.g_lower[total] == nlp.g_upper[total] == 1.0
    assert np.array(nlp.constraints(x)).ravel()[total] == pytest.approx(1.0)
    assert (rows["knot_spacing"].row == -1).all()


def test_the_jacobian_is_sparse_a_row_knows_the_knots_around_it():
    problem = arm_problem(
        motion=ocp.BSpline(points=30, knots="free"), loads=(), objective=ocp.duration()
    )
    transcribed = transcribe_phase(problem)
    x = join_variables(transcribed.layout, np.ones((2, 30)), 1.0)
    pattern = np.array(ca.DM(transcribed.nlp.jacobian.sparsity_out(1), 1))
    row = next(placed for placed in transcribed.rows if placed.name == "torque_limits").row[0, 50]
    assert pattern[row, transcribed.layout.widths].sum() == 5 and len(x) == 1 + 60 + 27


def test_all_is_a_number_where_knots_stand_together():
    problem = cart_problem(motion=ocp.BSpline(points=9, knots="free", spacing=1e-5))
    transcribed = transcribe_phase(problem, ocp.Transcription(method=COARSE))
    motion = with_widths(problem.motion, [1, 0, 0, 0, 1, 1])
    points = np.random.default_rng(6).uniform(-1, 1, (2, 9))
    x = join_variables(transcribed.layout, points, 2.0, motion=motion)
    parts = derivatives(transcribed.nlp, x, np.ones(len(transcribed.nlp.g_lower)))
    assert all(np.isfinite(part).all() for part in parts)


def free(problem):
    """The problem with free knots."""
    return replace(problem, motion=replace(problem.motion, knots="free"))


@pytest.mark.parametrize(
    ("problem", "method", "message"),
    [
        (arm_problem(), ocp.Radau(intervals=4), "method 'radau': free knots are planned on by"),
        (cart_problem(), ocp.Integrated(), "method 'integrated': free knots are planned on by"),
        (arm_problem(), ocp.Spline(quadrature="simpson"), "quadrature: free knots need 'gauss'"),
        (free(crouch()), ocp.Spline(), "the contact schedule of the ground"),
        (
            arm_problem(
                constraints=(ocp.path("gate", lambda at: at.q, upper=1.0, when=(0.2, 0.4)),)
            ),
            ocp.Spline(),
            "constraint 'gate': its span of the motion does not move with free knots",
        ),
    ],
)
def test_what_keeps_knots_from_moving_is_refused_by_name(problem, method, message):
    with pytest.raises(ValueError) as error:
        transcribe_phase(problem, ocp.Transcription(method=method))
    assert message in str(error.value)


def test_a_single_segment_has_no_knots_to_free():
    arm = two_link()
    motion = ocp.BSpline(points=4, knots="free")
    problem = ocp.Problem(
        tree=arm,
        motion=motion,
        duration=1.0,
        objective=ocp.effort(),
        constraints=ocp.at_start(arm, q=0.0),
    )
    assert not transcribe_phase(problem).layout.moving

"""Problem to NLP: derivatives assembled from kernels equal those of the whole graph, rows and
bounds have names, instants are chosen well."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from random_trees import random_loads, random_tree
from whole_graphs import assert_exact

import ocp
from ocp import duration
from ocp.dynamics import LIE_GROUP, catalogue
from ocp.dynamics.derivatives.composite_bodies import COMPOSITE
from ocp.models.arms.two_link import two_link
from ocp.motion import sample
from ocp.solvers import minimize
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.transcribe import transcribe
from ocp.transcription.variables.layout import Layout, join_variables, motion_map, split_variables
from ocp.transcription.variables.named_multipliers import gather_multipliers, name_multipliers


def arm_problem(points=7, free=True, **changes):
    """A two-link problem that exercises every kind of row and term."""
    arm = two_link(gravity=9.81)
    settings = {
        "tree": arm,
        "motion": ocp.BSpline(points=points),
        "duration": (0.2, 3.0) if free else 0.7,
        "objective": 0.3 * duration()
        + 0.01 * ocp.effort()
        + 2.0 * ocp.integral("height", lambda at: at.position("tip")[1] ** 2),
        "constraints": (
            ocp.at_start(arm, q=(0.1, -1.0), qd=0.0),
            ocp.at_end(arm, q={"shoulder": 1.0}),
            ocp.torque_limits(arm),
            ocp.path(
                "tip",
                lambda at: at.velocity("tip")[:2],
                lower=(-4, -np.inf),
                upper=(4, 3),
                when=(0.2, 0.6),
            ),
            ocp.path(
                "circle", lambda at: ca.sumsqr(at.position("tip")), lower=0.3, upper=0.3, when="end"
            ),
        ),
        "loads": (ocp.Load(point="tip", force=lambda t: (ca.sin(3 * t), -5, 0)),),
    }
    return ocp.Problem(**settings | changes)


def random_point(problem, seed=3):
    rng = np.random.default_rng(seed)
    return join_variables(
        Layout(problem=problem), rng.uniform(-1, 1, (problem.tree.dof, problem.motion.points)), 0.9
    )


@pytest.mark.parametrize("free", [True, False], ids=["free duration", "fixed duration"])
@pytest.mark.parametrize("derivatives", ["recursive", "ad"])
@pytest.mark.parametrize("dynamics", ["newton_euler", "hollerbach_4x4"])
def test_assembled_derivatives_equal_those_of_the_whole_graph(free, dynamics, derivatives):
    problem = arm_problem(free=free)
    nlp = transcribe(
        problem,
        ocp.Transcription(method=ocp.Spline(nodes=2), dynamics=dynamics, derivatives=derivatives),
    ).nlp
    x = random_point(problem)
    assert_exact(nlp, x, tolerance=1e-11)
    assert float(nlp.gradient(x, [])[0]) == pytest.approx(float(nlp.objective(x)), rel=1e-14)


def test_gauss_newton_is_the_curvature_of_the_squares_alone():
    problem = arm_problem(objective=0.5 * ocp.effort() + duration())
    transcribed = transcribe_phase(problem)
    x, symbol = random_point(problem), ca.MX.sym("x", Layout(problem=problem).size)
    found = np.array(
        ca.triu2symm(
            transcribed.nlp.hessian("gauss-newton")(
                x, [], 1.0, np.zeros(len(transcribed.nlp.g_lower))
            )
        )
    )
    assert np.linalg.eigvalsh(found).min() >= -1e-9 * np.abs(found).max()
    effort_only = transcribe(
        arm_problem(objective=0.5 * ocp.effort(), constraints=())
    ).nlp.objective(symbol)
    exact = np.array(ca.Function("h", [symbol], [ca.hessian(effort_only, symbol)[0]])(x))
    assert 0.01 < np.abs(found - exact).max() / np.abs(exact).max() < 1  # related, and not the same


def test_gauss_newton_is_exact_for_residuals_that_are_linear():
    problem = arm_problem(objective=ocp.squares("places", lambda at: at.q), constraints=())
    problem = replace(problem, duration=2.0)
    nlp = transcribe(problem).nlp
    x = np.random.default_rng(2).standard_normal(len(nlp.lower))
    quasi, exact = (
        np.array(nlp.hessian(kind)(x, [], 1.0, np.zeros(len(nlp.g_lower))))
        for kind in ("gauss-newton", "exact")
    )
    assert np.abs(exact).max() > 0.01
    assert quasi == pytest.approx(exact, abs=1e-12 * np.abs(exact).max())


def test_the_solver_is_really_given_our_derivatives():
    """Canary: spoil the assembled Jacobian, and the solve must go wrong."""
    nlp = transcribe(arm_problem()).nlp
    x, p = ca.MX.sym("x", len(nlp.lower)), ca.MX.sym("p", 0)
    g, slopes = nlp.jacobian(x, p)
    spoilt = replace(
        nlp, jacobian=ca.Function("jac_g", [x, p], [g, -slopes], ["x", "p"], ["g", "jac_g_x"])
    )
    start = transcribe_phase(arm_problem()).guess
    assert minimize(nlp, ocp.Solver(), start).success
    assert not minimize(spoilt, ocp.Solver(options={"max_iter": 100}), start).success


def test_the_chosen_provider_is_really_used(monkeypatch):
    """Canary: spoil the recursion's slopes, and the Jacobian must change where it is chosen, and
    only there."""
    x = random_point(arm_problem())

    def jacobian(derivatives, dynamics=LIE_GROUP):
        chosen = ocp.Transcription(dynamics=dynamics, derivatives=derivatives)
        return np.array(transcribe(arm_problem(), chosen).nlp.jacobian(x, [])[1])

    right = jacobian("ad")
    spoilt = replace(
        COMPOSITE,
        join_slopes=lambda tree, parts: tuple(
            1.5 * part for part in COMPOSITE.join_slopes(tree, parts)
        ),
    )
    assert np.allclose(jacobian("recursive"), right, rtol=1e-9, atol=1e-9)
    assert np.allclose(jacobian("published"), right, rtol=1e-9, atol=1e-9)
    wrong = replace(LIE_GROUP, derivatives=spoilt)
    with pytest.raises(
        ValueError, match="'lie_group': its derivatives are not those of its inverse"
    ):
        jacobian("recursive", wrong)
    monkeypatch.setattr(catalogue, "check_slopes", lambda *_: None)
    for choice in ("auto", "recursive"):
        assert np.abs(jacobian(choice, wrong) - right).max() > 0.1 * np.abs(right).max()
    assert np.array_equal(jacobian("ad", wrong), right)
    assert np.allclose(jacobian("published", wrong), right, rtol=1e-9, atol=1e-9)


def test_derivatives_left_to_the_solver_give_the_same_program():
    ours, left = (
        transcribe(arm_problem(), ocp.Transcription(derivatives=name)).nlp
        for name in ("ad", "solver")
    )
    x = random_point(arm_problem())
    assert left.jacobian is None and left.hessian is None
    assert np.array_equal(np.array(ours.constraints(x)), np.array(left.constraints(x)))


def test_equalities_stand_at_greville_abscissae_and_inequalities_at_the_nodes():
    arm = two_link()
    problem = arm_problem(
        constraints=(
            ocp.torque_limits(arm),
            ocp.path("line", lambda at: at.q[0] - at.q[1], lower=0, upper=0),
            ocp.path("late", lambda at: at.qd[0], upper=1.0, when=(0.55, 1.0)),
        )
    )
    rows = {
        row.name: row
        for row in transcribe_phase(problem, ocp.Transcription(method=ocp.Spline(nodes=3))).rows
    }
    assert np.array_equal(rows["line"].s, problem.motion.nodes)
    assert np.array_equal(rows["torque_limits"].s, sample(problem.motion, 3))
    assert rows["late"].s[0] == 0.55 and rows["late"].s[-1] == 1.0


def test_a_constraint_with_both_kinds_of_rows_gets_both_kinds_of_instants():
    problem = arm_problem(
        constraints=(ocp.path("both", lambda at: at.q, lower=(0, -1), upper=(0, 1)),)
    )
    rows = {row.name: row for row in transcribe_phase(problem).rows}
    assert set(rows) == {"both", "both (equalities)"}
    assert rows["both (equalities)"].numbers.tolist() == [0]
    assert rows["both"].numbers.tolist() == [1]


def test_prescribed_ends_and_end_limits_become_bounds_of_variables():
    arm = two_link()
    limited = replace(
        arm, joints=tuple(replace(joint, position=(-2.5, 1.5)) for joint in arm.joints)
    )
    problem = arm_problem(
        tree=limited, constraints=(ocp.at_start(limited, q=(0.1, -1.0)), ocp.joint_limits(limited))
    )
    transcribed = transcribe_phase(problem, ocp.Transcription(method=ocp.Spline(nodes=2)))
    nlp, inner = transcribed.nlp, len(sample(problem.motion, 2)) - 2
    assert nlp.lower[1:3].tolist() == nlp.upper[1:3].tolist() == [0.1, -1.0]
    assert nlp.lower[-2:].tolist() == [-2.5, -2.5] and nlp.upper[-2:].tolist() == [1.5, 1.5]
    assert len(nlp.g_lower) == 2 * inner  # both ends went to the variables
    assert (nlp.lower[0], nlp.upper[0]) == problem.duration


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            lambda arm: (
                ocp.at_start(arm, q=(0.0, 0.0)),
                ocp.path("away", lambda at: at.q, lower=1.0, upper=2.0, when="start"),
            ),
            r"contradictory bounds: away \(row 0, s = 0\) asks for at least 1, "
            r"at_start.q \(shoulder, s = 0\) for at most 0",
        ),
        (
            lambda arm: (ocp.path("wrong", lambda at: at.q, lower=(0, 0, 0), upper=1),),
            "constraint 'wrong': its function has 2 rows, its bounds 3",
        ),
        (
            lambda arm: (ocp.path("text", lambda at: "q", upper=1),),
            "constraint 'text': expected a CasADi expression or numbers",
        ),
        (
            lambda arm: (ocp.path("lost", lambda at: at.position("hand"), upper=1),),
            "unknown point 'hand'; the points are tip",
        ),
    ],
)
def test_contradictions_and_wrong_sizes_are_named(constraints, message):
    with pytest.raises(ValueError, match=message):
        transcribe_phase(arm_problem(constraints=constraints(two_link())))


def test_an_objective_must_be_scalar():
    with pytest.raises(ValueError, match="objective 'bad': expected a scalar, got 2 rows"):
        transcribe_phase(arm_problem(objective=ocp.integral("bad", lambda at: at.q)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"dynamics": "lagrange"},
            "dynamics: expected one of newton_euler, .* or a Formulation, got 'lagrange'",
        ),
        ({"derivatives": "fd"}, "derivatives: expected one of recursive, published, ad, solver"),
        ({"quadrature": "romberg"}, "quadrature: expected one of gauss"),
        ({"nodes": 0}, "nodes: expected a whole number of at least 1, got 0"),
        ({"panels": 1.5}, "panels: expected a whole number"),
        (
            {"dynamics": "configuration_space", "derivatives": "published"},
            "derivatives 'published': formulation 'configuration_space' has no "
            "sensitivities of its own",
        ),
        (
            {"kernels": "compiled", "derivatives": "solver"},
            "kernels 'compiled': a solver cannot differentiate machine code",
        ),
    ],
)
def test_a_wrong_setting_is_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        transcription_of(settings)


def test_the_guess_is_the_straight_line_between_prescribed_ends():
    problem = arm_problem(
        constraints=(
            ocp.at_start(two_link(), q=(0.1, -1.0), qd=0.0),
            ocp.at_end(two_link(), q=(1.0, 2.0)),
        )
    )
    points, duration, _ = split_variables(Layout(problem=problem), transcribe_phase(problem).guess)
    assert np.allclose(
        points, np.outer([0.9, 3.0], problem.motion.nodes) + [[0.1], [-1.0]], atol=1e-7
    )
    assert duration == pytest.approx(np.sqrt(0.2 * 3.0))


@pytest.mark.parametrize("clamped", [True, False])
def test_the_motion_map_equals_the_curve(clamped):
    problem = arm_problem(motion=ocp.BSpline(points=9, degree=4, clamped=clamped))
    s, x = np.linspace(0, 1, 13), random_point(problem)
    layout = Layout(problem=problem)
    stacked = np.array(motion_map(layout, s).matrix @ x).reshape(-1, len(s), order="F")
    points, duration, _ = split_variables(layout, x)
    curves = [points @ problem.motion.values(s, order).T for order in range(3)]
    times = np.full((1, len(s)), duration)
    assert np.allclose(stacked, np.vstack([times, *curves]), atol=1e-12)
    assert np.allclose(motion_map(layout, s)(x), stacked, atol=1e-12)


def test_multipliers_go_to_names_and_back():
    problem = arm_problem()
    transcribed = transcribe_phase(problem)
    outcome = minimize(transcribed.nlp, ocp.Solver(), transcribed.guess)
    named = name_multipliers(
        transcribed.rows,
        transcribed.bound_owners,
        transcribed.binding,
        outcome.x_multipliers,
        outcome.g_multipliers,
    )
    x_back, g_back = gather_multipliers(transcribed.rows, named, transcribed.layout, len(outcome.g))
    assert np.allclose(g_back, outcome.g_multipliers, atol=1e-14)
    assert np.allclose(x_back, outcome.x_multipliers, atol=1e-14)


@pytest.mark.parametrize(
    ("derivatives", "joints"),
    [("recursive", 6), ("recursive", 18), ("ad", 6)],
    ids=["scalar graphs", "matrix loops", "ad"],
)
def test_a_spatial_tree_with_branches_is_assembled_right(derivatives, joints):
    rng = np.random.default_rng(8)
    tree = random_tree(rng, joints)
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=6),
        duration=(0.5, 2.0),
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=0.0),
            ocp.path("torque", lambda at: at.tau, lower=-1e3, upper=1e3),
            ocp.path("power", lambda at: at.tau * at.qd, upper=1e3),
        ),
        loads=random_loads(rng, tree, 2),
    )
    nlp = transcribe(problem, ocp.Transcription(derivatives=derivatives)).nlp
    assert_exact(nlp, random_point(problem), tolerance=1e-11)

"""Rates along the motion: jerk, torque rates, and what else changes in time."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from bipeds import crouch
from random_trees import random_loads, random_tree
from rated_motions import METHODS, differences, limited, mass, moved, traced
from turning_crank import turning
from whole_graphs import assert_exact

import ocp
from ocp.problem.instant import NoRate
from ocp.solving.refinement.mesh_error import mesh_errors
from ocp.transcription import transcribe_phase
from ocp.transcription.kernels.function_tapes import Played, record
from ocp.transcription.kernels.row_values import row_values
from ocp.transcription.kernels.time_derivatives import Flow
from ocp.transcription.variables.layout import split_variables


@pytest.mark.parametrize("degree", [3, 4, 5])
@pytest.mark.parametrize("free", [True, False], ids=["free duration", "given duration"])
def test_the_jerk_of_a_spline_is_its_third_derivative(degree, free):
    """Of a polynomial, which a spline of its degree follows exactly."""
    T, curve = 0.7, np.polynomial.Polynomial(np.random.default_rng(1).normal(size=degree + 1))
    problem = moved(ocp.BSpline(points=10, degree=degree), duration=(0.2, 3.0) if free else T)
    points = problem.motion.through(lambda s, order: np.vstack([curve(s), -2 * curve(s)]))
    s = np.linspace(0.0, 1.0, 41)
    exact = curve.deriv(3)(s) / T**3
    found = traced(problem, points, T, lambda at: at.qddd)(s)
    np.testing.assert_allclose(found, [exact, -2 * exact], rtol=1e-9, atol=1e-9 * abs(exact).max())


@pytest.mark.parametrize("seed", range(4))
def test_torque_rates_are_differences_of_torques_in_time(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 3, kinds=("revolute", "prismatic", "screw"))
    loads = (*random_loads(rng, tree, 1),)
    varying = ocp.Load(point=loads[0].point, force=lambda t: (ca.sin(4 * t), t**2, 1.0))
    motion = ocp.BSpline(points=7, degree=5)
    problem = ocp.Problem(
        tree=tree,
        motion=motion,
        duration=(0.5, 2.0),
        objective=ocp.effort(),
        loads=(*loads, varying),
    )
    points, s = rng.normal(size=(tree.dof, 7)), np.array([0.1, 0.23, 0.71, 0.9])
    method = ("newton_euler", "lie_group", "waters", "uicker_kahn")[seed]
    along = {
        what: traced(problem, points, 0.8, function, method)
        for what, function in {
            "tau": lambda at: at.tau,
            "tau_rate": lambda at: at.tau_rate,
            "reactions": lambda at: ca.vec(ca.vertcat(*at.reactions)),
            "their rates": lambda at: at.rate(ca.vec(ca.vertcat(*at.reactions))),
        }.items()
    }
    for quantity, rate in (("tau", "tau_rate"), ("reactions", "their rates")):
        expected = differences(along[quantity], s, 0.8)
        np.testing.assert_allclose(
            along[rate](s), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()
        )


def test_what_depends_on_torques_changes_with_them():
    """Also where a symbol stands for the torques."""
    y, s, symbol = ca.SX.sym("y", 2), ca.SX.sym("s"), ca.SX.sym("torque")
    torque = SimpleNamespace(symbol=symbol, value=y[0] * y[1] + s)
    flow = Flow(place=ca.vertcat(y, s), velocity=ca.DM([2, 3, 5]), unknown=(), stand_ins=(torque,))
    rate = ca.Function("rate", [y, symbol], [flow(symbol**2 + 7 * y[0])])
    moved = 3.0 * 0.7 + 2.0 * 1.1 + 5.0  # of the torque where y is (0.7, 1.1)
    assert float(rate([0.7, 1.1], 1.3)) == pytest.approx(2 * 1.3 * moved + 7 * 2.0)


def test_what_depends_on_torques_without_a_rate_has_none():
    y, symbol = ca.SX.sym("y", 2), ca.SX.sym("torque")
    torque, unknown = SimpleNamespace(symbol=symbol, value=y[1]), ((y[1], "accelerations jump"),)
    flow = Flow(place=y, velocity=ca.DM([1, 0]), unknown=unknown, stand_ins=(torque,))
    assert float(flow(y[0])) == 1.0
    with pytest.raises(NoRate, match="accelerations jump"):
        flow(symbol)


def test_torque_rates_around_a_loop_and_on_the_ground_are_differences_too():
    """With torques that two passes share, and those that a loop determines."""
    rng = np.random.default_rng(5)
    for around in (turning(points=12), crouch(motion=ocp.BSpline(points=8, degree=4))):
        problem, tree = replace(around, duration=0.8), around.tree
        points = 0.1 * rng.normal(size=(tree.dof, problem.motion.points))
        s = np.array([0.11, 0.33, 0.87])
        torque, rate = (
            traced(problem, points, 0.8, function)
            for function in (lambda at: at.tau, lambda at: at.tau_rate)
        )
        expected = differences(torque, s, 0.8, step=1e-4)
        found = rate(s)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "case", ["lifted", "radau", "given duration", "open duration", "free knots", "free mass"]
)
def test_assembled_derivatives_of_rates_equal_those_of_the_whole_graph(case):
    problem = moved()
    if case == "given duration":
        problem = moved(duration=0.9)
    if case == "open duration":
        problem = moved(duration=1.5 * ocp.Parameter("beat", 0.6, "s", 0.1, 3.0, free=True))
    if case == "free knots":
        problem = moved(ocp.BSpline(points=6, degree=4, knots="free", spacing=0.02))
    if case == "free mass":
        arm, load = problem.tree, ocp.Parameter("load", 1.0, "kg", 0.5, 2.0, free=True)
        links = (arm.links[0], replace(arm.links[1], mass=load))
        problem = replace(problem, tree=replace(arm, links=links))
    transcribed = transcribe_phase(
        problem, ocp.Transcription(method=METHODS.get(case, ocp.Spline(nodes=2)))
    )
    nlp, rng = transcribed.nlp, np.random.default_rng(4)
    assert_exact(nlp, transcribed.guess + 0.05 * rng.standard_normal(len(nlp.lower)))


def slopes_through(breaks, nodes, values, s):
    """Slopes at instants of the polynomials through what is known at the nodes from one break to
    the next, both among them."""
    slopes = []
    for instant in s:
        k = np.searchsorted(breaks[1:-1], instant, side="right")
        inside = (nodes > breaks[k] - 1e-12) & (nodes < breaks[k + 1] + 1e-12)
        curve = np.polynomial.Polynomial.fit(nodes[inside], values[inside], inside.sum() - 1)
        slopes.append(curve.deriv()(instant))
    return np.array(slopes)


@pytest.mark.parametrize("case", [*METHODS, "free knots"])
def test_rows_are_the_rates_of_the_motion_of_the_variables(case):
    """On given knots those that a trace shows, or of a mesh the slopes of its polynomials."""
    free = case == "free knots"
    basis = ocp.BSpline(points=9, knots="free", spacing=0.02) if free else ocp.BSpline(points=9)
    problem, transcription = moved(basis), ocp.Transcription(method=METHODS.get(case, ocp.Spline()))
    transcribed = transcribe_phase(problem, transcription)
    rng = np.random.default_rng(2)
    x = transcribed.guess + 0.05 * rng.standard_normal(len(transcribed.nlp.lower))
    still, x = transcribed.on_given_knots(x)
    points, T, lifted = split_variables(still.layout, x)
    problem, motion = still.problem, still.problem.motion
    rows = [
        row
        for row in row_values(problem, transcription, points, T, lifted)
        if row.constraint.name == "jerk_limits"
    ]
    assert [row.number for row in rows] == [0, 1]
    for row in rows:
        inner, h = np.clip(row.s, 1e-5, 1 - 1e-5), 1e-6
        if not motion.collocated:
            assert len(row.s) == motion.segments  # over each of which it is the same
        if case == "radau":
            values = (points @ motion.values(motion.nodes, 2).T)[row.number]
            slopes = slopes_through(motion.breaks, motion.nodes, values, row.s) / T**3
            np.testing.assert_allclose(row.values, slopes, rtol=1e-7)
            continue
        side = np.where(np.isin(inner, motion.breaks), h, np.where(inner % 0.2 > 0.19, -h, 0.0))
        ends = [points @ motion.values(inner + 2 * side + way, 2).T for way in (h, -h)]
        slopes = (ends[0] - ends[1])[row.number] / (2 * h) / T**3
        np.testing.assert_allclose(row.values, slopes, rtol=1e-4, atol=1e-4 * abs(slopes).max())


@pytest.mark.parametrize(
    "kind, method", [("jerk", ocp.Spline()), ("torque_rate", ocp.HermiteSimpson(intervals=8))]
)
def test_the_least_time_under_a_bound_of_the_third_derivative_is_that_of_three_pieces(kind, method):
    """Full jerk ahead for a quarter of the time, back for a half, ahead for a quarter:
    T^3 = 32 d / j, in which 12 m/s3 are 24 N/s of 2 kg."""
    solution = ocp.solve(
        mass(kind, ocp.BSpline(points=11)), ocp.Transcription(method=method)
    ).require()
    assert solution.duration == pytest.approx((32 * 0.6 / 12.0) ** (1 / 3), rel=1e-6)
    assert ocp.verify(solution).violations[f"{kind}_limits"].relative < 1e-6


def test_the_least_jerk_from_rest_to_rest_is_that_of_a_polynomial_of_degree_five():
    """720 d^2 / T^5, of torques times m^2 (Flash & Hogan 1985)."""
    stated_one = mass("jerk", ocp.BSpline(points=6, degree=5), T=1.3)
    for method, objective, factor, relative in (
        (ocp.Spline(), ocp.jerk(), 1.0, 1e-9),
        (ocp.Spline(quadrature="simpson", torques="variables"), ocp.torque_rate(), 4.0, 1e-9),
        (ocp.HermiteSimpson(intervals=8), ocp.jerk(), 1.0, 3e-4),
        (ocp.Radau(intervals=8), ocp.torque_rate(), 4.0, 4e-5),
    ):
        ends = stated_one.constraints[:-1]
        problem = replace(stated_one, constraints=ends, objective=objective)
        solution = ocp.solve(problem, ocp.Transcription(method=method)).require()
        assert solution.objective == pytest.approx(factor * 720 * 0.6**2 / 1.3**5, rel=relative)
        assert ocp.verify(solution).objective_error < relative


@pytest.mark.parametrize("name", ["spline", "lifted"])
def test_limits_hold_between_the_nodes(name):
    arm = limited(torque_rate=60.0, jerk=150.0)
    problem = moved(
        ocp.BSpline(points=11),
        tree=arm,
        objective=ocp.duration(),
        constraints=(
            ocp.at_start(arm, q=(0.1, -1.0), qd=0.0),
            ocp.at_end(arm, q=(1.2, 0.3), qd=0.0),
            ocp.torque_rate_limits(arm),
            ocp.jerk_limits(arm),
        ),
    )
    solution = ocp.solve(problem, ocp.Transcription(method=METHODS[name])).require()
    missed = ocp.verify(solution).violations
    assert missed["jerk_limits"].relative < 1e-6
    assert missed["torque_rate_limits"].nodes < 1e-5
    assert missed["torque_rate_limits"].relative < 0.02
    peak = np.abs(solution.tau_rate(solution.times(2001))).max()
    assert 0.98 * 60 < peak < 1.02 * 60


def test_only_what_asks_for_rates_pays_for_them():
    """Kernels of other rows and terms are the same, to the instruction."""
    arm = limited(jerk=60.0)
    plain = moved(
        objective=ocp.effort(), constraints=(ocp.at_start(arm, q=0.0), ocp.at_end(arm, q=1.0))
    )
    bound = ocp.path("hand", lambda at: at.acceleration("tip")[0], upper=9.0)
    plain = replace(plain, constraints=(*plain.constraints, bound))
    rated = replace(
        plain,
        constraints=(*plain.constraints, ocp.jerk_limits(arm)),
        objective=plain.objective + ocp.torque_rate(),
    )

    def sizes(transcribed):
        kernels = [group.kernel for group in transcribed.groups]
        kernels += [goal.kernel for goal in transcribed.objective_blocks]
        return [
            (one.width, one.values.n_instructions(), one.jacobian.n_instructions())
            for one in kernels
        ]

    before, after = sizes(transcribe_phase(plain)), sizes(transcribe_phase(rated))
    assert len(after) == len(before) + 2
    assert [size for size in after if size[0] == before[0][0]] == before
    assert {size[0] for size in after} == {before[0][0], before[0][0] + arm.dof}


def test_where_rates_are_asked_for_no_knots_are_multiplied():
    """Though jerk goes from bound to bound: where accelerations jump there would be none."""
    solution = ocp.solve(mass("jerk", ocp.BSpline(points=10, degree=5)))
    values = solution.qddd(solution.times(601))
    assert values.max() > 11.9 and values.min() < -11.9
    assert mesh_errors(solution, 1e-3).jumps == ()


def test_a_function_with_rates_is_data():
    problem = moved()
    for function in (
        lambda at: at.qddd,
        lambda at: at.rate(at.acceleration("tip") * at.t),
        lambda at: at.rate(at.tau**2) + at.tau_rate,
    ):
        tape = record(problem, function)
        points = np.random.default_rng(3).normal(size=(2, problem.motion.points))
        s = np.linspace(0.05, 0.95, 7)
        expected = traced(problem, points, 0.9, function)(s)
        played = traced(problem, points, 0.9, Played(tape=tape))(s)
        np.testing.assert_allclose(played, expected, rtol=1e-12)

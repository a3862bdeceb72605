"""Direct collocation: its bases are exact on polynomials, its program has right derivatives, its
optima are those of the spline."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from whole_graphs import assert_exact

import ocp
from ocp import integral
from ocp.models.arms.two_link import two_link
from ocp.models.swing_ups.acrobot import acrobot
from ocp.motion import Mesh, transfer
from ocp.motion.collocation_mesh import defects, motion_from_data
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.swing_ups.cart_pole_swing import problem as swing
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.variables.layout import join_variables

MESHES = [
    Mesh(method="hermite-simpson", intervals=3),
    *(Mesh(method="radau", intervals=3, order=order) for order in (1, 2, 3, 6)),
]
NAMES = ["hermite-simpson", "radau 1", "radau 2", "radau 3", "radau 6"]
SWING = 58.80767  # N2 s: both kinds of mesh agree on it to 1e-6


def polynomial(mesh, degree):
    """The numbers of s^degree on a mesh, and its value and derivatives as functions."""

    def value(s, order):
        return np.prod(np.arange(degree, degree - order, -1.0)) * np.asarray(s) ** max(
            degree - order, 0
        )

    return np.concatenate(
        [value(mesh.positions, 0), value(mesh.positions, 1), value(mesh.nodes, 2)]
    ), value


@pytest.mark.parametrize("mesh", MESHES, ids=NAMES)
def test_stages_hold_exactly_for_polynomials_of_their_degree(mesh):
    points, value = polynomial(mesh, mesh.degree)
    assert np.abs(defects(mesh) @ points).max() < 1e-14
    for s in (np.linspace(0.0, 1.0, 23), mesh.positions, mesh.nodes):
        for order in range(3):
            assert np.allclose(mesh.values(s, order) @ points, value(s, order), atol=1e-12)
    assert np.allclose(
        mesh.interpolation(np.linspace(0, 1, 9)) @ value(mesh.nodes, 2),
        value(np.linspace(0, 1, 9), 2),
        atol=1e-12,
    )


@pytest.mark.parametrize("mesh", MESHES[:1] + MESHES[2:], ids=NAMES[:1] + NAMES[2:])
def test_slopes_of_accelerations_are_exact_for_polynomials_and_told_by_their_instants(mesh):
    """Of one that begins between nodes, from the second interval on it knows one degree more."""
    s = np.linspace(0.0, 1.0, 31)
    for degree in range(3, len(mesh.stages) + 2):
        numbers, curve = polynomial(mesh, degree)
        np.testing.assert_allclose(mesh.values(s, 3) @ numbers, curve(s, 3), atol=1e-9)
    told = mesh.values(mesh.rates, 3)
    assert len(told) == np.linalg.matrix_rank(told) == len(mesh.nodes) - 1


@pytest.mark.parametrize("mesh", MESHES, ids=NAMES)
def test_weights_integrate_polynomials_of_their_degree(mesh):
    exact = 3 if mesh.method == "hermite-simpson" else 2 * mesh.order - 2
    for degree in range(exact + 1):
        assert mesh.weights @ mesh.nodes**degree == pytest.approx(1 / (degree + 1), rel=1e-13)


def test_radau_of_order_two_is_the_textbook_one():
    mesh = Mesh(method="radau", intervals=1, order=2)
    assert np.allclose(mesh.stages, [1 / 3, 1]) and np.allclose(mesh.weights, [3 / 4, 1 / 4])
    by_rates = -defects(mesh)[[0, 2]][:, 4:6]  # q rows, columns of w at the stages
    assert np.allclose(by_rates, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"method": "euler"},
            "method: expected one of spline, hermite-simpson, radau, integrated, got 'euler'",
        ),
        (
            {"method": "radau", "intervals": 0},
            "intervals: expected a whole number of at least 1, got 0",
        ),
        ({"method": "radau", "order": 1.5}, "order: expected a whole number"),
        ({"method": "radau", "form": "dae"}, "form: expected one of implicit, explicit"),
        ({"method": "radau", "nodes": 3}, "nodes: method 'radau' has no such setting"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        transcription_of(settings)


def every_kind_of_row(free=True):
    """A problem with a passive joint, a load, and limits on torques, angles and a path."""
    robot = acrobot(torque=8.0)
    robot = replace(
        robot, joints=tuple(replace(joint, position=(-4.0, 4.0)) for joint in robot.joints)
    )
    return ocp.Problem(
        tree=robot,
        motion=ocp.BSpline(points=8),
        duration=(0.3, 2.0) if free else 0.8,
        objective=0.2 * ocp.duration()
        + 0.1 * ocp.effort()
        + integral("height", lambda at: at.position("tip")[1] ** 2),
        constraints=(
            ocp.at_start(robot, q=(0.2, 0.1), qd=0.0),
            ocp.torque_limits(robot),
            ocp.joint_limits(robot),
            ocp.path("tip", lambda at: at.velocity("tip")[0], upper=9.0, when=(0.3, 0.8)),
            ocp.at_end(robot, qd={"elbow": 0.0}),
        ),
        loads=(ocp.Load(point="tip", force=lambda t: (ca.sin(3 * t), -1, 0)),),
    )


@pytest.mark.parametrize("free", [True, False], ids=["free", "fixed"])
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "hermite-simpson"},
        {"method": "radau", "order": 3},
        {"method": "radau", "order": 2, "form": "explicit"},
        {"method": "radau", "order": 2, "derivatives": "ad"},
    ],
    ids=["hermite-simpson", "radau", "explicit", "ad"],
)
def test_assembled_derivatives_equal_those_of_the_whole_graph(settings, free):
    transcribed = transcribe_phase(
        every_kind_of_row(free), transcription_of({"intervals": 3} | settings)
    )
    rng, layout = np.random.default_rng(2), transcribed.layout
    x = join_variables(
        layout,
        rng.uniform(-1, 1, (2, transcribed.problem.motion.points)),
        0.9,
        rng.uniform(-9, 9, layout.place.shape),
    )
    assert_exact(transcribed.nlp, x, tolerance=1e-11)


def test_limits_of_single_unknowns_are_bounds_and_stages_are_linear():
    transcribed = transcribe_phase(
        every_kind_of_row(), ocp.Transcription(method=ocp.Radau(intervals=3, order=2))
    )
    rows = {row.name: row for row in transcribed.rows}
    assert (rows["torque_limits"].row < 0).all()
    assert (rows["joint_limits"].row < 0).all()
    assert rows["stages"].row.shape == (4, 6)
    assert np.array_equal(rows["dynamics"].s, transcribed.problem.motion.nodes)
    assert len(rows["dynamics"].row) == 2
    assert next(
        group for group in transcribed.groups if group.owners[0][0].name == "stages"
    ).kernel.linear.all()


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "hermite-simpson", "intervals": 60},
        {"method": "radau", "intervals": 30, "order": 5},
        {"method": "radau", "intervals": 30, "order": 5, "form": "explicit"},
    ],
    ids=["hermite-simpson", "radau", "explicit"],
)
def test_every_mesh_swings_the_cart_at_the_same_cost_and_its_control_does_so_too(settings):
    solution = ocp.solve(swing(), transcription_of(settings)).require()
    assert solution.objective == pytest.approx(SWING, rel=1e-6)
    certificate = ocp.verify(solution)
    assert certificate.goal_drift < 1e-3
    assert certificate.energy_error < 1e-5
    assert certificate.kkt < 1e-6


def test_radau_resolves_a_bang_bang_control():
    solution = ocp.solve(
        fastest(),
        ocp.Transcription(method=ocp.Radau(intervals=100, order=3)),
        ocp.Solver(options={"tol": 1e-10}),
    ).require(coarse=True)
    assert solution.duration == pytest.approx(0.3918545, abs=2e-6)
    assert np.abs(np.abs(solution.tau(np.array([0.02, 0.12, 0.215, 0.31]))) - 10).max() < 1e-3


def test_the_lift_costs_what_the_papers_method_and_the_spline_find():
    solution = ocp.solve(lift(), ocp.Transcription(method=ocp.Radau(intervals=30))).require()
    assert solution.objective == pytest.approx(0.844878, abs=2e-5)


def test_a_solution_answers_and_survives_its_file(tmp_path):
    settings = ocp.Transcription(method=ocp.Radau(intervals=8, order=3))
    solution = ocp.solve(swing(), settings).require(coarse=True)
    ocp.save(solution, tmp_path / "swing.npz")
    again, t = ocp.load(tmp_path / "swing.npz", swing()), solution.times(40)
    assert (
        again.problem.motion
        == solution.problem.motion
        == Mesh(method="radau", intervals=8, order=3)
    )
    assert again.transcription == solution.transcription
    for quantity in ("q", "qd", "qdd", "tau"):
        assert np.array_equal(getattr(again, quantity)(t), getattr(solution, quantity)(t))
    node = solution.problem.motion.nodes[4] * 2.0
    assert solution.tau(node)[0] == pytest.approx(solution.lifted[0, 4])
    assert solution.tau(node)[1] == 0
    assert np.allclose(solution.q(0.0), 0) and np.allclose(solution.q(2.0), [1, np.pi])
    ocp.plot(solution, tmp_path / "swing.png")
    assert (tmp_path / "swing.png").stat().st_size > 0


def test_guesses_go_from_any_basis_to_any_other():
    mesh = ocp.solve(
        swing(points=16), ocp.Transcription(method=ocp.HermiteSimpson(intervals=12))
    ).require(coarse=True)
    spline = ocp.solve(swing(points=30), guess=mesh).require(coarse=True)
    finer = ocp.solve(
        swing(), ocp.Transcription(method=ocp.Radau(intervals=20, order=4)), guess=spline
    ).require()
    assert finer.objective == pytest.approx(SWING, rel=1e-4) and finer.statistics["iterations"] < 20
    same = ocp.solve(swing(), finer.transcription, guess=finer).require()
    assert same.objective == pytest.approx(finer.objective, rel=1e-9)
    assert same.statistics["warm_start"]
    other = ocp.solve(
        swing(), finer.transcription, guess=ocp.Guess(q=[[0, 1.2, 1], [0, -0.2, np.pi]])
    ).require()
    assert other.objective == pytest.approx(
        57.9448, rel=1e-4
    )  # a better swing, by way of the other side


def test_transfers_between_meshes_keep_polynomials():
    rough = Mesh(method="radau", intervals=2, order=4)
    fine = Mesh(method="hermite-simpson", intervals=5)
    points, value = polynomial(rough, 3)
    assert np.allclose(transfer(rough, points[None], fine), polynomial(fine, 3)[0], atol=1e-12)
    spline = ocp.BSpline(points=9)
    assert np.allclose(
        transfer(rough, points[None], spline) @ spline.values([0.3, 0.9]).T,
        value([0.3, 0.9], 0),
        atol=1e-12,
    )
    assert motion_from_data({"points": 9, "degree": 3, "clamped": True}) == spline


def test_what_a_mesh_cannot_do_is_refused():
    problem = every_kind_of_row()
    meshed = transcribe_phase(problem, ocp.Transcription(method=ocp.Radau(intervals=3))).problem
    with pytest.raises(
        ValueError,
        match="method 'spline': the problem's motion is the mesh of 'radau'; expected a BSpline",
    ):
        transcribe_phase(meshed)
    with pytest.raises(
        ValueError, match="constraint 'stages': the name is that of the law of motion"
    ):
        transcribe_phase(
            replace(problem, constraints=(ocp.path("stages", lambda at: at.q, upper=1.0),)),
            ocp.Transcription(method=ocp.Radau()),
        )


def test_a_cycle_on_a_mesh_ends_as_it_began():
    arm = two_link(gravity=9.81)
    problem = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=12),
        duration=1.0,
        objective=ocp.effort(),
        symmetry=ocp.periodic(arm, qdd=False),
        constraints=(
            ocp.path(
                "away", lambda at: at.q, lower=(1.0, -0.5), upper=(1.0, -0.5), when=(0.5, 0.5)
            ),
            ocp.at_start(arm, q={"shoulder": 0.0}),
        ),
    )
    spline, stages = (
        ocp.solve(problem, settings).require()
        for settings in (
            ocp.Transcription(method=ocp.Spline(torques="variables")),
            ocp.Transcription(method=ocp.HermiteSimpson(intervals=20)),
        )
    )
    assert np.allclose(stages.q(0.0), stages.q(1.0), atol=1e-8)
    assert np.allclose(stages.qd(0.0), stages.qd(1.0), atol=1e-8)
    assert np.allclose(stages.q(0.5), [1.0, -0.5], atol=1e-8)
    assert stages.objective == pytest.approx(spline.objective, rel=0.1)


@pytest.mark.parametrize("method", ["hermite-simpson", "radau"])
def test_weights_of_unequal_intervals_integrate_polynomials(method):
    mesh = Mesh(method=method, intervals=3, inner=(0.1, 0.7))
    for power in range(4):
        integral = mesh.weights @ mesh.nodes**power
        assert integral == pytest.approx(1 / (power + 1), abs=1e-14)

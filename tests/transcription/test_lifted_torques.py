"""Torques and ground wrenches as variables at the nodes: the same optimum as without, exact
derivatives, balance between the nodes."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import LEAVE, STRIKE, SUMS, TIGHT, biped, crouch, crouched, posture
from whole_graphs import assert_exact

from ocp import Spline, Transcription, integral, joint_limits, solve, torque_limits
from ocp.mechanics import body_weight, structure
from ocp.problem import (
    bearing_slots,
    foot_contact,
    friction,
    linear_split,
    mirror_symmetry,
    pressure_inside,
    slots,
    unilateral,
)
from ocp.problems.arms.pr_mixed import problem as pr_mixed
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.solvers import kkt_residual
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.row_requests import schedule_grid
from ocp.transcription.variables.interpolation import wrench_interpolation
from ocp.transcription.variables.layout import (
    join_variables,
    lifted_layout,
    motion_inputs,
    motion_map,
    motion_size,
    motion_width,
    split_variables,
)
from ocp.transcription.variables.named_multipliers import gather_multipliers, name_multipliers

# Of `everything`: its coordinates in reverse, which no walker is
pytestmark = pytest.mark.filterwarnings("ignore:mirror_symmetry. joint")


def everything(ankles=False, **changes):
    """A problem with every kind of row that the ground brings."""
    problem = crouch(ankles=ankles)
    tree, ground = problem.tree, problem.ground
    index, sign = np.arange(tree.dof)[::-1], np.ones(tree.dof)
    return replace(
        problem,
        constraints=(
            joint_limits(tree, hull=True),
            torque_limits(tree),
            unilateral(tree, ground, least=0.2),
            friction(tree, ground, torsion=0.02),
            pressure_inside(tree, ground),
            foot_contact(ground),
            linear_split(tree, ground),
        ),
        symmetry=mirror_symmetry(tree, index, sign, qdd=False),
        objective=problem.objective
        + integral("twist", lambda at: at.reaction.push("left") * at.q[0] + at.tau[7]),
        **changes,
    )


def near(transcribed, seed=3):
    """Variables of a body that stands and moves a little, with torques and wrenches of the size of
    its weight."""
    problem, rng = transcribed.problem, np.random.default_rng(seed)
    points = np.array(
        [posture(problem.tree, rng, bend=0.05)[0] for _ in range(problem.motion.points)]
    ).T
    lifted = body_weight(problem.tree) * rng.uniform(-0.3, 0.3, transcribed.layout.place.shape)
    lifted[len(structure(problem.tree).drives) + 5 :: 6] += body_weight(problem.tree)
    return join_variables(transcribed.layout, points, 0.9, lifted)


# The same optimum


@pytest.mark.parametrize("problem", [lift(points=8), pr_mixed(points=8)], ids=["lift", "pr"])
def test_an_arm_has_the_same_optimum_with_torques_as_variables(problem):
    explicit, lifted = (
        solve(problem, transcription_of({"torques": torques} | SUMS), TIGHT).require()
        for torques in ("explicit", "variables")
    )
    assert lifted.objective == pytest.approx(explicit.objective, rel=1e-8)
    assert lifted.duration == pytest.approx(explicit.duration, rel=1e-6)
    assert np.allclose(lifted.points, explicit.points, atol=1e-5)
    assert np.allclose(lifted.lifted, explicit.tau(lifted.nodes * explicit.duration), atol=1e-4)
    assert np.allclose(
        lifted.multipliers["torque_limits"].values,
        explicit.multipliers["torque_limits"].values,
        atol=1e-5,
    )
    assert lifted.statistics["variables"] == explicit.statistics["variables"] + 2 * len(
        lifted.nodes
    )


def test_a_body_has_the_same_optimum_in_two_passes_and_with_wrenches_that_split_alike():
    explicit = solve(
        crouch(shared_by_distance=False), transcription_of({"torques": "explicit"} | SUMS), TIGHT
    ).require(coarse=True)
    assert crouched().objective == pytest.approx(explicit.objective, rel=1e-8)
    assert np.allclose(crouched().points, explicit.points, atol=1e-6)
    t = crouched().nodes * 0.8
    for foot in ("right", "left"):
        forces = [
            solution.trace(lambda at, foot=foot: at.reaction.force(foot), t)
            for solution in (crouched(), explicit)
        ]
        assert np.allclose(*forces, atol=1e-4)


@pytest.mark.parametrize(
    ("torques", "ground", "expected"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("explicit", True, False),
        ("variables", False, True),
    ],
)
def test_torques_are_variables_where_there_is_a_ground_or_it_is_asked_for(
    torques, ground, expected
):
    assert Spline(torques=torques).layout(crouch() if ground else lift(points=5)).lifts == expected


def test_an_unknown_way_of_torques_is_refused():
    with pytest.raises(
        ValueError, match="torques: expected one of auto, explicit, variables, got 'implicit'"
    ):
        Transcription(method=Spline(torques="implicit"))


# Derivatives


@pytest.mark.parametrize(
    ("torques", "derivatives", "duration", "ankles"),
    [
        ("variables", "recursive", 0.8, False),
        ("variables", "recursive", (0.5, 1.5), False),
        ("variables", "ad", 0.8, False),
        ("explicit", "recursive", (0.5, 1.5), False),
        ("explicit", "ad", 0.8, False),
        ("variables", "recursive", 0.8, True),
    ],
)  # with ankles: twelve joints, in loops
def test_derivatives_with_a_ground_equal_those_of_the_whole_graph(
    torques, derivatives, duration, ankles
):
    transcribed = transcribe_phase(
        everything(ankles, duration=duration),
        Transcription(method=Spline(torques=torques, nodes=3), derivatives=derivatives),
    )
    assert_exact(transcribed.nlp, near(transcribed))


def test_the_recursion_gives_the_same_program_as_automatic_differentiation():
    ours, other = (
        transcribe_phase(everything(), Transcription(method=Spline(nodes=3), derivatives=name))
        for name in ("recursive", "ad")
    )
    x = near(ours)
    assert np.array_equal(ours.nlp.g_lower, other.nlp.g_lower)
    assert np.array_equal(ours.nlp.lower, other.nlp.lower)
    lam = np.random.default_rng(6).standard_normal(len(ours.nlp.g_lower))
    for call in (
        lambda nlp: nlp.constraints(x),
        lambda nlp: nlp.jacobian(x, [])[1],
        lambda nlp: nlp.hessian("exact")(x, [], 1.0, lam),
    ):
        mine, his = (np.array(call(transcribed.nlp)) for transcribed in (ours, other))
        assert np.abs(mine - his).max() <= 1e-10 * np.abs(his).max()


# Where everything stands


@pytest.mark.parametrize("duration", [0.8, (0.5, 1.5)], ids=["fixed", "free"])
def test_variables_split_and_join_without_loss(duration):
    problem = crouch(duration=duration)
    layout, rng = lifted_layout(problem, schedule_grid(problem, 4)), np.random.default_rng(1)
    x = rng.standard_normal(layout.size)
    points, time, lifted = split_variables(layout, x)
    assert np.allclose(join_variables(layout, points, time, lifted), x, rtol=1e-14)
    assert sorted(layout.place[layout.place >= 0]) == list(range(motion_size(problem), layout.size))
    assert np.all(join_variables(layout, points, time)[motion_size(problem) :] == 0)
    nodes, rows = layout.nodes, len(structure(problem.tree).drives)
    assert layout.place.shape == (rows + 12, 11) and lifted.shape == (rows + 12, 11)
    stands = {
        "right": nodes > STRIKE,
        "left": nodes < LEAVE,
    }  # strictly: nothing at strike and toe-off
    for k, (foot, _) in enumerate(slots(problem.ground)):
        assert np.array_equal(
            layout.place[rows + 6 * k : rows + 6 * k + 6] >= 0, np.tile(stands[foot], (6, 1))
        )
        assert np.all(lifted[rows + 6 * k : rows + 6 * k + 6, ~stands[foot]] == 0)
    place = layout.place[2, 3]
    assert lifted[2, 3] == pytest.approx(x[place] * body_weight(problem.tree))


@pytest.mark.parametrize("duration", [0.8, (0.5, 1.5)], ids=["fixed", "free"])
def test_the_motion_map_places_lifted_columns_at_their_nodes_and_runs_between_them(duration):
    problem = crouch(duration=duration)
    layout, rng = lifted_layout(problem, schedule_grid(problem, 4)), np.random.default_rng(2)
    x, s = rng.standard_normal(layout.size), np.array([0.0, 0.1, STRIKE, 0.5, 0.6, 1.0])
    points, time, lifted = split_variables(layout, x)
    found = motion_map(layout, s)(x)
    assert np.allclose(
        found[: motion_width(problem)], motion_inputs(problem, points, time, s), atol=1e-12
    )
    expected = lifted @ wrench_interpolation(problem, layout.nodes, s).T
    assert np.allclose(found[motion_width(problem) :], expected, atol=1e-12)
    for at, column in zip(s, expected.T):
        if np.isclose(layout.nodes, at).any():
            assert np.array_equal(column, lifted[:, np.isclose(layout.nodes, at)].sum(axis=1))
    still = np.reshape(
        np.array(motion_map(layout, np.arange(5) / 4, hull=True).matrix @ x),
        (layout.width, 5),
        order="F",
    )
    free, n = int(isinstance(duration, tuple)), problem.tree.dof
    assert np.array_equal(still[free : free + n], points)
    assert not still[free + n :].any()
    assert np.all(still[:free] == time)


def test_nodes_stand_at_every_switch_of_the_contact_schedule():
    problem = crouch(strike=0.26, leave=0.61)
    s = schedule_grid(problem, 4)
    assert len(s) == 11
    assert s[0] == 0
    assert s[-1] == 1
    assert {0.26, 0.61} <= set(s)
    assert np.all(np.diff(s) > 0)
    assert np.array_equal(schedule_grid(lift(points=5), 4), np.linspace(0, 1, 9))
    rows = {
        row.name: row.s
        for row in transcribe_phase(problem, Transcription(method=Spline(nodes=4))).rows
    }
    assert np.array_equal(rows["dynamics"], s) and np.array_equal(rows["torque_limits"], s)
    assert np.array_equal(rows["split.1"], s[(s > 0.26) & (s < 0.61)])


def test_nodes_stand_closer_where_several_feet_bear_if_they_are_told_to():
    problem = crouch(strike=0.26, leave=0.61)
    ground, usual = problem.ground, schedule_grid(problem, 4)
    close = schedule_grid(problem, 4, shared=12)
    both = [len(bearing_slots(ground, s)) > 1 for s in (close[1:] + close[:-1]) / 2]
    steps, segment = np.diff(close), np.diff(problem.motion.breaks)[0]
    assert 0 < sum(both) < len(both) and set(ground.switches) <= {*np.round(close, 12)}
    assert steps[both].max() <= 1.5 * segment / 12 < segment / 4
    alone = close[1:][np.logical_not(both)]
    assert np.isin(np.round(alone, 12), np.round(usual, 12)).all()
    chosen = Transcription(method=Spline(nodes=4, shared=12))
    assert np.array_equal(transcribe_phase(problem, chosen).layout.nodes, close)


def test_the_first_guess_stands_on_its_feet():
    problem = crouch(shared_by_distance=False)
    transcribed = transcribe_phase(problem, transcription_of(SUMS))
    _, _, lifted = split_variables(transcribed.layout, transcribed.guess)
    push = lifted[[4 + 5, 4 + 11]] / body_weight(problem.tree)
    s = transcribed.layout.nodes
    share = np.where(s > STRIKE, np.where(s < LEAVE, 0.5, 1.0), 0.0)
    assert np.allclose(push.sum(axis=0), 1) and np.allclose(push[0], share)
    lifted[[4 + 5, 4 + 11]] = 0
    assert not lifted.any()


@pytest.mark.parametrize("quadrature", ["gauss", "trapezoid"])
def test_a_lifted_integral_is_that_of_what_runs_between_the_nodes(quadrature):
    """Of the square too, which a sum over the nodes would exaggerate where torques are steep."""
    parts = {"push": lambda at: at.reaction.push("right"), "work": lambda at: at.tau[8] * at.tau[8]}
    goal = integral("push", parts["push"]) + 0.01 * integral("work", parts["work"])
    problem = crouch(objective=goal)
    method = Spline(nodes=4, quadrature=quadrature, panels=4)
    transcribed = transcribe_phase(problem, Transcription(method=method))
    x = near(transcribed)
    _, _, lifted = split_variables(transcribed.layout, x)
    s = np.linspace(0, 1, 9) if quadrature == "trapezoid" else np.linspace(0, 1, 40001)
    between = lifted @ wrench_interpolation(problem, transcribed.layout.nodes, s).T
    drive = list(structure(problem.tree).drives).index(8)
    expected = [np.trapezoid(line, s) for line in (between[4 + 5], between[drive] ** 2)]
    found = np.array(transcribed.terms(x)).ravel()
    np.testing.assert_allclose(found, 0.8 * np.array(expected), rtol=1e-6)


def test_multipliers_of_lifted_rows_go_to_names_and_back():
    transcribed, named = transcribe_phase(crouch(), transcription_of(SUMS)), crouched().multipliers
    nlp, law = transcribed.nlp, named["dynamics"]
    x_multipliers, g_multipliers = gather_multipliers(
        transcribed.rows, named, transcribed.layout, len(nlp.g_lower)
    )
    again = name_multipliers(
        transcribed.rows,
        transcribed.bound_owners,
        transcribed.binding,
        x_multipliers,
        g_multipliers,
    )
    assert set(again) == set(named)
    assert all(np.allclose(again[name].values, named[name].values, atol=1e-13) for name in named)
    assert law.labels == tuple(joint.name for joint in biped().moving)
    assert law.values.shape == (10, 11)
    assert np.abs(law.values).max() > 1e-3
    x = join_variables(transcribed.layout, crouched().points, 0.8, crouched().lifted)
    assert kkt_residual(nlp, x, x_multipliers, g_multipliers) < 1e-6


# Between the nodes

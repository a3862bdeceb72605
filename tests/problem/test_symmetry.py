"""Symmetry: the end of a motion is the image of its start, and is not asked twice."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import biped, steps
from limited_arm import arm_problem, limited, placed
from whole_graphs import assert_exact

import ocp
from ocp.certificate import violations
from ocp.models.walkers.five_link import five_link
from ocp.problem import mirror_symmetry, pressure_inside, unilateral
from ocp.transcription import transcribe_phase
from ocp.transcription.row_requests import schedule_grid
from ocp.transcription.variables.layout import join_variables, split_variables

SWAP = [8, 9, 6, 7]  # right hip and knee for the left ones
INDEX, SIGN = np.array([*range(6), *SWAP]), np.array([1, -1, 1, -1, 1, -1, 1, 1, 1, 1.0])


@pytest.mark.parametrize("duration", [0.8, (0.5, 1.5)], ids=["fixed", "free"])
@pytest.mark.parametrize("clamped", [True, False], ids=["clamped", "unclamped"])
def test_a_mirrored_motion_ends_as_the_image_of_its_start(duration, clamped):
    tree, motion = biped(), ocp.BSpline(points=6, clamped=clamped)
    problem = ocp.Problem(
        tree=tree,
        motion=motion,
        duration=duration,
        objective=ocp.effort(),
        symmetry=mirror_symmetry(tree, INDEX, SIGN, shift={"x": 0.4}),
    )
    transcribed = transcribe_phase(problem, ocp.Transcription(derivatives="ad"))
    nlp, rng = transcribed.nlp, np.random.default_rng(1)
    x = join_variables(transcribed.layout, rng.standard_normal((tree.dof, 6)), 0.9)
    points, T, _ = split_variables(transcribed.layout, x)
    ends = [points @ motion.values([0.0, 1.0], order).T / T**order for order in range(3)]
    gaps = {
        f"mirrored.{name}": end - SIGN * start[INDEX]
        for name, (start, end) in zip(("q", "qd", "qdd"), (both.T for both in ends))
    }
    values = np.array(nlp.constraints(x)).ravel()
    for row in (each for each in transcribed.rows if each.name in gaps):
        goal = 0.4 * (np.arange(10) == 0) if row.name == "mirrored.q" else np.zeros(10)
        here = row.row[:, 0]
        assert np.allclose(values[here[here >= 0]], gaps[row.name][here >= 0], atol=1e-9)
        assert np.allclose(nlp.g_lower[here[here >= 0]], goal[here >= 0])
        assert row.s.tolist() == [0.0]
    assert_exact(nlp, x)


def test_with_the_identity_the_motion_is_periodic():
    arm = limited()
    problem = arm_problem(
        ocp.at_start(arm, q=0.3),
        ocp.torque_limits(arm),
        ocp.path("away", lambda at: at.q[0], lower=0.6, when=(0.5, 0.5), labels=("shoulder",)),
    )
    solution = ocp.solve(replace(problem, symmetry=ocp.periodic(arm))).require()
    for curve in (solution.q, solution.qd, solution.qdd):
        assert np.allclose(curve(0.0), curve(solution.duration), atol=1e-6)
    found = violations(solution)
    assert all(found[f"mirrored.{name}"].dense < 1e-6 for name in ("q", "qd", "qdd"))
    points = solution.points.copy()
    points[1, -1] += 0.02
    spoilt = violations(replace(solution, points=points))["mirrored.q"]
    assert spoilt.dense == spoilt.nodes == pytest.approx(0.02)
    assert (spoilt.label, spoilt.unit) == ("elbow", "rad")


def test_accelerations_may_jump_where_the_step_ends():
    arm = ocp.with_limits(limited(), position=(-2.0, 2.0))
    assert [
        constraint.name
        for constraint in replace(
            arm_problem(), symmetry=mirror_symmetry(arm, [1, 0], [1, -1], qdd=False)
        ).requirements
    ] == ["mirrored.q", "mirrored.qd"]


def test_a_cycle_does_not_ask_at_its_end_what_its_start_answers():
    tree, ground = biped(), steps(strike=0.0, leave=0.5)
    constraints = (
        ocp.joint_limits(tree, hull=True),
        ocp.torque_limits(tree),
        unilateral(tree, ground),
        pressure_inside(tree, ground),
        ocp.path("push", lambda at: at.reaction.push() ** 2, lower=1.0),
    )
    goal = ocp.integral("power", lambda at: at.tau[6])
    once = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=6),
        duration=0.8,
        objective=goal,
        constraints=constraints,
        ground=ground,
        symmetry=mirror_symmetry(tree, INDEX, SIGN, qdd=False),
    )
    cyclic = replace(once, symmetry=mirror_symmetry(tree, INDEX, SIGN))
    rows, others = placed(cyclic, nodes=2), placed(once, nodes=2)
    nodes = schedule_grid(once, 2)
    for name in ("torque_limits", "push", "unilateral"):
        assert np.array_equal(others[name].s, nodes) and np.array_equal(rows[name].s, nodes[:-1])
    assert np.array_equal(others["dynamics"].s, nodes) and np.array_equal(rows["dynamics"].s, nodes)
    assert len(others["joint_limits"].s) == 6
    assert np.array_equal(rows["joint_limits"].s, cyclic.motion.nodes[:-1])
    transcribed = transcribe_phase(cyclic, ocp.Transcription(method=ocp.Spline(nodes=2)))
    lower, upper = (
        np.reshape(side[:60], (6, 10)) for side in (transcribed.nlp.lower, transcribed.nlp.upper)
    )
    assert np.isfinite(upper[:-1, 6:]).all()
    assert np.isinf(upper[-1]).all()
    assert np.isinf(lower[-1]).all()
    last = transcribed.layout.place[:, -1]
    last = last[last >= 0]  # what is lifted at the end is bound by the law of motion alone
    assert np.isinf(transcribed.nlp.lower[last]).all()
    assert np.isinf(transcribed.nlp.upper[last]).all()


def test_the_image_of_an_image_is_what_it_was():
    symmetry = mirror_symmetry(biped(), INDEX, SIGN)
    values = np.random.default_rng(2).standard_normal((10, 3))
    assert np.array_equal(symmetry.image(symmetry.image(values)), values)
    assert np.array_equal(symmetry.image(values)[:, 0], symmetry.image(values[:, 0]))
    assert np.array_equal(symmetry.image(values), SIGN[:, None] * values[INDEX])


def test_partners_that_have_other_limits_are_told():
    tree = ocp.with_limits(
        five_link(), position={"left hip": (-1.0, 1.0), "right hip": (-1.0, 1.0)}
    )
    swapped = (0, 1, 2, 5, 6, 3, 4)
    assert mirror_symmetry(tree, swapped, np.ones(7)).index == swapped
    with pytest.warns(UserWarning, match="'left hip', within .* has the image of 'right knee'"):
        mirror_symmetry(tree, (0, 1, 2, 6, 5, 4, 3), np.ones(7))


def test_a_foot_that_a_symmetry_takes_from_its_place_is_told_with_the_symmetry():
    body = five_link()
    foot = ocp.point_contact(body, "left foot", normal=(0, 1, 0))
    statement = ocp.Problem(
        tree=body,
        motion=ocp.BSpline(points=8),
        duration=0.7,
        objective=ocp.effort(),
        ground=ocp.Ground(feet=(foot,), normal=(0, 1, 0)),
        symmetry=ocp.periodic(body, shift={"x": 0.5}),
    )
    with pytest.raises(
        ValueError,
        match="contact 'left foot': .* leaves a gap of .*; it follows from mirrored.q: the "
        "symmetry, .*, exchanges no coordinates",
    ):
        transcribe_phase(statement)

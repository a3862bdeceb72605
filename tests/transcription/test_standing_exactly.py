"""Bodies that stand on contacts of any kind, or on none: balances in closed form, methods that
agree, and contacts that hold between the nodes."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from standing_bodies import GRAVITY, block, carted, monopod, slope, walker

import ocp
from ocp.certificate.checks.replay_motion import deviations
from ocp.certificate.merged_violations import violations
from ocp.problem.contact.transmitted_wrenches import bears_root, passive_rows, transmissions
from ocp.transcription import transcribe_phase
from ocp.transcription.laws.contact_laws import rigid_contact_laws

WEIGHT = 6.0 * GRAVITY


def pushing(order=("x", "z", "pitch"), angle=0.3, **changes):
    """A weight is pushed up the slope on which its block stands."""
    tree = block(order)
    sole, _, _ = slope(tree, angle)
    ground = ocp.Ground(feet=(sole,))
    stated = {
        "tree": tree,
        "motion": ocp.BSpline(points=8),
        "duration": 0.5,
        "ground": ground,
        "objective": ocp.effort(tree, ("slider",)),
        "constraints": (
            ocp.at_start(tree, q={"slider": 0.0}, qd=0.0),
            ocp.at_end(tree, q={"slider": 0.05}, qd=0.0),
            ocp.unilateral(tree, ground),
            ocp.pressure_inside(tree, ground),
        ),
    }
    return ocp.Problem(**stated | changes)


@pytest.mark.parametrize("order", [("x", "z", "pitch"), ("pitch", "x", "z"), ("z", "pitch", "x")])
def test_a_block_on_a_slope_is_carried_as_newton_says(order):
    """N = W cos a; along the slope W sin a and what moves the weight, whatever the root's order."""
    solution = ocp.solve(pushing(order)).require()
    _, along, up = slope(block(order), 0.3)
    t = solution.times(50)
    force = solution.trace(lambda at: at.reaction.force("sole"), t)
    driven = solution.qdd(t)[3]
    assert np.allclose(up @ force, WEIGHT * np.cos(0.3), atol=1e-9)
    assert np.allclose(along @ force, WEIGHT * np.sin(0.3) + driven, atol=1e-9)
    pressure = solution.trace(lambda at: at.reaction.pressure("sole"), t)
    assert np.abs(up @ pressure).max() < 1e-9 and np.ptp(along @ pressure) > 1e-3
    worst = violations(solution)
    assert worst["standing.sole"].dense < 1e-12 and worst["standing_rate.sole"].dense < 1e-12


def test_friction_ends_where_the_cone_of_a_planar_body_does():
    """tan a + what moves the weight, over N: one direction alone is felt, so mu is not over
    sqrt 2."""
    free = ocp.solve(pushing()).require()
    force = free.trace(lambda at: at.reaction.force("sole"), free.times(200))
    _, along, up = slope(block(), 0.3)
    least = float((np.abs(along @ force) / (up @ force)).max())
    (cone,) = ocp.friction(free.problem.tree, free.problem.ground, coefficient=least)
    room = free.trace(cone.function, free.times(200))
    assert cone.labels == ("sole, side 1", "sole, side 2") and abs(room.min()) < 1e-12


def squat(points=20, degree=5):
    """A monopod goes down on its point foot, at rest before and after, which balance alone finds
    how."""
    tree = monopod()
    ground = ocp.Ground(feet=(ocp.point_contact(tree, "toe"),))
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=points, degree=degree),
        duration=0.8,
        ground=ground,
        objective=ocp.effort(tree, ("hip", "knee")),
        constraints=(
            ocp.at_start(tree, q={"pitch": 0.2, "knee": 0.9}, qd=0.0),
            ocp.at_end(tree, q={"pitch": 0.2, "knee": 1.3}, qd=0.0),
            ocp.unilateral(tree, ground),
        ),
    )


@cache
def squatted():
    """Its solution."""
    return ocp.solve(squat()).require()


def test_a_point_foot_bears_no_root_and_its_law_is_asked_as_accelerations_have_freedom():
    problem = squat()
    (foot,) = transmissions(problem.tree, problem.ground)
    assert foot.present == (False, False, False, True, False, True)
    assert not bears_root(problem.tree, problem.ground)
    assert passive_rows(problem.tree, problem.ground) == (0, 1, 2)
    solution = squatted()
    assert np.array_equal(solution.nodes, problem.motion.abscissae(2))
    assert len(solution.nodes) == problem.motion.points - 2
    worst = violations(solution)
    assert worst["passive_joints"].nodes < 1e-9 and worst["dynamics"].nodes < 1e-9
    assert worst["passive_joints"].dense < 1.0  # N, of 255
    assert worst["standing.toe"].dense < 5e-5 and worst["standing_rate.toe"].dense < 2e-3


def test_holds_are_as_many_as_the_spline_has_freedom():
    problem = squat()
    law, rates = rigid_contact_laws(problem)
    assert law[0].labels == ("toe.x", "toe.z") == rates[0].labels
    asked = [len(places) + len(slopes) for places, slopes in zip(law[1], rates[1])]
    assert asked == [problem.motion.points - 2] * 2  # both ends are at rest by what is prescribed
    law, rates = rigid_contact_laws(replace(problem, constraints=()))
    assert [len(a) + len(b) for a, b in zip(law[1], rates[1])] == [problem.motion.points] * 2
    assert rates[1] == ((0.0, 1.0),) * 2


@pytest.mark.parametrize(
    "method",
    [
        ocp.HermiteSimpson(intervals=16),
        ocp.Radau(intervals=12),
        ocp.Radau(intervals=12, form="explicit"),
    ],
    ids=["simpson", "radau", "radau explicit"],
)
def test_meshes_know_the_ground(method):
    solution = ocp.solve(squat(), ocp.Transcription(method=method), guess=squatted()).require(
        coarse=True
    )
    assert solution.objective == pytest.approx(squatted().objective, rel=2e-4)
    worst = violations(solution)
    assert worst["standing.toe"].nodes < 1e-12 and worst["standing.toe"].dense < 5e-5
    assert worst["dynamics"].nodes < 1e-9
    t = solution.times(801)
    means = [
        each.trace(lambda at: at.reaction.force("toe"), t)[2].mean()
        for each in (solution, squatted())
    ]
    assert means[0] == pytest.approx(means[1], rel=2e-4)


@pytest.mark.parametrize("name", ["hollerbach_3x3"])
def test_formulations_agree_on_a_point_foot(name):
    solution = ocp.solve(squat(), ocp.Transcription(dynamics=name), guess=squatted()).require()
    assert solution.objective == pytest.approx(squatted().objective, rel=1e-7)


def flying(**changes):
    """A monopod in the air draws its leg up."""
    tree = monopod()
    start = {"x": 0.0, "z": 1.0, "pitch": 0.0, "hip": -0.3, "knee": 0.6}
    rates = {"x": 1.0, "z": 2.0, "pitch": 1.0, "hip": 0.0, "knee": 0.0}
    smooth = 0.1 * ocp.squares("smooth", lambda at: at.qdd)
    stated = {
        "tree": tree,
        "motion": ocp.BSpline(points=14, degree=5),
        "duration": 0.5,
        "objective": ocp.effort(tree, ("hip", "knee")) + smooth,
        "constraints": (
            ocp.at_start(tree, q=start, qd=rates),
            ocp.at_end(tree, q={"hip": -0.8, "knee": 1.6}),
        ),
    }
    return ocp.Problem(**stated | changes)


def momenta(at):
    """Angular momentum about the centre of mass and linear momentum (kg m2/s, kg m/s)."""
    angular, linear = ocp.kinematics.momentum(at.tree, at.q, at.qd)
    center = ocp.kinematics.center_of_mass(at.tree, at.q)
    return ca.vertcat(angular - ca.cross(center, linear), linear)


@cache
def flown():
    """Its solution on a spline."""
    return ocp.solve(flying()).require()


def test_what_has_no_ground_flies_on_its_parabola_without_turning_faster():
    """At the law's instants to 1e-9 of the weight, in between as far as the spline can."""
    solution = flown()
    mass, T = 26.0, solution.duration
    rate = solution.trace(lambda at: at.rate(momenta(at)), solution.problem.motion.abscissae(2) * T)
    gravity = np.array([0, 0, 0, 0, 0, -mass * GRAVITY])
    assert np.abs(rate - gravity[:, None]).max() < 1e-9 * mass * GRAVITY
    t = solution.times(200)
    center = solution.trace(lambda at: ocp.kinematics.center_of_mass(at.tree, at.q), t)
    path = center[:, :1] + np.outer(solution.trace(momenta, 0.0)[3:] / mass, t)
    path[2] -= GRAVITY * t**2 / 2
    turning = solution.trace(momenta, t)[1]
    assert np.abs(center - path).max() < 1e-6 and np.ptp(turning) < 1e-4 * abs(turning[0])


@pytest.mark.parametrize("method", [ocp.Radau(intervals=8, order=4), ocp.Integrated()])
def test_methods_agree_on_a_flight(method):
    solution = ocp.solve(flying(), ocp.Transcription(method=method)).require()
    assert solution.objective == pytest.approx(flown().objective, rel=1e-5)


STEPS = {"left": (0.0, 0.0, 0.0), "right": (0.25, 0.0, 0.17)}


def on_stairs(places=STEPS, **changes):
    """A walker stands on two steps of a stair and shifts its weight."""
    tree = walker()
    feet = [ocp.point_contact(tree, side, at=place) for side, place in places.items()]
    ground = ocp.Ground(feet=feet)
    smooth = 0.01 * ocp.squares("smooth", lambda at: at.qdd)
    stated = {
        "tree": tree,
        "motion": ocp.BSpline(points=16),
        "duration": 0.8,
        "ground": ground,
        "objective": ocp.effort(tree, ("hip_left", "knee_left", "hip_right", "knee_right"))
        + smooth,
        "constraints": (
            ocp.at_start(tree, q={"x": 0.05, "pitch": 0.0, "z": 0.72}, qd=0.0),
            ocp.at_end(tree, q={"x": 0.2, "pitch": 0.0, "z": 0.75}, qd=0.0),
            ocp.unilateral(tree, ground),
            ocp.friction(tree, ground, coefficient=0.8),
            ocp.joint_limits(tree),
        ),
    }
    return ocp.Problem(**stated | changes)


BENT = ocp.Guess(q=np.tile([[0.1], [0.72], [0.0], [-0.5], [0.9], [-1.1], [1.6]], 2), duration=0.8)


def test_two_feet_on_two_steps_bear_the_root_and_carry_the_weight():
    problem = on_stairs()
    assert bears_root(problem.tree, problem.ground)
    solution = ocp.solve(problem, guess=BENT).require()
    t = solution.nodes * solution.duration
    total = solution.trace(lambda at: at.reaction.force(), t)
    rate = solution.trace(lambda at: at.rate(momenta(at)), t)
    assert np.allclose(total[2], rate[5] + 40.0 * GRAVITY, atol=1e-6)
    assert np.allclose(total[0], rate[3], atol=1e-6)
    worst = violations(solution)
    assert worst["standing.right"].dense < 1e-4 and worst["unilateral"].dense < 1e-6
    for side, place in STEPS.items():
        place_of = solution.trace(lambda at, side=side: at.position(side), 0.4)
        assert place_of == pytest.approx(place, abs=1e-4)


def test_contacts_push_a_simulated_body_as_they_were_planned_to():
    """Nothing else holds its root: a twentieth more of a push is seen at once."""
    solution = squatted()
    lifted = solution.lifted.copy()
    lifted[-6:] *= 1.05
    honest, spoilt = deviations(solution), deviations(replace(solution, lifted=lifted))
    assert honest.defect < 1e-4 and spoilt.defect > 20 * honest.defect


def test_passive_joints_over_contacts_are_not_integrated():
    message = "method 'integrated': forces of contacts toe are unknowns, which move passive joints"
    with pytest.raises(ValueError, match=message):
        transcribe_phase(squat(10, 3), ocp.Transcription(method=ocp.Integrated()))


def hauling(axes):
    """A hand on a rail hauls its cart along."""
    tree = carted()
    start = {"shoulder": -1.0, "elbow": 1.4, "cart": 0.0}
    hand = ocp.kinematics.position(
        tree, ca.DM([start[joint.name] for joint in tree.moving]), "hand"
    )
    place = tuple(np.array(ca.DM(hand)).ravel().tolist())
    grip = ocp.point_contact(tree, "hand", at=place, axes=axes, grips=True)
    end = {"cart": 0.1} if "x" in axes else {"elbow": 1.2}
    smooth = 0.01 * ocp.squares("smooth", lambda at: at.qdd)
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=10, degree=5),
        duration=0.6,
        ground=ocp.Ground(feet=(grip,)),
        objective=ocp.effort(tree, ("shoulder", "elbow")) + smooth,
        constraints=(ocp.at_start(tree, q=start, qd=0.0), ocp.at_end(tree, q=end, qd=0.0)),
    )


def test_a_hand_that_grips_hauls_its_cart():
    """The cart's rail gives nothing along it: the grip alone moves the whole mass, and pulls."""
    problem = hauling("xz")
    assert bears_root(problem.tree, problem.ground) and passive_rows(problem.tree, None) == (0,)
    solution = ocp.solve(problem).require()
    t = solution.nodes * solution.duration
    force = solution.trace(lambda at: at.reaction.force("hand"), t)
    moved = solution.trace(lambda at: at.rate(momenta(at)), t)
    assert np.allclose(force[0], moved[3], atol=1e-6) and np.allclose(force[1], 0.0)
    assert force[0].min() < -0.1 < 0.1 < force[0].max()


def test_a_hand_that_slides_along_a_rail_pushes_across_it_alone():
    """What the tree weighs then stays where it was along the rail: nothing pushes it there."""
    problem = hauling("z")
    assert not bears_root(problem.tree, problem.ground)
    solution = ocp.solve(problem).require()
    force = solution.trace(lambda at: at.reaction.force("hand"), solution.times(20))
    assert np.abs(force[:2]).max() == 0.0 and np.abs(force[2]).max() > 0.1
    center = solution.trace(
        lambda at: ocp.kinematics.center_of_mass(at.tree, at.q), solution.times(50)
    )
    assert np.ptp(center[0]) < 1e-5
    assert violations(solution)["standing.hand"].dense < 1e-5


def test_a_foothold_may_be_sought():
    """A hopper stands where keeping its trunk costs least, between what bounds the place."""
    step = ocp.Parameter("step", 0.05, "m", lower=-0.3, upper=0.3, free=True)
    tree, trunk = monopod(), {"x": 0.1, "z": 0.7, "pitch": 0.2}

    def stated(place):
        ground = ocp.Ground(feet=(ocp.point_contact(tree, "toe", at=(place, 0.0, 0.0)),))
        still = (ocp.at_start(tree, q=trunk, qd=0.0), ocp.at_end(tree, q=trunk, qd=0.0))
        return replace(squat(10, 3), ground=ground, constraints=still)

    found = ocp.solve(stated(step)).require(coarse=True)
    best = found.parameters["step"]
    assert -0.25 < best < 0.25
    for way in (-0.02, 0.02):
        beside = ocp.solve(stated(best + way), guess=found).require(coarse=True)
        assert beside.objective > found.objective * (1 + 1e-4)
    there = found.trace(lambda at: at.position("toe"), np.array([0.0, found.duration]))
    assert np.abs(there - [[best], [0.0], [0.0]]).max() < 1e-9


def test_a_foothold_that_nothing_bounds_is_refused():
    step = ocp.Parameter("step", 0.05, "m", lower=-0.3, free=True)
    ground = ocp.Ground(feet=(ocp.point_contact(monopod(), "toe", at=(step, 0.0, 0.0)),))
    with pytest.raises(
        ValueError,
        match="contact 'toe': its place along x follows parameter 'step', which is free without "
        r"bounds; give lower and upper \(m\)",
    ):
        transcribe_phase(replace(squat(10, 3), ground=ground, constraints=()))


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (
            {"left": (0.0, 0.0, 0.0), "right": (2.5, 0.0, 0.0)},
            "contact 'right': point 'right' cannot be at x = 2.5 m with all that stands at that "
            "time; the nearest is 0.4",
        ),
        (
            {"left": (0.0, 0.3, 0.0)},
            "contact 'left': point 'left' cannot be at y = 0.3 m with all that stands at that time",
        ),
    ],
    ids=["too wide a step", "out of the plane"],
)
def test_a_contact_out_of_reach_is_refused(places, message):
    with pytest.raises(ValueError, match=message):
        transcribe_phase(on_stairs(places))


def test_a_statement_that_keeps_a_contact_from_its_place_is_refused():
    stated = squat(10, 3)
    lifted = {"x": 0.0, "z": 1.0, "pitch": 0.0, "hip": -0.5, "knee": 1.0}
    start = ocp.at_start(stated.tree, q=lifted, qd=0.0)
    with pytest.raises(
        ValueError,
        match="contact 'toe': what the constraints prescribe at the start leaves a gap of .* m of "
        "point 'toe' along ",
    ):
        transcribe_phase(replace(stated, constraints=(start,)))

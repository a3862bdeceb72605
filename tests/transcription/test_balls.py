"""Balls that are driven, that stand on the ground and that strike it, on splines and meshes."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.certificate.checks.replay_motion import quaternion_length_error
from ocp.mechanics import exp_rotation
from ocp.mechanics.kinematics.rotations import quaternion

INERTIA = np.diag((0.02, 0.021, 0.003))
START, END = (0.2, -0.3, 0.1), (0.9, 0.4, -0.5)  # rad: turns about x, then y, then z


def turned(a, b, c):
    """The rotation of three turns."""
    return exp_rotation([a, 0, 0]) @ exp_rotation([0, b, 0]) @ exp_rotation([0, 0, c])


def limb(hinges):
    """A limb on a ball, or on three hinges in its place."""
    body = ocp.Link(mass=2.0, com=(0.02, 0.0, -0.15), inertia=INERTIA)
    if not hinges:
        return ocp.Tree(links=(body,), joints=(ocp.ball("hip"),), gravity=(0, 0, -9.81))
    joints = (
        ocp.revolute("a", axis=(1, 0, 0)),
        ocp.revolute("b", "a", axis=(0, 1, 0)),
        ocp.revolute("hip", "b", axis=(0, 0, 1)),
    )
    return ocp.Tree(links=(ocp.Link(), ocp.Link(), body), joints=joints, gravity=(0, 0, -9.81))


def swing(hinges, *, end=None, motion=None):
    """A limb swings from attitude to attitude with the least squared moment at its joint."""
    tree = limb(hinges)
    ends = [np.array(quaternion(turned(*turns))).ravel() for turns in (START, END)]
    first, last = (START, END) if hinges else ends
    ending = (
        ocp.at_end(tree, q=last, qd=0.0) if end is None else (end(tree), *ocp.at_end(tree, qd=0.0))
    )
    return ocp.Problem(
        tree=tree,
        motion=motion or ocp.BSpline(points=12, degree=5),
        duration=0.8,
        objective=ocp.integral("moment", lambda at: ca.sumsqr(at.reactions[0][:, -1])),
        constraints=(*ocp.at_start(tree, q=first, qd=0.0), *ending),
    )


def names(solution):
    """The laws of a solution's program."""
    return set(solution.multipliers)


@pytest.fixture(scope="module")
def swung():
    return ocp.solve(
        swing(False), ocp.Transcription(method=ocp.Radau(intervals=8, order=5))
    ).require(coarse=True)


def test_a_driven_ball_reaches_the_optimum_of_three_hinges(swung):
    other = ocp.solve(
        swing(True), ocp.Transcription(method=ocp.Radau(intervals=8, order=5))
    ).require()
    assert swung.objective == pytest.approx(other.objective, rel=1e-4)
    assert quaternion_length_error(swung) < 1e-5


@pytest.mark.parametrize(
    "method", [ocp.Spline(torques="variables"), ocp.HermiteSimpson(intervals=12)]
)
def test_a_driven_ball_keeps_its_length_in_every_method(method, swung):
    problem = swing(False, motion=ocp.BSpline(points=20, degree=5))
    solution = ocp.solve(problem, ocp.Transcription(method=method)).require(coarse=True)
    assert "quaternion_lengths" in names(solution)
    assert solution.objective == pytest.approx(swung.objective, rel=2e-2)
    assert quaternion_length_error(solution) < 5e-3


def test_an_attitude_is_reached_with_either_sign_of_its_quaternion(swung):
    def as_rotation(tree):
        return ocp.attitude(tree, "hip", np.array(turned(*END)))

    method = ocp.Transcription(method=ocp.Radau(intervals=8, order=5))
    solution = ocp.solve(swing(False, end=as_rotation), method).require(coarse=True)
    assert solution.objective == pytest.approx(swung.objective, rel=1e-5)
    own, other = (np.array(quaternion(turned(*END))).ravel() * sign for sign in (1, -1))
    at = SimpleNamespace(q=ca.DM(own))
    for value in (own, other):
        row = ocp.attitude(swung.problem.tree, "hip", value)
        np.testing.assert_allclose(np.array(row.function(at)), 0.0, atol=1e-15)


def stander():
    """A block on the ground that lifts an arm."""
    block = ocp.Link(mass=20.0, com=(0, 0, 0.5), inertia=np.diag((1.0, 0.9, 0.3)))
    arm = ocp.Link(mass=3.0, com=(0.25, 0, 0), inertia=np.diag((0.01, 0.06, 0.06)))
    corners = ((0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2))
    return ocp.Tree(
        links=(ocp.Link(), ocp.Link(), ocp.Link(), block, arm),
        joints=(*ocp.free("body"), ocp.revolute("arm", "body", axis=(0, 1, 0), home=(0, 0.2, 0.9))),
        points=tuple(
            ocp.Point(name=f"c{k}", link="body", position=(x, y, 0))
            for k, (x, y) in enumerate(corners)
        ),
        gravity=(0, 0, -9.81),
    )


STILL = dict.fromkeys(("body_x", "body_y", "body_z", "body.x", "body.y", "body.z"), 0.0)


def test_a_root_with_a_ball_stands_alike_on_splines_and_meshes():
    tree, costs = stander(), []
    foot = ocp.area_contact(tree, [f"c{k}" for k in range(4)], grips=True, at=(0.3, 0.2, 0.0))
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=9, degree=5),
        duration=0.8,
        objective=ocp.effort(tree, ("arm",)),
        ground=ocp.Ground(feet=(foot,), normal=(0, 0, 1)),
        constraints=(
            *ocp.at_start(tree, q=STILL | {"body.w": 1.0, "arm": 0.5}, qd=0.0),
            *ocp.at_end(tree, q={"arm": -0.8}, qd={"arm": 0.0}),
        ),
    )
    for method in (ocp.Spline(torques="variables"), ocp.Radau(intervals=3, order=4)):
        solution = ocp.solve(problem, ocp.Transcription(method=method)).require()
        costs.append(solution.objective)
        assert quaternion_length_error(solution) < 1e-9
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)


def test_a_tumbling_block_strikes_with_a_corner_and_its_momentum_is_balanced():
    body = ocp.Link(mass=3.0, inertia=np.diag((0.05, 0.06, 0.07)))
    tree = ocp.Tree(
        links=(ocp.Link(), ocp.Link(), ocp.Link(), body),
        joints=ocp.free("body"),
        points=(ocp.Point(name="corner", link="body", position=(0.1, 0.1, -0.2)),),
        gravity=(0, 0, -9.81),
    )
    up = (0.0, 0.0, 1.0)
    rates = {"body_x": 0.5, "body_y": 0.0, "body_z": 0.0}
    rates |= {"body.w": 0.0, "body.x": 0.5, "body.y": -0.3, "body.z": 0.2}
    upright = {"body.w": 1.0, "body.x": 0.0, "body.y": 0.0, "body.z": 0.0}
    motion = ocp.Radau(intervals=4, order=5)
    flight = ocp.Phase(
        "flight",
        motion=ocp.BSpline(points=8, degree=5),
        duration=0.3,
        constraints=ocp.at_start(tree, q=upright, qd=rates),
    )
    foot = ocp.point_contact(tree, "corner")
    stance = ocp.Phase(
        "stance",
        motion=ocp.BSpline(points=8, degree=5),
        duration=0.05,
        ground=ocp.Ground(feet=(foot,), normal=up),
    )
    problem = ocp.Problem(
        tree=tree,
        phases=(flight, stance),
        links=(ocp.impact("corner", normal=up),),
        objective=ocp.integral("nothing", lambda at: 1e-6 * at.q[3] ** 2),
    )
    solution = ocp.solve(problem, ocp.Transcription(method=motion)).require()
    certificate = ocp.verify(solution)
    (struck,) = certificate.impacts
    assert struck.balance < 1e-9 and struck.error < 1e-9 and struck.lost > 0.1
    (flown,) = certificate.flights
    assert max(flown.force, flown.moment) < 1e-9 and flown.angular < 1e-6


def test_what_is_no_attitude_is_refused_by_name():
    tree = limb(False)
    with pytest.raises(
        ValueError, match="ball 'hip': expected a quaternion .* got one of length 2"
    ):
        ocp.at_start(tree, q=(2.0, 0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="attitude of 'hip': expected a rotation"):
        ocp.attitude(tree, "hip", (1.0, 1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"unit_length of 'a': expected a ball \(none\)"):
        ocp.unit_length(limb(True), "a")
    length = ocp.unit_length(tree, "hip", when="start")
    assert length.name == "unit_length.hip" and length.when == "start"


def test_a_rack_on_a_pinion_costs_what_its_reflected_mass_does():
    """Closed form: rest to rest by an angle D in T, 12 (I + m r^2)^2 D^2 / T^3."""
    inertia, mass, radius, way, T = 0.3, 2.0, 0.25, 1.5, 0.8
    wheel = ocp.Link(mass=1.0, inertia=np.diag((0.2, 0.2, inertia)))
    tree = ocp.Tree(
        links=(wheel, ocp.Link(mass=mass)),
        joints=(
            ocp.revolute("pinion"),
            ocp.prismatic("rack", axis=(1, 0, 0), follows=ocp.polynomial("pinion", 0.0, radius)),
        ),
    )
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=6, degree=5),
        duration=T,
        objective=ocp.effort(),
        constraints=(*ocp.at_start(tree, q=0.0, qd=0.0), *ocp.at_end(tree, q=way, qd=0.0)),
    )
    solution = ocp.solve(problem).require()
    right = 12 * (inertia + mass * radius**2) ** 2 * way**2 / T**3
    assert solution.objective == pytest.approx(right, rel=1e-9)
    ocp.verify(solution).require(1e-6)


def test_rates_that_change_a_quaternions_length_are_refused():
    tree = ocp.Tree(links=(ocp.Link(mass=1.0, inertia=np.eye(3)),), joints=(ocp.ball("hip"),))
    words = "at_start: qd: ball 'hip': expected rates across the quaternion, .* got 2 1/s along it"
    with pytest.raises(ValueError, match=words):
        ocp.at_start(tree, q=(1.0, 0.0, 0.0, 0.0), qd=(2.0, 0.0, 1.0, 0.0))
    assert len(ocp.at_start(tree, q=(1.0, 0.0, 0.0, 0.0), qd=(0.0, 2.0, 1.0, 0.0))) == 2

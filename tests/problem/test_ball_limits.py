"""Balls swing within a cone and twist within a range, or turn so far from a pose at rest."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.mechanics import exp_rotation
from ocp.mechanics.kinematics.rotations import quaternion
from ocp.plots import plot
from ocp.plots.curves.ball_limit_curves import limited_balls

LIMB = ocp.Link(mass=2.0, com=(0.02, 0.0, -0.15), inertia=np.diag((0.02, 0.021, 0.003)))
HIP = ocp.Tree(
    links=(LIMB,),
    joints=(ocp.ball("hip"),),
    points=(ocp.Point(name="knee", link="hip", position=(0.0, 0.0, -0.4)),),
    gravity=(0, 0, -9.81),
)
AXIS, REST = np.array([0.0, 0.6, 0.8]), exp_rotation([0.3, -0.2, 0.5])


class At:
    """An instant of which the coordinates are known."""

    def __init__(self, q):
        self.q = ca.DM(q)


def turned(swing, twist):
    """The quaternion after a swing across AXIS and a twist about it, from the pose at rest."""
    across = np.cross(AXIS, [1.0, 0.0, 0.0])
    across = np.cos(0.7) * across + np.sin(0.7) * np.cross(AXIS, across)
    pose = REST @ exp_rotation(swing * across / np.linalg.norm(across)) @ exp_rotation(twist * AXIS)
    return np.array(quaternion(np.array(pose))).ravel()


@pytest.mark.parametrize("length", [1.0, -1.0, -1.3])
def test_swing_and_twist_are_told_apart_for_quaternions_of_any_sign_and_length(length):
    rows = ocp.ball_limits(HIP, "hip", swing=1.0, twist=(-0.4, 1.0), turn=2.0, axis=AXIS, rest=REST)
    for swing, twist in ((0.0, 0.0), (0.5, -0.3), (1.4, 0.9), (2.6, -2.0)):
        at = At(length * turned(swing, twist))
        whole = 2 * np.arccos(np.cos(swing / 2) * np.abs(np.cos(twist / 2)))
        one, off, turn = np.array(rows.function(at)).ravel()
        assert one == pytest.approx(1 - np.cos(swing), abs=1e-12)
        assert off == pytest.approx(twist - 0.3, abs=1e-12)
        assert turn == pytest.approx(1 - np.cos(whole), abs=1e-12)
        angles = np.array(rows.function.angles(at)).ravel()
        np.testing.assert_allclose(angles, (swing, twist, whole), atol=1e-7)
    assert rows.upper[1] == pytest.approx(0.7) and rows.lower[1] == pytest.approx(-0.7)
    assert rows.upper[0] == pytest.approx(1 - np.cos(1.0))


def lifted(*constraints, tree=HIP):
    """A limb that is to be as high as its moments are worth, from hanging at rest."""
    hanging = dict(zip(("hip.w", "hip.x", "hip.y", "hip.z"), (1.0, 0.0, 0.0, 0.0)))
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=1.0,
        objective=ocp.effort() + 60.0 * ocp.integral("low", lambda at: -at.position("knee")[2]),
        constraints=(*ocp.at_start(tree, q=hanging, qd=0.0), *constraints),
    )


def swung(solution):
    """The greatest swing (rad) of the limb from hanging."""
    t = solution.times(101)
    return np.arccos(-solution.trace(lambda at: at.position("knee")[2], t)[0] / 0.4).max()


def test_a_limb_stays_in_its_cone_and_its_picture_shows_it():
    held = ocp.solve(lifted(ocp.ball_limits(HIP, "hip", swing=0.4, twist=1.0))).require(coarse=True)
    assert swung(held) == pytest.approx(0.4, abs=2e-3)
    worst = ocp.verify(held).violations["ball_limits.hip"]
    assert worst.nodes < 1e-7 and worst.label.startswith("hip: ")
    (axes,) = [each for each in plot(held).axes if each.get_ylabel() == "turn of a ball (rad)"]
    swing, twist = axes.lines[:2]
    assert swing.get_ydata().max() == pytest.approx(0.4, abs=2e-3) and len(axes.patches) == 3
    assert swing.get_label() == "hip: swing" and np.abs(twist.get_ydata()).max() < 1.01
    assert not limited_balls(replace(held, problem=lifted()))


def test_costs_by_parameters_of_balls_are_those_of_solves_beside():
    cone, mass = ocp.Parameter("cone", 0.4, "rad"), ocp.Parameter("mass", 2.0, "kg")
    tree = replace(HIP, links=(replace(LIMB, mass=mass),))
    plan = ocp.prepare(lifted(ocp.ball_limits(tree, "hip", swing=cone, twist=0.2), tree=tree))
    solution = plan.solve().require(coarse=True)
    for name, value, step in (("cone", 0.4, 1e-3), ("mass", 2.0, 1e-3)):
        known = ocp.derivative(solution, "objective", name)
        beside = [
            plan.solve(guess=solution, **{name: value + side * step}).require(coarse=True).objective
            for side in (1, -1)
        ]
        assert known == pytest.approx((beside[0] - beside[1]) / (2 * step), rel=1e-4)
        assert abs(known) > 1e-2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ocp.ball_limits(HIP, "hip"), "expected a swing and a twist .rad., or a turn"),
        (lambda: ocp.ball_limits(HIP, "hip", swing=(0.1, 0.2)), "swing: expected one angle .rad."),
        (lambda: ocp.ball_limits(HIP, "hip", swing=90), "swing: expected an angle above 0"),
        (lambda: ocp.ball_limits(HIP, "hip", twist=(-4, 4)), "twist: expected lower < upper"),
        (
            lambda: ocp.ball_limits(HIP, "hip", swing=1, axis=(0, 0, 0)),
            "axis: expected a direction",
        ),
        (
            lambda: ocp.ball_limits(HIP, "hip", turn=1, rest=(2, 0, 0, 0)),
            "rest: expected a rotation",
        ),
        (
            lambda: ocp.ball_limits(
                ocp.Tree(links=(LIMB,), joints=(ocp.revolute("h"),)), "h", turn=1
            ),
            "ball_limits of 'h': expected a ball",
        ),
        (
            lambda: ocp.Joint(name="hip", ball=True, position=(-1, 1)),
            r"joint 'hip': position limits: it takes none; ball_limits\(tree, joint, swing=",
        ),
    ],
)
def test_limits_of_another_form_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()

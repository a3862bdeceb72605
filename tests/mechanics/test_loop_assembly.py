"""Closing cut joints: which rows are redundant, and projections onto what is closed."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from closed_trees import case, numbers, spatial
from random_trees import over

from ocp import Link, Loop, Point, Tree, fixed, prismatic, revolute
from ocp.mechanics import GROUND
from ocp.mechanics.kinematics import kinematics, loop_assembly, loop_closure, rigid_kinematics
from ocp.models.mechanisms.five_bar import five_bar
from ocp.models.mechanisms.four_bar import four_bar

BODY = Link(mass=1.0, inertia=np.diag((0.01, 0.02, 0.02)))


# Redundancy


def test_a_pin_closed_across_the_plane_names_what_is_redundant():
    independence = loop_assembly.independent_rows(spatial(four_bar(), orientation="xy"))
    assert independence == loop_assembly.Independence(
        rows=(0, 1),
        redundant=("pin: position z", "pin: orientation x", "pin: orientation y"),
        freedom=1,
    )
    assert loop_assembly.independent_rows(four_bar()) == loop_assembly.Independence(
        rows=(0, 1), redundant=(), freedom=1
    )
    assert loop_assembly.independent_rows(five_bar()).freedom == 2


def four_turns(homes):
    """A chain of four hinges about z, the last of which carries a link that is welded to the ground
    when the loop is closed at q = 0."""
    names = ("first", "second", "third", "fourth")
    joints = [
        fixed("frame"),
        *(
            revolute(name, parent, home=home)
            for name, parent, home in zip(names, (GROUND, *names), homes)
        ),
    ]
    tree = Tree(
        links=(Link(), *[BODY] * 4),
        joints=joints,
        points=(Point(name="tip", link="fourth"), Point(name="base", link="frame")),
    )
    frame = np.array(kinematics.poses(tree, ca.DM.zeros(4))[-1])
    return replace(
        tree,
        points=(tree.points[0], replace(tree.points[1], position=frame[:3, 3])),
        loops=(Loop(name="weld", start="base", end="tip", orientation="xyz", turn=frame[:3, :3]),),
    )


def test_a_plane_mechanism_welded_in_all_six_directions_names_three_of_them():
    tree = four_turns([(0, 0, 0), (0.3, 0, 0), (0.2, 0.2, 0), (-0.1, 0.3, 0)])
    independence = loop_assembly.independent_rows(tree)
    assert independence.redundant == (
        "weld: position z",
        "weld: orientation x",
        "weld: orientation y",
    )
    assert independence.freedom == 1


def test_the_overconstrained_linkage_of_bennett_keeps_its_freedom():
    """Bennett (1903): four hinges, twists a, b, a, b and lengths proportional to their sines, move
    although six rows bind four joints."""

    def turn(length, twist):
        c, s = np.cos(twist), np.sin(twist)
        return np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])

    twists = (0.6, 1.1, 0.6, 1.1)
    rows = [turn(0.4 * np.sin(twist), twist) for twist in twists]
    half = np.sin((twists[1] + twists[0]) / 2) / np.sin((twists[1] - twists[0]) / 2)
    first = 0.9
    second = 2 * np.arctan(half / np.tan(first / 2))  # tan(first / 2) tan(second / 2) = half
    angles = (first, second, -first, -second)
    hinge = [np.array(rigid_kinematics.joint_pose(revolute("hinge"), angle)) for angle in angles]
    product = hinge[0] @ rows[0] @ hinge[1] @ rows[1] @ hinge[2] @ rows[2] @ hinge[3] @ rows[3]
    np.testing.assert_allclose(product, np.eye(4), rtol=0, atol=1e-12)
    homes = [hinge[0], rows[0] @ hinge[1], rows[1] @ hinge[2], rows[2] @ hinge[3]]
    independence = loop_assembly.independent_rows(four_turns(homes), np.zeros(4))
    assert independence.freedom == 1
    assert len(independence.redundant) == 3
    assert not independence.singular
    moved = loop_assembly.close_coordinates(four_turns(homes), (0.3, 0, 0, 0), fixed=["first"])
    assert moved[0] == 0.3 and abs(moved[1]) > 0.1


def test_a_folded_mechanism_is_found_singular():
    rhomb = four_bar(lengths=(0.2, 0.2, 0.2, 0.2))
    assert loop_assembly.independent_rows(rhomb, (0.0, 0.0, 0.0)).singular
    assert not loop_assembly.independent_rows(rhomb, (1.0, -1.0, 1.0)).singular


# Projections


@over(range(6))
def test_a_motion_near_closure_is_closed_with_joints_held(seed):
    tree, q, _, qd, qdd, _ = case(seed)
    independence = loop_assembly.independent_rows(tree, q)
    loose = np.argsort(
        -np.abs(np.linalg.qr(np.array(loop_closure.gap_jacobian(tree, ca.DM(q))).T)[0]).max(axis=1)
    )
    held = (
        [
            joint.name
            for row, joint in enumerate(tree.moving)
            if row not in loose[: len(independence.rows)]
        ]
        if independence.freedom
        else []
    )
    near = q + 0.01 * np.random.default_rng(seed).standard_normal(tree.dof)
    closed = loop_assembly.close_coordinates(tree, near)
    np.testing.assert_allclose(
        numbers(loop_closure.gap(tree, ca.DM(closed))), 0, rtol=0, atol=1e-10
    )
    assert np.abs(closed - near).max() < 0.3
    rates = loop_assembly.close_rates(tree, q, qd)
    pushes = (
        loop_assembly.close_accelerations(tree, q, rates, qdd)
        if independence.freedom and not independence.redundant
        else None
    )
    np.testing.assert_allclose(
        numbers(loop_closure.gap_rate(tree, ca.DM(q), ca.DM(rates))), 0, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(rates, loop_assembly.close_rates(tree, q, rates), rtol=0, atol=1e-10)
    assert np.dot(qd - rates, rates) == pytest.approx(
        0, abs=1e-9
    )  # the nearest: what was taken away is normal to what stays
    if pushes is not None:
        np.testing.assert_allclose(
            numbers(
                loop_closure.gap_acceleration(tree, *(ca.DM(part) for part in (q, rates, pushes)))
            ),
            0,
            rtol=0,
            atol=1e-8,
        )
    for name in held[:1]:
        row = tree.coordinate(name)
        assert loop_assembly.close_coordinates(tree, q, fixed=[name])[row] == q[row]
        np.testing.assert_array_equal(
            loop_assembly.close_rates(tree, q, rates, fixed=[name])[row], rates[row]
        )


def test_a_curve_stays_in_its_assembly_round_the_whole_turn():
    tree = four_bar()
    start = loop_assembly.close_coordinates(tree, (0.0, 1.0, 2.0), fixed=["crank"])
    guess = np.vstack([np.linspace(0, 2 * np.pi, 30), np.full(30, start[1]), np.full(30, start[2])])
    closed = loop_assembly.close_coordinates(tree, guess, fixed=["crank"])
    np.testing.assert_array_equal(closed[0], guess[0])
    np.testing.assert_allclose(
        closed[:, -1], (2 * np.pi, start[1] - 2 * np.pi, start[2]), rtol=0, atol=1e-9
    )
    assert np.abs(np.diff(closed[2])).max() < 0.4


@pytest.mark.parametrize("orientation, tilt", [("xyz", 2.9), ("xy", 2.9), ("z", 2.9)])
def test_links_that_face_each_others_back_are_turned_round(orientation, tilt):
    """A free body of six joints is brought to a weld, a pin or a universal joint from almost half a
    turn away."""
    names, axes = [f"turn {k}" for k in range(3)], np.eye(3)
    joints = [
        fixed("frame"),
        *(
            prismatic(f"slide {k}", f"slide {k - 1}" if k else GROUND, axis=axes[k])
            for k in range(3)
        ),
        *(
            revolute(name, names[k - 1] if k else "slide 2", axis=axes[k])
            for k, name in enumerate(names)
        ),
    ]
    tree = Tree(
        links=[BODY] * 7,
        joints=joints,
        points=(Point(name="here", link="frame"), Point(name="there", link=names[-1])),
        loops=(Loop(name="joint", start="here", end="there", orientation=orientation),),
    )
    q = np.array(
        [0.4, -0.3, 0.2, 0.1, 0.2, tilt] if "z" in orientation else [0.4, -0.3, 0.2, tilt, 0.2, 0.1]
    )
    frame = np.array(kinematics.poses(tree, ca.DM(loop_assembly.close_coordinates(tree, q)))[-1])
    np.testing.assert_allclose(frame[:3, 3], 0, rtol=0, atol=1e-10)
    expected = {
        "xyz": np.trace(frame[:3, :3]),
        "xy": frame[2, 2] + 2,
        "z": 3.0 if abs(frame[1, 0]) < 1e-10 and frame[0, 0] > 0 else 0.0,
    }
    assert expected[orientation] == pytest.approx(3, abs=1e-9)


def test_what_cannot_close_is_refused_with_the_gap_that_remains():
    tree = four_bar()
    with pytest.raises(
        ValueError,
        match=r"cannot be closed from there with crank, rocker held: the gap stays at .* m in pin: "
        r"position",
    ):
        loop_assembly.close_coordinates(tree, (0.0, 0.0, 0.0), fixed=["crank", "rocker"])
    with pytest.raises(ValueError, match="the gap stays at"):
        loop_assembly.independent_rows(four_bar(lengths=(1.0, 0.1, 0.1, 0.1)))
    q = loop_assembly.close_coordinates(tree, (0.3, 0.5, 2.0))
    with pytest.raises(
        ValueError, match="no rates keep pin: position . closed .held joints: crank, coupler."
    ):
        loop_assembly.close_rates(tree, q, (1.0, 0.0, 0.0), fixed=["crank", "coupler"])
    with pytest.raises(
        ValueError,
        match="close_coordinates: q: expected finite coordinates of shape .3,. or .3, k., got",
    ):
        loop_assembly.close_coordinates(tree, (0.0, 1.0))
    with pytest.raises(ValueError, match="unknown joint 'handle'"):
        loop_assembly.close_coordinates(tree, q, fixed=["handle"])
    with pytest.raises(
        ValueError,
        match="multipliers: expected one for each of 2 rows .pin: position x, pin: position y.",
    ):
        loop_closure.loop_torques(tree, ca.DM(q), ca.DM([1.0]))

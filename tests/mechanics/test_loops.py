"""Cut joints: gaps and their derivatives against other ways to them, forces that do the work they
should, and loops that cannot be meant."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from closed_trees import case, numbers
from random_trees import over

from ocp import Link, Loop, Point, Tree, fixed
from ocp.dynamics import FORMULATIONS
from ocp.mechanics.kinematics import kinematics, loop_assembly, loop_closure
from ocp.models.mechanisms.four_bar import four_bar

SEEDS = range(6)


def frames_of(tree, q):
    """Poses of all links by plain products, for complex coordinates too."""
    placed = []
    for joint, parent, row in zip(tree.joints, tree.parents, tree.rows):
        local = np.array(joint.home, dtype=complex)
        if row is not None:
            w, v = np.array(joint.screw[:3]), np.array(joint.screw[3:])
            hat, step = np.cross(np.eye(3), w), np.eye(4, dtype=complex)
            square = w[:, None] * w - (w @ w) * np.eye(3)
            step[:3, :3] += np.sin(q[row]) * hat + (1 - np.cos(q[row])) * square
            step[:3, 3] = (
                np.eye(3) * q[row] + (1 - np.cos(q[row])) * hat + (q[row] - np.sin(q[row])) * square
            ) @ v
            local = local @ step
        placed.append(local if parent < 0 else placed[parent] @ local)
    return placed


def plain_gap(tree, q):
    """The gaps from the definitions of the joints: C[i, j] is the start's axis i times the end's
    axis j."""
    frames, rows = frames_of(tree, q), []
    for loop in tree.loops:
        places, turns = [], []
        for name in (loop.start, loop.end):
            point = tree.point(name)
            frame = frames[tree.link_index(point.link)]
            places.append((frame @ (*point.position, 1.0))[:3])
            turns.append(frame[:3, :3])
        at_start, at_end = turns[0], turns[1] @ np.array(loop.turn).T  # one rotation, when closed
        if loop.axes == "end":
            at_start, at_end = at_start @ np.array(loop.turn), turns[1]
        axes = {"start": at_start, "end": at_end, "global": np.eye(3)}[loop.axes] @ np.array(
            loop.frame
        )
        rows += [axes[:, "xyz".index(letter)] @ (places[1] - places[0]) for letter in loop.position]
        c = (at_start @ np.array(loop.frame)).T @ (at_end @ np.array(loop.frame))
        rows += {
            "": [],
            "x": [c[2, 1]],
            "y": [c[0, 2]],
            "z": [c[1, 0]],
            "xy": [-c[1, 2], c[0, 2]],
            "yz": [-c[2, 0], c[1, 0]],
            "xz": [c[2, 1], -c[0, 1]],
            "xyz": [(c[2, 1] - c[1, 2]) / 2, (c[0, 2] - c[2, 0]) / 2, (c[1, 0] - c[0, 1]) / 2],
        }[loop.orientation]
    return np.array(rows)


@over(SEEDS)
def test_a_gap_is_what_the_joints_definition_says_and_vanishes_where_it_was_closed(seed):
    tree, q, other, *_ = case(seed)
    assert (
        len(loop_closure.gap_labels(tree))
        == len(loop_closure.gap_units(tree))
        == len(plain_gap(tree, q))
    )
    np.testing.assert_allclose(numbers(loop_closure.gap(tree, ca.DM(q))), 0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        numbers(loop_closure.gap(tree, ca.DM(other))),
        plain_gap(tree, other).real,
        rtol=0,
        atol=1e-13,
    )


@over(SEEDS)
def test_the_jacobian_is_that_of_complex_steps(seed):
    tree, q, other, *_ = case(seed)
    for at in (q, other):
        steps = [plain_gap(tree, at + 1e-30j * unit).imag / 1e-30 for unit in np.eye(tree.dof)]
        np.testing.assert_allclose(
            np.array(loop_closure.gap_jacobian(tree, ca.DM(at))),
            np.column_stack(steps),
            rtol=0,
            atol=1e-12,
        )


@over(SEEDS)
@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
def test_rate_and_acceleration_are_time_derivatives_of_the_gap(seed, symbol):
    tree, _, q, qd, qdd, _ = case(seed)
    x, v, a = (symbol(name, tree.dof) for name in ("q", "qd", "qdd"))
    rate = loop_closure.gap_rate(tree, x, v)
    derived = [
        ca.jtimes(loop_closure.gap(tree, x), x, v),
        ca.jtimes(rate, ca.vertcat(x, v), ca.vertcat(v, a)),
        ca.jtimes(rate, x, v),
    ]
    given = [
        rate,
        loop_closure.gap_acceleration(tree, x, v, a),
        loop_closure.gap_acceleration(tree, x, v),
    ]
    left, right = ca.Function("both", [x, v, a], [ca.horzcat(*derived), ca.horzcat(*given)])(
        q, qd, qdd
    )
    np.testing.assert_allclose(np.array(left), np.array(right), rtol=0, atol=1e-11)
    at = (ca.DM(part) for part in (q, qd, qdd))
    np.testing.assert_allclose(
        numbers(loop_closure.gap_acceleration(tree, *at)), np.array(right)[:, 1], rtol=0, atol=1e-11
    )


@over(SEEDS)
def test_forces_of_cut_joints_work_on_the_opening_of_gaps_alone(seed):
    tree, _, q, qd, _, multipliers = case(seed)
    torques = numbers(loop_closure.loop_torques(tree, ca.DM(q), ca.DM(multipliers)))
    np.testing.assert_allclose(
        torques,
        np.array(loop_closure.gap_jacobian(tree, ca.DM(q))).T @ multipliers,
        rtol=0,
        atol=1e-12,
    )
    assert qd @ torques == pytest.approx(
        multipliers @ numbers(loop_closure.gap_rate(tree, ca.DM(q), ca.DM(qd))), abs=1e-11
    )


@over(SEEDS)
def test_a_closed_loops_forces_are_action_and_reaction(seed):
    """Moments about the origin and forces sum to zero where the points coincide in all that is
    closed, or the axes are a link's."""
    tree, q, other, *_, multipliers = case(seed)
    for at in (q, other):
        wrenches = loop_closure.loop_wrenches(
            tree, kinematics.poses(tree, ca.DM(at)), ca.DM(multipliers)
        )
        for loop in tree.loops:
            if loop.axes != "global" or at is q:
                total = [
                    sum(
                        numbers(getattr(wrench, part))
                        for (name, _), wrench in wrenches.items()
                        if name == loop.name
                    )
                    for part in ("moment", "force")
                ]
                np.testing.assert_allclose(total, 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_takes_the_forces_of_cut_joints_as_loads(name):
    tree, q, _, qd, qdd, multipliers = case(4)
    motion = [ca.DM(part) for part in (q, qd, qdd)]
    loads = loop_closure.loop_loads(tree, motion[0], ca.DM(multipliers))
    inverse = FORMULATIONS[name].inverse
    left = (
        numbers(inverse(tree, *motion, loads)),
        numbers(
            inverse(tree, *motion) - loop_closure.loop_torques(tree, motion[0], ca.DM(multipliers))
        ),
    )
    np.testing.assert_allclose(*left, rtol=0, atol=1e-10)


# The record


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"start": "nowhere"},
            "loop 'pin': unknown point 'nowhere'; the points are coupler end, rocker end",
        ),
        ({"position": ""}, "loop 'pin': it closes no direction of position or orientation"),
        ({"position": "xx"}, "loop 'pin': position: expected some of x, y, z, got 'xx'"),
        ({"orientation": "w"}, "loop 'pin': orientation: expected some of x, y, z, got 'w'"),
        (
            {"end": "coupler end"},
            "loop 'pin': its points 'coupler end' and 'coupler end' are on one link, or on "
            "rigidly joined ones",
        ),
        (
            {"axes": "world"},
            "loop 'pin': axes: expected start, end, or where only positions are closed global, "
            "got 'world'",
        ),
        (
            {"orientation": "z"},
            "loop 'pin': axes: expected start, end, or where only positions are closed global, "
            "got 'global'",
        ),
        ({"frame": 2 * np.eye(3)}, "loop 'pin': frame: expected a rotation matrix"),
        ({"turn": (1, 2, 3)}, r"loop 'pin': turn: expected shape \(3, 3\), got \(3,\)"),
    ],
)
def test_a_loop_that_cannot_be_meant_is_refused(change, message):
    tree = four_bar()
    with pytest.raises(ValueError, match=message):
        replace(tree, loops=(replace(tree.loops[0], **change),))


def test_names_of_loops_differ_and_rigidly_joined_links_are_one():
    tree = four_bar()
    with pytest.raises(ValueError, match="loop 'pin': the name is used twice"):
        replace(tree, loops=tree.loops * 2)
    stiff = replace(
        tree,
        links=(*tree.links, Link()),
        joints=(*tree.joints, fixed("tool", "rocker")),
        points=(*tree.points, Point(name="tool tip", link="tool")),
    )
    with pytest.raises(ValueError, match="rigidly joined"):
        replace(stiff, loops=(Loop(name="pin", start="tool tip", end="rocker end"),))


def test_a_tree_without_loops_has_none():
    tree, q = replace(four_bar(), loops=()), ca.DM([0.1, 0.2, 0.3])
    assert (
        Tree(links=tree.links, joints=tree.joints).loops == ()
        and loop_closure.gap_labels(tree) == ()
    )
    assert loop_closure.gap(tree, q).shape == (0, 1)
    assert loop_closure.gap_jacobian(tree, q).shape == (0, 3)
    assert loop_assembly.independent_rows(tree).freedom == 3
    np.testing.assert_array_equal(
        loop_assembly.close_coordinates(tree, (0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)
    )
    np.testing.assert_array_equal(numbers(loop_closure.loop_torques(tree, q, ca.DM(0, 1))), 0)

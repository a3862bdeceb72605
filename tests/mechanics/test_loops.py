"""Cut joints: gaps and their derivatives against other ways to them, forces that do the work they
should, redundancy, and projections."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from closed_trees import case, numbers, spatial
from ocp.models.five_bar import five_bar
from ocp.models.four_bar import four_bar
from random_trees import over

from ocp import Link, Loop, Point, Tree, fixed, prismatic, revolute
from ocp.dynamics import FORMULATIONS
from ocp.mechanics import GROUND, closure, kinematics, loops

SEEDS = range(6)
BODY = Link(mass=1.0, inertia=np.diag((0.01, 0.02, 0.02)))


def frames_of(tree, q):
    """Poses of all links by plain products, for complex coordinates too."""
    found = []
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
        found.append(local if parent < 0 else found[parent] @ local)
    return found


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
    assert len(loops.labels(tree)) == len(loops.units(tree)) == len(plain_gap(tree, q))
    np.testing.assert_allclose(numbers(loops.gap(tree, ca.DM(q))), 0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        numbers(loops.gap(tree, ca.DM(other))), plain_gap(tree, other).real, rtol=0, atol=1e-13
    )


@over(SEEDS)
def test_the_jacobian_is_that_of_complex_steps(seed):
    tree, q, other, *_ = case(seed)
    for at in (q, other):
        steps = [plain_gap(tree, at + 1e-30j * unit).imag / 1e-30 for unit in np.eye(tree.dof)]
        np.testing.assert_allclose(
            np.array(loops.gap_jacobian(tree, ca.DM(at))),
            np.column_stack(steps),
            rtol=0,
            atol=1e-12,
        )


@over(SEEDS)
@pytest.mark.parametrize("symbol", [ca.SX.sym, ca.MX.sym], ids=["SX", "MX"])
def test_rate_and_acceleration_are_time_derivatives_of_the_gap(seed, symbol):
    tree, _, q, qd, qdd, _ = case(seed)
    x, v, a = (symbol(name, tree.dof) for name in ("q", "qd", "qdd"))
    rate = loops.gap_rate(tree, x, v)
    derived = [
        ca.jtimes(loops.gap(tree, x), x, v),
        ca.jtimes(rate, ca.vertcat(x, v), ca.vertcat(v, a)),
        ca.jtimes(rate, x, v),
    ]
    given = [rate, loops.gap_acceleration(tree, x, v, a), loops.gap_acceleration(tree, x, v)]
    left, right = ca.Function("both", [x, v, a], [ca.horzcat(*derived), ca.horzcat(*given)])(
        q, qd, qdd
    )
    np.testing.assert_allclose(np.array(left), np.array(right), rtol=0, atol=1e-11)
    at = (ca.DM(part) for part in (q, qd, qdd))
    np.testing.assert_allclose(
        numbers(loops.gap_acceleration(tree, *at)), np.array(right)[:, 1], rtol=0, atol=1e-11
    )


@over(SEEDS)
def test_forces_of_cut_joints_work_on_the_opening_of_gaps_alone(seed):
    tree, _, q, qd, _, multipliers = case(seed)
    torques = numbers(loops.loop_torques(tree, ca.DM(q), ca.DM(multipliers)))
    np.testing.assert_allclose(
        torques, np.array(loops.gap_jacobian(tree, ca.DM(q))).T @ multipliers, rtol=0, atol=1e-12
    )
    assert qd @ torques == pytest.approx(
        multipliers @ numbers(loops.gap_rate(tree, ca.DM(q), ca.DM(qd))), abs=1e-11
    )


@over(SEEDS)
def test_a_closed_loops_forces_are_action_and_reaction(seed):
    """Moments about the origin and forces sum to zero where the points coincide in all that is
    closed, or the axes are a link's."""
    tree, q, other, *_, multipliers = case(seed)
    for at in (q, other):
        wrenches = loops.loop_wrenches(tree, kinematics.poses(tree, ca.DM(at)), ca.DM(multipliers))
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
    loads = loops.loop_loads(tree, motion[0], ca.DM(multipliers))
    inverse = FORMULATIONS[name].inverse
    left = (
        numbers(inverse(tree, *motion, loads)),
        numbers(inverse(tree, *motion) - loops.loop_torques(tree, motion[0], ca.DM(multipliers))),
    )
    np.testing.assert_allclose(*left, rtol=0, atol=1e-10)


# Redundancy


def test_a_pin_closed_across_the_plane_names_what_is_redundant():
    found = closure.independent(spatial(four_bar(), orientation="xy"))
    assert found == closure.Independence(
        rows=(0, 1),
        redundant=("pin: position z", "pin: orientation x", "pin: orientation y"),
        freedom=1,
    )
    assert closure.independent(four_bar()) == closure.Independence(
        rows=(0, 1), redundant=(), freedom=1
    )
    assert closure.independent(five_bar()).freedom == 2


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
    found = closure.independent(tree)
    assert (
        found.redundant == ("weld: position z", "weld: orientation x", "weld: orientation y")
        and found.freedom == 1
    )


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
    hinge = [np.array(kinematics.joint_pose(revolute("hinge"), angle)) for angle in angles]
    product = hinge[0] @ rows[0] @ hinge[1] @ rows[1] @ hinge[2] @ rows[2] @ hinge[3] @ rows[3]
    np.testing.assert_allclose(product, np.eye(4), rtol=0, atol=1e-12)
    homes = [hinge[0], rows[0] @ hinge[1], rows[1] @ hinge[2], rows[2] @ hinge[3]]
    found = closure.independent(four_turns(homes), np.zeros(4))
    assert found.freedom == 1 and len(found.redundant) == 3 and not found.singular
    moved = closure.close(four_turns(homes), (0.3, 0, 0, 0), fixed=["first"])
    assert moved[0] == 0.3 and abs(moved[1]) > 0.1


def test_a_folded_mechanism_is_found_singular():
    rhomb = four_bar(lengths=(0.2, 0.2, 0.2, 0.2))
    assert closure.independent(rhomb, (0.0, 0.0, 0.0)).singular
    assert not closure.independent(rhomb, (1.0, -1.0, 1.0)).singular


# Projections


@over(SEEDS)
def test_a_motion_near_closure_is_closed_with_joints_held(seed):
    tree, q, _, qd, qdd, _ = case(seed)
    found = closure.independent(tree, q)
    loose = np.argsort(
        -np.abs(np.linalg.qr(np.array(loops.gap_jacobian(tree, ca.DM(q))).T)[0]).max(axis=1)
    )
    held = (
        [joint.name for row, joint in enumerate(tree.moving) if row not in loose[: len(found.rows)]]
        if found.freedom
        else []
    )
    near = q + 0.01 * np.random.default_rng(seed).standard_normal(tree.dof)
    closed = closure.close(tree, near)
    np.testing.assert_allclose(numbers(loops.gap(tree, ca.DM(closed))), 0, rtol=0, atol=1e-10)
    assert np.abs(closed - near).max() < 0.3
    rates = closure.close_rates(tree, q, qd)
    pushes = (
        closure.close_accelerations(tree, q, rates, qdd)
        if found.freedom and not found.redundant
        else None
    )
    np.testing.assert_allclose(
        numbers(loops.gap_rate(tree, ca.DM(q), ca.DM(rates))), 0, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(rates, closure.close_rates(tree, q, rates), rtol=0, atol=1e-10)
    assert np.dot(qd - rates, rates) == pytest.approx(
        0, abs=1e-9
    )  # the nearest: what was taken away is normal to what stays
    if pushes is not None:
        np.testing.assert_allclose(
            numbers(loops.gap_acceleration(tree, *(ca.DM(part) for part in (q, rates, pushes)))),
            0,
            rtol=0,
            atol=1e-8,
        )
    for name in held[:1]:
        row = tree.coordinate(name)
        assert closure.close(tree, q, fixed=[name])[row] == q[row]
        np.testing.assert_array_equal(
            closure.close_rates(tree, q, rates, fixed=[name])[row], rates[row]
        )


def test_a_curve_stays_in_its_assembly_round_the_whole_turn():
    tree = four_bar()
    start = closure.close(tree, (0.0, 1.0, 2.0), fixed=["crank"])
    guess = np.vstack([np.linspace(0, 2 * np.pi, 30), np.full(30, start[1]), np.full(30, start[2])])
    closed = closure.close(tree, guess, fixed=["crank"])
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
    frame = np.array(kinematics.poses(tree, ca.DM(closure.close(tree, q)))[-1])
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
        match=r"cannot be closed from there with crank, rocker held: the gap stays at .* m in pin: position",
    ):
        closure.close(tree, (0.0, 0.0, 0.0), fixed=["crank", "rocker"])
    with pytest.raises(ValueError, match="the gap stays at"):
        closure.independent(four_bar(lengths=(1.0, 0.1, 0.1, 0.1)))
    q = closure.close(tree, (0.3, 0.5, 2.0))
    with pytest.raises(
        ValueError, match="no rates keep pin: position . closed .held joints: crank, coupler."
    ):
        closure.close_rates(tree, q, (1.0, 0.0, 0.0), fixed=["crank", "coupler"])
    with pytest.raises(
        ValueError, match="close: q: expected finite coordinates of shape .3,. or .3, k., got"
    ):
        closure.close(tree, (0.0, 1.0))
    with pytest.raises(ValueError, match="unknown joint 'handle'"):
        closure.close(tree, q, fixed=["handle"])
    with pytest.raises(
        ValueError,
        match="multipliers: expected one for each of 2 rows .pin: position x, pin: position y.",
    ):
        loops.loop_torques(tree, ca.DM(q), ca.DM([1.0]))


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
            "loop 'pin': its points 'coupler end' and 'coupler end' are on one link, or on rigidly joined ones",
        ),
        (
            {"axes": "world"},
            "loop 'pin': axes: expected start, end, or where only positions are closed global, got 'world'",
        ),
        (
            {"orientation": "z"},
            "loop 'pin': axes: expected start, end, or where only positions are closed global, got 'global'",
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
    assert Tree(links=tree.links, joints=tree.joints).loops == () and loops.labels(tree) == ()
    assert (
        loops.gap(tree, q).shape == (0, 1)
        and loops.gap_jacobian(tree, q).shape == (0, 3)
        and closure.independent(tree).freedom == 3
    )
    np.testing.assert_array_equal(closure.close(tree, (0.1, 0.2, 0.3)), (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(numbers(loops.loop_torques(tree, q, ca.DM(0, 1))), 0)

"""Contacts by kind: what they pass on and hold, on any root, and what is refused by name."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from bipeds import biped, steps
from random_trees import random_tree
from standing_bodies import block, monopod, slope, walker

from ocp import (
    BSpline,
    Ground,
    Link,
    Parameter,
    Plane,
    Point,
    Problem,
    Support,
    Tree,
    area_contact,
    duration,
    friction,
    line_contact,
    no_penetration,
    path,
    point_contact,
    prismatic,
    revolute,
    unilateral,
)
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import nominal
from ocp.problem import Foot, Pin, Reaction
from ocp.problem.contact.ground import bearing_slots
from ocp.problem.contact.reactions import check_two_pass
from ocp.problem.contact.transmitted_wrenches import (
    bears_root,
    is_corrected,
    passive_rows,
    transmissions,
)
from ocp.problem.instant import Forces, Instant
from ocp.transcription.laws.contact_laws import rigid_contact_laws

NONE = (False,) * 3


def motion_of(tree, feet, **changes):
    """A problem that only stands."""
    stated = {"motion": BSpline(points=6), "duration": 1.0, "objective": duration()}
    return Problem(tree=tree, ground=Ground(feet=feet), **stated | changes)


def turned(yaw):
    """A planar root whose plane is turned about z, with a slider and a sole of two points."""
    way, across = (np.cos(yaw), np.sin(yaw), 0.0), (-np.sin(yaw), np.cos(yaw), 0.0)
    joints = [
        prismatic("x", "ground", axis=way, actuated=False),
        prismatic("z", "x", axis=(0.0, 0.0, 1.0), actuated=False),
        revolute("pitch", "z", axis=across, actuated=False),
        prismatic("slider", "pitch", axis=way),
    ]
    points = [
        Point(name=name, link="pitch", position=tuple(place * np.array(way)))
        for name, place in (("back", -0.2), ("front", 0.2))
    ]
    body = Link(mass=5.0, com=(0.0, 0.0, 0.1), inertia=np.eye(3))
    links = (Link(), Link(), body, Link(mass=1.0))
    return Tree(links=links, joints=joints, points=points, gravity=(0.0, 0.0, -9.81))


def test_a_planar_body_feels_no_force_across_its_plane():
    tree = block()
    sole, _, _ = slope(tree, 0.3)
    (given,) = transmissions(tree, Ground(feet=(sole,)))
    assert sum(given.present) == 3 and given.point is None
    (given,) = transmissions(tree, Ground(feet=(point_contact(tree, "back"),)))
    assert given.present == (*NONE, True, False, True) and given.axes is None
    (given,) = transmissions(tree, Ground(feet=(point_contact(tree, "back", axes="z"),)))
    assert given.present == (*NONE, False, False, True)


def test_a_plane_may_be_turned():
    """Then components count along the contact's own axes, three of them."""
    tree = turned(0.4)
    way = (np.cos(0.4), np.sin(0.4), 0.0)
    sole = line_contact(tree, ("back", "front"), along=way)
    (given,) = transmissions(tree, Ground(feet=(sole,)))
    assert sum(given.present) == 3 and given.axes is not None
    assert bears_root(tree, Ground(feet=(sole,)))
    lifted = ca.DM([1.0 * here for here in given.present])
    _, force = given.parts(lifted)
    assert abs(np.dot(np.array(force).ravel(), (-np.sin(0.4), np.cos(0.4), 0.0))) < 1e-12


def test_in_space_a_point_passes_three_a_line_five_and_an_area_six():
    tree, places = biped(), ("heel_right", "out_right", "toe_right", "in_right")
    line, area = places[:3:2], places
    counts = {}
    for foot in (
        point_contact(tree, places[0], name="point"),
        line_contact(tree, line, name="line", along=(1.0, 0.0, 0.0)),
        area_contact(tree, area, name="area"),
    ):
        problem = motion_of(tree, (foot,))
        (given,) = transmissions(tree, problem.ground)
        law = rigid_contact_laws(problem)[0][0]
        assert len(law.labels) == sum(given.present)  # as many rows as forces
        counts[foot.name] = sum(given.present)
    assert counts == {"point": 3, "line": 5, "area": 6}


def test_feet_share_the_root_where_they_bear_all_of_it():
    tree, feet = walker(), {}
    for side in ("left", "right"):
        feet[side] = point_contact(tree, side, at=(0.1 * (side == "left"), 0.0, 0.0))
    both, one = Ground(feet=tuple(feet.values())), Ground(feet=(feet["left"],))
    assert bears_root(tree, both) and not bears_root(tree, one)
    assert passive_rows(tree, both) == () and passive_rows(tree, one) == (0, 1, 2)
    part = point_contact(tree, "right", when=(0.2, 0.7))
    assert part.bears == (0.2, 0.7)
    assert not bears_root(tree, Ground(feet=(feet["left"], part)))
    assert bears_root(biped(), steps()) and is_corrected(biped(), steps())
    assert not bears_root(biped(), steps(strike=0.7, leave=0.3))  # a flight in between


def test_a_foot_whose_force_begins_and_ends_with_the_motion_bears_the_root():
    """At single instants without force the motion needs none, and between nodes it is corrected."""
    right = steps().foot("right")
    support = replace(right.supports[0], when=(0.0, 1.0))
    foot = replace(right, supports=(support,), bears=(0.0, 1.0))
    short = Ground(feet=(foot,), normal=steps().normal)
    assert not bearing_slots(short, 0.0) and not bearing_slots(short, 1.0)
    assert bears_root(biped(), short) and is_corrected(biped(), short)
    late = Ground(feet=(replace(foot, bears=(0.2, 1.0)),), normal=steps().normal)
    assert not bears_root(biped(), late)


def companion():
    """A biped, and beside it a second body that floats, with an area below it."""
    tree, parent, joints = biped(), "ground", []
    for name, joint in zip("abcdef", tree.joints):
        joints.append(replace(joint, name=name, parent=parent))
        parent = name
    below = [
        Point(name=f"below_{k}", link="f", position=place)
        for k, place in enumerate(((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)))
    ]
    return replace(
        tree,
        links=(*tree.links, *tree.links[:6]),
        joints=(*tree.joints, *joints),
        points=(*tree.points, *below),
    )


def test_contacts_of_one_body_bear_no_other_that_floats():
    tree = companion()
    own = steps()
    foot = area_contact(tree, ["below_0", "below_1", "below_2"])
    there, both = Ground(feet=(foot,)), replace(own, feet=(*own.feet, foot))
    other = tuple(range(biped().dof, tree.dof))
    assert bears_root(tree, own) and is_corrected(tree, own)
    assert not bears_root(tree, there) and not is_corrected(tree, there)
    assert passive_rows(tree, there) == (*range(6), *other)
    assert bears_root(tree, both) and not is_corrected(tree, both)
    assert passive_rows(tree, both) == passive_rows(tree, own) == other
    words = "expected feet of the body on x, y, z, yaw, pitch, roll, got '.*' on 'f'"
    for ground in (there, both):
        with pytest.raises(ValueError, match=words):
            check_two_pass(tree, ground)


def test_a_foot_is_of_the_body_that_floats_whatever_its_link_is_called():
    """As in OpenSim's models, whose links have names beside those of their joints."""
    tree = biped()
    links = [replace(link, name=f"body_{k}") for k, link in enumerate(tree.links)]
    called = {name: f"body_{k}" for k, name in enumerate(tree.link_names)}
    named = replace(
        tree,
        links=links,
        joints=[replace(each, parent=called.get(each.parent, each.parent)) for each in tree.joints],
        points=[replace(point, link=called[point.link]) for point in tree.points],
    )
    feet = [
        replace(
            foot,
            supports=[replace(each, link=called[each.link]) for each in foot.supports],
        )
        for foot in steps().feet
    ]
    assert is_corrected(named, replace(steps(), feet=feet))


@pytest.mark.parametrize("seed", range(4))
def test_a_contact_works_as_a_load_at_its_point(seed):
    """J' f of a random tree on a random root equals inverse dynamics' own load there."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6)
    name = tree.joints[-1].name
    tree = Tree(
        links=tree.links,
        joints=tree.joints,
        points=(Point(name="tip", link=name, position=tuple(rng.uniform(-0.3, 0.3, 3))),),
        gravity=tree.gravity,
    )
    ground = Ground(feet=(point_contact(tree, "tip"),))
    (given,) = transmissions(tree, ground)
    q = ca.DM(rng.uniform(-1.0, 1.0, tree.dof))
    push = ca.DM(rng.uniform(-1.0, 1.0, 6) * np.array(given.present))
    place = kinematics.position(tree, q, "tip")
    wrench = given.wrench(ground, place, push)
    torques = kinematics.wrench_torques(tree, kinematics.motions(tree, q), wrench)
    zero = ca.DM.zeros(tree.dof)
    bare = inverse(tree, q, zero, zero)
    loaded = inverse(tree, q, zero, zero, (given.load(ground, push),))
    assert np.allclose(np.array(bare - loaded), np.array(torques), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_what_flies_is_moved_by_gravity_alone_whatever_its_root(seed):
    """Root joints in any order, without torques: momentum changes by the weight, and by no more."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation([prismatic] * 3 + [revolute] * 3)
    axes = iter(rng.permutation(3)), iter(rng.permutation(3))
    joints, parent = [], "ground"
    for number, kind in enumerate(kinds):
        axis = np.eye(3)[next(axes[kind is revolute])]
        joints.append(kind(f"root{number}", parent, axis=axis, actuated=False))
        parent = f"root{number}"
    joints += [revolute("arm", parent, axis=(0, 1, 0)), revolute("hand", "arm", axis=(1, 0, 0))]
    bodies = [
        Link(mass=2.0 + k, com=tuple(rng.uniform(-0.2, 0.2, 3)), inertia=np.diag((0.3, 0.2, 0.25)))
        for k in range(3)
    ]
    tree = Tree(links=(*[Link()] * 5, *bodies), joints=joints, gravity=(0.5, 0.0, -9.81))
    assert structure(tree).root == tuple(range(6)) == passive_rows(tree, None)
    q, qd, qdd = (ca.SX.sym(name, 8) for name in ("q", "qd", "qdd"))
    momentum = ca.vertcat(*kinematics.momentum(tree, q, qd))
    rate = ca.jacobian(momentum, q) @ qd + ca.jacobian(momentum, qd) @ qdd
    root = inverse(tree, q, qd, qdd)[:6]
    center = kinematics.center_of_mass(tree, q)
    look = ca.Function("look", [q, qd, qdd], [rate, root, ca.jacobian(root, qdd), center])
    state = rng.uniform(-0.7, 0.7, (3, 8))
    _, left, slope, _ = (np.array(part) for part in look(*state))
    state[2, :6] -= np.linalg.solve(slope[:, :6], left).ravel()
    rate, left, _, center = (np.array(part).ravel() for part in look(*state))
    weight = 9.0 * np.array((0.5, 0.0, -9.81))
    assert np.abs(left).max() < 1e-9
    assert np.allclose(rate, [*np.cross(center, weight), *weight], atol=1e-9)


def test_roots_are_unactuated_joints_in_line_from_the_ground():
    assert structure(monopod()).root == (0, 1, 2) and structure(block()).root == (0, 1, 2)
    cart = Tree(
        links=(Link(mass=1.0),) * 2,
        joints=(prismatic("cart", "ground", actuated=False), revolute("pole", "cart")),
    )
    assert structure(cart).root == (0,) and structure(cart).floating == ()
    assert structure(biped()).root == structure(biped()).floating == tuple(range(6))


def test_every_foot_is_judged_on_its_own_plane():
    """Push, friction and centre of pressure of a foot on a wall; what grips has no bounds."""
    tree = walker()
    wall = point_contact(tree, "left", at=(0.5, 0.0, 0.3), normal=(-1.0, 0.0, 0.0))
    rail = point_contact(tree, "right", at=(0.0, 0.0, 1.0), grips=True)
    ground = Ground(feet=(wall, rail))
    named = {each.foot: each for each in transmissions(tree, ground)}
    push = ca.DM([0, 0, 0, -3.0, 0, 1.0])
    wrench = named["left"].wrench(ground, ca.DM([0.5, 0.0, 0.3]), push)
    reaction = Reaction(ground=ground, wrenches={("left", "knee_left"): wrench})
    assert float(reaction.push("left")) == 3.0
    assert np.allclose(np.array(ca.DM(reaction.pressure("left"))).ravel(), (0.5, 0.0, 0.3))
    assert unilateral(tree, ground)[0].labels == ("left",)
    assert friction(tree, ground)[0].labels == ("left, side 1", "left, side 2")
    assert unilateral(tree, Ground(feet=(rail,))) == () == friction(tree, Ground(feet=(rail,)))


def test_points_stay_above_their_own_planes():
    tree = walker()
    stair = point_contact(tree, "left", at=(0.3, 0.0, 0.17), when=(0.5, 1.0))
    (above,) = no_penetration(Ground(feet=(stair,)), {"left": ("left",)})
    assert (above.when.start, above.when.end) == (0.0, 0.5)
    q = ca.DM([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    at = _still(tree, q, Ground(feet=(stair,)))
    assert float(above.function(at)) == pytest.approx(1.0 - 0.8 - 0.17)


def _still(tree, q, ground):
    zero = ca.DM.zeros(tree.dof)
    known = Forces(inverse=inverse)
    return Instant(tree=tree, s=0.2, T=1.0, q=q, qd=zero, qdd=zero, ground=ground, forces=known)


STEP = Parameter("step", 0.2, "m", lower=0.0, upper=0.4)


def test_a_place_may_be_open():
    tree = block()
    sole = line_contact(tree, ("back", "front"), at=(STEP, 0.0, 0.0))
    (support,) = sole.supports
    corners = [[float(nominal(entry)) for entry in corner] for corner in support.polygon]
    assert np.allclose(corners, [[0.2, 0.0, 0.0], [0.6, 0.0, 0.0]])
    assert float(nominal(sole.center[0])) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda tree: point_contact(tree, "heel"), "unknown point 'heel'|point 'heel'"),
        (lambda tree: point_contact(tree, "back", at=(0, 0)), r"'back': at: expected shape"),
        (lambda tree: point_contact(tree, "back", normal=(0, 0, 2)), "normal: expected unit"),
        (lambda tree: line_contact(tree, ("back",)), "line contact: expected two points, got back"),
        (lambda tree: line_contact(tree, ("back", "back")), "points 'back' and 'back' are at one"),
        (
            lambda tree: area_contact(tree, ("back", "front")),
            "area contact: expected three points or more, got back, front",
        ),
        (
            lambda tree: area_contact(tree, ("back", "front", "back")),
            "its points lie on one line; take line_contact",
        ),
        (
            lambda tree: line_contact(tree, ("back", "front"), along=(0.0, 0.0, 1.0)),
            "along: expected a direction in the plane",
        ),
        (
            lambda tree: Support(link="pitch", when=(0, 1), kind="edge"),
            "kind: expected one of area, line, point, got 'edge'",
        ),
        (
            lambda tree: Support(link="pitch", when=(0, 1), kind="point"),
            "pins: a point has one, got 0",
        ),
        (
            lambda tree: Support(link="pitch", when=(0, 1), kind="line", polygon=[(0, 0, 0)]),
            "polygon: a line has 2 corners, got 1",
        ),
        (lambda tree: Support(link="pitch", when=(0, 1), rigid=True), "rigid: expected a pin"),
        (
            lambda tree: Foot(
                name="sole",
                center=(0, 0, 0),
                supports=[
                    Support(link="pitch", when=when, kind="point", pins=[Pin(point=point)])
                    for when, point in (((0, 0.5), "back"), ((0.5, 1), "front"))
                ],
            ),
            "foot 'sole': on 'pitch' it stands in different ways; make a foot of each",
        ),
        (
            lambda tree: transmissions(
                tree, Ground(feet=(point_contact(tree, "back", normal=(0.0, 1.0, 0.0)),))
            ),
            r"foot 'back': no motion of the tree presses on a plane with the normal \(0.0, 1.0, 0",
        ),
        (lambda tree: Plane(point=(0, 1)), r"plane: point: expected shape \(3,\)"),
        (
            lambda tree: check_two_pass(biped(), Ground(feet=(point_contact(biped(), "head"),))),
            "two-pass reactions: foot 'head': expected areas on the ground's own plane; take",
        ),
    ],
)
def test_a_wrong_contact_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build(block())


def test_a_name_of_a_law_is_not_taken_twice():
    tree = monopod()
    foot = point_contact(tree, "toe")
    own = path("height", lambda at: at.q[1], lower=0.0)
    names = [
        law.name for law, _ in rigid_contact_laws(motion_of(tree, (foot,), constraints=(own,)))
    ]
    assert names == ["standing.toe", "standing_rate.toe"]

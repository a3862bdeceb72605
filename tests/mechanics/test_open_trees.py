"""Trees with open numbers: where links are and how they move, and what such records refuse."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from closed_trees import case
from open_trees import numbers_of, opened_tree
from random_trees import over, random_motion, random_tree

from ocp import Joint, Link, Parameter, Point, Tree, cable, stop
from ocp.dynamics import closed_loops
from ocp.mechanics import dh, fixed, revolute, screw
from ocp.mechanics.kinematics import kinematics, loop_assembly, loop_closure
from ocp.mechanics.kinematics.unilateral_forces import stay_accelerations, stay_gaps, stay_torques
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.parameters import with_values
from ocp.models.arms.flexible_arm import slewing_arm
from ocp.models.arms.two_link import two_link
from ocp.models.mechanisms.four_bar import four_bar

LENGTH, MASS = Parameter("length", 0.5, "m"), Parameter("mass", 2.0, "kg")


def quantities(tree, q, qd, qdd):
    """All that is asked of a moving tree, as one column."""
    moves = kinematics.motions(tree, q, qd, qdd)
    first, last = tree.points[0].name, tree.points[-1].name
    parts = [
        *(move.rotation for move in moves),
        *(move.angular_acceleration for move in moves),
        *(kinematics.acceleration(tree, q, qd, qdd, point.name) for point in tree.points),
        kinematics.jacobian(tree, q, last),
        kinematics.offset(tree, q, first, last),
        kinematics.orientation(tree, q, last),
        kinematics.center_of_mass(tree, q),
        *kinematics.momentum(tree, q, qd, (0.1, 0.2, 0.3)),
        kinematics.kinetic_energy(tree, q, qd),
        kinematics.potential_energy(tree, q),
    ]
    return ca.vertcat(*(ca.vec(part) for part in parts))


@over(range(3))
def test_where_an_open_tree_is_and_how_it_moves_is_that_of_its_numbers(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 1 + int(4 * rng.random()), massless=0)
    opened, values = opened_tree(rng, tree)
    motion = [*map(ca.DM, random_motion(rng, tree))]
    wanted = np.array(quantities(with_values(opened, values), *motion))
    np.testing.assert_allclose(
        numbers_of(quantities(opened, *motion), values), wanted, atol=1e-12 * np.abs(wanted).max()
    )


def test_gaps_of_open_loops_and_their_forces_are_those_of_the_numbers():
    given, q, _, qd, qdd, multipliers = case(1)
    opened, values = opened_tree(np.random.default_rng(1), given, ("joints", "points"))
    q, qd, qdd, multipliers = map(ca.DM, (q, qd, qdd, multipliers))

    def gaps(tree):
        parts = [
            loop_closure.gap(tree, q),
            loop_closure.gap_jacobian(tree, q),
            loop_closure.gap_rate(tree, q, qd),
            loop_closure.gap_acceleration(tree, q, qd, qdd),
            loop_closure.loop_torques(tree, q, multipliers),
        ]
        return numbers_of(ca.vertcat(*map(ca.vec, parts)), values)

    wanted = gaps(with_values(opened, values))
    np.testing.assert_allclose(gaps(opened), wanted, atol=1e-11 * np.abs(wanted).max())


def test_a_mechanism_of_open_numbers_closes_at_its_own_and_moves_by_those_given():
    scale, tree = Parameter("scale", 1.0), four_bar()
    opened = replace(
        tree,
        links=tuple(replace(link, mass=scale * link.mass) for link in tree.links),
        points=tuple(
            replace(point, position=scale * np.array(point.position)) for point in tree.points
        ),
    )
    q = loop_assembly.close_coordinates(tree, np.full(tree.dof, 0.3))
    np.testing.assert_array_equal(
        loop_assembly.close_coordinates(opened, np.full(tree.dof, 0.3)), q
    )
    assert structure(opened).cuts == structure(tree).cuts
    assert structure(opened).bearing == structure(tree).bearing
    rates = ca.DM(np.linspace(0.1, 0.4, tree.dof))
    moved = (
        closed_loops.forward(each, ca.DM(q), rates, rates, near=ca.DM(q))[0]
        for each in (opened, tree)
    )
    actual, wanted = (numbers_of(each, {scale: 1.0}) for each in moved)
    np.testing.assert_allclose(actual, wanted, rtol=1e-11)


def test_gaps_of_open_stays_and_their_forces_are_those_of_the_numbers():
    rope, floor = Parameter("rope", 1.0, "m"), Parameter("floor", 0.1)
    peg = Parameter("peg", 2.0, "m")
    arm = two_link()
    opened = replace(
        arm,
        stays=(
            cable("rope", (0.0, peg, 0.0), "tip", rope),
            stop("floor", arm.names[0], lower=floor, upper=2 + floor),
        ),
    )
    values, (q, qd, qdd) = {rope: 1.7, floor: -0.4, peg: 1.5}, map(ca.DM, np.eye(3, 2) + 0.2)

    def gaps(tree):
        forces = stay_torques(tree, kinematics.motions(tree, q), ca.DM([1.0, 2.0, 3.0]))
        parts = stay_gaps(tree, q), stay_accelerations(tree, q, qd, qdd), forces
        return numbers_of(ca.vertcat(*parts), values)

    np.testing.assert_allclose(gaps(opened), gaps(with_values(opened, values)), atol=1e-13)
    with pytest.raises(ValueError, match="stay 'rope': bounds of a distance: .* above 0 m"):
        with_values(opened, {rope: -1.0})


def test_open_places_on_links_that_bend_are_refused_by_name():
    arm = slewing_arm()
    for changed, words in (
        ({"points": (Point(name="eye", link="elbow", position=(LENGTH, 0, 0)),)}, "point 'eye'"),
        ({"joints": [replace(each, home=(LENGTH, 0, 0)) for each in arm.joints]}, "joint 'elbow'"),
    ):
        with pytest.raises(ValueError, match=f"{words}: parameters length: link '.*' bends"):
            replace(arm, **changed)
    with pytest.raises(ValueError, match="a link that bends has open numbers in its stiffness"):
        replace(arm.links[1], mass=MASS)


def test_open_rows_of_a_table_of_denavit_and_hartenberg_are_those_of_their_numbers():
    """All four numbers of a row, both kinds of joint, and a pitch."""
    names = "theta", "d", "a", "alpha"
    units, own, given = ("rad", "m", "m", "rad"), (0.3, 0.2, 0.4, -0.7), (0.5, 0.1, 0.3, 0.9)
    row = {name: Parameter(name, value, unit) for name, value, unit in zip(names, own, units)}
    pitch = Parameter("pitch", 0.1, "m/rad")
    values = dict(zip(row.values(), given)) | {pitch: 0.3}

    def arm(row, pitch):
        joints = (
            dh("first", **row),
            dh("second", "first", kind="prismatic", **row),
            screw("third", "second", pitch=pitch, home=(row["a"], 0, row["d"])),
        )
        points = (Point(name="tip", link="third", position=(0.1, 0.2, 0.3)),)
        return Tree(links=[Link(mass=1.0)] * 3, joints=joints, points=points)

    q, qd, qdd = map(ca.DM, np.random.default_rng(0).standard_normal((3, 3)))
    opened = arm(row, pitch)
    wanted = np.array(quantities(arm(dict(zip(names, given)), 0.3), q, qd, qdd))
    for tree in (opened, with_values(opened, values)):
        actual = numbers_of(quantities(tree, q, qd, qdd), values)
        np.testing.assert_allclose(actual, wanted, atol=1e-12)
    assert [joint.kind for joint in opened.joints] == ["revolute", "prismatic", "screw"]


def test_a_closed_tree_is_the_tree_stated_with_numbers():
    def arm(length, mass):
        return Tree(
            links=[Link(mass=mass, com=(length / 2, 0, 0))],
            joints=[revolute("joint", home=(length, 0, 0))],
            points=[Point(name="tip", link="joint", position=(length, 0, 0))],
            gravity=(0, -9.81, 0),
        )

    assert with_values(arm(LENGTH, MASS), {LENGTH: 0.3, MASS: 1.5}) == arm(0.3, 1.5)
    assert arm(LENGTH, MASS) != arm(0.5, 2.0)


def test_a_weight_as_a_scale_is_that_of_the_own_values():
    tree = Tree(links=[Link(mass=MASS)], joints=[revolute("joint")], gravity=(0, 0, -10))
    assert body_weight(tree) == 20.0


@pytest.mark.parametrize(
    ("joint", "kind"),
    [
        (lambda: revolute("joint", home=(LENGTH, 0, 0)), "revolute"),
        (
            lambda: Joint(name="joint", screw=(0.6, 0, 0.8, 0.8 * LENGTH, 0, -0.6 * LENGTH)),
            "revolute",
        ),
        (lambda: screw("joint", pitch=Parameter("pitch", 0.0, "m/rad")), "screw"),
        (lambda: Joint(name="joint", screw=(0, 0, 0, 0, LENGTH.sin(), LENGTH.cos())), "prismatic"),
        (lambda: fixed("joint", home=(LENGTH, 0, 0)), "fixed"),
    ],
)
def test_the_kind_of_a_joint_is_what_it_stays_for_all_values(joint, kind):
    assert joint().kind == kind


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Link(mass=LENGTH), "link mass: expected kg, got parameter 'length' in m"),
        (lambda: Link(mass=MASS, com=(MASS, 0, 0)), "link com: expected m, got parameter 'mass'"),
        (lambda: Link(mass=MASS - 3), "link mass: expected at least 0 kg, got -1"),
        (
            lambda: Link(mass=1, inertia=[[1, LENGTH - 0.5, 0], [0, 1, 0], [0, 0, 1]]),
            "link inertia: expected a symmetric matrix",
        ),
        (lambda: revolute("a", home=(MASS, 0, 0)), "joint 'a': home: expected m, got .* 'mass'"),
        (lambda: revolute("a", torque=MASS), "joint 'a': torque limits: expected N m, got"),
        (lambda: revolute("a", axis=(LENGTH, 0, 0)), "joint 'a': the axis must have unit length"),
        (
            lambda: revolute("a", axis=(0, LENGTH - 0.5, LENGTH + 0.5)),
            "the screw has length 1 at its parameters' own values, and not at others",
        ),
        (
            lambda: revolute("a", home=np.diag([2 * LENGTH, 1, 1, 1])),
            "joint 'a': home: expected a rigid pose",
        ),
        (lambda: Point(name="a", link="b", position=(MASS, 0, 0)), "point 'a': position: expected"),
    ],
)
def test_open_numbers_that_cannot_be_are_refused_by_name(made, words):
    with pytest.raises(ValueError, match=words):
        made()


def test_a_given_value_is_checked_as_if_it_had_been_stated():
    with pytest.raises(ValueError, match="link mass: expected at least 0 kg, got -1"):
        with_values(Link(mass=MASS), {MASS: -1.0})
    slab = Link(mass=1, inertia=np.diag([1.0, 1.0, 1.0 + LENGTH]))
    with pytest.raises(ValueError, match="break the triangle inequality"):
        with_values(slab, {LENGTH: 2.0})

"""Validity of a tree with free numbers: requirements that its records would check."""

from dataclasses import replace

import numpy as np
import pytest

from ocp import Link, Parameter, Tree, cable, revolute, slot, stop
from ocp.mechanics import assumed_modes
from ocp.mechanics.flexible.link_modes import with_stiffness_factor
from ocp.mechanics.values.parameter_validity import is_assured, requirements
from ocp.mechanics.values.parameters import evaluate, with_values
from ocp.models.arms.flexible_arm import strip
from ocp.models.arms.two_link import two_link

ARM = two_link()


def tree_of(link=None, **changes):
    """The arm with this outer link, and these changes."""
    return replace(ARM, links=(ARM.links[0], link or ARM.links[1]), **changes)


def is_sound(tree, values):
    """Tell whether all that is required of an open tree holds for these values."""
    return all(
        lower <= float(evaluate(expression, values)) <= upper
        for _, expression, lower, upper, _ in requirements(tree)
    )


def is_refused(record, values):
    """Tell whether a record is refused with these values in place."""
    try:
        with_values(record, values)
    except ValueError:
        return True
    return False


def inertia_of(entries):
    """Six entries xx, yy, zz, xy, xz, yz as a matrix."""
    xx, yy, zz, xy, xz, yz = entries
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def test_an_inertia_is_sound_where_its_record_takes_it():
    """Of all six entries, near the border between the inertias of bodies and others."""
    rng = np.random.default_rng(0)
    moments = [Parameter(name, 1.0) for name in ("xx", "yy", "zz")]
    products = [Parameter(name, 0.0) for name in ("xy", "xz", "yz")]
    link = Link(mass=1.0, inertia=inertia_of(moments + products))
    tree, sound = tree_of(link), []
    for _ in range(30):
        cloud = rng.standard_normal((3, 3)) * [1.0, 1.0, rng.choice([0.3, 0.01])]
        spread = cloud.T @ cloud
        given = np.trace(spread) * np.eye(3) - spread
        given += rng.choice([0.0, 0.3]) * np.diag(rng.uniform(-1, 1, 3))
        entries = [*np.diag(given), given[0, 1], given[0, 2], given[1, 2]]
        values = dict(zip(moments + products, entries))
        sound.append(is_sound(tree, values))
        assert sound[-1] != is_refused(link, values)
    assert 10 <= sum(sound) <= 25


def test_a_flat_body_asks_for_the_moment_that_it_has_and_no_minor_that_is_always_zero():
    turning = Parameter("turning", 0.1, "kg m2")
    flat = Link(mass=1.0, inertia=((0, 0, 0), (0, turning, 0), (0, 0, turning)))
    assert [name for name, *_ in requirements(tree_of(flat))] == ["link 'elbow': inertia x"]


def test_an_open_stiffness_of_modes_is_positive():
    factor = Parameter("factor", 1.0)
    modes = assumed_modes(strip(), bend_z=2)
    tree = Tree(links=[Link(modes=with_stiffness_factor(modes, factor))], joints=[revolute("base")])
    assert [name for name, *_ in requirements(tree)] == [
        "link 'base': stiffness bend_z1",
        "link 'base': stiffness bend_z2",
    ]
    assert is_sound(tree, {factor: 0.5}) and not is_sound(tree, {factor: -0.5})


def test_two_products_of_inertia_join_all_three_axes():
    product = Parameter("product", 0.01, "kg m2")
    link = Link(mass=1.0, inertia=inertia_of((0.1, 0.1, 0.1, product, product, 0.0)))
    for given, sound in ((0.03, True), (0.04, False)):
        assert is_sound(tree_of(link), {product: given}) is sound
        assert is_refused(link, {product: given}) is not sound


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"link": Link(mass=Parameter("mass", 1.0, "kg"))}, ["link 'elbow': mass"]),
        (
            {"joints": (revolute("a", torque=Parameter("most", 5.0)), revolute("b", "a"))},
            ["joint 'a': torque limits"],
        ),
        (
            {"joints": (revolute("a", jerk=Parameter("most", 5.0)), revolute("b", "a"))},
            ["joint 'a': jerk limits"],
        ),
        ({"stays": (stop("low", "elbow", lower=Parameter("low", -1.0)),)}, []),
        (
            {"stays": (cable("rope", "tip", (0, 0, 0), Parameter("rope", 2.0)),)},
            ["stay 'rope': upper bound"],
        ),
        (
            {"stays": (slot("pin", "tip", (0, 0, 0), Parameter("short", 0.1), 2.0),)},
            ["stay 'pin': lower bound", "stay 'pin': bounds"],
        ),
        ({"gravity": (0, Parameter("fall", -9.81), 0)}, []),
        ({}, []),
    ],
)
def test_what_records_check_of_numbers_is_required_of_open_ones(changes, names):
    if "joints" in changes:
        changes["points"] = ()
    assert [name for name, *_ in requirements(tree_of(**changes))] == names


@pytest.mark.parametrize(
    ("lower", "upper", "mass", "kept"),
    [
        (0.1, 2.0, lambda m: m, True),
        (0.0, 2.0, lambda m: m, False),
        (0.0, 2.0, lambda m: m + 0.5, True),
        (-1.0, 2.0, lambda m: m + 0.5, False),
        (0.0, 2.0, lambda m: 3.0 - m, True),
        (0.0, 3.5, lambda m: 3.0 - m, False),
        (0.1, 2.0, lambda m: m * m, False),
    ],
)
def test_bounds_of_parameters_that_see_to_a_requirement_are_told(lower, upper, mass, kept):
    m = Parameter("m", 1.0, "kg", lower, upper)
    (required,) = requirements(tree_of(Link(mass=mass(m))))
    assert is_assured(required) is kept

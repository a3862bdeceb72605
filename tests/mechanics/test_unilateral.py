"""Stays: gaps, their rates and the work of their forces against automatic differentiation, and what
is refused."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from refusals import refused

import ocp
from ocp.mechanics import motions
from ocp.mechanics.kinematics.unilateral_forces import (
    stay_accelerations,
    stay_gaps,
    stay_labels,
    stay_rates,
    stay_torques,
    stay_units,
)
from ocp.models.arms.flexible_arm import slewing_arm

HOME = ((0.0, -1.0, 0.0, 0.3), (1.0, 0.0, 0.0, 0.1), (0.0, 0.0, 1.0, 0.2), (0.0, 0.0, 0.0, 1.0))
BODY = ocp.Link(mass=1.0, com=(0.1, 0.2, 0.0), inertia=np.diag([0.1, 0.1, 0.1]))
TREE = ocp.Tree(
    links=(BODY,) * 4,
    joints=(
        ocp.revolute("base", axis=(0, 0.6, 0.8)),
        ocp.prismatic("rail", "base", axis=(0.8, 0, 0.6), home=HOME),
        ocp.screw("bolt", "rail", pitch=0.1, home=HOME),
        ocp.revolute("other", axis=(1, 0, 0), home=(0.5, 0.4, 0)),
    ),
    points=(
        ocp.Point(name="a", link="bolt", position=(0.2, 0.1, -0.3)),
        ocp.Point(name="b", link="other", position=(0.1, 0.5, 0.2)),
    ),
    gravity=(0, 0, -9.81),
    stays=(
        ocp.stop("turn", "base", lower=-1.0, upper=2.0),
        ocp.stop("slide", "rail", upper=0.7),
        ocp.stop("thread", "bolt", lower=-3.0),
        ocp.cable("rope", "a", "b", 2.0),
        ocp.slot("pin", "a", (0.4, -0.3, 1.0), 0.1, 3.0),
        ocp.cable("guy", (0.0, 0.0, 2.0), "b", 3.0),
    ),
)


def symbols():
    """Coordinates, rates and accelerations of the tree, with numbers for them."""
    rng = np.random.default_rng(1)
    names = [ca.SX.sym(name, TREE.dof) for name in ("q", "qd", "qdd")]
    return names, [ca.DM(rng.uniform(-1, 1, TREE.dof)) for _ in names]


def numbers(names, values, *expressions):
    """Values of expressions in the symbols."""
    return [np.array(part) for part in ca.Function("f", names, expressions).call(values)]


def test_forces_work_on_their_gaps_alone():
    """Generalized forces are J' force with J the slope of the gaps, so that no gap, no work."""
    names, values = symbols()
    force = ca.DM(np.random.default_rng(2).uniform(0, 5, len(stay_labels(TREE))))
    slope = ca.jacobian(stay_gaps(TREE, names[0]), names[0])
    torques = stay_torques(TREE, motions(TREE, names[0]), force)
    given, expected = numbers(names, values, torques, slope.T @ force)
    np.testing.assert_allclose(given, expected, atol=1e-13)


def test_rates_and_accelerations_of_gaps_are_their_derivatives():
    names, values = symbols()
    q, qd, qdd = names
    gaps = stay_gaps(TREE, q)
    rate = ca.jtimes(gaps, q, qd)
    acceleration = ca.jtimes(rate, q, qd) + ca.jtimes(rate, qd, qdd)
    given = stay_rates(TREE, q, qd), stay_accelerations(TREE, *names)
    for mine, other in zip(
        numbers(names, values, *given), numbers(names, values, rate, acceleration)
    ):
        np.testing.assert_allclose(mine, other, atol=1e-13)


def test_a_gap_is_what_is_left_to_the_bound():
    mass = ocp.Link(mass=1.0)
    tree = ocp.Tree(
        links=(mass,),
        joints=(ocp.prismatic("slide", axis=(0, 1, 0)),),
        points=(ocp.Point(name="eye", link="slide"),),
        stays=(
            ocp.slot("slot", (0.0, 2.0, 0.0), "eye", 0.5, 1.0),
            ocp.stop("floor", "slide", lower=0.9),
        ),
    )
    assert stay_labels(tree) == ("slot: lower", "slot: upper", "floor")
    assert stay_units(tree) == ("m", "m", "m")
    gaps = np.array(ca.DM(stay_gaps(tree, ca.DM([1.001])))).ravel()
    np.testing.assert_allclose(gaps, (0.499 * 1.499, 0.001, 0.101), atol=1e-6)


@pytest.mark.parametrize(
    ("stay", "message"),
    [
        ({"name": ""}, "stay: name: expected a word"),
        ({"joint": "base"}, "stay 'stay': expected a bound, or two different ones"),
        ({"joint": "base", "start": "a", "end": "b"}, "stay 'stay': expected a joint, or a start"),
        ({"start": "a", "upper": 1.0}, "stay 'stay': expected a start and an end, got one"),
        ({"start": "a", "end": (1, 2), "upper": 1.0}, "stay 'stay': end: expected shape (3,)"),
        ({"start": "a", "end": "b", "lower": -1.0}, "stay 'stay': bounds of a distance"),
        ({"joint": "base", "upper": 1.0, "leak": 0.0}, "stay 'stay': leak (J): expected a number"),
        (
            {"joint": "base", "upper": 1.0, "closed": ((0.5, 0.2),)},
            "stay 'stay': closed: expected 0 <= a < b <= 1 one after the other",
        ),
        ({"joint": "base", "upper": 1.0, "closed": (1,)}, "stay 'stay': closed: expected pairs"),
        (
            {"joint": "base", "lower": 0.0, "upper": 1.0, "closed": ((0, 1),)},
            "stay 'stay': closed: which of its two bounds?",
        ),
    ],
)
def test_a_stay_that_is_none_is_refused(stay, message):
    with refused(message):
        ocp.Stay(**{"name": "stay"} | stay)


@pytest.mark.parametrize(
    ("stay", "message"),
    [
        (ocp.stop("end", "nobody", upper=1.0), "stay 'end': unknown joint 'nobody'; the joints"),
        (ocp.stop("end", "mount", upper=1.0), "stay 'end': joint 'mount' is fixed"),
        (ocp.cable("rope", "a", "c", 1.0), "stay 'rope': unknown point 'c'; the points are a, b"),
        (ocp.cable("rope", "a", "a", 1.0), "stay 'rope': its points 'a' and 'a' are on one link"),
        (ocp.cable("guy", (0, 0, 0), (0, 0, 1), 1.0), "stay 'guy': its points"),
    ],
)
def test_a_stay_that_fits_no_tree_is_refused(stay, message):
    joints = (*TREE.joints, ocp.fixed("mount"))
    with refused(message):
        replace(TREE, links=(*TREE.links, BODY), joints=joints, stays=(stay,))


def test_what_does_not_know_forces_of_stays_says_so():
    start = (np.zeros(4), np.zeros(4))
    with refused("simulate: stays turn, slide, thread, rope, pin, guy are not followed"):
        ocp.simulate(TREE, np.zeros(4), start, 1.0)
    with refused("forward_dynamics: forces of stays turn, slide"):
        ocp.forward_dynamics(TREE, *start, np.zeros(4))
    with refused("stay 'end': links that bend (shoulder, elbow) take no stays yet"):
        replace(slewing_arm(), stays=(ocp.stop("end", "shoulder", upper=1.0),))

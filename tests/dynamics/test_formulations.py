"""The methods of the literature: equal torques, from the same graphs whose work is counted."""

from dataclasses import replace
from math import cos, sin

import casadi as ca
import numpy as np
import pytest
from random_trees import over, random_loads, random_motion, random_tree

from ocp import Load, Transcription
from ocp.dynamics import FORMULATIONS
from ocp.dynamics.catalogue import resolve_auto
from ocp.dynamics.formulation_record import align_frames
from ocp.dynamics.formulations import (
    hollerbach_3x3,
    hollerbach_4x4,
    newton_euler,
    uicker_kahn,
    waters,
)
from ocp.dynamics.formulations.transforms_4x4 import link_matrices
from ocp.models.arms.pr import pr
from ocp.models.arms.two_link import two_link
from ocp.models.walkers.human_like import human_like
from ocp.problems.benchmarks.operations import folded

KINDS = ("revolute", "prismatic", "screw", "fixed")
LAGRANGIAN = (uicker_kahn, waters, hollerbach_4x4, hollerbach_3x3)
FALLING = ("uicker_kahn", "waters", "hollerbach_4x4", "hollerbach_3x3", "newton_euler")

every_method = pytest.mark.parametrize("name", FORMULATIONS)


@pytest.mark.parametrize(("joints", "chosen"), [(1, "ad"), (4, "ad"), (5, "recursive")])
def test_derivatives_of_few_coordinates_are_automatic_and_ones_own_are_kept(joints, chosen):
    tree = random_tree(np.random.default_rng(joints), joints, kinds=("revolute",))
    assert tree.dof == joints
    for asked in (Transcription(), Transcription(dynamics="newton_euler")):
        assert resolve_auto(tree, asked).derivatives == chosen
    assert resolve_auto(tree, Transcription(derivatives="recursive")).derivatives == "recursive"
    mine = replace(FORMULATIONS["newton_euler"], name="mine")
    assert resolve_auto(tree, Transcription(dynamics=mine)).derivatives == "recursive"


def mechanism(seed):
    """A random tree of 1 to 8 joints, small ones more often, its root of each kind in turn, a
    motion of it, and up to three loads."""
    rng, first = np.random.default_rng(seed), seed % len(KINDS)
    tree = random_tree(rng, 1 + int(8 * rng.random() ** 2), kinds=KINDS[first:] + KINDS[:first])
    return (
        tree,
        *map(ca.DM, random_motion(rng, tree)),
        random_loads(rng, tree, seed // len(KINDS) % 4),
    )


def chain(joints, seed):
    """A general serial chain of revolute joints."""
    return random_tree(
        np.random.default_rng(seed), joints, kinds=("revolute",), branching=0, massless=0
    )


@over(range(16))
def test_every_formulation_agrees_with_newton_and_euler(seed):
    given = mechanism(seed)
    expected = np.array(FORMULATIONS["newton_euler"].inverse(*given))
    for name in FORMULATIONS.keys() - {"newton_euler"}:
        actual = np.array(FORMULATIONS[name].inverse(*given))
        np.testing.assert_allclose(
            actual, expected, rtol=0, atol=1e-10 * np.abs(expected).max(initial=0), err_msg=name
        )


@pytest.mark.parametrize(
    "model", [two_link(gravity=9.81), pr(), human_like()], ids=["two_link", "pr", "human_like"]
)
def test_every_formulation_agrees_on_every_model(model):
    """But for Uicker and Kahn's on 55 joints, where the sums over four of them run to millions of
    terms."""
    motion = [*map(ca.DM, random_motion(np.random.default_rng(0), model))]
    expected = np.array(FORMULATIONS["newton_euler"].inverse(model, *motion))
    for name, formulation in FORMULATIONS.items():
        if name != "uicker_kahn" or model.dof < 10:
            actual = np.array(formulation.inverse(model, *motion))
            np.testing.assert_allclose(
                actual, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=name
            )


@every_method
def test_the_two_link_arm_obeys_its_closed_form(name):
    """Xiang, Arora & Abdel-Malek (2009), eqs. 69, 70, constants of table 1, with gravity and a load
    f down at the tip."""
    big_l, m, inertia, l, g, f = 0.4, 0.5, 0.1, 0.2, 9.8062, 10.0
    (t1, t2), (v1, v2), (a1, a2) = (0.7, -1.9), (1.3, -2.1), (3.1, -0.8)
    far, coupled = (m * g * l + f * big_l) * cos(t1 + t2), m * big_l * l
    outer, mixed = inertia + m * l**2, inertia + m * l**2 + coupled * cos(t2)
    tau1 = (
        (2 * outer + m * big_l**2 + 2 * coupled * cos(t2)) * a1
        + mixed * a2
        - coupled * sin(t2) * (2 * v1 * v2 + v2**2)
        + (m * g * l + (m * g + f) * big_l) * cos(t1)
        + far
    )
    tau2 = outer * a2 + mixed * a1 + coupled * v1**2 * sin(t2) + far
    loads = (Load(point="tip", force=(0, -f, 0)),)
    tau = FORMULATIONS[name].inverse(
        two_link(gravity=g), ca.DM([t1, t2]), ca.DM([v1, v2]), ca.DM([a1, a2]), loads
    )
    np.testing.assert_allclose(np.array(tau).ravel(), (tau1, tau2), rtol=1e-13)


def given(links):
    """The inputs of `dense` in its order, for the matrices of real links."""
    for link in links:
        yield from link if not isinstance(link[0], list) else (*link[0], link[1][0], *link[2])


def links_of(module):
    """What computes a method's link matrices from a tree."""
    return module._links if module is hollerbach_3x3 else link_matrices


@pytest.mark.parametrize("module", LAGRANGIAN, ids=lambda module: module.__name__.split(".")[-1])
def test_the_graph_that_is_counted_gives_the_torques(module):
    tree, _ = align_frames(chain(5, seed=0))
    q, qd, qdd = map(ca.DM, random_motion(np.random.default_rng(0), tree))
    inputs, tau = module.dense(5)
    gravity = ca.DM([*tree.gravity, 0][: inputs[-3].numel()])
    actual = ca.Function("tau", inputs, [tau]).call(
        [*given(links_of(module)(tree, q)), gravity, qd, qdd]
    )[0]
    expected = np.array(newton_euler.inverse(tree, q, qd, qdd))
    np.testing.assert_allclose(
        np.array(actual), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
    )


@over(range(3))
def test_folded_work_falls_from_uicker_to_newton(seed):
    """Without its zeros and ones the 4x4 recursion is the 3x3 one, to the last operation."""
    counts = np.array([folded(name, chain(6, seed)) for name in FALLING])
    falls = np.diff(counts, axis=0)
    assert (falls <= 0).all() and (falls[[0, 1, 3]] < 0).all()
    assert (falls[2] == 0).all()

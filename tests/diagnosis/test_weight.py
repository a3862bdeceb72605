"""Explanations name drives that are far too weak for the weight that they hold."""

from dataclasses import replace

import numpy as np
import pytest

import ocp


def arm(mass, length):
    inertia = np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12
    link = ocp.Link(mass=mass, com=(-length / 2, 0, 0), inertia=inertia)
    joints = (
        ocp.dh("shoulder", a=length, torque=10),
        ocp.dh("elbow", "shoulder", a=length, torque=10),
    )
    return ocp.Tree(links=(link, link), joints=joints, gravity=(0.0, -9.81, 0.0))


def lift(tree):
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=1.0,
        objective=ocp.duration(),
        constraints=(
            ocp.at_start(tree, q=(0.0, 0.0), qd=0.0),
            ocp.at_end(tree, q=(1.0, 0.5), qd=0.0),
            ocp.torque_limits(tree),
        ),
    )


@pytest.mark.parametrize(("mass", "length"), [(500.0, 0.4), (500.0, 400.0), (0.5, 400.0)])
def test_masses_in_grams_and_lengths_in_millimetres_are_suspected(mass, length):
    solver = ocp.Solver(options={"max_iter": 20})
    solution = ocp.solve(lift(arm(mass, length)), solver=solver, attempts=ocp.PLAIN)
    assert "are masses in kg, lengths in m?" in "\n".join(solution.explanation)


def test_masses_in_grams_are_suspected_without_gravity_too():
    weightless = replace(arm(500.0, 400.0), gravity=(0.0, 0.0, 0.0))
    for tree, suspected in ((weightless, True), (replace(arm(0.5, 0.4), gravity=(0, 0, 0)), False)):
        solver = ocp.Solver(options={"max_iter": 1})
        solution = ocp.solve(lift(tree), solver=solver, attempts=ocp.PLAIN)
        said = "from rest to rest in the longest duration" in "\n".join(solution.explanation)
        assert not solution.success and said == suspected


def test_a_sound_arm_is_not_suspected():
    solution = ocp.solve(
        lift(arm(0.5, 0.4)), solver=ocp.Solver(options={"max_iter": 1}), attempts=ocp.PLAIN
    )
    assert not solution.success and "masses in kg" not in "\n".join(solution.explanation)

"""Explanations name drives that are far too weak for the weight that they hold."""

import numpy as np
import pytest

from ocp import (
    PLAIN,
    BSpline,
    Link,
    Problem,
    Solver,
    Tree,
    at_end,
    at_start,
    dh,
    duration,
    solve,
    torque_limits,
)


def arm(mass, length):
    inertia = np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12
    link = Link(mass=mass, com=(-length / 2, 0, 0), inertia=inertia)
    joints = (dh("shoulder", a=length, torque=10), dh("elbow", "shoulder", a=length, torque=10))
    return Tree(links=(link, link), joints=joints, gravity=(0.0, -9.81, 0.0))


def lift(tree):
    return Problem(
        tree=tree,
        motion=BSpline(points=8),
        duration=1.0,
        objective=duration(),
        constraints=(
            at_start(tree, q=(0.0, 0.0), qd=0.0),
            at_end(tree, q=(1.0, 0.5), qd=0.0),
            torque_limits(tree),
        ),
    )


@pytest.mark.parametrize(("mass", "length"), [(500.0, 0.4), (500.0, 400.0), (0.5, 400.0)])
def test_masses_in_grams_and_lengths_in_millimetres_are_suspected(mass, length):
    solver = Solver(options={"max_iter": 20})
    solution = solve(lift(arm(mass, length)), solver=solver, attempts=PLAIN)
    assert "are masses in kg, lengths in m?" in "\n".join(solution.explanation)


def test_a_sound_arm_is_not_suspected():
    solution = solve(lift(arm(0.5, 0.4)), solver=Solver(options={"max_iter": 1}), attempts=PLAIN)
    assert not solution.success and "masses in kg" not in "\n".join(solution.explanation)

"""Trees with force elements in certificates and files."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from limited_arm import arm_problem

import ocp
from ocp import Transcription, at_end, at_start, load, solve, verify
from ocp.mechanics import Armature, CurvedSpring, Damper, PassiveMoment, Tendon
from ocp.storage.problem_data import problem_data
from ocp.storage.problem_diff import differences

WORDS = "element 'tissue': moment: cannot be written as data"


def sprung(**changes):
    """An arm with elements of all ways of being written."""
    problem = arm_problem()
    first, second = problem.tree.names
    tissue = {
        "energy": lambda x: ca.cosh(x[0] - x[1]),
        "moment": lambda x, rate: -0.1 * rate * (1 + x**2),
    }
    elements = (
        Damper(joint=first, damping=0.3),
        Armature(joint=second, inertia=1e-4, gear=20),
        CurvedSpring(joint=second, places=(-2, 0, 2), forces=(1, 0, -2)),
        PassiveMoment(name="tissue", joints=(second, first), **tissue | changes),
        Tendon(name="cord", path=((0, 1, 0), "tip"), stiffness=9.0, slack=1.0, rounding=0.05),
    )
    arm = replace(problem.tree, elements=elements)
    ends = at_start(arm, q=0.1, qd=0.0), at_end(arm, q=(0.6, -0.5), qd=0.0)
    return replace(problem, tree=arm, constraints=sum(ends, ()))


def test_files_keep_elements_and_their_functions(tmp_path):
    solution = solve(sprung()).require()
    assert verify(solution).energy_error < 1e-8
    ocp.save(solution, tmp_path / "arm.npz")
    again = load(tmp_path / "arm.npz")
    t = solution.times(5)
    assert not again.missing
    assert np.array_equal(again.tau(t), solution.tau(t))
    assert verify(again).energy_error < 1e-8
    ours, theirs = (problem_data(each.problem) for each in (solution, again))
    assert ours.fingerprint == theirs.fingerprint
    assert again.problem.tree == load(tmp_path / "arm.npz").problem.tree


def test_what_differs_of_elements_is_named():
    one, other = sprung(), sprung(moment=lambda x, rate: -0.2 * rate)
    assert differences(problem_data(one), problem_data(other)) == [
        "element 'tissue': moment: another function"
    ]


def test_a_function_that_is_no_graph_is_refused_by_name():
    hidden = ca.SX.sym("hidden")
    with pytest.raises(ValueError, match=WORDS):
        problem_data(sprung(moment=lambda x, rate: -hidden * rate))


def test_every_formulation_finds_the_same_motion():
    costs = [
        solve(sprung(), Transcription(dynamics=name)).require().objective
        for name in ("newton_euler", "hollerbach_4x4")
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)

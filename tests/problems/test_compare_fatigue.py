"""Lifts whose muscles tire, one after the other."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest

from ocp.mechanics.muscles import ELBOW
from ocp.problems.benchmarks.dynamics.compare_fatigue import MUSCLES, main, sequence


def test_fatigued_shares_are_carried_from_lift_to_lift():
    """Each begins where rest has left the one before, and asks for more activation."""
    lifts = [*sequence(3, 8.0, 2.0)]
    activations = [each.activation for each in lifts]
    assert activations == sorted(activations) and activations[0] > 0.4
    for before, after in pairwise(lifts):
        tree = before.solution.problem.tree
        rows = [tree.coordinate(f"{name}.fatigued") for name in MUSCLES]
        ended = before.solution.q(before.solution.duration)[rows]
        begun = after.solution.q(0.0)[rows]
        assert begun == pytest.approx(ended * exp(-ELBOW.recovery * 2.0), abs=1e-9)
    assert lifts[-1].solution.objective > lifts[0].solution.objective


def test_units_tire_as_their_compartments_say():
    """The share at the end of a lift is the integral of its rate, by the trapezoidal rule."""
    (lift,) = sequence(1, 8.0, 0.0)
    solution, tree = lift.solution, lift.solution.problem.tree
    t = np.linspace(0.0, solution.duration, 20001)
    q = solution.q(t)
    for name in MUSCLES:
        activation, fatigued = (
            q[tree.coordinate(f"{name}.{what}")] for what in ("activation", "fatigued")
        )
        active = activation * (1 - fatigued)
        rate = ELBOW.tiring * active - ELBOW.recovery * fatigued
        assert fatigued[-1] == pytest.approx(np.trapezoid(rate, t), rel=1e-3)


def test_the_command_prints_a_line_a_lift(capsys):
    main(["--lifts", "1"])
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "lift" and line.split()[0] == "1"

"""Lifts whose muscles tire, one after the other."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest

from ocp import (
    BSpline,
    Link,
    Problem,
    Radau,
    Transcription,
    Tree,
    at_start,
    duration,
    path,
    revolute,
    solve,
)
from ocp.mechanics.muscles import ELBOW, GivenPath, Muscle, hold_endurance, passive_force
from ocp.mechanics.muscles.force_curves import FIBRE_STRAIN
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


def test_an_elbow_holds_a_half_of_its_strength_until_it_is_exhausted():
    """The longest hold of a forearm that asks for half of a flexor lasts as the law has it, and
    ends where all units that are not tired are active."""
    share, force, arm, reach, gravity = 0.5, 600.0, 0.04, 0.15, 9.81
    mass = force * (share + float(passive_force(1.0, FIBRE_STRAIN))) * arm / (gravity * reach)
    flexor = Muscle(
        name="flexor",
        path=GivenPath(joints=("elbow",), function=lambda x: 0.3 - arm * x[0]),
        force=force,
        fibre=0.1,
        slack=0.2,
        fatigue=ELBOW,
    )
    tree = Tree(
        links=(Link(mass=mass, com=(reach, 0, 0), inertia=np.diag([0.01, 0.03, 0.03])),),
        joints=(revolute("elbow", actuated=False),),
        gravity=(0, -gravity, 0),
        elements=(flexor,),
    )
    rest = {"elbow": 0.0, "flexor.fatigued": 0.0}
    still = {"elbow": 0.0, "flexor.activation": 0.0}
    hold = Problem(
        tree=tree,
        motion=BSpline(points=10),
        duration=(1.0, 1000.0),
        objective=-1.0 * duration(),
        constraints=(
            *at_start(tree, q=rest, qd=still),
            path("held", lambda at: at.q[0], lower=0.0, upper=0.0),
        ),
    )
    held = solve(hold, Transcription(method=Radau(intervals=40))).require(coarse=True)
    assert held.duration == pytest.approx(hold_endurance(share, ELBOW), rel=2e-3)
    _, active, fatigued = held.q(held.duration)
    assert active > 0.999 and active * (1 - fatigued) == pytest.approx(share, rel=1e-3)


def test_the_command_prints_a_line_a_lift(capsys):
    main(["--lifts", "1"])
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "lift" and line.split()[0] == "1"

"""Requirements of free parameters: positive durations, masses of at least 0, constant hulls."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import LEAVE, ROOT, STRIKE, SUMS, biped, crouch, steps

import ocp
from ocp.mechanics.values.parameters import evaluate, with_values
from ocp.models.arms.two_link import two_link
from ocp.problem import PointMass, linear_split
from ocp.problem.parameter_requirements import requirements
from ocp.transcription import transcription_of

ARM = two_link(gravity=9.81)
GRID, SPLITS = transcription_of(SUMS), ("split.1", "split.2")


def lowered(way, load, grip, height):
    """A small body that carries a load goes down between two steps."""
    tree, ground = biped(), steps(way=way, strike=STRIKE, leave=LEAVE)
    stated = crouch(ground=ground, loads=(PointMass(point="head", mass=load),))
    kept = [each for each in stated.constraints if each.name not in ("at_end.q", *SPLITS)]
    end = ocp.at_end(tree, q=dict.fromkeys(ROOT, 0.0) | {"z": height, "x": 0.03})
    shares = ocp.friction(tree, ground, coefficient=grip), linear_split(tree, ground)
    return replace(stated, constraints=(*kept, end, shares))


def reach(**changes):
    ends = ocp.at_start(ARM, q=0.0, qd=0.0), ocp.at_end(ARM, q=[1.0, -1.0], qd=0.0)
    return ocp.Problem(tree=ARM, motion=ocp.BSpline(points=8), constraints=ends, **changes)


def test_a_mass_that_is_sought_does_not_become_negative():
    mass = ocp.Parameter("mass", 2.0, "kg", free=True)
    weighed = ocp.final("mass", lambda at: mass) + 1e-4 * ocp.effort()
    solution = ocp.solve(
        reach(duration=0.8, objective=weighed, loads=(PointMass(point="tip", mass=mass),))
    )
    assert 0 <= solution.require().parameters["mass"] < 1e-6
    assert solution.multipliers["sound point mass at 'tip'"].values[0, 0] < -0.1
    assert ocp.verify(solution).require(1e-3)


def test_a_duration_may_be_a_parameter_that_is_sought():
    time = ocp.Parameter("time", 1.0, "s", free=True)
    cost = ocp.final("time", lambda at: time) + 0.01 * ocp.effort()
    sought = ocp.solve(reach(duration=time, objective=cost)).require()
    stated = ocp.solve(
        reach(duration=(0.1, 5.0), objective=ocp.duration() + 0.01 * ocp.effort())
    ).require()
    assert sought.duration == sought.parameters["time"] == pytest.approx(stated.duration, abs=1e-7)
    assert sought.objective == pytest.approx(stated.objective, rel=1e-9)


def test_corners_turn_left_where_given_values_are_taken_and_right_where_they_are_refused():
    stride = ocp.Parameter("stride", 0.2, "m")
    tree, ground = biped(), steps(way=stride)
    stated = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=5),
        duration=1.0,
        ground=ground,
        objective=ocp.effort(),
        constraints=(ocp.pressure_inside(tree, ground), ocp.zmp_inside(tree, ground)),
    )
    asked = requirements(stated)
    assert any(name.startswith("zmp.2: corner") for name, *_ in asked)
    for way in np.linspace(0.0, 0.4, 9):
        turns = [float(evaluate(turn, {stride: way})) for _, turn, *_ in asked]
        if min(turns) < -1e-9:
            with pytest.raises(ValueError, match="its hull"):
                with_values(stated, {stride: way})


def test_bounds_of_a_free_duration_follow_given_parameters_only():
    most = ocp.Parameter("most", 0.9, "s", 0.5, 2.0)
    hasty = reach(duration=(0.1, most), objective=ocp.effort())
    for value in (0.7, 0.6):
        assert ocp.solve(hasty, values={"most": value}).duration == pytest.approx(value, abs=1e-6)
    with pytest.raises(ValueError, match="duration: parameter 'most' is free, and bounds of"):
        ocp.prepare(hasty, free=("most",))


def test_a_body_on_an_open_ground_moves_as_on_the_one_that_was_stated():
    given = {"way": 0.12, "load": 3.0, "grip": 0.8, "height": 0.66}
    own = {"way": (0.1, "m"), "load": (2.0, "kg"), "grip": (0.9, ""), "height": (0.65, "m")}
    plan = ocp.prepare(
        lowered(**{name: ocp.Parameter(name, *one) for name, one in own.items()}), GRID
    )
    planned, stated = plan.solve(**given).require(coarse=True), ocp.solve(lowered(**given), GRID)
    assert planned.objective == pytest.approx(stated.objective, rel=1e-9)
    assert planned.statistics["iterations"] == stated.statistics["iterations"]
    assert np.allclose(planned.points, stated.points, atol=1e-7)


def test_numbers_require_nothing():
    assert requirements(reach(duration=0.8, objective=ocp.effort())) == ()

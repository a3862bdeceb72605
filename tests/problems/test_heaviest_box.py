"""The heaviest box and the front of effort against stability, solved on coarse splines."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ocp import Solver, Spline, Transcription
from ocp.certificate import violations
from ocp.certificate.checks.energy import energy_error
from ocp.models.human import MASS, NAMES
from ocp.problems.lifting import Accuracy, Box, Goal
from ocp.problems.lifting.report.active_constraints import active
from ocp.problems.lifting.report.curves import box_mass
from ocp.problems.lifting.solve_lifts import bettered, lift
from ocp.problems.lifting.statement.constraints import KILOGRAMS
from ocp.problems.lifting.statement.lift import problem

COARSE = Transcription(method=Spline(nodes=2))
WEIGHTS = (1.0, 0.5, 0.0)
SMOOTH = 0.0025  # weight of accelerations beside effort, by default


@cache
def heaviest():
    """The heaviest box on seven control points."""
    return lift(
        problem(goal=Goal(maximum=True), accuracy=Accuracy(points=7)), COARSE, Solver()
    ).require(coarse=True)


@cache
def middle():
    """The lift in the middle of the front of three weights, on six control points."""
    return lift(
        problem(accuracy=Accuracy(points=6), goal=Goal(weight=0.5), passive=False),
        COARSE,
        Solver(),
        pareto=len(WEIGHTS),
    ).require(coarse=True)


def test_the_heaviest_box_leans_on_the_wrists():
    first = active(heaviest())[0]
    assert (first["constraint"], first["row"]) == ("torque_limits", "wri_rad_r")
    assert first["unit"] == "kg" and first["gain"] > 5
    row = heaviest().problem.tree.coordinate("wri_rad_r")
    limit = heaviest().problem.tree.moving[row].torque[1]
    torque = heaviest().tau(heaviest().nodes * heaviest().duration)[row]
    assert torque.max() == pytest.approx(limit, rel=1e-5)
    assert 25 < box_mass(heaviest()) < 35


def test_stronger_wrists_lift_what_the_multiplier_of_their_limit_says():
    stated, more = heaviest().plan.problem, 0.05  # N m
    limits = next(each for each in stated.constraints if each.name == "torque_limits")
    upper = np.array(limits.upper)
    upper[limits.labels.index("wri_rad_r")] += more
    others = [each for each in stated.constraints if each is not limits]
    stronger = replace(stated, constraints=(*others, replace(limits, upper=tuple(upper))))
    lifted = lift(stronger, COARSE, Solver(), guess=heaviest()).require(coarse=True)
    saved = KILOGRAMS * heaviest().duration * (heaviest().objective - lifted.objective)  # kg
    assert 10.0 / more * saved == pytest.approx(active(heaviest())[0]["gain"], rel=0.01)
    assert saved == pytest.approx(box_mass(lifted) - box_mass(heaviest()), rel=0.1)


def test_the_box_that_is_found_is_in_the_hands_and_nothing_else_is_added():
    """No joint but the human's, no load; the statement that is kept is that of a known box."""
    found = heaviest()
    mass = found.parameters["box_mass"]
    assert mass == box_mass(found) and found.plan.free[0].name == "box_mass"
    known = problem(box=Box(mass=mass), accuracy=Accuracy(points=7), passive=False)
    assert found.problem.tree == known.tree and found.problem.loads == ()
    assert {joint.name for joint in known.tree.joints} <= set(NAMES)
    push = found.trace(lambda at: at.reaction.push(), np.array([0.0, found.duration]))
    assert push == pytest.approx(9.81 * (MASS + mass), rel=1e-6)  # at rest at both ends
    assert found.terms[0] == ("mass", pytest.approx(1 / (KILOGRAMS * found.duration)), -mass)


def test_its_rows_hold_and_its_energy_balances():
    table = violations(heaviest())
    assert max(each.nodes for each in table.values()) < 1e-5
    assert energy_error(heaviest()) < 1e-9


def test_no_lift_of_the_front_is_better_in_both():
    entries = middle().statistics["front"]
    assert tuple(entry["weight"] for entry in entries) == WEIGHTS
    assert {entry["status"] for entry in entries} == {"Solve_Succeeded"}
    names = [each.name for each in middle().plan.parameters]
    assert names == ["effort_weight", "stability_weight", "smoothness_weight"]
    effort, off = ([entry[name] for entry in entries] for name in ("effort", "stability"))
    assert min(np.diff(effort)) > 0.01 and max(np.diff(off)) < -0.01


def test_both_objectives_count_in_the_ranges_between_the_ends_of_the_front():
    first, _, last = middle().statistics["front"]
    ranges = {
        "effort": last["effort"] - first["effort"],
        "stability": first["stability"] - last["stability"],
    }
    assert middle().statistics["references"] == pytest.approx(ranges)
    weights = {name: weight * middle().duration for name, weight, _ in middle().terms}
    effort, off = ranges.values()
    expected = {"dynamic_effort": 0.5 / effort, "stability": 0.5 / off}
    assert weights == pytest.approx(expected | {"smoothness": SMOOTH / effort})
    values = {name: value for name, _, value in middle().terms}
    assert values["dynamic_effort"] == middle().statistics["front"][1]["effort"]
    assert values["stability"] == middle().statistics["front"][1]["stability"]


def test_a_lift_in_a_poorer_local_optimum_is_told_and_what_betters_it():
    def lifted(effort, off, success=True):
        terms = (("dynamic_effort", 1.0, effort), ("stability", 1.0, off), ("smoothness", 1.0, 0.0))
        return replace(middle(), terms=terms, success=success)

    def cost(wanted, lifted):
        effort, off, _ = (value for _, _, value in lifted.terms)
        return wanted * effort + (1.0 - wanted) * off if lifted.success else np.inf

    lifts = {1.0: lifted(1.0, 4.0), 0.5: lifted(2.0, 2.0), 0.25: lifted(1.5, 1.0)}
    lifts |= {0.0: lifted(9.0, 0.5)}
    assert bettered(lifts, cost) == {0.5: lifts[0.25]}
    assert bettered(lifts | {0.25: lifted(1.5, 1.0, success=False)}, cost) == {0.25: lifts[0.5]}


def test_the_first_lift_of_the_front_is_that_of_least_effort():
    alone = lift(problem(accuracy=Accuracy(points=6), passive=False), COARSE, Solver()).require()
    assert [term for term, weight, _ in alone.terms if weight] == ["dynamic_effort", "smoothness"]
    assert alone.terms[0][2] == pytest.approx(middle().statistics["front"][0]["effort"], rel=1e-6)

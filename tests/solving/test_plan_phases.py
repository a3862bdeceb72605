"""Plans and starts of motions with phases."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp.models.arms.two_link import two_link
from ocp.solvers.nlp import Iterate, own_residual
from ocp.solving.starts.warm_start import start

ARM = two_link()
REACH = ocp.Parameter("reach", 1.0, "rad", 0.5, 1.5)


def moved(**changes):
    """Return a motion of least effort of an arm in two phases, to an angle that is open."""
    stated = {
        "tree": ARM,
        "phases": tuple(
            ocp.Phase(name, motion=ocp.BSpline(points=6), duration=0.4) for name in ("go", "stop")
        ),
        "links": (ocp.continuous(),),
        "constraints": (
            ocp.at_start(ARM, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(ARM, q=(REACH, -1.0), qd=0.0),
            ocp.torque_limits(ARM),
        ),
        "objective": ocp.effort(),
    }
    return ocp.Problem(**stated | changes)


@pytest.fixture(scope="module")
def plan():
    return ocp.prepare(moved())


@pytest.fixture(scope="module")
def solution(plan):
    return plan.solve().require()


def test_a_plan_of_phases_takes_values_without_graphs(plan, solution):
    further = plan.solve(guess=solution, reach=1.2)
    alone = ocp.solve(moved(), values={"reach": 1.2})
    assert further.statistics["iterations"] < alone.statistics["iterations"]
    assert further.objective == pytest.approx(alone.objective, rel=1e-6)
    assert list(further.problem.parts.values())[1].requirements[0].upper == (1.2, -1.0)
    assert further.parameters == {"reach": 1.2}


def test_a_solution_of_phases_starts_a_solve_of_the_same(solution):
    again = ocp.solve(moved(), guess=solution)
    assert again.statistics["warm_start"]
    assert again.statistics["iterations"] <= 3
    assert again.objective == pytest.approx(solution.objective, rel=1e-7)


def test_a_start_from_a_solution_has_its_multipliers(plan, solution):
    program, begin = plan.transcribed, start(plan.transcribed, solution)
    g = np.array(program.nlp.constraints(begin.x)).ravel()
    assert own_residual(program.nlp, Iterate(x=begin.x, g=g, **begin.multipliers)) < 1e-6


def test_guesses_are_of_phases_by_name(plan, solution):
    guess = {"go": solution.phases["go"], "stop": ocp.Guess(q=[(0.5, 1.0), (-1.5, -1.0)])}
    assert plan.solve(guess).objective == pytest.approx(solution.objective, rel=1e-6)
    for wrong in ({"leap": ocp.Guess()}, {}):
        with pytest.raises(ValueError, match="a Solution of the phases go, stop, or a guess"):
            plan.solve(wrong)


def test_multipliers_are_named_by_phase_and_link(solution):
    names = set(solution.multipliers)
    assert {"go: torque_limits", "stop: at_end.q", "go to stop: qd"} <= names
    assert solution.multipliers["go to stop: q"].labels == ("shoulder", "elbow")


def test_a_free_parameter_of_phases_is_found():
    free = replace(REACH, free=True)
    ends = ocp.at_start(ARM, q=(0.0, -2.0), qd=0.0), ocp.at_end(ARM, q=(free, -1.0), qd=0.0)
    found = ocp.solve(moved(constraints=(*ends, ocp.torque_limits(ARM))))
    assert found.parameters["reach"] == pytest.approx(0.5, abs=1e-6)  # the nearest is the easiest
    assert found.multipliers["parameter reach"].values[0, 0] < -1e-3


def test_a_failure_names_the_phase_that_misses_what_is_asked():
    hurried = tuple(replace(each, duration=0.05) for each in moved().phases)
    with pytest.raises(ocp.NotSolved, match="stop: |go: |go to stop: "):
        ocp.solve(moved(phases=hurried), attempts=ocp.PLAIN).require()


def test_curves_run_through_all_phases(solution):
    t = solution.times(40)
    ends = np.cumsum(list(solution.durations.values()))
    assert ends[-1] == pytest.approx(solution.duration)
    inside = t > ends[0] + 1e-9
    np.testing.assert_allclose(
        solution.qd(t)[:, inside],
        solution.phases["stop"].qd(np.minimum(t[inside] - ends[0], ends[1] - ends[0])),
    )
    with pytest.raises(ValueError, match="time: expected within 0"):
        solution.q(ends[-1] + 0.1)


def test_integrals_of_phases_add_up(solution):
    total = sum(weight * value for _, weight, value in solution.terms)
    assert solution.objective == pytest.approx(total, rel=1e-12)
    assert [name for name, *_ in solution.terms] == ["go: effort", "stop: effort"]


def test_a_weight_that_is_sought_is_refused():
    gain = ocp.Parameter("gain", 1.0, "", 0.1, 2.0)
    start = ocp.at_start(ARM, q=(0.0, -2.0 * gain), qd=0.0)
    problem = moved(
        objective=gain * ocp.effort(), constraints=(start, ocp.at_end(ARM, q=(1.0, -1.0), qd=0.0))
    )
    assert ocp.prepare(problem).solve(gain=1.1).success
    with pytest.raises(ValueError, match="weight: parameter 'gain' is free"):
        ocp.prepare(problem, free=["gain"])

"""Plans where something goes wrong, or is asked in an unusual way."""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.certificate import violations
from ocp.models.arms.two_link import two_link
from ocp.problem.objectives import final
from ocp.solving.solver_attempts import PLAIN

ARM = two_link()
TWICE = 2 * PLAIN  # failures of a single attempt are not explained


def reach(peak=10.0, goal=1.0, seconds=(0.1, 5.0), tree=ARM, **stated):
    """The arm from rest to rest, its torques below a peak."""
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=seconds,
        objective=stated.pop("objective", ocp.duration()),
        constraints=(
            ocp.at_start(tree, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(tree, q=(goal, -1.0), qd=0.0),
            ocp.path("strong", lambda at: at.tau, lower=-peak, upper=peak),
        ),
        **stated,
    )


def test_threads_share_a_plan():
    plan, goals = ocp.prepare(reach(goal=ocp.Parameter("goal", 1.0, "rad"))), (0.9, 1.1, 1.2, 1.3)
    first = plan.solve()
    alone = [plan.solve(first, goal=goal).objective for goal in goals]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda goal: plan.solve(first, goal=goal).objective, goals))
    assert together == alone


def test_who_differentiates_an_optimum_waits_for_its_plan():
    plan = ocp.prepare(reach(goal=ocp.Parameter("goal", 1.0, "rad")))
    solution = plan.solve()
    alone = ocp.derivative(solution, "q", "goal")(0.2)
    with ThreadPoolExecutor(4) as threads:
        with plan.turn:
            asked = [threads.submit(ocp.derivative, solution, "q", "goal") for _ in range(4)]
            assert not any(wait(asked, timeout=0.3).done)
        curves = [each.result() for each in asked]
        with plan.turn:
            later = threads.submit(curves[0], 0.2)
            assert not wait([later], timeout=0.1).done
    assert all(np.array_equal(curve(0.2), alone) for curve in curves)
    assert np.array_equal(later.result(), alone)


def test_a_plan_solves_while_it_is_watched_solving():
    plan, inner = ocp.prepare(reach(goal=ocp.Parameter("goal", 1.0, "rad"))), []

    def watch(iteration):
        if not inner:
            inner.append(plan.solve(goal=0.9).objective)

    watched, alone = plan.solve(watch=watch), plan.solve()
    assert watched.objective == alone.objective and len(watched.history) == len(alone.history)
    assert inner == [plan.solve(goal=0.9).objective]


@pytest.mark.parametrize("least, most", [(0.5, 2.0), (2.0, 2.0)])
def test_bounds_of_a_duration_that_meet_are_refused(least, most):
    bound = ocp.Parameter("bound", most, "s", 0.1, 5.0)
    with pytest.raises(ValueError, match=rf"duration: both bounds are {least:g} s"):
        ocp.prepare(reach(seconds=(least, bound))).solve(bound=least)


def test_what_is_held_does_not_give_way():
    peak = ocp.Parameter("peak", 5.0, "N m", 1.0, 6.0, free=True)
    failed = ocp.prepare(reach(peak, seconds=(0.1, 0.3)), attempts=TWICE).solve(peak=4.0)
    words = failed.explanation[1].split()
    assert words[:-2] == ["duration", "(T):", "must", "give", "way", "by"]
    assert np.isclose(0.3 + float(words[-2]), ocp.solve(reach(4.0)).duration, rtol=1e-2)


def test_a_bound_of_what_is_sought_may_be_what_must_give_way():
    peak = ocp.Parameter("peak", 5.0, "N m", 1.0, 6.0, free=True)
    failed = ocp.prepare(reach(peak, seconds=0.3), attempts=TWICE).solve()
    assert not failed.success
    lines = "\n".join(failed.explanation)
    assert "or instead parameter peak (peak): must give way by 1" in lines
    assert "parameter peak (peak) at its upper bound 6 N m" in lines


def test_an_end_where_records_cannot_be_is_a_failure_and_no_error():
    """On its way the solver passes through inertias below zero."""
    one, two = (ocp.Parameter(name, 0.5, "", 0.0, 3.0, free=True) for name in ("one", "two"))
    upper, fore = ARM.links
    inertia = [[0.0, 0.0, 0.0], [0.0, 0.6 - one * two, 0.0], [0.0, 0.0, 0.6 - one * two]]
    tree = replace(ARM, links=(upper, replace(fore, inertia=inertia)))
    pull = final("pull", lambda at: 10 * ((one - 2.0) ** 2 + (two - 2.0) ** 2))
    statement = reach(tree=tree, objective=ocp.duration() + pull)
    ends = [
        ocp.prepare(statement, solver=ocp.Solver(options={"max_iter": count})).solve(attempts=PLAIN)
        for count in range(1, 6)
    ]
    unsound = [end for end in ends if end.explanation[-1].startswith("parameters are those of")]
    assert unsound and not any(end.success for end in ends)
    assert unsound[0].parameters == {"one": 0.5, "two": 0.5}


def test_a_file_is_read_for_the_problem_that_was_open(tmp_path):
    peak, goal = ocp.Parameter("peak", 8.0, "N m", 1.0, 50.0), ocp.Parameter("goal", 1.0, "rad")
    inside = ocp.path("inside", lambda at: at.q[0] - goal, upper=0.1, labels=("shoulder",))
    statement = reach(peak, goal)
    statement = replace(statement, constraints=(*statement.constraints, inside))
    solution = ocp.prepare(statement).solve(goal=0.9)
    ocp.save(solution, tmp_path / "open.npz")
    again = ocp.load(tmp_path / "open.npz", statement)
    assert again.parameters == {"peak": 8.0, "goal": 0.9}
    assert again.problem.constraints[-2].upper_of(0) == 8.0
    other = replace(statement, constraints=statement.constraints[:-1])
    with pytest.raises(ValueError, match="belongs to another problem: constraint 'inside'"):
        ocp.load(tmp_path / "open.npz", other)


def test_open_problems_are_refined_in_their_values():
    """Their durations, and loads that break where a parameter says."""
    force, until = ocp.Parameter("force", 2.0, "N"), ocp.Parameter("until", 0.2, "s", 0.05, 0.45)
    time = ocp.Parameter("time", 0.6, "s", 0.1, 1.0)

    def pushed(force, until, time):
        push = ocp.Load(
            point="tip", force=lambda t: (0.0, -force * ca.if_else(t < until, 1.0, 0.0), 0.0)
        )
        return reach(20.0, seconds=time, loads=(push,), objective=ocp.effort(ARM))

    values = {"force": 3.0, "until": 0.1, "time": 0.5}
    planned = ocp.solve(pushed(force, until, time), refine=0.2, values=values)
    stated = ocp.refine(pushed(**values), 0.2)
    assert planned.success and planned.parameters == values
    assert np.isclose(planned.objective, stated.objective, rtol=1e-9)
    assert planned.problem.motion == stated.problem.motion


def test_a_bound_of_control_points_may_be_sought():
    room = ocp.Parameter("room", 1.2, "rad", 0.1, 5.0, free=True)
    within = ocp.path("within", lambda at: at.q[1], lower=-room - 1, upper=room, when="hull")
    goal = ocp.effort(ARM) + final("room", lambda at: room)
    statement = reach(20.0, seconds=0.6, objective=goal)
    best = ocp.prepare(replace(statement, constraints=(*statement.constraints, within))).solve()
    points = best.points[1]
    narrow = np.max([points.max(), -1.0 - points.min()])
    assert best.success and np.isclose(best.parameters["room"], narrow, atol=1e-6)
    bent = replace(within, function=lambda at: room * at.q[1])
    with pytest.raises(ValueError, match="within': when 'hull': expected a function linear in q"):
        ocp.prepare(replace(statement, constraints=(*statement.constraints, bent)))


def test_a_solution_whose_problem_leaves_something_open_is_refused_by_name():
    payload = ocp.Parameter("payload", 0.2, "kg", 0.0, 2.0)
    solution = ocp.solve(reach())
    upper, fore = ARM.links
    laden = replace(ARM, links=(upper, replace(fore, mass=fore.mass + payload)))
    left_open = replace(solution, problem=replace(solution.problem, tree=laden))
    asked = (
        lambda: left_open.tau(0.1),
        lambda: ocp.verify(left_open),
        lambda: violations(left_open),
    )
    for each in asked:
        with pytest.raises(ValueError, match="problem: .* leaves 'payload' open"):
            each()

"""Statistics of several solves are sums of what each took."""

from ocp import Attempt, Solver, refine, solve
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.solving import total_statistics


def of_one(iterations, calls, seconds):
    names = ("build_seconds", "solve_seconds", "solve_cpu_seconds", "total_seconds")
    return {"iterations": iterations, "calls": calls} | dict.fromkeys(names, seconds)


def test_iterations_calls_and_seconds_are_added_alike():
    first = of_one(49, {"f": [1, 0.5], "jac_g": [50, 1.0]}, 2.0)
    last = of_one(8, {"jac_g": [9, 0.25], "hess_l": [8, 0.5]}, 1.0)
    both = total_statistics([first, last])
    assert both["iterations"] == 57 and both["solve_seconds"] == 3.0
    assert both["calls"] == {"f": [1, 0.5], "jac_g": [59, 1.25], "hess_l": [8, 0.5]}


def test_jacobians_of_all_attempts_are_counted_beside_their_iterations():
    hard = (Attempt(options={"max_iter": 4}), Attempt())
    statistics = solve(fastest(points=12), solver=Solver(plugin="ipopt"), attempts=hard).statistics
    assert statistics["attempts"][0] == "Maximum_Iterations_Exceeded"
    last = solve(fastest(points=12), solver=Solver(plugin="ipopt")).statistics
    assert statistics["iterations"] == last["iterations"] + 4
    assert statistics["calls"]["nlp_jac_g"][0] == last["calls"]["nlp_jac_g"][0] + 6


def test_a_refinement_counts_the_calls_of_its_rounds():
    refined = refine(fastest(points=6), 0.5, solver=Solver(plugin="ipopt"))
    rounds = refined.statistics["refinement"]
    assert len(rounds) > 1
    assert refined.statistics["iterations"] == sum(each["iterations"] for each in rounds)
    assert refined.statistics["calls"]["nlp_jac_g"][0] > refined.statistics["iterations"]

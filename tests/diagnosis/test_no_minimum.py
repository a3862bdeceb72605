"""Statements without a best motion are told as such."""

import pytest

from ocp import BSpline, Problem, Solver, at_end, at_start, effort, path, solve
from ocp.models.arms.two_link import two_link


def test_an_objective_without_a_minimum_is_told():
    arm = two_link()
    ends = at_start(arm, q=0.0, qd=0.0), at_end(arm, q=(1.0, 0.5), qd=0.0)
    rewarded = Problem(
        tree=arm,
        motion=BSpline(points=6),
        duration=1.0,
        objective=-1.0 * effort(arm),
        constraints=ends,
    )
    solution = solve(rewarded, solver=Solver(options={"max_iter": 400}))  # falls in 120
    assert not solution.success
    assert "has no minimum: take positive weights" in "\n".join(solution.explanation)


@pytest.mark.filterwarnings("ignore")  # CasADi's own, which does not say of what
def test_more_equalities_than_variables_are_told():
    arm = two_link()
    rest = {"qd": 0.0, "qdd": 0.0}
    ends = at_start(arm, q=0.0, **rest), at_end(arm, q=(1.0, 0.5), **rest)
    via = path("via", lambda at: at.q, lower=(0.2, 0.9), upper=(0.2, 0.9), when=(0.5, 0.5))
    crowded = Problem(
        tree=arm,
        motion=BSpline(points=6),
        duration=1.0,
        objective=effort(),
        constraints=(*ends, via),
    )
    solution = solve(crowded)
    assert not solution.success
    assert " equalities stand against " in "\n".join(solution.explanation)

"""An objective that falls without end is told as such."""

from ocp import BSpline, Problem, Solver, at_end, at_start, effort, solve
from ocp.models.arms.two_link import two_link


def test_an_objective_without_a_minimum_is_told():
    arm = two_link()
    ends = at_start(arm, q=0.0, qd=0.0), at_end(arm, q=(1.0, 0.5), qd=0.0)
    motion = BSpline(points=8, degree=5)
    rewarded = Problem(
        tree=arm, motion=motion, duration=1.0, objective=-1.0 * effort(arm), constraints=ends
    )
    solution = solve(rewarded, solver=Solver(options={"max_iter": 100}))  # of thousands that fall
    assert not solution.success
    assert "has no minimum: take positive weights" in "\n".join(solution.explanation)

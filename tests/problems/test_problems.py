"""The papers' problems: published times and true optima, from every formulation and Hessian; the
gallery."""

from types import SimpleNamespace

import numpy as np
import pytest

from ocp import Solver, Spline, Transcription, solve, verify
from ocp.cli.commands.list_problems import modules, tasks
from ocp.dynamics import FORMULATIONS
from ocp.mechanics import position
from ocp.problems.arms.pr_mixed import problem as sliding
from ocp.problems.arms.two_link_lift import problem as lift
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.swing_ups import acrobot_swing, upright_ends

KNOTS = Transcription(method=Spline(nodes=1, quadrature="trapezoid"))
FASTEST_T = (
    0.3918545  # s: bang-bang solution by shooting, residual 5e-15, maximum principle checked
)
LIFT_J = 0.844878  # collocation, converged to 1e-9 over 60 to 180 intervals
SLIDING_T, SLIDING_J = 0.646260, 0.853063
STROKE_T, STROKE_J = 0.556748, 0.734908


@pytest.fixture(scope="module")
def fine():
    """The fastest motion of the arm on 102 points."""
    return solve(fastest(points=102)).require()


@pytest.fixture(scope="module")
def published_lift():
    """The lift on 22 points."""
    return solve(lift()).require()


def test_minimum_time_at_the_knots_is_the_published_one():
    solution = solve(fastest(points=22), KNOTS).require()
    assert solution.duration == pytest.approx(0.3922, abs=2e-4)
    assert round(solution.duration, 3) == 0.392  # Barman 2020, section 4.1
    assert solution.duration == pytest.approx(0.3934, abs=1.5e-3)  # Xiang et al. 2009, example 1


def test_minimum_time_approaches_the_true_optimum(fine):
    for solution in (fine, solve(fastest(points=102), KNOTS).require()):
        assert solution.duration == pytest.approx(FASTEST_T, abs=5e-5)


def test_minimum_time_is_bang_bang_as_the_maximum_principle_says(fine):
    middles = np.array(
        [0.02, 0.12, 0.215, 0.31]
    )  # s, inside the four arcs (+,-), (+,+), (-,+), (-,-) of the true optimum
    assert np.sign(fine.tau(middles)).T.tolist() == [[1, -1], [1, 1], [-1, 1], [-1, -1]]
    assert np.abs(np.abs(fine.tau(middles)) - 10).max() < 0.05


def test_the_default_grid_is_honest_between_its_nodes():
    certificate = verify(solve(fastest()).require())
    assert certificate.violations["torque_limits"].dense <= 0.01
    assert certificate.goal_drift <= 1e-3 and certificate.drift <= 1e-3


def test_the_lift_is_the_published_one_and_approaches_the_true_optimum(published_lift):
    coarse, fine = published_lift, solve(lift(points=102)).require()
    assert coarse.duration == pytest.approx(0.519, abs=1e-3)
    assert coarse.objective == pytest.approx(LIFT_J, abs=2e-3)
    assert fine.duration == pytest.approx(0.519, abs=1e-3)
    assert fine.objective == pytest.approx(LIFT_J, abs=1e-4)
    assert (
        coarse.objective > fine.objective > LIFT_J - 1e-5
    )  # finer bases contain better motions, none too good


def test_the_lift_without_effort_is_faster():
    assert solve(lift(u=0.0, points=102)).require().duration == pytest.approx(0.4221, abs=2e-4)


@pytest.mark.parametrize(
    ("stroke", "time", "cost"), [({}, SLIDING_T, SLIDING_J), ({"stroke": 0.5}, STROKE_T, STROKE_J)]
)
def test_the_sliding_arm_approaches_the_true_optimum(stroke, time, cost):
    solution = solve(sliding(points=102, **stroke)).require()
    assert solution.duration == pytest.approx(time, abs=1e-4)
    assert solution.objective == pytest.approx(cost, abs=1e-5)


def test_the_sliding_arm_lies_along_its_slide_at_rest():
    tip = np.array(position(sliding().tree, np.array([0.3, 0.0]), "tip")).ravel()
    assert np.allclose(np.abs(tip), [0, 0, 0.7], atol=1e-12) or np.allclose(
        np.abs(tip), [0, 0, 0.1], atol=1e-12
    )


@pytest.mark.parametrize("problem", [fastest, sliding], ids=["two_link_time", "pr_mixed"])
def test_every_formulation_and_provider_reaches_the_same_optimum(problem):
    """All of both on the first problem; on the other the recursion, which knows no formulation,
    goes with one."""
    expected = solve(problem(points=8)).require().objective
    for name, formulation in FORMULATIONS.items():
        both = problem is fastest or name == "newton_euler"
        for derivatives in (
            *(["recursive"] if both and formulation.derivatives else []),
            "ad",
            *(["published"] if formulation.sensitivity else []),
        ):
            found = solve(
                problem(points=8), Transcription(dynamics=name, derivatives=derivatives)
            ).require()
            assert found.objective == pytest.approx(expected, rel=1e-6), (name, derivatives)


@pytest.mark.parametrize(
    ("problem", "hessian", "options"),
    [
        (fastest, "gauss-newton", {}),
        (fastest, "lbfgs", {}),
        (lift, "gauss-newton", {}),
        (lift, "lbfgs", {"tol": 1e-6, "limited_memory_max_history": 30}),
    ],
)
def test_every_hessian_that_converges_reaches_the_same_optimum(problem, hessian, options):
    exact, other = (
        solve(problem(points=11), solver=solver).require()
        for solver in (Solver(), Solver(hessian=hessian, options=options))
    )
    assert other.objective == pytest.approx(exact.objective, rel=1e-6)


def test_another_solver_reaches_the_same_optimum(published_lift):
    other = solve(lift(), solver=Solver(plugin="sqpmethod")).require()
    assert other.objective == pytest.approx(published_lift.objective, rel=1e-7)


def test_the_gallery_lists_every_problem_that_runs():
    assert {"two_link_time", "gait", "lifting", "compare_barman"} <= set(modules())
    assert {"two_link_time", "gait", "lifting"} <= set(tasks()) <= set(modules())
    assert "compare_sweeps" not in tasks()  # whose task is the gait's


def test_ctrl_c_in_one_of_several_starts_ends_them_all(monkeypatch):
    tried = []

    def stopped(*_, **settings):
        tried.append(settings["guess"])
        return SimpleNamespace(status="User_Requested_Stop", success=False)

    monkeypatch.setattr(upright_ends, "solve", stopped)
    with pytest.raises(KeyboardInterrupt):
        upright_ends.swing(acrobot_swing.problem())
    assert len(tried) == 1

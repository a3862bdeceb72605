"""Solving: curves of a solution, and failures that explain themselves."""

import math
import time

import casadi as ca
import numpy as np
import pytest

import ocp
from ocp.models.arms.two_link import two_link
from ocp.problems.arms.two_link_time import problem as fastest


def test_the_curves_are_derivatives_of_each_other(lifted):
    t = np.linspace(0.05, lifted.duration - 0.05, 7)
    step = 1e-5
    assert np.allclose(
        (lifted.q(t + step) - lifted.q(t - step)) / (2 * step), lifted.qd(t), atol=1e-7
    )
    assert np.allclose(
        (lifted.qd(t + step) - lifted.qd(t - step)) / (2 * step), lifted.qdd(t), atol=1e-6
    )


def test_a_number_gives_a_vector_and_an_array_a_table(lifted):
    assert lifted.q(0.1).shape == (2,) and lifted.tau([0.1, 0.2, 0.3]).shape == (2, 3)
    moment, force = lifted.reactions([0.1, 0.2, 0.3])
    assert force.shape == moment.shape == (3, 2, 3) and lifted.reactions(0.1)[0].shape == (3, 2)
    assert np.allclose(
        moment[2], lifted.tau([0.1, 0.2, 0.3]), atol=1e-12
    )  # both hinges turn about their link's z


def test_time_outside_the_motion_is_refused(lifted):
    with pytest.raises(ValueError, match="time: expected within 0 and"):
        lifted.q(lifted.duration + 0.1)


def test_the_objective_is_the_sum_of_its_terms(lifted):
    assert sum(weight * value for _, weight, value in lifted.terms) == pytest.approx(
        lifted.objective, rel=1e-12
    )
    effort_value = {name: value for name, _, value in lifted.terms}["effort"]
    t = lifted.times(20001)
    squares = np.sum(lifted.tau(t) ** 2, axis=0)
    assert np.sum((squares[1:] + squares[:-1]) / 2 * np.diff(t)) == pytest.approx(
        effort_value, rel=1e-6
    )


def test_seconds_of_the_processor_are_without_those_in_which_others_work():
    slept = []

    def wait(iteration):
        slept.append(0.02)
        time.sleep(slept[-1])

    spent = ocp.solve(fastest(points=8), watch=wait).require().statistics
    assert 0 < spent["solve_cpu_seconds"] <= spent["solve_seconds"] - sum(slept)


def test_failure_names_the_worst_rows_and_what_is_stuck():
    solution = ocp.solve(
        fastest(torque=1e-4, points=8), solver=ocp.Solver(options={"max_iter": 60})
    )
    assert not solution.success
    with pytest.raises(ocp.NotSolved) as failure:
        solution.require()
    message = str(failure.value)
    assert message.startswith(f"not solved: {solution.status}")
    assert "rad/s at t = " in message or "N m at t = " in message
    assert "duration stuck at its upper bound 5 s" in message


def test_infeasible_requirements_say_so():
    arm = two_link(torque=10, gravity=9.81)
    problem = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=6),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(arm, q=0.0),
            ocp.path(
                "reach",
                lambda at: at.position("tip")[0],
                lower=0.9,
                when="end",
                labels=("x",),
                units="m",
            ),
        ),
    )
    solution = ocp.solve(problem)
    assert solution.status in ("Infeasible_Problem_Detected", "Restoration_Failed")
    assert any(
        line.startswith("reach (x): violated by 0.1 m at t = 1 s") for line in solution.explanation
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            lambda arm: {
                "constraints": (
                    ocp.path(
                        "root", lambda at: ca.sqrt(at.q - 5), lower=0, labels=("shoulder", "elbow")
                    ),
                )
            },
            r"at the initial guess root \(shoulder\) is nan at t = 0 s",
        ),
        (
            lambda arm: {
                "constraints": (
                    ocp.at_start(arm, q=0.0),
                    ocp.path("kink", lambda at: ca.sqrt(at.q[1]), lower=0, labels=("elbow",)),
                )
            },
            r"at the initial guess the derivative of kink \(elbow\) is inf at t = 0 s",
        ),
        (
            lambda arm: {"objective": ocp.integral("sine", lambda at: math.sin(at.q[0]) * at.q[1])},
            "at the initial guess objective 'sine' is nan at t = .*: its function has nan in it as "
            "a number, .*; take CasADi's, as casadi.sin",
        ),
        (
            lambda arm: {
                "constraints": (ocp.path("slow", lambda at: at.q[0] * float(at.qd[1]), upper=3),)
            },
            r"slow \(row 0, s = 0\) is nan whatever the motion, .*take ca.sin and the like",
        ),
        (
            lambda arm: {"objective": ocp.integral("cost", lambda at: 1 / (at.q[0] - at.q[0]))},
            "at the initial guess .*objective 'cost' is",
        ),
    ],
)
def test_not_a_number_at_the_guess_is_named_before_solving(changes, message):
    arm = two_link()
    problem = ocp.Problem(
        **{
            "tree": arm,
            "motion": ocp.BSpline(points=6),
            "duration": 1.0,
            "objective": ocp.effort(),
            "constraints": (),
        }
        | changes(arm)
    )
    with pytest.raises(ValueError, match=message):
        ocp.solve(problem)

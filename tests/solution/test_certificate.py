"""The certificate of a motion finds what the solver does not say."""

from dataclasses import replace

import numpy as np
import pytest
from ocp.problems.two_link_lift import problem as lift
from ocp.problems.two_link_time import problem as fastest

from ocp import (
    BSpline,
    Link,
    NotVerified,
    Problem,
    Spline,
    Transcription,
    Tree,
    at_end,
    at_start,
    effort,
    revolute,
    solve,
    verify,
)
from ocp.dynamics import FORMULATIONS


def test_a_certified_motion_passes_and_a_spoilt_one_does_not(lifted):
    certificate = verify(lifted).require(1e-2)
    assert certificate.drift < 1e-6 and certificate.energy_error < 1e-12 and certificate.kkt < 1e-6
    spoilt = verify(replace(lifted, points=lifted.points + 0.01 * np.eye(2, 12)))
    assert spoilt.kkt > 1e-3
    with pytest.raises(
        NotVerified, match=r"at_start.q \(shoulder\): violated by 0.01 rad at t = 0 s"
    ):
        spoilt.require(1e-3)


def test_solve_reports_the_certificate_when_asked(lifted):
    assert lifted.verification is None
    assert solve(lift(points=12), certify=True).verification == verify(lifted)


def test_a_plan_by_the_simulating_formulation_is_simulated_by_another(lifted):
    certificate = verify(solve(lift(points=12), Transcription(dynamics="lie_group")))
    assert (
        certificate.drift == pytest.approx(verify(lifted).drift, abs=1e-7)
        and certificate.energy_error < 1e-12
    )


def test_the_dense_grid_finds_what_the_nodes_hide():
    solution = solve(fastest(points=22), Transcription(method=Spline(nodes=1)))
    worst = verify(solution).violations["torque_limits"]
    assert (
        worst.nodes < 1e-6 and 0.05 < worst.dense < 0.07 and worst.unit == "N m"
    )  # 0.06 N m: measured by two other programs
    t = worst.time
    joint = ("shoulder", "elbow").index(worst.label)
    assert abs(solution.tau(t)[joint]) - 10 == pytest.approx(worst.dense, rel=1e-9)


def test_forward_simulation_sees_a_wrong_formulation(quick, monkeypatch):
    """Plan with dynamics of the house that forget the Coriolis terms.

    The simulation, by another formulation, must drift away.
    """
    formulation = quick.transcription.dynamics
    wrong = replace(
        formulation,
        inverse=lambda tree, q, qd, qdd, loads=(): formulation.inverse(tree, q, 0 * qd, qdd, loads),
    )
    monkeypatch.setitem(FORMULATIONS, wrong.name, wrong)
    solution = solve(fastest(points=12), Transcription(dynamics=wrong, derivatives="ad"))
    certificate = verify(solution)
    assert solution.success and certificate.drift > 0.01 and certificate.energy_error > 1e-3


def test_an_unstable_motion_drifts_far_but_not_within_a_segment():
    """A pendulum that balances upright.

    Each segment errs a little, which the whole motion multiplies.
    """
    pole = Tree(
        links=(Link(mass=1.0, com=(0.5, 0, 0)),), joints=(revolute("pivot"),), gravity=(0, -9.81, 0)
    )
    problem = Problem(
        tree=pole,
        motion=BSpline(points=30, degree=5),
        duration=3.0,
        objective=effort(),
        constraints=(at_start(pole, q=np.pi / 2 - 0.01, qd=0.0), at_end(pole, q=np.pi / 2, qd=0.0)),
    )
    found = verify(solve(problem).require())
    assert found.drift > 100 * found.defect and 0 < found.defect < 1e-8

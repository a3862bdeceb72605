"""Motions through compliant contact: the same by every method, simulated, and kept in files."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dropped_bodies import FOOT, GRAVITY, MASS, piston, raised, sunk

import ocp
from ocp.problem import Compliant, contacts
from ocp.transcription import transcribe_phase

LAW = {"radius": 0.05, "stiffness": 5e4, "dissipation": 1.0}


def lift():
    """The mass raised by 0.1 m in 0.6 s from rest to rest, on a foot that nothing holds."""
    ground = Compliant(**LAW)
    rest = ground.radius - sunk(ground, (MASS + FOOT) * GRAVITY)
    return raised(piston(), ground, rest, {"leg": 0.5}, points=26)


METHODS = {
    "explicit": ocp.Transcription(),
    "variables": ocp.Transcription(method=ocp.Spline(torques="variables")),
    "hermite-simpson": ocp.Transcription(method=ocp.HermiteSimpson(intervals=14)),
    "forward": ocp.Transcription(method=ocp.HermiteSimpson(intervals=14, form="explicit")),
    "radau": ocp.Transcription(method=ocp.Radau(intervals=10)),
}


@cache
def lifted(method):
    return ocp.solve(lift(), METHODS[method]).require(coarse=True)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_same_motion(method):
    solution, other = lifted(method), lifted("forward")
    t = np.linspace(0.05, 0.6, 23)
    assert solution.objective == pytest.approx(other.objective, rel=1e-3)
    pushes = [each.output("force on sole", t)[2] for each in (solution, other)]
    assert np.abs(pushes[0] - pushes[1]).max() < 0.3  # of 27 N


@pytest.mark.parametrize("method", ["explicit", "hermite-simpson", "radau"])
def test_it_is_what_its_torques_do_with_dissipation_counted(method):
    certificate = ocp.verify(lifted(method))
    assert certificate.deviations.error < 1e-3
    assert certificate.energy_error < 1e-3


def test_integration_steps_through_the_contact():
    solution = ocp.solve(lift(), ocp.Transcription(method=ocp.Integrated(nodes=6))).require()
    assert solution.objective == pytest.approx(lifted("forward").objective, rel=1e-3)


def test_exact_derivatives_are_those_of_differences():
    transcribed = transcribe_phase(lift(), METHODS["explicit"])
    nlp, x = transcribed.nlp, np.array(lifted("explicit").points).ravel(order="F") + 1e-3
    slope = np.array(nlp.constraints.jacobian()(x, 0))
    steps = 1e-6 * np.eye(len(x))
    ends = [(np.array(nlp.constraints(x + h) - nlp.constraints(x - h)) / 2e-6) for h in steps]
    assert np.allclose(slope, np.hstack(ends), rtol=1e-5, atol=1e-3)


def test_files_keep_the_law(tmp_path):
    solution = lifted("explicit")
    ocp.save(solution, tmp_path / "lift.npz")
    again, t = ocp.load(tmp_path / "lift.npz"), np.linspace(0.0, 0.6, 9)
    assert np.allclose(again.output("force on sole", t), solution.output("force on sole", t))
    assert ocp.verify(again).deviations.error == pytest.approx(
        ocp.verify(solution).deviations.error
    )


def test_a_plan_keeps_the_ground_open():
    hard = Compliant(**LAW | {"stiffness": ocp.Parameter("stiffness", 5e4, "N/m2")})
    plan = ocp.prepare(replace(lift(), loads=contacts(piston(), "sole", model=hard)))
    assert plan.solve().objective == pytest.approx(lifted("explicit").objective, rel=1e-9)
    assert plan.solve(stiffness=8e4).objective != pytest.approx(
        lifted("explicit").objective, rel=1e-6
    )

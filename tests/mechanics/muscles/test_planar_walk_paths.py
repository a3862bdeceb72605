"""Polynomials follow the nine muscles of a leg of Moco's planar walk, whose file is no part of the
project: `OPENSIM_MODELS` names a folder that has it."""

import os
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from opensim_child import needs_opensim, opensim_answers

from ocp.mechanics.muscles.path_fits import PathSamples, fit_polynomial

MODEL = Path(os.environ.get("OPENSIM_MODELS", "")) / "2D_gait.osim"
RANGES = {
    "hip_flexion_r": (-0.5, 1.2),
    "knee_angle_r": (-1.3, 0.0),
    "ankle_angle_r": (-0.4, 0.5),
}
pytestmark = [
    pytest.mark.commands,
    needs_opensim,
    pytest.mark.skipif(not MODEL.is_file(), reason="needs 2D_gait.osim in OPENSIM_MODELS"),
]


def test_polynomials_of_order_six_are_within_a_twentieth_of_a_millimetre():
    request = {"model": str(MODEL), "seed": 0, "count": 600, "ranges": RANGES}
    answers = opensim_answers(path_samples=request)["path_samples"]
    assert len(answers) == 9
    for name, answer in answers.items():
        samples = PathSamples(**answer)
        fit = fit_polynomial(samples, 6, within=5e-5)
        x = ca.SX.sym("x", len(fit.joints))
        slope = ca.Function("slope", [x], [ca.gradient(fit.polynomial(x), x)])
        errors = np.array(slope.map(600)(np.transpose(samples.coordinates))).T - samples.slopes
        assert np.sqrt(np.mean(errors**2)) < 5e-4, name  # m, of arms up to 0.1 m

"""Outputs along motions that are known, and their slopes by parameters and by the motion."""

import casadi as ca
import numpy as np
import pytest

from ocp import BSpline, Load, Parameter, Problem, effort, inverse_dynamics
from ocp.dynamics import formulation_of
from ocp.models.arms.two_link import two_link
from ocp.transcription.kernels.parameter_outputs import output_functions, stack_motion

PUSH = Parameter("push", 2.0, "N")
SCALE = Parameter("scale", 3.0)
ARM = two_link(gravity=9.81)
PROBLEM = Problem(
    tree=ARM,
    motion=BSpline(points=8),
    duration=0.7,
    objective=effort(),
    loads=(Load(point="tip", force=lambda t: ca.vertcat(PUSH * t, 0, 0)),),
    outputs={
        "tau": lambda at: at.tau,
        "tip": lambda at: SCALE * at.position("tip")[:2] * at.qd,
        "time": lambda at: at.t,
    },
)
S = np.array([0.0, 0.3, 1.0])
Q, QD, QDD = np.random.default_rng(0).uniform(-1, 1, (3, 2, 3))
MOTION = stack_motion(S, 2.0, (Q, QD, QDD))


def seen(*names):
    """Outputs of the problem by name."""
    return output_functions(PROBLEM, formulation_of("auto", ARM), names)


def test_outputs_are_those_of_the_motion_whatever_the_duration_of_the_problem():
    tau = seen("tau", "time").values(MOTION, np.array([0.0]))
    for k in range(3):
        expected = inverse_dynamics(ARM, *(ca.DM(each[:, k]) for each in (Q, QD, QDD)))
        assert tau[:2, k] == pytest.approx(np.array(expected).ravel(), abs=1e-12)
    assert tau[2] == pytest.approx([0.0, 0.6, 2.0])


def test_only_parameters_of_the_wanted_outputs_are_known():
    assert seen("tip").parameters == (SCALE,)
    assert seen("tau", "tip").parameters == (PUSH, SCALE)
    assert dict(seen("tip", "time").sizes) == {"tip": 2, "time": 1}


def test_outputs_are_built_once():
    assert seen("tip") is seen("tip")


def test_slopes_are_those_of_differences():
    outputs, p = seen("tau", "tip"), np.array([1.5, 2.5])
    values, by_p, by_motion = outputs.slopes_of_motion((SCALE, PUSH))(MOTION, p)
    assert values == pytest.approx(outputs.values(MOTION, p))
    assert outputs.slopes((SCALE, PUSH))(MOTION, p)[1] == pytest.approx(by_p)
    step = 1e-6
    for k, column in ((1, 0), (0, 1)):
        ahead, behind = (outputs.values(MOTION, p + way * np.eye(2)[k]) for way in (step, -step))
        assert by_p[:, column] == pytest.approx((ahead - behind) / (2 * step), abs=1e-8)
    for row in range(6):
        shift = np.zeros((7, 1))
        shift[1 + row] = step
        ahead, behind = (outputs.values((MOTION[0] + d, S), p) for d in (shift, -shift))
        assert by_motion[:, row] == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)


def test_an_output_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="output 'force': the problem has no such output; it has"):
        seen("force")

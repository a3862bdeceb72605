"""Motions under limits and costs of jerk and of torque rates, and rates by differences."""

from dataclasses import replace

import casadi as ca
import numpy as np

import ocp
from ocp.dynamics import FORMULATIONS
from ocp.models.arms.two_link import two_link
from ocp.transcription.kernels.motion_traces import trace
from ocp.transcription.kernels.time_derivatives import motion_rates
from ocp.transcription.variables.layout import motion_inputs

METHODS = {
    "spline": ocp.Spline(),
    "lifted": ocp.Spline(torques="variables"),
    "hermite-simpson": ocp.HermiteSimpson(intervals=5),
    "radau": ocp.Radau(intervals=3),
}


def limited(**limits):
    """The two-link arm with limits of every joint's rates."""
    arm = two_link(gravity=9.81)
    return replace(arm, joints=tuple(replace(joint, **limits) for joint in arm.joints))


def moved(motion=ocp.BSpline(points=8), **changes):
    """An arm that moves under all that is made of rates."""
    arm = limited(jerk=60.0, torque_rate=(-40.0, 50.0))
    stated = {
        "tree": arm,
        "motion": motion,
        "duration": (0.2, 3.0),
        "objective": ocp.duration()
        + 1e-3 * ocp.jerk(arm, ["elbow"])
        + 1e-3 * ocp.torque_rate()
        + ocp.integral("hand", lambda at: at.rate(at.position("tip")[0]) ** 2),
        "constraints": (
            ocp.at_start(arm, q=(0.1, -1.0), qd=0.0),
            ocp.at_end(arm, q=(1.2, 0.3), qd=0.0),
            ocp.jerk_limits(arm),
            ocp.torque_rate_limits(arm),
            ocp.path("hand", lambda at: at.rate(at.acceleration("tip"))[:2], lower=-90, upper=90),
        ),
        "loads": (ocp.Load(point="tip", force=lambda t: (ca.sin(3 * t), -5.0, 0.0)),),
    }
    return ocp.Problem(**stated | changes)


def mass(kind, motion, distance=0.6, mass=2.0, T=(0.1, 5.0), **changes):
    """A mass that slides from rest to rest; its limits are of the rate of `kind`."""
    slide = ocp.prismatic("slide", jerk=12.0, torque_rate=24.0)
    tree = ocp.Tree(links=[ocp.Link(mass=mass)], joints=[slide], gravity=(0, 0, 0))
    limits = {"jerk": ocp.jerk_limits, "torque_rate": ocp.torque_rate_limits}[kind](tree)
    ends = ocp.at_start(tree, q=0.0, qd=0.0, qdd=0.0), ocp.at_end(tree, q=distance, qd=0.0, qdd=0.0)
    stated = {"objective": ocp.duration(), "constraints": (*ends, limits)}
    return ocp.Problem(tree=tree, motion=motion, duration=T, **stated | changes)


def traced(problem, points, T, wanted, formulation="newton_euler"):
    """The function s (N,) -> (m, N) of wanted(Instant) along a motion."""
    tracing = trace(problem, FORMULATIONS[formulation], wanted)

    def values(s):
        parts = [motion_inputs(problem, points, T, s)]
        parts += [motion_rates(problem, points, s)] if tracing.rated else []
        return tracing(np.vstack(parts), s)

    return values


def differences(values, s, T, step=1e-3):
    """Rates by differences in time, by three steps."""
    steps = [step / 2**k for k in range(3)]
    first, second, third = ((values(s + h) - values(s - h)) / (2 * h * T) for h in steps)
    one, two = (4 * second - first) / 3, (4 * third - second) / 3
    return (16 * two - one) / 15

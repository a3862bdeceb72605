"""The two-link arm, with joint limits or with all kinds of rows, and where its rows went."""

from dataclasses import replace

import casadi as ca

import ocp
from ocp import BSpline, Problem, effort
from ocp.models.arms.two_link import two_link
from ocp.transcription import transcribe_phase, transcription_of


def limited(*, position=(-1.0, 2.0)):
    """The two-link arm with joint limits, the elbow's twice as wide."""
    arm = two_link(gravity=9.81)
    return replace(
        arm,
        joints=tuple(
            replace(joint, position=(k * position[0], k * position[1]))
            for k, joint in enumerate(arm.joints, 1)
        ),
    )


def arm_problem(*constraints, **changes):
    """An arm that need do nothing but meet the constraints."""
    stated = Problem(
        tree=limited(),
        motion=BSpline(points=7),
        duration=0.8,
        objective=effort(),
        constraints=constraints,
    )
    return replace(stated, **changes)


def arm_of_all_rows(*constraints, **fields):
    """Two links with every kind of row and term, in a duration that is sought."""
    arm = two_link(gravity=9.81)
    stated = {
        "tree": arm,
        "duration": (0.2, 3.0),
        "objective": 0.3 * ocp.duration()
        + 0.01 * effort()
        + 2.0 * ocp.integral("height", lambda at: at.s * at.position("tip")[1] ** 2),
        "constraints": (
            ocp.at_start(arm, q=(0.1, -1.0), qd=0.0),
            ocp.at_end(arm, q={"shoulder": 1.0}),
            ocp.torque_limits(arm),
            ocp.path("reach", lambda at: at.q, lower=-3.0, upper=3.0, when="hull"),
            ocp.path("turn", lambda a, b: b.qd - a.qd, lower=-1.0, upper=1.0, when="joined"),
            *constraints,
        ),
        "loads": (ocp.Load(point="tip", force=lambda t: (ca.sin(3 * t), -5, 0)),),
    }
    return Problem(**stated | fields)


def placed(problem, **settings):
    """The rows of the transcribed problem by constraint name."""
    return {row.name: row for row in transcribe_phase(problem, transcription_of(settings)).rows}

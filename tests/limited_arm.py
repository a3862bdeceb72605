"""The two-link arm with joint limits, a problem of it, and where its rows went."""

from dataclasses import replace

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


def placed(problem, **settings):
    """The rows of the transcribed problem by constraint name."""
    return {row.name: row for row in transcribe_phase(problem, transcription_of(settings)).rows}

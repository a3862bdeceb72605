"""A step's motion alone, to begin from: where feet go, whatever forces it takes."""

from dataclasses import replace
from typing import Any

from ocp import BSpline, Problem, Spline, Transcription, smoothness, squares
from ocp.models.human import ROOT
from ocp.problems.gait.statement.constraint_families import family_of

FORCES = ("torques", "balance")  # families that ask something of them
SMOOTH = 0.2  # the weight of accelerations beside angles squared: any such motion is a beginning
FEW = 12  # control points of it, since where feet go takes no more [assumed]
SELDOM = Transcription(method=Spline(nodes=2))  # no forces are looked for between the nodes


def motion_alone(problem: Problem) -> Problem:
    """Return the search for the motion of a step that is nearest to standing, q = 0, on average,
    with the angles and places that the step asks for and without its forces: all joints, those of
    the pelvis in space too, are driven by whatever it takes.

    `problem` is one step, in one phase.
    """
    joints = tuple(replace(joint, actuated=True) for joint in problem.tree.joints)
    body = replace(problem.tree, joints=joints, elements=())
    motion: Any = problem.motion
    if motion.points > FEW:
        motion = BSpline(points=FEW, degree=motion.degree)
    turns = [row for row, joint in enumerate(body.moving) if joint.name not in ROOT]
    return replace(
        problem,
        tree=body,
        motion=motion,
        ground=None,
        loads=(),
        constraints=tuple(
            each for each in problem.constraints if family_of(each.name) not in FORCES
        ),
        objective=squares("standing", lambda at: at.q[turns]) + SMOOTH * smoothness(body),
    )

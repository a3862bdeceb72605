"""What a motion may minimise. `+` joins objectives and a number scales one: `duration() + 0.01 * effort()`."""

from math import isfinite

import casadi as ca

from ocp.problem.statement import Objective, Term


def duration():
    """The duration T (s)."""
    return final("duration", lambda at: at.T)


def effort(tree=None, joints=None):
    """The integral of the squared joint torques, over all joints or over the named `joints` of `tree` (N2 m2 s)."""
    if joints is None:
        return squares("effort", lambda at: at.tau)
    rows = [tree.coordinate(name) for name in joints]
    return squares("effort", lambda at: at.tau[rows])


def dynamic_effort(tree):
    """The integral of the sum of (tau_j / |tau_j|max)^2 over the joints with torque limits   (Barman 2020, eq. 5.1; s)."""
    limited = {
        row: max(map(abs, joint.torque))
        for row, joint in enumerate(tree.moving)
        if all(map(isfinite, joint.torque)) and any(joint.torque)
    }
    if not limited:
        raise ValueError("dynamic_effort: no joint of the tree has torque limits")
    return squares(
        "dynamic_effort", lambda at: at.tau[list(limited)] / ca.DM(list(limited.values()))
    )


def smoothness(tree, joints=None, turn=100.0, slide=9.81 / 5):
    """The integral of the squared accelerations of all joints, or of the named `joints`, over what counts as one of each: `turn` (rad/s2) and
    `slide` (m/s2), of which the defaults are for people [assumed] (s)."""
    rows = [row for row, joint in enumerate(tree.moving) if joints is None or joint.name in joints]
    scale = ca.DM([turn if tree.moving[row].kind == "revolute" else slide for row in rows])
    return squares("smoothness", lambda at: at.qdd[rows] / scale)


def mixed(u):
    """(1 - u) T + u effort: the mixed criterion (Xiang, Arora & Abdel-Malek 2009, eq. 67), u in [0, 1]."""
    if not 0 <= u <= 1:
        raise ValueError(f"mixed: expected u in [0, 1], got {u}")
    return (1 - u) * duration() + u * effort()


def final(name, function):
    """The value of function(instant) at the end of the motion."""
    return Objective(terms=((1.0, Term(name=name, function=function, kind="end")),))


def integral(name, function):
    """The time integral of function(instant)."""
    return Objective(terms=((1.0, Term(name=name, function=function, kind="integral")),))


def squares(name, function):
    """The time integral of the sum of squares of function(instant), a vector of residuals."""
    return Objective(
        terms=((1.0, Term(name=name, function=lambda at: ca.vec(function(at)), kind="squares")),)
    )

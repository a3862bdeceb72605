"""Direct collocation: states (q, qd) and torques as piecewise polynomials, tied by the linear equations of the stages and by dynamics.

The unknowns are q, T qd and T^2 qdd at the stages of a Mesh, beside the torques of the driven joints there; all that is left nonlinear is the
law of motion, at every stage for itself: tau = inverse dynamics ("implicit") or qdd = forward dynamics ("explicit"). Rough torques, such
as bang-bang ones, cost a mesh no more than smooth ones. (Kelly 2017; Garg et al. 2010)
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from ocp.dynamics import forward
from ocp.mechanics.loads import acting
from ocp.mechanics.structure import bearing, structure
from ocp.mechanics.zero_moment import body_weight
from ocp.motion.mesh import Mesh, abscissae, defects
from ocp.problem.names import DYNAMICS, PASSIVE, STAGES
from ocp.problem.statement import Constraint
from ocp.transcription.kernels import Inputs, kernel
from ocp.transcription.loop_laws import closures
from ocp.transcription.rows import Group
from ocp.transcription.variables import free_duration

FORMS = ("implicit", "explicit")


def meshed(problem, method, intervals, order):
    """Return the problem with a mesh for its motion; raise ValueError where bodies stand on the ground."""
    if problem.ground is not None:
        raise ValueError(
            f"method {method!r}: a body that stands on the ground needs the spline transcription"
        )
    return replace(problem, motion=Mesh(method=method, intervals=intervals, order=order))


def laws(problem, lifted, form="implicit", integrated=False):
    """Return the constraints that a tree's own mechanics make, each with the instants at which it holds, those of every row, or None for all
    nodes: ((Constraint, s), ..).

    Where torques are variables, the motion's need is what drives, cut joints and ground give. Torques of passive joints are zero, which a
    spline can only meet at as many instants as it has freedom; unless their motion is `integrated` from the others'. Loops are closed.
    """
    tree, weight = problem.tree, body_weight(problem.tree)
    free = _free(problem, lifted)
    driven = [row for row in range(tree.dof) if row not in free]
    found = []
    if lifted and form == "explicit" and isinstance(problem.motion, Mesh):
        found.append(
            (
                _law(
                    DYNAMICS,
                    lambda at: at.qdd - _accelerations(at),
                    tree,
                    driven,
                    ("rad/s2", "m/s2"),
                ),
                None,
            )
        )
    elif lifted and driven:
        found.append(
            (
                _law(
                    DYNAMICS,
                    lambda at: (at.needed - at.tau)[driven] / weight,
                    tree,
                    driven,
                    (f"({weight:.4g} N m)",) * 2,
                ),
                None,
            )
        )
    if free and not integrated:
        found.append(
            (
                _law(PASSIVE, lambda at: at.needed[list(free)], tree, free, ("N m", "N")),
                (tuple(abscissae(problem.motion).tolist()),) * len(free),
            )
        )
    return tuple(found) + closures(problem, integrated)


def _free(problem, lifted):
    """Return the passive rows of q whose lack of torque restricts the motion; where loops are closed it first gives the forces of cut joints,
    at all nodes if these are variables."""
    rows = () if isinstance(problem.motion, Mesh) else structure(problem.tree).passive
    if not problem.tree.loops:
        return rows
    held = bearing(problem.tree, tuple(rows))
    return () if lifted or held is None else tuple(row for row in rows if row not in held)


def _law(name, function, tree, rows, units):
    joints = [tree.moving[row] for row in rows]
    return Constraint(
        name=name,
        function=function,
        lower=0.0,
        upper=0.0,
        labels=tuple(joint.name for joint in joints),
        units=tuple(units[joint.kind == "prismatic"] for joint in joints),
    )


def _accelerations(at):
    return forward(at.tree, at.q, at.qd, at.tau + at.looped, acting(at.loads, at.t))


def stage_group(layout, finish=None):
    """Return the Group of the equations that make accelerations the slopes of rates, and rates those of q, at all stages."""
    problem = layout.problem
    n, mesh, free = problem.tree.dof, problem.motion, free_duration(problem)
    y = ca.SX.sym("y", 2 * n)
    made = kernel(Inputs(y=y, s=ca.SX.sym("s"), at=None, finish=finish), y)
    matrix = defects(mesh)
    line, column = np.nonzero(matrix)
    joint, count = np.arange(n), len(mesh.positions) - 1
    entries = (
        (line * n)[:, None] + joint,
        (free + column * n)[:, None] + joint,
        np.repeat(matrix[line, column][:, None], n, 1),
    )
    row, column, value = (np.ravel(entry) for entry in entries)
    names = [joint.name for joint in problem.tree.moving]
    stages = Constraint(
        name=STAGES,
        function=lambda y: y,
        lower=0.0,
        upper=0.0,
        labels=(*names, *(f"rate of {name}" for name in names)),
        units="rad or m",
    )
    return Group(
        kernel=made,
        s=mesh.positions[1:],
        matrix=ca.DM.triplet(
            row.tolist(), column.tolist(), ca.DM(value), 2 * n * count, layout.size
        ),
        owners=tuple((stages, number) for number in range(2 * n)),
        asked=np.ones((2 * n, count), dtype=bool),
    )


def torque_coefficients(mesh, torques, interval):
    """Return the coefficients (rows, stages) of powers of (s - s_k) / h that give torques (rows, nodes) on an interval."""
    powers = np.vander(mesh.stages, increasing=True)
    return torques[:, mesh.members(interval)[1]] @ np.linalg.inv(powers).T

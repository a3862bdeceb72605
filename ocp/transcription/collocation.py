"""Direct collocation: states (q, qd) and torques as piecewise polynomials, tied by the linear
equations of the stages and by dynamics.

The unknowns are q, T qd and T^2 qdd at the stages of a Mesh, beside the torques of the driven
joints there; all that is left nonlinear is the law of motion, at every stage for itself. Rough
torques, such as bang-bang ones, cost a mesh no more than smooth ones. (Kelly 2017; Garg et al.
2010)
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import casadi as ca
import numpy as np

from ocp.motion.mesh import Mesh, defects
from ocp.problem.constraint import Constraint
from ocp.problem.names import STAGES
from ocp.problem.statement import Problem
from ocp.transcription.inputs import Inputs
from ocp.transcription.kernels import kernel
from ocp.transcription.rows import Group
from ocp.transcription.variables import Layout, free_duration


def meshed(problem: Problem, mesh: Mesh) -> Problem:
    """Return the problem with a mesh for its motion."""
    return replace(problem, motion=mesh)


def stage_group(layout: Layout, finish: Callable | None = None) -> Group:
    """Return the Group of the equations that make accelerations the slopes of rates, and rates
    those of q, at all stages."""
    problem = layout.problem
    n, mesh = problem.tree.dof, cast(Mesh, problem.motion)
    y = ca.SX.sym("y", 2 * n)
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
        kernel=kernel(Inputs(y=y, s=ca.SX.sym("s"), at=None, finish=finish), y),
        s=mesh.positions[1:],
        matrix=_defect_matrix(layout),
        owners=tuple((stages, number) for number in range(2 * n)),
        asked=np.ones((2 * n, len(mesh.positions) - 1), dtype=bool),
    )


def _defect_matrix(layout):
    """Return the defects of every joint over x: (2 n for each position but the first,
    variables)."""
    problem = layout.problem
    n, mesh, joint = problem.tree.dof, problem.motion, np.arange(problem.tree.dof)
    matrix = defects(mesh)
    line, column = np.nonzero(matrix)
    row = (line * n)[:, None] + joint
    place = (free_duration(problem) + column * n)[:, None] + joint
    value = np.repeat(matrix[line, column][:, None], n, 1)
    shape = 2 * n * (len(mesh.positions) - 1), layout.size
    entries = ca.DM(value.ravel())
    return ca.DM.triplet(row.ravel().tolist(), place.ravel().tolist(), entries, *shape)

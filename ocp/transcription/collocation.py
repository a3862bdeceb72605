"""Direct collocation: states (q, qd) and torques as piecewise polynomials, tied by the linear
equations of the stages and by dynamics.

The unknowns are q, T qd and T^2 qdd at the stages of a Mesh, beside the torques of the driven
joints there; all that is left nonlinear is the law of motion, at every stage for itself, and where
lengths of intervals are unknowns too their products with what is integrated over them. Rough
torques, such as bang-bang ones, cost a mesh no more than smooth ones. (Kelly 2017; Garg et al.
2010)
"""

from dataclasses import replace
from typing import cast

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.motion.collocation_mesh import Mesh, defects, stage_parts
from ocp.motion.free_knots import locate
from ocp.problem.constraint import Constraint
from ocp.problem.reserved_names import STAGES
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.instant_symbols import Backend, Inputs
from ocp.transcription.kernels.kernels import make_kernel
from ocp.transcription.variables.layout import Layout, free_duration


def on_mesh(problem: Problem, mesh: Mesh) -> Problem:
    """Return the problem with a mesh for its motion."""
    return replace(problem, motion=mesh)


def stage_equations(layout: Layout, backend: Backend | None = None) -> Group:
    """Return the Group of the equations that make accelerations the slopes of rates, and rates
    those of q, at all stages."""
    problem = layout.problem
    n, mesh = problem.tree.dof, cast(Mesh, problem.motion)
    y, value = _stage_equation(layout)
    names = [joint.name for joint in problem.tree.moving]
    stages = Constraint(
        name=STAGES,
        function=lambda y: y,
        lower=0.0,
        upper=0.0,
        labels=(*names, *(f"rate of {name}" for name in names)),
        units="rad or m",
    )
    active = np.ones((2 * n, len(mesh.positions) - 1), dtype=bool)
    active[[n + row for row in problem.tree.states]] = False  # whose laws are of first order
    return Group(
        kernel=make_kernel(Inputs(y=y, s=ca.SX.sym("s"), at=None, backend=backend), value),
        s=mesh.positions[1:],
        matrix=_stage_matrix(layout) if layout.moving else _defect_matrix(layout),
        owners=tuple((stages, number) for number in range(2 * n)),
        active=active,
    )


def _stage_equation(layout: Layout) -> tuple[Matrix, Matrix]:
    """Return the inputs of an equation, and by how much it is missed: they are that by themselves,
    or where lengths are free the gain, its slopes integrated over a length of 1, and the length."""
    size = 2 * layout.problem.tree.dof
    if not layout.moving:
        y = ca.SX.sym("y", size)
        return y, y
    y = ca.SX.sym("y", 2 * size + 1)
    return y, y[:size] - y[-1] * y[size : 2 * size]


def _defect_matrix(layout: Layout) -> ca.DM:
    """Return the defects of every joint over x: (2 n for each position but the first,
    variables)."""
    mesh, size = cast(Mesh, layout.problem.motion), 2 * layout.problem.tree.dof
    row, column, value = _joint_triplets(layout, defects(mesh))
    shape = size * (len(mesh.positions) - 1), layout.size
    return ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(value), *shape)


def _stage_matrix(layout: Layout) -> ca.DM:
    """Return the gains, the integrals and the length of the interval over x: (4 n + 1 for each
    position but the first, variables)."""
    mesh, size = cast(Mesh, layout.problem.motion), 2 * layout.problem.tree.dof
    width, count = 2 * size + 1, len(mesh.positions) - 1
    parts = []
    for first, matrix in zip((0, size), stage_parts(mesh)):
        row, column, value = _joint_triplets(layout, matrix)
        parts.append((row // size * width + first + row % size, column, value))
    own = layout.widths.start + locate(mesh, mesh.positions[1:])[0]
    parts.append((np.arange(count) * width + width - 1, own, np.ones(count)))
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    return ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(value), width * count, layout.size)


def _joint_triplets(
    layout: Layout, matrix: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the triplets over x of a matrix (.., points) of the points of each joint, with a row
    for each joint in place of every one."""
    n, joint = layout.problem.tree.dof, np.arange(layout.problem.tree.dof)
    line, column = np.nonzero(matrix)
    row = (line * n)[:, None] + joint
    place = (free_duration(layout.problem) + column * n)[:, None] + joint
    value = np.repeat(matrix[line, column][:, None], n, 1)
    return row.ravel(), place.ravel(), value.ravel()

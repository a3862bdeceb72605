"""Functions of bodies extended to trees whose elements have states.

States stand in q after all coordinates that move links, and bodies do not know them: functions of
bodies get the tree and the motion without them, and their results zeros in the rows and columns of
states.
"""

import casadi as ca

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix


def moving_parts(tree: Tree, *vectors: Matrix) -> list[Matrix]:
    """Return the entries of vectors (n,) that are no states."""
    count = tree.dof - len(tree.states)
    return [vector[:count] for vector in vectors]


def insert_rows(tree: Tree, column: Matrix) -> Matrix:
    """Return a vector (n,) of a tree from that of its bodies, zero at states."""
    return ca.vertcat(column, type(column).zeros(len(tree.states), column.shape[1]))


def insert_blocks(tree: Tree, square: Matrix) -> Matrix:
    """Return a matrix (n, n) of a tree from that of its bodies, zero at states."""
    count = len(tree.states)
    return ca.diagcat(square, type(square)(count, count))

"""Products of the vectors of every joint, and over all pairs of a joint and its ancestors, as a few
products of matrices.

A derivative of inverse dynamics is a matrix whose entry at joint i and ancestor j is a dot product
of a vector of i with one of j, and zero where neither is the other's ancestor. Vectors of all
joints stand as columns of matrices, SX or MX alike: in SX every entry is an expression of its own,
in MX the products are loops over numbers, which the virtual machine runs several times faster.
Pairs are taken together along the unbranched segments of a tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.dynamics.matrix_entries import scattered_matrix
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.types import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Coordinates `own` of an unbranched chain, from the ground outward, and `outer`, those of its
    ancestors."""

    own: tuple[int, ...]
    outer: tuple[int, ...]


def segments(tree: Tree) -> tuple[Segment, ...]:
    """Return the Segments of a tree; their own coordinates make up all of q."""
    rows, parents = tree.rows, tree.parents
    chains: dict[int, tuple[int, ...]] = {}  # link -> coordinates from the ground to it
    heads: dict[int, int] = {}  # link -> first link of its segment
    for k, (row, p) in enumerate(zip(rows, parents)):
        alone = p >= 0 and parents.count(p) == 1
        chains[k] = chains.get(p, ()) + (() if row is None else (row,))
        heads[k] = heads[p] if alone else k
    ends = {head: k for k, head in heads.items()}
    parts = []
    for head, end in ends.items():
        outer = chains.get(parents[head], ())
        if len(chains[end]) > len(outer):
            parts.append(Segment(own=chains[end][len(outer) :], outer=outer))
    return tuple(parts)


def bilinear(function: Callable[..., Matrix], left: Matrix, right: Matrix) -> Matrix:
    """Return function(left_j, right_j) of all columns j, side by side.

    Its products of entries are one product of two matrices entry by entry, and their sums one
    product with a constant matrix, whatever the number of joints.

    Args:
        function: of one joint, bilinear and sparse; takes and returns SX.
        left, right: one vector per joint as a column.
    """
    a, b = ca.SX.sym("a", left.shape[0]), ca.SX.sym("b", right.shape[0])
    block = function(a, b)
    entries = ca.vertcat(*block.nonzeros())
    slopes = ca.DM(ca.jacobian(ca.vec(ca.densify(ca.jacobian(entries, a))), b))
    places, j = (np.array(index) for index in slopes.sparsity().get_triplet())
    i, entry = np.divmod(places, entries.shape[0])
    (i, j), number = np.unique((i, j), axis=1, return_inverse=True)
    sums = ca.DM.triplet(
        entry.tolist(), number.ravel().tolist(), slopes.nonzeros(), entries.shape[0], len(i)
    )
    values = sums @ (left[i.tolist(), :] * right[j.tolist(), :])
    return type(values)(ca.repmat(block.sparsity(), 1, left.shape[1]), ca.vec(values))


def products(
    tree: Tree, kinds: Matrix, motions: Matrix, places: Sequence[tuple[int, int | None]]
) -> list[Matrix]:
    """Return sparse matrices (n, n) of dot products of the joints' vectors with those of their
    ancestors.

    Args:
        kinds: m vectors of every joint as columns, (k, m n).
        motions: one vector of every joint as a column, (k, n).
        places: (upper, lower) of every matrix: at (j, i), with j an ancestor of i or i itself, it
            has the product of i's vector of kind `upper` with j's motion, and at (i, j), j not i,
            that of kind `lower`; nothing there for None.
    """
    n, parts = tree.dof, segments(tree)
    count, rows = kinds.shape[1] // n, motions.T
    blocks = []
    for part in parts:
        columns = [count * i + kind for kind in range(count) for i in part.own]
        blocks.append(ca.vec(rows[list(part.outer + part.own), :] @ kinds[:, columns]))
    stack = ca.vertcat(*blocks)
    first, step, i, j, before, same = _pairs(parts, count)
    upto, strict = np.nonzero(before | same)[0], np.nonzero(before)[0]
    matrices = []
    for upper, lower in places:
        found = [(first[upto] + upper * step[upto], j[upto], i[upto])]
        if lower is not None:
            found.append((first[strict] + lower * step[strict], i[strict], j[strict]))
        which, at_rows, at_columns = (np.concatenate(each) for each in zip(*found))
        matrices.append(scattered_matrix(n, at_rows, at_columns, stack[which.tolist()]))
    return matrices


def _pairs(parts: Sequence[Segment], kinds: int) -> tuple[np.ndarray, ...]:
    """Return six arrays over all pairs of a joint i of a segment and a j of its outer and own.

    They are where the product of the first kind stands among those of `kinds` kinds, by how much
    the next one is further, i, j, and whether j is a proper ancestor of i, or i itself.
    """
    columns, start = [], 0
    for part in parts:
        wide, tall = len(part.own), len(part.outer + part.own)
        i, j = (
            index.T.ravel()
            for index in np.meshgrid(np.arange(wide), np.arange(tall), indexing="ij")
        )
        columns.append(
            (
                start + j + tall * i,
                np.full(i.shape, tall * wide),
                np.array(part.own)[i],
                np.array(part.outer + part.own)[j],
                j < i + len(part.outer),
                j == i + len(part.outer),
            )
        )
        start += kinds * tall * wide
    return tuple(np.concatenate(column) for column in zip(*columns))

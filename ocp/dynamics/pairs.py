"""Products over all pairs of a joint and its ancestors, as a few matrix products along the unbranched segments of a tree.

A derivative of inverse dynamics is a matrix whose entry at joint i and ancestor j is a dot product of a vector of i with one of j, and zero
where neither is the other's ancestor. Vectors of all joints stand as columns of matrices, SX or MX alike: in SX every entry is an
expression of its own, in MX the products are loops over numbers, which the virtual machine runs several times faster.
"""
from dataclasses import dataclass

import casadi as ca
import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Coordinates `own` of an unbranched chain, from the ground outward, and `outer`, those of its ancestors."""

    own: tuple
    outer: tuple


def segments(tree):
    """Return the Segments of a tree; their own coordinates make up all of q."""
    rows, parents = tree.rows, tree.parents
    chains, heads = {}, {}                         # link -> coordinates from the ground to it; link -> first link of its segment
    for k, (row, p) in enumerate(zip(rows, parents)):
        alone = p >= 0 and parents.count(p) == 1
        chains[k] = chains.get(p, ()) + (() if row is None else (row,))
        heads[k] = heads[p] if alone else k
    ends = {head: k for k, head in heads.items()}
    found = []
    for head, end in ends.items():
        outer = chains.get(parents[head], ())
        if len(chains[end]) > len(outer):
            found.append(Segment(own=chains[end][len(outer):], outer=outer))
    return tuple(found)


def dots(parts, left, right):
    """Return left_i . right_j for all i of every segment and j of its outer and own coordinates, stacked in one column.

    `left` and `right` are (k, n) with the joints' vectors as columns.
    """
    return ca.vertcat(*(ca.vec(left[:, list(part.own)].T @ right[:, list(part.outer + part.own)]) for part in parts))


def pair_places(parts):
    """Return for the stacked products of `dots` the coordinates i and j, and whether j is a proper ancestor of i, or i itself."""
    inner, outer, before, same = [], [], [], []
    for part in parts:
        columns = part.outer + part.own
        i, j = np.meshgrid(np.arange(len(part.own)), np.arange(len(columns)), indexing="ij")
        i, j = i.T.ravel(), j.T.ravel()           # column-major, as vec stacks
        inner.append(np.array(part.own)[i])
        outer.append(np.array(columns)[j])
        before.append(j < i + len(part.outer))
        same.append(j == i + len(part.outer))
    return tuple(np.concatenate(column) for column in (inner, outer, before, same))


def scattered(shape, entries):
    """Return the sparse matrix of `entries`: (stacked values, which of them, rows, columns), at places that do not meet."""
    starts = np.cumsum([0, *(stack.shape[0] for stack, *_ in entries)])
    which = np.concatenate([start + chosen for start, (_, chosen, _, _) in zip(starts, entries)])
    rows, columns = (np.concatenate([entry[k] for entry in entries]) for k in (2, 3))
    order = np.lexsort((rows, columns))
    values = ca.vertcat(*(stack for stack, *_ in entries))[which[order].tolist()]
    return type(values)(ca.Sparsity.triplet(*shape, rows[order].tolist(), columns[order].tolist()), values)

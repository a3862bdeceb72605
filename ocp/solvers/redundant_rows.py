"""Redundant equalities of a program: those that follow from others.

Rows whose gradients depend on those of others leave multipliers undetermined, and an interior point
that meets them may never end (Nocedal & Wright 2006, section 12.2: linear independence constraint
qualification).
"""

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP

DEPENDENT = 1e-7  # part of a unit gradient outside the span of others, below which it depends


def independent_rows(nlp: NLP, x: np.ndarray, dependent: float = DEPENDENT) -> np.ndarray:
    """Return the numbers (k,) of a program's rows without redundant equalities.

    An equality is redundant if its gradient at x depends on those before it, by Gram-Schmidt's
    method applied twice. Matrices are dense: for some thousands of rows at most. Variables that are
    fixed by their bounds count as constants. `with_rows` makes the program of the rows kept; check
    that those left out hold at its solution.

    Args:
        nlp: the program.
        x: the point (variables,).
        dependent: part of a unit gradient outside the span of others, below which it depends.

    Raises:
        ValueError: for a program without a Jacobian.
    """
    if nlp.jacobian is None:
        raise ValueError("independent_rows: expected an NLP with a Jacobian")
    lower, upper = (np.array(side).ravel() for side in (nlp.g_lower, nlp.g_upper))
    moved = np.array(nlp.lower).ravel() < np.array(nlp.upper).ravel()
    slopes = np.array(nlp.jacobian(x, ca.DM(0, 1))[1])[:, moved]
    left_out = []
    base = np.empty((0, slopes.shape[1]))
    for row in np.flatnonzero(lower == upper):
        length = np.linalg.norm(slopes[row])
        rest = slopes[row] / max(length, 1e-300)
        for _ in range(2):  # the second time removes what rounding left
            rest = rest - base.T @ (base @ rest)
        if length == 0 or np.linalg.norm(rest) < dependent:
            left_out.append(row)
        else:
            base = np.vstack([base, rest / np.linalg.norm(rest)])
    return np.setdiff1d(np.arange(len(lower)), left_out)

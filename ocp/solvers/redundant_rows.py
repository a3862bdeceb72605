"""Equalities of a program that follow from others where they hold: redundant rows.

Rows whose gradients depend on those of others leave multipliers undetermined, and an interior point
that meets them may never end (Nocedal & Wright 2006, section 12.2: linear independence constraint
qualification).
"""

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP

DEPENDENT = 1e-7  # part of a gradient of length one, beside the others, below which it is theirs


def independent_rows(nlp: NLP, x: np.ndarray) -> np.ndarray:
    """Return the numbers (k,) of a program's rows without the equalities whose gradients at x
    follow from those before them, by Gram-Schmidt's method twice over; dense: for some thousands of
    rows at most.

    Variables that their bounds fix count as numbers. `ocp.solvers.nlp.with_rows` makes the program
    of the rows kept; whether those left out hold at its solution is to be looked at. Raises
    ValueError for a program without a Jacobian.
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
        for _ in range(2):  # once more, for what the first left of rounding
            rest = rest - base.T @ (base @ rest)
        if length == 0 or np.linalg.norm(rest) < DEPENDENT:
            left_out.append(row)
        else:
            base = np.vstack([base, rest / np.linalg.norm(rest)])
    return np.setdiff1d(np.arange(len(lower)), left_out)

"""Variables in the metric of an objective, in which it bends alike in all directions.

SNOPT begins with the curvature of a ball and learns that of the Lagrangian from gradients, a
direction at a time. Where the objective bends a million times more along some directions than along
others, as effort does over control points, it needs a thousand points for what takes a hundred in

    x = c L^-T y,   H = L L'

with H the Hessian of the objective at the start, its eigenvalues positive and no smaller than a
share of the largest one, and c for which the change of variables keeps volumes, so that tolerances
mean about what they did.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP, Iterate, gradient_function, jacobian_function
from ocp.solvers.solver_backend import See

DENSE = 0.2  # share of entries of the Jacobian from which on directions may be mixed
FLAT = 1e-6  # of the largest eigenvalue, below which the objective counts as flat


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """An NLP in other variables.

    Attributes:
        nlp: as stated.
        ahead: matrix (n, n) of x over y.
        bounded: variables with bounds, which are rows of the other NLP, after its own.
    """

    nlp: NLP
    ahead: np.ndarray
    bounded: np.ndarray

    def program(self) -> NLP:
        """Return the NLP over y."""
        nlp, kept = self.nlp, self.bounded.tolist()
        y, p = ca.MX.sym("y", len(nlp.lower)), ca.MX.sym("p", 0, 1)
        ahead = ca.sparsify(ca.DM(self.ahead))
        x = ahead @ y
        assert nlp.gradient is not None and nlp.jacobian is not None
        value, slope = nlp.gradient(x, p)
        rows, slopes = nlp.jacobian(x, p)
        free = np.full(len(nlp.lower), np.inf)
        return NLP(
            lower=-free,
            upper=free,
            g_lower=np.concatenate([nlp.g_lower, nlp.lower[kept]]),
            g_upper=np.concatenate([nlp.g_upper, nlp.upper[kept]]),
            objective=ca.Function("f", [y], [nlp.objective(x)]),
            constraints=ca.Function("g", [y], [ca.vertcat(nlp.constraints(x), x[kept])]),
            gradient=gradient_function(y, p, value, ahead.T @ slope),
            jacobian=jacobian_function(
                y, p, ca.vertcat(rows, x[kept]), ca.vertcat(slopes @ ahead, ahead[kept, :])
            ),
        )

    def start(self, x: np.ndarray) -> np.ndarray:
        """Return y of x."""
        return np.linalg.solve(self.ahead, x)

    def iterate(self, other: Iterate) -> Iterate:
        """Return an Iterate over y as one over x."""
        count = len(self.nlp.g_lower)
        multipliers = np.zeros(len(self.nlp.lower))
        multipliers[self.bounded] = other.g_multipliers[count:]
        return Iterate(
            x=self.ahead @ other.x,
            g=other.g[:count],
            x_multipliers=multipliers,
            g_multipliers=other.g_multipliers[:count],
        )

    def watcher(self, see: See) -> See:
        """Return the `see` of Iterates over y for that of those over x."""
        return lambda value, other: see(value, self.iterate(other))


def objective_metric(nlp: NLP, x: np.ndarray) -> Metric | None:
    """Return the Metric of an objective at x; None where rows are of few variables each, which
    others would fill, and of an objective that does not bend or whose Hessian is not known."""
    assert nlp.jacobian is not None
    pattern = nlp.jacobian.sparsity_out(1)
    if nlp.hessian is None or pattern.nnz() < DENSE * max(pattern.numel(), 1):
        return None
    upper = nlp.hessian("exact")(x, ca.DM(0, 1), 1.0, np.zeros(len(nlp.g_lower)))
    half = np.triu(np.array(ca.densify(upper)))
    values, vectors = np.linalg.eigh(half + np.triu(half, 1).T)
    largest = np.abs(values).max()
    if not (np.isfinite(largest) and largest > 0):
        return None
    values = np.maximum(np.abs(values), FLAT * largest)
    lower = np.linalg.cholesky((vectors * values) @ vectors.T)
    ahead = np.linalg.inv(lower).T * np.exp(np.log(np.diag(lower)).mean())
    bounded = np.flatnonzero(np.isfinite(nlp.lower) | np.isfinite(nlp.upper))
    return Metric(nlp=nlp, ahead=np.triu(ahead), bounded=bounded)

"""A program whose rows and bounds may give way at a price: its least violation, in l1.

    minimise price' v subject to g_lower <= g(x) + give v <= g_upper and the bounds of x, v >= 0

Rows that may not give way stay as they are (elastic mode: Gill, Murray & Saunders 2005, section 3).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP, violation

REST = 1e-6  # weight of the way that x goes from where it began, which keeps it from drifting


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a violation of one costs: at the bounds of x (variables,) and at the rows of g.

    Each side has a price of its own, infinite where a bound may not give way.
    """

    lower: np.ndarray
    upper: np.ndarray
    g_lower: np.ndarray
    g_upper: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ElasticProgram:
    """The relaxed program `nlp` of z = (x, v), x being its first `size` unknowns.

    Its rows are those of g, then the bounds of the variables `loose`, which may give way. `begin`
    is the point z at which every bound that may give way does so as far as x needs.
    """

    nlp: NLP
    size: int
    begin: np.ndarray

    def point(self, z: np.ndarray) -> np.ndarray:
        """Return x of a point z."""
        return z[: self.size]


def relax(
    nlp: NLP, prices: Prices, x: np.ndarray, widest: tuple[np.ndarray, np.ndarray] | None = None
) -> ElasticProgram:
    """Return the Relaxed program around x (variables,).

    A bound gives way where its price is finite and the bound is, those of variables no farther than
    the `widest` ones, lower and upper (variables,).
    """
    loose = np.flatnonzero(_gives(prices.lower, nlp.lower) | _gives(prices.upper, nlp.upper))
    lower, upper = nlp.lower.copy(), nlp.upper.copy()
    sides = [np.append(nlp.g_lower, lower[loose]), np.append(nlp.g_upper, upper[loose])]
    costs = [
        np.append(prices.g_lower, prices.lower[loose]),
        np.append(prices.g_upper, prices.upper[loose]),
    ]
    below, above = (np.flatnonzero(_gives(cost, side)) for cost, side in zip(costs, sides))
    far = (-np.inf, np.inf) if widest is None else widest
    lower = np.where(_gives(prices.lower, lower), far[0], lower)
    upper = np.where(_gives(prices.upper, upper), far[1], upper)
    price = np.append(costs[0][below], costs[1][above])
    x = np.clip(x, lower, upper)
    values = np.append(np.array(nlp.constraints(x)).ravel(), x[loose])
    short = violation(values, sides[0], np.inf)[below]
    long = violation(values, -np.inf, sides[1])[above]
    rows = np.append(below, above)
    give = ca.DM.triplet(
        rows.tolist(),
        list(range(len(rows))),
        ca.DM(np.append(np.ones(len(below)), -np.ones(len(above)))),
        len(values),
        len(rows),
    )
    functions = _functions(nlp, loose.tolist(), give, price, x)
    program = NLP(
        lower=np.append(lower, np.zeros(len(rows))),
        upper=np.append(upper, np.full(len(rows), np.inf)),
        g_lower=sides[0],
        g_upper=sides[1],
        **functions,
    )
    return ElasticProgram(nlp=program, size=len(x), begin=np.concatenate([x, short, long]))


def _gives(price: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.isfinite(price) & np.isfinite(bound)


def _functions(
    nlp: NLP, loose: list[int], give: ca.DM, price: np.ndarray, start: np.ndarray
) -> dict[str, Any]:
    """Return the functions of the relaxed program, with the derivatives that the NLP has."""
    size, count = len(start), len(price)
    z, p = ca.MX.sym("z", size + count), ca.MX.sym("p", 0)
    x, v = z[:size], z[size:]
    away = x - start
    f = ca.dot(ca.DM(price), v) + REST / 2 * ca.dot(away, away)
    tail = x[loose] if loose else ca.MX(0, 1)
    made: dict[str, Any] = {
        "objective": ca.Function("f", [z], [f], ["x"], ["f"]),
        "constraints": ca.Function(
            "g", [z], [ca.vertcat(nlp.constraints(x), tail) + give @ v], ["x"], ["g"]
        ),
    }
    if nlp.jacobian is None:
        return made
    g, slope = nlp.jacobian(x, p)
    picked = ca.DM.eye(size)[loose, :]
    slopes = ca.horzcat(ca.vertcat(slope, picked), give)
    gradient = ca.vertcat(REST * away, ca.DM(price))
    return made | {
        "gradient": ca.Function("grad_f", [z, p], [f, gradient], ["x", "p"], ["f", "grad_f_x"]),
        "jacobian": ca.Function(
            "jac_g", [z, p], [ca.vertcat(g, tail) + give @ v, slopes], ["x", "p"], ["g", "jac_g_x"]
        ),
        "hessian": None if nlp.hessian is None else partial(_curvature, nlp, len(loose), count),
    }


def _curvature(nlp: NLP, loose: int, count: int, kind: str) -> ca.Function:
    """Return the Hessian of the relaxed program's Lagrangian, as an NLP's `hessian` does."""
    assert nlp.hessian is not None
    size, rows = len(nlp.lower), len(nlp.g_lower)
    z, p = ca.MX.sym("z", size + count), ca.MX.sym("p", 0)
    weight, multipliers = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", rows + loose)
    bend = nlp.hessian(kind)(z[:size], p, 0, multipliers[:rows])
    own = bend + weight * REST * ca.DM.eye(size)
    return ca.Function(
        "hess_lag",
        [z, p, weight, multipliers],
        [ca.diagcat(own, ca.MX(ca.Sparsity(count, count)))],
        ["x", "p", "lam_f", "lam_g"],
        ["triu_hess_gamma_x_x"],
    )

"""Elastic programs: rows and bounds may be violated at a price, in the 1-norm.

    minimise price' v subject to g_lower <= g(x) + give v <= g_upper and the bounds of x, v >= 0

(Elastic mode: Gill, Murray & Saunders 2005, section 3.)
"""

from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from ocp.solvers.nlp import (
    NLP,
    Option,
    gradient_function,
    hessian_function,
    jacobian_function,
    violation,
)

REST = 1e-6  # weight of the squared distance from the start, which keeps x from drifting


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a violation of one, for bounds of x (variables,) and of rows of g.

    An infinite price forbids a violation.
    """

    lower: np.ndarray
    upper: np.ndarray
    g_lower: np.ndarray
    g_upper: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ElasticProgram:
    """The elastic program `nlp` of z = (x, v), with `size` variables x.

    Its rows are those of g, then those of elastic bounds. `begin` is the point z whose violations
    are just those of x.
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
    """Return the elastic program around x (variables,).

    Args:
        nlp: the program.
        prices: finite ones make finite bounds elastic.
        x: the start.
        widest: lower and upper limits (variables,) that elastic bounds keep.
    """
    loose = np.flatnonzero(
        _is_elastic(prices.lower, nlp.lower) | _is_elastic(prices.upper, nlp.upper)
    )
    lower, upper = nlp.lower.copy(), nlp.upper.copy()
    sides = [np.append(nlp.g_lower, lower[loose]), np.append(nlp.g_upper, upper[loose])]
    costs = [
        np.append(prices.g_lower, prices.lower[loose]),
        np.append(prices.g_upper, prices.upper[loose]),
    ]
    below, above = (np.flatnonzero(_is_elastic(cost, side)) for cost, side in zip(costs, sides))
    far = (-np.inf, np.inf) if widest is None else widest
    lower = np.where(_is_elastic(prices.lower, lower), far[0], lower)
    upper = np.where(_is_elastic(prices.upper, upper), far[1], upper)
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


def _is_elastic(price: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.isfinite(price) & np.isfinite(bound)


def _functions(
    nlp: NLP, loose: list[int], give: ca.DM, price: np.ndarray, start: np.ndarray
) -> dict[str, Option]:
    """Return the functions of the elastic program, with the derivatives that the NLP has."""
    size, count = len(start), len(price)
    z, p = ca.MX.sym("z", size + count), ca.MX.sym("p", 0)
    x, v = z[:size], z[size:]
    away = x - start
    f = ca.dot(ca.DM(price), v) + REST / 2 * ca.dot(away, away)
    tail = x[loose] if loose else ca.MX(0, 1)
    elastic = ca.vertcat(nlp.constraints(x), tail) + give @ v
    made: dict[str, Option] = {
        "objective": ca.Function("f", [z], [f], ["x"], ["f"]),
        "constraints": ca.Function("g", [z], [elastic], ["x"], ["g"]),
    }
    if nlp.jacobian is None:
        return made
    g, slope = nlp.jacobian(x, p)
    picked = ca.DM.eye(size)[loose, :]
    slopes = ca.horzcat(ca.vertcat(slope, picked), give)
    gradient = ca.vertcat(REST * away, ca.DM(price))
    return made | {
        "gradient": gradient_function(z, p, f, gradient),
        "jacobian": jacobian_function(z, p, ca.vertcat(g, tail) + give @ v, slopes),
        "hessian": None if nlp.hessian is None else partial(_hessian, nlp, len(loose), count),
    }


def _hessian(nlp: NLP, loose: int, count: int, kind: str) -> ca.Function:
    """Return the Hessian of the elastic program's Lagrangian, linear in the violations."""
    assert nlp.hessian is not None
    size, rows, whole = len(nlp.lower), len(nlp.g_lower), nlp.hessian(kind)

    def upper(z: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        own = whole(z[:size], p, 0, lam_g[:rows]) + lam_f * REST * ca.DM.eye(size)
        return ca.diagcat(own, ca.MX(ca.Sparsity(count, count)))

    return hessian_function(size + count, rows + loose, upper)

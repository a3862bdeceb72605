"""Derivatives of a program beside those that CasADi finds from its whole graph."""

import casadi as ca
import numpy as np


def assert_exact(nlp, x, *, weight=1.7, tolerance=1e-10, sought=None):
    """Compare the derivatives that a solver is given with those of the whole graph.

    Of the first `sought` variables, by default all; Jacobian and Hessian of the Lagrangian, with a
    `weight` of the objective, times four vectors drawn at random, which every wrong entry changes.
    """
    rng, symbol = np.random.default_rng(4), ca.MX.sym("x", len(x))
    lam, ways = rng.standard_normal(len(nlp.g_lower)), rng.standard_normal((len(x), 4))
    ways[len(x) if sought is None else sought :] = 0.0
    f, g = nlp.objective(symbol), nlp.constraints(symbol)
    slope, bend = (ca.gradient(each, symbol) for each in (f, weight * f + ca.dot(lam, g)))
    along = [ca.jtimes(each, symbol, ca.DM(ways)) for each in (g, bend)]
    expected = ca.Function("expected", [symbol], [slope, *along])(x)
    hessian = ca.triu2symm(nlp.hessian("exact")(x, [], weight, lam))
    found = nlp.gradient(x, [])[1], nlp.jacobian(x, [])[1] @ ways, hessian @ ways
    for one, other, rows in zip(expected, found, (slice(sought), slice(None), slice(sought))):
        one, other = np.array(one)[rows], np.array(other)[rows]
        assert np.abs(one - other).max() <= tolerance * np.abs(one).max()

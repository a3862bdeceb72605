"""Programs with the derivatives that CasADi finds from their whole graphs, and beside them."""

import casadi as ca
import numpy as np

from ocp.solvers import NLP


def assert_exact(nlp, x, *, weight=1.7, tolerance=1e-10, sought=None):
    """Compare the derivatives that a solver is given with those of the whole graph.

    Of the first `sought` variables, by default all; Jacobian and Hessian of the Lagrangian, with a
    `weight` of the objective, times two vectors drawn at random, which every wrong entry changes.
    """
    rng, symbol = np.random.default_rng(4), ca.MX.sym("x", len(x))
    lam, ways = rng.standard_normal(len(nlp.g_lower)), rng.standard_normal((len(x), 2))
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


def program_of(x, f, g, *, lower=-np.inf, upper=np.inf, g_lower=0.0, g_upper=0.0):
    """The NLP of expressions of x with exact derivatives; bounds are numbers or arrays."""
    p, lam_f, lam = (type(x).sym(*each) for each in (("p", 0), ("lam_f", 1), ("lam", g.numel())))
    bend = ca.triu(ca.hessian(lam_f * f + ca.dot(lam, g), x)[0])
    hessian = ca.Function("hessian", [x, p, lam_f, lam], [bend])
    return NLP(
        lower=np.full(x.numel(), lower, dtype=float),
        upper=np.full(x.numel(), upper, dtype=float),
        g_lower=np.full(g.numel(), g_lower, dtype=float),
        g_upper=np.full(g.numel(), g_upper, dtype=float),
        objective=ca.Function("f", [x], [f]),
        constraints=ca.Function("g", [x], [g]),
        gradient=ca.Function("gradient", [x, p], [f, ca.densify(ca.gradient(f, x))]),
        jacobian=ca.Function("jacobian", [x, p], [g, ca.jacobian(g, x)]),
        hessian=lambda kind: hessian,
    )

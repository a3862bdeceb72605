"""Derivatives reach every plugin of CasADi in the form that it wants, and are ours, not its own."""

import casadi as ca
import numpy as np
import pytest

from ocp import Solver, Transcription, solve
from ocp.problems.arms.two_link_lift import problem as two_link_lift
from ocp.solvers import casadi_plugins, feasibility, minimize
from ocp.transcription import transcribe_phase

PLUGINS = (
    *("ipopt", "bonmin", "sqpmethod", "feasiblesqpmethod", "qrsqp", "blocksqp", "sleqp", "alpaqa"),
    *("uno", "fatrop"),
)
SOLVING = {
    "bonmin": {},
    "sqpmethod": {},
    "blocksqp": {},
    "sleqp": {},
    "uno": {},
    "fatrop": {"tolerance": 1e-6},
}


def lift():
    return transcribe_phase(two_link_lift(points=8))


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_is_handed_over_equals_what_casadi_finds(plugin):
    transcribed = lift()
    nlp, rng = transcribed.nlp, np.random.default_rng(1)
    x = transcribed.guess + 0.1 * rng.standard_normal(len(nlp.lower))
    point = {
        "x": x,
        "lam_f": 1.5,
        "lam_g": rng.standard_normal(len(nlp.g_lower)),
        "fwd_x": rng.standard_normal(len(x)),
        "fwd_lam_f": 0.5,
        "fwd_lam_g": rng.standard_normal(len(nlp.g_lower)),
        "p": [],
        "fwd_p": [],
        "out_grad_gamma_x": np.zeros(len(x)),
    }
    handed = casadi_plugins.derivatives(nlp, plugin, "exact")["cache"]
    symbol = ca.MX.sym("x", len(x))
    names = {name for function in handed.values() for name in function.name_out()}
    weight, multipliers = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(nlp.g_lower))
    f, g = nlp.objective(symbol), nlp.constraints(symbol)
    slope = ca.gradient(weight * f + ca.dot(multipliers, g), symbol)
    direction = [point[key] for key in ("fwd_x", "fwd_lam_f", "fwd_lam_g")]
    oracle = {
        "f": f,
        "g": g,
        "grad_f_x": ca.gradient(f, symbol),
        "jac_g_x": ca.jacobian(g, symbol),
        "grad_gamma_x": slope,
        "hess_gamma_x_x": ca.jacobian(slope, symbol),
        "triu_hess_gamma_x_x": ca.triu(ca.jacobian(slope, symbol)),
        "fwd_grad_gamma_x": sum(
            ca.jtimes(slope, of, ca.DM(along))
            for of, along in zip((symbol, weight, multipliers), direction)
        ),
    }
    expected = ca.Function(
        "oracle",
        [symbol, weight, multipliers],
        [oracle[name] for name in sorted(names & set(oracle))],
    )
    values = dict(zip(sorted(names & set(oracle)), expected(x, point["lam_f"], point["lam_g"])))
    assert {"grad_f_x"} <= names or plugin == "alpaqa"
    for function in handed.values():
        results = function.call([ca.DM(point[name]) for name in function.name_in()])
        for name, result in zip(function.name_out(), results):
            if name != "grad_gamma_p":
                assert float(ca.norm_inf(ca.DM(result - values[name]))) < 1e-8 * (
                    1 + float(ca.norm_inf(values[name]))
                )


@pytest.mark.parametrize("plugin", SOLVING)
def test_plugins_reach_the_same_optimum_without_differentiating(plugin):
    outcome = minimize(lift().nlp, Solver(plugin=plugin, options=SOLVING[plugin]), lift().guess)
    assert outcome.success
    assert outcome.f == pytest.approx(solve(two_link_lift(points=8)).objective, rel=1e-5)
    assert sum(count for count, _ in outcome.calls.values()) > 0
    own = {name for name, (count, _) in outcome.calls.items() if count and "_" in name[4:]}
    assert own - {"callback_fun"} <= set(
        casadi_plugins.derivatives(lift().nlp, plugin, "exact")["cache"]
    )


def test_gauss_newton_and_limited_memory_reach_plugins_that_had_neither():
    reference = solve(two_link_lift(points=8)).objective
    for plugin, hessian in (("uno", "lbfgs"), ("sleqp", "gauss-newton"), ("blocksqp", "lbfgs")):
        found = solve(
            two_link_lift(points=8), Transcription(), Solver(plugin=plugin, hessian=hessian)
        )
        assert found.objective == pytest.approx(reference, rel=1e-5)


def test_vectors_without_entries_are_handed_over_as_zeros():
    handed = casadi_plugins.derivatives(feasibility(lift().nlp), "ipopt", "exact")["cache"]
    assert handed["nlp_grad_f"].sparsity_out("grad_f_x").is_dense()
    assert handed["nlp_grad_f"].sparsity_out("f").is_dense()

"""CasADi's solver plugins: derivatives, silence, warm starts and options as each wants them.

A plugin asks for functions of its program by name ("nlp_jac_g"), and looks into its cache before it
differentiates anything. Which functions, and in which form, is learnt from a tiny program, so that
every plugin of every version gets our derivatives as it wants them.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import casadi as ca

from ocp.codegen.compiler.shared_library import NoCompiler
from ocp.solvers import fronts
from ocp.solvers.nlp import NLP, fast_version

SQP = ("sqpmethod", "feasiblesqpmethod", "qrsqp")
OWN = (
    "ipopt",
    "bonmin",
    "uno",
    "fatrop",
    "alpaqa",
    "sleqp",
)  # CasADi takes their own options in a dictionary of that name
_ESTIMATED: dict[str, Any] = {"hessian_approximation": "limited-memory"}
LIMITED: dict[str, dict[str, Any]] = {  # the options that make a plugin estimate the Hessian
    "ipopt": _ESTIMATED,
    "bonmin": _ESTIMATED,
    "uno": {"hessian_model": "LBFGS"},
    "alpaqa": {},
    "blocksqp": {"hess_update": 2, "which_second_derv": 0},
    **dict.fromkeys(SQP, _ESTIMATED),
}
QUASI_NEWTON = ("alpaqa",)  # plugins that always do
LATE = (
    "bonmin",
    "fatrop",
    "alpaqa",
)  # read their options when they solve; uno never says that it does not know one
ITERATION_LIMITS = ("max_iter", "max_iterations", "Major iterations limit")
TIME_LIMITS = ("max_wall_time", "time_limit", "Time limit")
CPU_LIMITS = ("max_cpu_time",)
SHOWN = "iteration_callback_step"  # of CasADi: how many iterations it goes on from one it shows
_SILENT: dict[str, Any] = {"print_header": False, "print_iteration": False}
# blocksqp: without the wheel's missing ma27, and with second derivatives
_USUAL: dict[str, dict[str, Any]] = {
    "ipopt": {"print_level": 0, "sb": "yes"},
    "sqpmethod": _SILENT | {"print_status": False},
    "qrsqp": _SILENT,
    "feasiblesqpmethod": _SILENT | {"print_status": False},
    "uno": {"logger": "SILENT"},
    "fatrop": {"print_level": 0},
    "bonmin": {"bb_log_level": 0, "nlp_log_level": 0, "print_level": 0, "sb": "yes"},
    "sleqp": {"print_level": 0},
    "blocksqp": _SILENT
    | {
        "schur": False,
        "restore_feas": False,
        "hess_update": 4,
        "which_second_derv": 2,
        "hess_lim_mem": 0,
    },
}
_QP_SILENT: dict[str, dict[str, Any]] = {
    "qpoases": {"printLevel": "none"},
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
    "osqp": {"osqp": {"verbose": False}},
    "highs": {"highs": {"output_flag": False}},
}
WARM: dict[str, dict[str, Any]] = {  # what begins a solve with multipliers near its end
    "ipopt": {
        "warm_start_init_point": "yes",
        "mu_init": 1e-6,
        "warm_start_bound_push": 1e-9,
        "warm_start_slack_bound_push": 1e-9,
        "warm_start_mult_bound_push": 1e-9,
        "warm_start_bound_frac": 1e-9,
        "warm_start_slack_bound_frac": 1e-9,
    },
    "structured": {"mu_init": 1e-6, "bound_push": 1e-9, "bound_frac": 1e-9},
}


def options(
    plugin: str, given: Mapping[str, Any], *, hessian: str = "exact", warm: bool = False
) -> dict[str, Any]:
    """Return CasADi's options of a plugin.

    The `given` ones over those that keep it quiet, start it `warm`, and choose the `hessian`.
    IPOPT's linear solver may be `fronts`, ours; ValueError where there is no compiler for it.
    """
    limited = LIMITED[plugin] if hessian == "lbfgs" else {}
    chosen = _USUAL.get(plugin, {}) | (WARM.get(plugin, {}) if warm else {}) | limited | dict(given)
    if plugin in SQP:
        silent = _QP_SILENT.get(chosen.get("qpsol", "qrqp" if plugin == "qrsqp" else "qpoases"), {})
        chosen["qpsol_options"] = silent | dict(chosen.get("qpsol_options", {}))
    if plugin == "ipopt" and chosen.get("linear_solver") == fronts.NAME:
        chosen |= _own_factorisation()
    return _split(plugin, chosen) | {"print_time": False}


def _own_factorisation() -> dict[str, Any]:
    try:
        return fronts.options()
    except NoCompiler as reason:
        raise ValueError(f"linear_solver {fronts.NAME!r} needs a C compiler: {reason}") from None


def derivatives(nlp: NLP, plugin: str, hessian: str) -> dict[str, Any]:
    """Return the options that hand an NLP's exact derivatives to a plugin.

    It then differentiates nothing; `hessian` as in Solver.
    """
    n, m = len(nlp.lower), len(nlp.g_lower)
    sizes = {
        "x": n,
        "p": 0,
        "lam_f": 1,
        "lam_g": m,
        "out_grad_gamma_x": n,
        "fwd_x": n,
        "fwd_p": 0,
        "fwd_lam_f": 1,
        "fwd_lam_g": m,
    }
    symbols = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
    parts, wanted = _parts(nlp, hessian, symbols), _asked(plugin, hessian == "lbfgs")
    made: dict[str, ca.Function] = {}
    alone = _quick_ones(nlp, symbols["x"])
    for name, (inputs, outputs) in sorted(
        wanted.items()
    ):  # the derivative of nlp_grad_l before itself
        lone = len(outputs) == 1 and outputs[0] in alone
        if {"f", "g"} >= set(outputs) and not lone:
            continue
        own = parts | alone if lone else parts
        if all(output in own for output in outputs):
            product = made.get("fwd1_nlp_grad_l") if name == "nlp_grad_l" else None
            made[name] = ca.Function(
                name,
                [symbols[key] for key in inputs],
                [own[key]() for key in outputs],
                inputs,
                outputs,
                {"cache": {} if product is None else {product.name(): product}},
            )
    return {"cache": made, "calc_lam_p": False}


def _quick_ones(nlp: NLP, x: ca.MX) -> dict[str, Callable[[], Any]]:
    """Return {output: function of nothing} of f and g of an NLP that have something quicker, which
    is for them alone."""
    plain = {"f": nlp.objective, "g": nlp.constraints}
    quick = {name: fast_version(each) for name, each in plain.items()}
    return {name: partial(each, x) for name, each in quick.items() if each is not plain[name]}


@cache
def _asked(plugin: str, limited: bool) -> dict[str, tuple[list[str], list[str]]]:
    """Return {name: (inputs, outputs)} of the functions that a plugin evaluates.

    None if it cannot be tried without options.
    """
    x = ca.MX.sym("x", 2)
    program = {"x": x, "f": ca.sumsqr(x), "g": x[0] * x[1]}
    try:
        probe = ca.nlpsol(
            "probe",
            plugin,
            program,
            options(plugin, {}, hessian="lbfgs" if limited else "exact") | {"calc_lam_p": False},
        )
    except RuntimeError:
        return {}
    functions = {name: probe.get_function(name) for name in probe.get_function()}
    return {name: (each.name_in(), each.name_out()) for name, each in functions.items()}


def _parts(nlp: NLP, hessian: str, symbols: Mapping[str, ca.MX]) -> dict[str, Callable[[], ca.MX]]:
    """Return {output: function of nothing that returns its expression}.

    Each of the NLP's functions is called once.
    """
    x, p, lam_f, lam_g = (symbols[name] for name in ("x", "p", "lam_f", "lam_g"))
    given: Any = nlp  # whose derivatives are given
    gradient = cache(lambda: _part_of_it(given.gradient, x, p))
    jacobian = cache(lambda: _part_of_it(given.jacobian, x, p))
    kind = "exact" if hessian == "lbfgs" else hessian  # by it some ask for products, never used
    upper = cache(lambda: _part_of_it(given.hessian(kind), x, p, lam_f, lam_g)[0])
    second: dict[str, Callable[[], ca.MX]] = {
        "triu_hess_gamma_x_x": upper,
        "hess_gamma_x_x": lambda: ca.triu2symm(upper()),
        "fwd_grad_gamma_x": lambda: ca.densify(
            ca.triu2symm(upper()) @ symbols["fwd_x"]
            + symbols["fwd_lam_f"] * gradient()[1]
            + jacobian()[1].T @ symbols["fwd_lam_g"]
        ),
    }
    if hessian == "lbfgs":
        second = {"fwd_grad_gamma_x": second["fwd_grad_gamma_x"]}
    return second | {  # vectors are read as dense ones
        "f": lambda: ca.densify(gradient()[0]),
        "grad_f_x": lambda: ca.densify(gradient()[1]),
        "g": lambda: ca.densify(jacobian()[0]),
        "jac_g_x": lambda: jacobian()[1],
        "grad_gamma_x": lambda: ca.densify(lam_f * gradient()[1] + jacobian()[1].T @ lam_g),
        "grad_gamma_p": lambda: ca.MX(0, 1),
    }


def _part_of_it(function: ca.Function, *arguments: ca.MX) -> list[ca.MX]:
    """Return what a function gives. A graph of matrices becomes part of the one around it, which
    spares a copy of large results."""
    return function.call(list(arguments), function.is_a("MXFunction"), False)


def _split(plugin: str, flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as CasADi wants them.

    The solver's own ones in a dictionary of their own.
    """
    if plugin not in OWN:
        return dict(flat)
    known = {SHOWN, *ca.nlpsol_options(plugin)}
    own = {name: value for name, value in flat.items() if name not in known}
    return {name: value for name, value in flat.items() if name in known} | {plugin: own}

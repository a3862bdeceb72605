"""Options and derivatives of CasADi's solver plugins.

A plugin asks for functions of its program by name ("nlp_jac_g"), and looks into its cache before it
differentiates anything. Which functions it needs, and in which form, is found on a tiny program, so
that every plugin of every version gets the NLP's derivatives.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial

import casadi as ca

from ocp.codegen.compiler.shared_library import NoCompiler
from ocp.solvers import fronts
from ocp.solvers.nlp import NLP, Exact, Option, Options, fast_version

SQP = ("sqpmethod", "feasiblesqpmethod", "qrsqp")
OWN = (
    "ipopt",
    "bonmin",
    "uno",
    "fatrop",
    "alpaqa",
    "sleqp",
)  # CasADi takes their own options in a dictionary of that name
_ESTIMATED: dict[str, Option] = {"hessian_approximation": "limited-memory"}
LIMITED: dict[str, dict[str, Option]] = {  # the options that make a plugin estimate the Hessian
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
SHOWN = "iteration_callback_step"  # CasADi's option: iterations from one shown to the next
_SILENT: dict[str, Option] = {"print_header": False, "print_iteration": False}
# blocksqp: without the wheel's missing ma27, and with second derivatives
_USUAL: dict[str, dict[str, Option]] = {
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
_QP_SILENT: dict[str, dict[str, Option]] = {
    "qpoases": {"printLevel": "none"},
    "qrqp": {"print_iter": False, "print_header": False, "print_info": False},
    "osqp": {"osqp": {"verbose": False}},
    "highs": {"highs": {"output_flag": False}},
}
WARM: dict[str, dict[str, Option]] = {  # options of a warm start: near bounds, small barrier
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
    plugin: str, given: Options, *, hessian: str = "exact", warm: bool = False
) -> dict[str, Option]:
    """Return the options for CasADi: silence, warm start, Hessian, and the user's.

    Args:
        plugin: its name.
        given: the user's options, which come last.
        hessian: "lbfgs" makes the plugin estimate it.
        warm: start with multipliers.

    Raises:
        ValueError: IPOPT's linear solver is "fronts", and there is no compiler for it.
    """
    limited = LIMITED[plugin] if hessian == "lbfgs" else {}
    chosen = _USUAL.get(plugin, {}) | (WARM.get(plugin, {}) if warm else {}) | limited | dict(given)
    if plugin in SQP:
        silent = _QP_SILENT.get(chosen.get("qpsol", "qrqp" if plugin == "qrsqp" else "qpoases"), {})
        chosen["qpsol_options"] = silent | dict(chosen.get("qpsol_options", {}))
    if plugin == "ipopt" and chosen.get("linear_solver") == fronts.NAME:
        try:
            chosen |= fronts.options()
        except NoCompiler as reason:
            raise ValueError(
                f"linear_solver {fronts.NAME!r} needs a C compiler: {reason}"
            ) from None
    return _nest_options(plugin, chosen) | {"print_time": False}


def derivatives(nlp: NLP, plugin: str, hessian: str) -> dict[str, Option]:
    """Return the options that give an NLP's exact derivatives to a plugin.

    The plugin then differentiates nothing. `hessian` is as in Solver.
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
    parts, wanted = _parts(nlp, hessian, symbols), _wanted_functions(plugin, hessian == "lbfgs")
    made: dict[str, ca.Function] = {}
    # Fast versions cannot be differentiated: they are for functions of f or g alone
    plain = {"f": nlp.objective, "g": nlp.constraints}
    fast = {name: fast_version(each) for name, each in plain.items()}
    alone = {
        name: partial(each, symbols["x"]) for name, each in fast.items() if each is not plain[name]
    }
    # In this order the derivative of nlp_grad_l comes before itself
    for name, (inputs, outputs) in sorted(wanted.items()):
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


@cache
def _wanted_functions(plugin: str, limited: bool) -> dict[str, tuple[list[str], list[str]]]:
    """Return {name: (inputs, outputs)} of the functions that a plugin evaluates.

    They are those of a tiny program; none if the plugin cannot be set up without options.
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
    """Return {output: function that returns its expression}; each function is called once."""
    x, p, lam_f, lam_g = (symbols[name] for name in ("x", "p", "lam_f", "lam_g"))
    given: Exact = nlp
    gradient = cache(lambda: _inlined_call(given.gradient, x, p))
    jacobian = cache(lambda: _inlined_call(given.jacobian, x, p))
    kind = "exact" if hessian == "lbfgs" else hessian  # some ask for products, and use none
    upper = cache(lambda: _inlined_call(given.hessian(kind), x, p, lam_f, lam_g)[0])
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


def _inlined_call(function: ca.Function, *arguments: ca.MX) -> list[ca.MX]:
    """Return a call of a function, inlined if it is a graph of matrices.

    That spares a copy of large results.
    """
    return function.call(list(arguments), function.is_a("MXFunction"), False)


def _nest_options(plugin: str, flat: Options) -> dict[str, Option]:
    """Return the options with the solver's own ones in a dictionary, as CasADi wants them."""
    if plugin not in OWN:
        return dict(flat)
    known = {SHOWN, *ca.nlpsol_options(plugin)}
    own = {name: value for name, value in flat.items() if name not in known}
    return {name: value for name, value in flat.items() if name in known} | {plugin: own}

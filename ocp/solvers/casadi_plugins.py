"""CasADi's solver plugins as Backends: options, derivatives, set-up, cache, and answers.

A plugin asks for functions of its program by name ("nlp_jac_g"), and looks into its cache before it
differentiates anything. Which functions it needs, and in which form, is found on a tiny program, so
that every plugin of every version gets the NLP's derivatives.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import casadi as ca
import numpy as np

from ocp.codegen.compiler.shared_library import NoCompiler
from ocp.solvers import fronts
from ocp.solvers.nlp import NLP, Exact, Iterate, Option, Options, fast_version
from ocp.solvers.solver_backend import HESSIANS, Answer, Backend, See, Settings, Start

MANY = 1000  # accepted options that a process remembers
_ACCEPTED: set[tuple[str, str]] = set()
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
    if plugin in OWN:  # CasADi takes the solver's own options in a dictionary
        known = {SHOWN, *ca.nlpsol_options(plugin)}
        own = {name: value for name, value in chosen.items() if name not in known}
        chosen = {name: chosen[name] for name in chosen if name in known} | {plugin: own}
    return chosen | {"print_time": False}


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


def has_plugin(name: str) -> bool:
    """Tell whether this CasADi has a solver of that name."""
    return name.isidentifier() and ca.has_nlpsol(name)


def names() -> list[str]:
    """Return the names of all solvers that this CasADi has and can load."""
    known = (text.partition("::") for text in ca.CasadiMeta.plugins().split(";"))
    return sorted(name for kind, _, name in known if kind == "Nlpsol" and has_plugin(name))


def plugin(name: str) -> Backend:
    """Return the Backend of a plugin that this CasADi has."""
    hessians = set(HESSIANS)
    if name not in LIMITED:
        hessians.discard("lbfgs")
    if name in QUASI_NEWTON:
        hessians.discard("gauss-newton")
    return Backend(
        name=name,
        prepare=prepare,
        check=partial(check, name),
        hessians=tuple(kind for kind in HESSIANS if kind in hessians),
    )


def prepare(nlp: NLP, solver: Settings, start: Start, see: See) -> Callable[[], Answer]:
    """Return the solver of an NLP by a plugin of CasADi; raise ValueError if it cannot be set up.

    A solver is kept with the NLP for its functions and options, except while it runs: solves at the
    same time, in threads or within each other's watch, have one each.
    """
    chosen = options(solver.name, solver.options, hessian=solver.hessian, warm=start.warm)
    key = solver.name, solver.hessian, repr(chosen), *map(id, nlp.functions)
    if key not in nlp.made:
        nlp.keep(key, _set_up(nlp, solver, chosen))
    given: dict[str, Option] = {"x0": start.x, "lbx": nlp.lower, "ubx": nlp.upper}
    given |= {"lbg": nlp.g_lower, "ubg": nlp.g_upper}
    if start.warm:
        given |= {"lam_x0": start.x_multipliers, "lam_g0": start.g_multipliers}

    def solve() -> Answer:
        ready = nlp.made.pop(key, None) or _set_up(nlp, solver, chosen)
        function, monitor, _ = ready
        monitor.begin(see)
        try:
            result = function(**given)
            return _answer(result, function.stats())
        except RuntimeError as error:  # some plugins raise where others return a status
            return Answer(
                iterate=None, status=reason(error), success=False, iterations=monitor.count
            )
        finally:
            nlp.keep(key, ready)

    return solve


def _set_up(nlp: NLP, solver: Settings, given: Options) -> tuple[ca.Function, "_Monitor", tuple]:
    """Return a plugin's Function of an NLP, its monitor, and the NLP's functions.

    The functions are kept because their ids are part of the key.
    """
    name, symbol, monitor = solver.name, ca.MX.sym("x", len(nlp.lower)), _Monitor(nlp)
    program = {"x": symbol, "f": nlp.objective(symbol), "g": nlp.constraints(symbol)}
    chosen = dict(given) | {"iteration_callback": monitor}
    try:
        if nlp.jacobian is not None:
            chosen |= derivatives(nlp, name, solver.hessian)
        return ca.nlpsol("solver", name, program, chosen), monitor, nlp.functions
    except RuntimeError as error:
        raise ValueError(f"plugin {name!r} cannot be set up: {reason(error)}") from None


def quadratic(nlp: NLP, given: Options) -> ca.Function:
    """Return IPOPT for the quadratic model of an NLP with derivatives, kept with the NLP.

    Its variables are steps. Its parameters p are the slope (variables,), g (constraints,), and the
    nonzeros of the Jacobian and of the Lagrangian's Hessian, upper triangle.
    """
    key = "quadratic", repr(sorted(given.items())), *map(id, nlp.functions)
    if key not in nlp.made:
        program, functions = _model(nlp)
        chosen = options("ipopt", given) | {"calc_lam_p": False, "cache": functions}
        nlp.made[key] = ca.nlpsol("model", "ipopt", program, chosen), nlp.functions
    ready = nlp.made.pop(key)
    nlp.keep(key, ready)
    return ready[0]


def _model(nlp: NLP) -> tuple[dict[str, ca.MX], dict[str, ca.Function]]:
    """Return the quadratic model of an NLP, and its derivatives by IPOPT's names."""
    exact: Exact = nlp
    of_rows, bend = exact.jacobian.sparsity_out(1), exact.hessian("exact").sparsity_out(0)
    n, m = len(nlp.lower), len(nlp.g_lower)
    x, p = ca.MX.sym("x", n), ca.MX.sym("p", n + m + of_rows.nnz() + bend.nnz())
    places = np.cumsum([0, n, m, of_rows.nnz(), bend.nnz()]).tolist()
    slope, g, rows, upper = ca.vertsplit(p, places)
    jacobian, hessian = ca.MX(of_rows, rows), ca.MX(bend, upper)
    pull = ca.triu2symm(hessian) @ x
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", m)
    f, values = ca.dot(slope + pull / 2, x), g + jacobian @ x
    symbols, names = [x, p], ["x", "p"]
    parts: dict[str, tuple[list[ca.MX], list[str]]] = {
        "nlp_f": ([f], ["f"]),
        "nlp_g": ([values], ["g"]),
        "nlp_grad_f": ([f, slope + pull], ["f", "grad_f_x"]),
        "nlp_jac_g": ([values, jacobian], ["g", "jac_g_x"]),
    }
    made = {
        name: ca.Function(name, symbols, outputs, names, labels)
        for name, (outputs, labels) in parts.items()
    }
    made["nlp_hess_l"] = ca.Function(
        "nlp_hess_l",
        [*symbols, lam_f, lam_g],
        [lam_f * hessian],
        [*names, "lam_f", "lam_g"],
        ["triu_hess_gamma_x_x"],
    )
    return {"x": x, "p": p, "f": f, "g": values}, made


def _answer(result: Mapping[str, ca.DM], stats: Options) -> Answer:
    """Return the Answer of a plugin's results and statistics."""
    calls = {
        name[7:]: (int(count), float(stats.get(f"t_wall_{name[7:]}", 0.0)))
        for name, count in stats.items()
        if name.startswith("n_call_")
    }
    # Without a call the count of iterations is uninitialised
    began = sum(count for count, _ in calls.values()) if calls else 1
    status = str(stats.get("return_status") or "")
    if not status or status.isdigit():
        status = stats.get("unified_return_status", "unknown")
    return Answer(
        iterate=_iterate(result),
        status=status,
        success=bool(stats["success"]),
        iterations=int(stats.get("iter_count", 0)) if began else 0,
        calls=calls,
    )


def _iterate(values: Mapping[str, ca.DM]) -> Iterate:
    return Iterate(
        x=np.array(values["x"].elements()),
        g=np.array(values["g"].elements()),
        x_multipliers=np.array(values["lam_x"].elements()),
        g_multipliers=np.array(values["lam_g"].elements()),
    )


def check(name: str, given: Options) -> None:
    """Try options on a tiny program, once; raise ValueError if the plugin refuses them."""
    key = name, repr(sorted(given.items()))
    if key in _ACCEPTED:
        return
    x = ca.MX.sym("x")
    try:
        program = {"x": x, "f": x**2, "g": x}
        probe = ca.nlpsol("probe", name, program, options(name, given))
        if name in LATE:
            probe(x0=1.0)
    except Exception as error:  # CasADi raises bare exceptions of several types
        raise ValueError(reason(error)) from None
    if len(_ACCEPTED) >= MANY:
        _ACCEPTED.clear()
    _ACCEPTED.add(key)


def reason(error: Exception) -> str:
    """Return the cause that CasADi names in its last line, without the place in its sources."""
    return re.sub(r"^\S+\.[ch]pp:\d+: ", "", str(error).strip().splitlines()[-1].strip())


class _Monitor(ca.Callback):
    """Callback by which CasADi shows every iteration."""

    see: See

    def __init__(self, nlp: NLP) -> None:
        ca.Callback.__init__(self)
        self.count = 0
        n, m = len(nlp.lower), len(nlp.g_lower)
        sizes = {"x": n, "f": 1, "g": m, "lam_x": n, "lam_g": m, "lam_p": 0}
        self.sizes = [sizes[name] for name in ca.nlpsol_out()]
        self.construct("monitor")

    def begin(self, see: See) -> None:
        """Set the listener of a solve that begins."""
        self.see, self.count = see, 0

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return ca.nlpsol_out(i)

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.sizes[i], 1)

    def eval(self, arguments: Sequence[ca.DM]) -> list[int]:
        values = dict(zip(ca.nlpsol_out(), arguments))
        self.count += 1
        return [int(self.see(float(values["f"]), _iterate(values)))]

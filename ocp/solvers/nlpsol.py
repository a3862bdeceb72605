"""CasADi's solver plugins as Backends: set-up, cache, options, and answers."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import casadi as ca
import numpy as np

from ocp.solvers import plugins
from ocp.solvers.backend import HESSIANS, Answer, Backend, See, Settings, Start
from ocp.solvers.nlp import NLP, Exact, Iterate, Option, Options

MANY = 1000  # accepted options that a process remembers
_ACCEPTED: set[tuple[str, str]] = set()


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
    if name not in plugins.LIMITED:
        hessians.discard("lbfgs")
    if name in plugins.QUASI_NEWTON:
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
    options = plugins.options(solver.name, solver.options, hessian=solver.hessian, warm=start.warm)
    key = solver.name, solver.hessian, repr(options), *map(id, nlp.functions)
    if key not in nlp.made:
        nlp.keep(key, _set_up(nlp, solver, options))
    given: dict[str, Option] = {"x0": start.x, "lbx": nlp.lower, "ubx": nlp.upper}
    given |= {"lbg": nlp.g_lower, "ubg": nlp.g_upper}
    if start.warm:
        given |= {"lam_x0": start.x_multipliers, "lam_g0": start.g_multipliers}

    def solve() -> Answer:
        ready = nlp.made.pop(key, None) or _set_up(nlp, solver, options)
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


def _set_up(nlp: NLP, solver: Settings, options: Options) -> tuple[ca.Function, "_Monitor", tuple]:
    """Return a plugin's Function of an NLP, its monitor, and the NLP's functions.

    The functions are kept because their ids are part of the key.
    """
    name, symbol, monitor = solver.name, ca.MX.sym("x", len(nlp.lower)), _Monitor(nlp)
    program = {"x": symbol, "f": nlp.objective(symbol), "g": nlp.constraints(symbol)}
    chosen = dict(options) | {"iteration_callback": monitor}
    try:
        if nlp.jacobian is not None:
            chosen |= plugins.derivatives(nlp, name, solver.hessian)
        return ca.nlpsol("solver", name, program, chosen), monitor, nlp.functions
    except RuntimeError as error:
        raise ValueError(f"plugin {name!r} cannot be set up: {reason(error)}") from None


def quadratic(nlp: NLP, options: Options) -> ca.Function:
    """Return IPOPT for the quadratic model of an NLP with derivatives, kept with the NLP.

    Its variables are steps. Its parameters p are the slope (variables,), g (constraints,), and the
    nonzeros of the Jacobian and of the Lagrangian's Hessian, upper triangle.
    """
    key = "quadratic", repr(sorted(options.items())), *map(id, nlp.functions)
    if key not in nlp.made:
        program, derivatives = _model(nlp)
        chosen = plugins.options("ipopt", options) | {"calc_lam_p": False, "cache": derivatives}
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


def check(name: str, options: Options) -> None:
    """Try options on a tiny program, once; raise ValueError if the plugin refuses them."""
    key = name, repr(sorted(options.items()))
    if key in _ACCEPTED:
        return
    x = ca.MX.sym("x")
    try:
        program = {"x": x, "f": x**2, "g": x}
        probe = ca.nlpsol("probe", name, program, plugins.options(name, options))
        if name in plugins.LATE:
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

"""Expressions to casadi.Functions: the kernels of one instant with their derivatives, in scalar graphs, looped or compiled.

A kernel's inputs are y = (T, q, q', q'') with primes for d/ds, and s. Joint torques may bring their own derivatives: the kernel then takes
the chain rule through them, and only what a constraint or an objective makes of the torques is differentiated automatically.
"""
from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Provider
from ocp.problem import Instant

LOOPED = 12                                        # from so many joints on, pair products run faster as loops than as scalar graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A vector function of one instant and its derivatives.

    `values`(y, s) -> (m,); `jacobian`(y, s) -> its nonzeros at (`rows`, `columns`); `linear` (m,) tells the rows linear in y;
    `hessian(kind)` -> (function (y, s, multipliers (m,)) -> nonzeros of the upper triangle, rows, columns), kind "exact" or
    "gauss-newton".
    """

    size: int
    width: int
    values: ca.Function
    jacobian: ca.Function
    rows: np.ndarray
    columns: np.ndarray
    linear: np.ndarray
    hessian: Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Torque:
    """Joint torques whose derivatives are given rather than found: `symbol` (n,) stands for `value` (n,), a function of
    `place` = (q, qd, qdd, moment and force of every load); `provider` differentiates it at `arguments`."""

    symbol: object
    value: object
    place: object
    provider: Provider
    tree: object
    arguments: tuple

    def slope(self, run):
        """Return d value / d place."""
        parts = run(self.provider.slope_parts(self.tree, *self.arguments))
        return ca.horzcat(*self.provider.join_slopes(self.tree, parts))

    def curvature(self, run, weight):
        """Return the second derivatives and the gradient of weight . value by place."""
        n, symbol = self.value.shape[0], ca.SX.sym("weight", *self.value.shape)
        parts = run(ca.cse(list(self.provider.curvature_parts(self.tree, symbol, *self.arguments))), ((symbol, weight),))
        by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load, slope = self.provider.join_curvature(self.tree, parts)
        empty, loads = type(by_qq), by_q_load.shape[1]
        mixed = ca.vertcat(ca.horzcat(empty(n, n), by_q_qd, by_q_qdd, by_q_load), empty(2 * n + loads, 3 * n + loads))
        square = ca.diagcat(ca.triu2symm(by_qq), ca.triu2symm(by_qd_qd), empty(n + loads, n + loads))
        return square + mixed + mixed.T, slope


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What kernels are functions of: y = (T, q, q', q'') and s as SX symbols, the Instant they describe, its `torque` when that has
    derivatives of its own (the Instant's tau then is a symbol that stands for it), and what `finish`es every Function."""

    y: object
    s: object
    at: Instant
    torque: Torque | None = None
    finish: Callable | None = None


def symbols(problem, formulation, provider=None, finish=None):
    """Return the Inputs of kernels for a problem; `provider` gives derivatives of the torques, None leaves them to automatic
    differentiation; `finish(function)`, if given, turns scalar graphs into something faster."""
    n = problem.tree.dof
    y, s = ca.SX.sym("y", 3 * n + 1), ca.SX.sym("s")
    motion = {"q": y[1:n + 1], "qd": y[n + 1:2 * n + 1] / y[0], "qdd": y[2 * n + 1:] / y[0] ** 2}
    at = Instant(tree=problem.tree, s=s, T=y[0], loads=problem.loads, inverse=formulation.inverse, **motion)
    if provider is None:
        return Inputs(y=y, s=s, at=at, finish=finish)
    symbol, loads = ca.SX.sym("tau", n), tuple(load.at(at.t) for load in problem.loads)
    place = ca.vertcat(*motion.values(), *(ca.SX(wrench[k]) for load in loads for wrench in (load.moment, load.force) for k in range(3)))
    torque = Torque(symbol=symbol, value=at.tau, place=place, provider=provider, tree=problem.tree, arguments=(*motion.values(), loads))
    return Inputs(y=y, s=s, at=replace(at, inverse=lambda *_: symbol), torque=torque, finish=finish)


def column(what, value):
    """Return what a user's function gave as an SX column; raise ValueError naming `what` if it is no expression of numbers."""
    try:
        return ca.vec(ca.SX(value if hasattr(value, "shape") else ca.vcat(list(np.atleast_1d(value)))))
    except (NotImplementedError, TypeError):
        raise ValueError(f"{what}: expected a CasADi expression or numbers, got {type(value).__name__}") from None


def kernel(inputs, stack, *, squares=False):
    """Build the kernel of a column of expressions in the inputs; with `squares` its value is T times the sum of their squares.

    Gauss-Newton keeps 2 J'J of the residuals sqrt(T) r, and of anything else nothing.
    """
    y, s = inputs.y, inputs.s
    values = y[0] * ca.sumsqr(stack) if squares else stack
    jacobian, rows, columns = _sparse_function("jacobian", inputs, values, [], lambda run: _slope(inputs, values, run))

    def hessian(kind):
        multipliers = ca.SX.sym("lam", values.shape[0])
        if kind == "gauss-newton":
            root = ca.sqrt(y[0]) * stack if squares else ca.SX(0, 1)
            return _sparse_function("hessian", inputs, stack, [multipliers],
                                    lambda run: _squared(_slope(inputs, root, run), run, multipliers))
        scalar = ca.dot(multipliers, values)
        return _sparse_function("hessian", inputs, scalar, [multipliers], lambda run: ca.triu(_curvature(inputs, scalar, run)))

    return Kernel(
        size=values.shape[0], width=y.shape[0], rows=rows, columns=columns, hessian=hessian, jacobian=jacobian,
        linear=_linear(inputs, values),
        values=_finished(inputs, ca.Function("values", [y, s], [ca.cse(_resolved(inputs, values))])),
    )


def _sparse_function(name, inputs, values, more, build):
    """Return the Function of the nonzeros of the matrix build(run), and their rows and columns.

    `run(expressions, bound)` gives the value of SX expressions in the inputs, after binding symbols to values. In scalar graphs that is the
    expressions themselves; for large trees it is a call, and what build does with the results runs as loops over numbers.
    """
    scalars = [inputs.y, inputs.s, *more]
    looped = _uses_torque(inputs, values) and inputs.finish is None and inputs.torque.value.shape[0] >= LOOPED
    arguments = [ca.MX.sym(f"i{k}", *symbol.shape) for k, symbol in enumerate(scalars)] if looped else scalars

    def call(expressions, bound=()):
        stage = ca.Function("stage", [*scalars, *(symbol for symbol, _ in bound)], [ca.SX(part) for part in expressions])
        return stage.call([*arguments, *(value for _, value in bound)])

    def inline(expressions, bound=()):
        for symbol, value in bound:
            expressions = ca.substitute(list(expressions), [symbol], [ca.densify(value)])
        return list(expressions)

    matrix = build(call if looped else inline)
    matrix = matrix if looped else ca.cse(ca.sparsify(matrix))
    rows, columns = (np.array(index, dtype=int) for index in matrix.sparsity().get_triplet())
    return _finished(inputs, ca.Function(name, arguments, [ca.vec(matrix.nz[:])])), rows, columns


def _finished(inputs, function):
    return function if inputs.finish is None else inputs.finish(function)


def _resolved(inputs, expression):
    """Return the expression with the symbol of the torques replaced by what it stands for."""
    return expression if inputs.torque is None else ca.substitute(expression, inputs.torque.symbol, inputs.torque.value)


def _uses_torque(inputs, expression):
    return inputs.torque is not None and ca.depends_on(expression, inputs.torque.symbol)


def _linear(inputs, values):
    """Tell which values are linear in y; those that contain torques count as not."""
    linear = ~np.array(ca.which_depends(values, inputs.y, 2, True), dtype=bool)
    if _uses_torque(inputs, values):
        linear &= ~np.array(ca.which_depends(values, inputs.torque.symbol, 1, True), dtype=bool)
    return linear


def _slope(inputs, values, run):
    """Return d values / dy, the torques' part by the chain rule through their given derivatives."""
    own = ca.jacobian(values, inputs.y)
    if not _uses_torque(inputs, values):
        return run([own])[0]
    torque = inputs.torque
    pieces = [_resolved(inputs, own), _resolved(inputs, ca.jacobian(values, torque.symbol)), ca.jacobian(torque.place, inputs.y)]
    own, by_torque, by_place = run(pieces)
    return own + by_torque @ (torque.slope(run) @ by_place)


def _squared(root, run, multipliers):
    return 2 * run([multipliers[0]])[0] * ca.triu(root.T @ root)


def _curvature(inputs, scalar, run):
    """Return the Hessian of a scalar by y, the torques' part by the chain rule through their given first and second derivatives."""
    y, torque = inputs.y, inputs.torque
    if not _uses_torque(inputs, scalar):
        return run([ca.hessian(scalar, y)[0]])[0]
    own, weight = ca.hessian(scalar, y)[0], ca.gradient(scalar, torque.symbol)
    mixed, inner = ca.jacobian(ca.gradient(scalar, y), torque.symbol), ca.jacobian(weight, torque.symbol)
    pull = ca.SX.sym("pull", torque.place.shape[0])
    placed = ca.hessian(ca.dot(pull, torque.place), y)[0]
    own, weight, by_place = run([_resolved(inputs, own), ca.densify(_resolved(inputs, weight)), ca.jacobian(torque.place, y)])
    bend, slope = torque.curvature(run, weight)
    total = own + by_place.T @ (bend @ by_place) + run([placed], ((pull, slope),))[0]
    if mixed.nnz() + inner.nnz():
        through = torque.slope(run) @ by_place
        mixed, inner = run([_resolved(inputs, mixed), _resolved(inputs, inner)])
        crossed = mixed @ through
        total += crossed + crossed.T + through.T @ (inner @ through)
    return total


def function(name, inputs, outputs, input_names, output_names):
    """Return a casadi.Function with named inputs and outputs."""
    return ca.Function(name, inputs, outputs, input_names, output_names)


def trace(problem, formulation, wanted):
    """Return a function (y (width, N), s (N,)) -> (m, N) of wanted(Instant), for looking at a motion rather than optimising it."""
    inputs = symbols(problem, formulation)
    compiled = ca.Function("trace", [inputs.y, inputs.s], [ca.cse(column("trace", wanted(inputs.at)))])
    return lambda y, s: evaluate(compiled, y, s)


def evaluate(kernel_function, y, s, *more):
    """Evaluate a kernel's function at many instants: y (width, N), s (N,) -> (outputs, N)."""
    return np.array(kernel_function.map(len(s))(y, ca.DM(s).T, *more))



"""Expressions to casadi.Functions: the kernels of one instant with their derivatives, in scalar graphs, looped or compiled.

A kernel's inputs are s and y = (T, q, q', q'') with primes for d/ds, or (q, qd, qdd) when the duration is given; then what is lifted:
joint torques, forces of cut joints and ground wrenches. Inverse dynamics may bring its own derivatives: the kernel then takes the chain rule
through it, and only what a constraint or an objective makes of the torques is differentiated automatically.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.dynamics.closed_loops import spread
from ocp.dynamics.formulation import Provider
from ocp.mechanics.loads import Wrench, acting
from ocp.mechanics.structure import structure
from ocp.mechanics.zero_moment import resultant
from ocp.problem.ground import slots
from ocp.problem.instant import Instant
from ocp.problem.reactions import shared, two_pass
from ocp.transcription.variables import free_duration, motion_width

LOOPED = 12  # from so many joints on, pair products run faster as loops than as scalar graphs


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
    """Inverse dynamics whose derivatives are given rather than found: `symbol` (n,) stands for `value` (n,), a function of
    `place` = (q, qd, qdd, moment and force of every load); `provider` differentiates it at `arguments`. Where the place is made of entries
    of y and of constants, `chosen` has the former's numbers in it and in y."""

    symbol: object
    value: object
    place: object
    provider: Provider
    tree: object
    arguments: tuple
    chosen: tuple | None

    def slope(self, run):
        """Return d value / d place."""
        parts = run(self.provider.slope_parts(self.tree, *self.arguments))
        return ca.horzcat(*self.provider.join_slopes(self.tree, parts))

    def curvature(self, run, weight):
        """Return the upper triangle of the second derivatives, and the gradient, of weight . value by place."""
        n, symbol = self.value.shape[0], ca.SX.sym("weight", *self.value.shape)
        parts = run(
            self.provider.curvature_parts(self.tree, symbol, *self.arguments), ((symbol, weight),)
        )
        by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load, slope = self.provider.join_curvature(
            self.tree, parts
        )
        empty, loads = type(by_qq), by_q_load.shape[1]
        upper = ca.vertcat(
            ca.horzcat(by_qq, by_q_qd, by_q_qdd, by_q_load),
            ca.horzcat(empty(n, n), by_qd_qd, empty(n, n + loads)),
            empty(n + loads, 3 * n + loads),
        )
        return upper, slope


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What kernels are functions of: y and s as SX symbols, the Instant they describe (or two, start and end), its `torque` when inverse
    dynamics has derivatives of its own (and then is a symbol that stands for it), and what `finish`es every Function."""

    y: object
    s: object
    at: object
    torque: Torque | None = None
    finish: Callable | None = None

    @property
    def T(self):
        """The duration (s)."""
        return self.at[0].T if isinstance(self.at, tuple) else self.at.T


def symbols(problem, formulation, provider=None, finish=None, wrenches=None):
    """Return the Inputs of kernels for a problem; `provider` gives derivatives of inverse dynamics, None leaves them to automatic
    differentiation; `finish(function)`, if given, turns scalar graphs into something faster.

    `wrenches` of the ground: None computes them from the motion in two passes; "variables" reads them, the torques of actuated joints and the
    forces of cut joints from y, where a Layout places them; "given" takes those of each foot from y and corrects them to equilibrium, and
    the forces of cut joints before them, unless passive joints determine these.
    """
    n, free = problem.tree.dof, free_duration(problem)
    extra, react, lifted, cut = _lifted(problem, wrenches)
    y, s = ca.SX.sym("y", motion_width(problem) + extra), ca.SX.sym("s")
    T = y[0] if free else ca.SX(problem.duration[0])
    q, qd, qdd, more = ca.vertsplit(y[free:], [0, n, 2 * n, 3 * n, 3 * n + extra])
    motion = (q, qd / T, qdd / T**2) if free else (q, qd, qdd)
    at = Instant(
        tree=problem.tree,
        s=s,
        T=T,
        q=motion[0],
        qd=motion[1],
        qdd=motion[2],
        loads=problem.loads,
        inverse=formulation.inverse,
        ground=problem.ground,
        react=None if react is None else lambda at: react(at, more),
        lifted=None if lifted is None else lambda at: lifted(more),
        cut=None if cut is None else lambda at: cut(more),
    )
    if provider is None:
        return Inputs(y=y, s=s, at=at, finish=finish)
    symbol, loads, value = (
        ca.SX.sym("tau", n),
        acting(problem.loads, at.t),
        at.unsupported,
    )
    known = replace(at, inverse=lambda *_: symbol)
    if lifted is not None:
        loads, value, known = (
            (*loads, *_supports(problem.ground, more)),
            at.supported,
            replace(at, need=lambda _: symbol),
        )
    place = ca.vertcat(
        *motion,
        *(
            ca.SX(wrench[k])
            for load in loads
            for wrench in (load.moment, load.force)
            for k in range(3)
        ),
    )
    torque = Torque(
        symbol=symbol,
        value=value,
        place=place,
        provider=provider,
        tree=problem.tree,
        arguments=(*motion, loads),
        chosen=_chosen(place, y),
    )
    return Inputs(y=y, s=s, at=known, torque=torque, finish=finish)


def _chosen(place, y):
    """Return which entries of an expression are entries of y, and which ones; None if another one depends on y."""
    slope = ca.jacobian(place, y)
    if not slope.is_constant() or any(entry != 1 for entry in ca.DM(slope).nonzeros()):
        return None
    return slope.sparsity().get_triplet()


def _lifted(problem, wrenches):
    """Return how many inputs are lifted, react(instant, them), torques(them) and forces of cut joints(them)."""
    ground, rows, cut = (
        problem.ground,
        list(structure(problem.tree).drives),
        structure(problem.tree).cuts,
    )

    def in_two_passes(at, _):
        return two_pass(ground, at.s, resultant(at.tree, at.frames, at.unsupported))

    def corrected(at, more):
        given = {
            foot.name: Wrench(link="", moment=wrench[:3], force=wrench[3:])
            for foot, wrench in zip(ground.feet, ca.vertsplit(more[told:], 6))
        }
        return shared(ground, at.s, given, resultant(at.tree, at.frames, at.unsupported))

    def variable(_, more):
        return dict(zip(slots(ground), _supports(ground, more)))

    def torques(more):
        return ca.vertcat(
            *(more[rows.index(row)] if row in rows else 0 for row in range(problem.tree.dof))
        )

    def forces(first):
        return (
            (lambda more: spread(problem.tree, more[first : first + len(cut)], cut))
            if cut
            else None
        )

    if wrenches == "variables":
        return (
            structure(problem.tree).internal + (0 if ground is None else 6 * len(slots(ground))),
            None if ground is None else variable,
            torques,
            forces(len(rows)),
        )
    told = len(cut) if wrenches == "given" and not structure(problem.tree).determined else 0
    react = None if ground is None else corrected if wrenches == "given" else in_two_passes
    return (
        told + (6 * len(ground.feet) if react is corrected else 0),
        react,
        None,
        forces(0) if told else None,
    )


def _supports(ground, lifted):
    """Return the Wrench of every slot of the ground, from all that is lifted at an instant."""
    if ground is None:
        return ()
    wrenches = ca.vertsplit(lifted[-6 * len(slots(ground)) :], 3)
    return tuple(
        Wrench(link=link, place=ground.foot(foot).center, moment=moment, force=force)
        for (foot, link), moment, force in zip(slots(ground), wrenches[::2], wrenches[1::2])
    )


def joined_symbols(problem, formulation, finish=None, wrenches=None):
    """Return the Inputs of kernels of both ends of the motion: y is that of the start on top of that of the end."""
    ends = [symbols(problem, formulation, wrenches=wrenches) for _ in range(2)]
    instants = tuple(replace(end.at, s=ca.SX(s)) for end, s in zip(ends, (0.0, 1.0)))
    return Inputs(
        y=ca.vertcat(*(end.y for end in ends)), s=ca.SX.sym("s"), at=instants, finish=finish
    )


def column(what, value):
    """Return what a user's function gave as an SX column; raise ValueError naming `what` if it is no expression of numbers."""
    try:
        return ca.vec(
            ca.SX(value if hasattr(value, "shape") else ca.vcat(list(np.atleast_1d(value))))
        )
    except (NotImplementedError, TypeError):
        raise ValueError(
            f"{what}: expected a CasADi expression or numbers, got {type(value).__name__}"
        ) from None


def kernel(inputs, stack, *, squares=False):
    """Build the kernel of a column of expressions in the inputs; with `squares` its value is T times the sum of their squares.

    Gauss-Newton keeps 2 J'J of the residuals sqrt(T) r, and of anything else nothing. Repetitions are taken out of the values, before they
    are differentiated: that is quicker than to do so with the derivatives, and leaves as few.
    """
    y, s = inputs.y, inputs.s
    stack = ca.cse(stack)
    values = inputs.T * ca.sumsqr(stack) if squares else stack
    jacobian, rows, columns = _sparse_function(
        "jacobian", inputs, values, [], lambda run: _slope(inputs, values, run)
    )

    def hessian(kind):
        multipliers = ca.SX.sym("lam", values.shape[0])
        if kind == "gauss-newton":
            root = ca.sqrt(inputs.T) * stack if squares else ca.SX(0, 1)
            return _sparse_function(
                "hessian",
                inputs,
                stack,
                [multipliers],
                lambda run: _squared(_slope(inputs, root, run), run, multipliers),
            )
        scalar = ca.dot(multipliers, values)
        return _sparse_function(
            "hessian",
            inputs,
            scalar,
            [multipliers],
            lambda run: ca.triu(_curvature(inputs, scalar, run)),
        )

    return Kernel(
        size=values.shape[0],
        width=y.shape[0],
        rows=rows,
        columns=columns,
        hessian=hessian,
        jacobian=jacobian,
        linear=_linear(inputs, values),
        values=_finished(
            inputs, ca.Function("values", [y, s], [ca.cse(_resolved(inputs, values))])
        ),
    )


def _sparse_function(name, inputs, values, more, build):
    """Return the Function of the nonzeros of the matrix build(run), and their rows and columns.

    `run(expressions, bound)` gives the value of SX expressions in the inputs, after binding symbols to values. In scalar graphs that is the
    expressions themselves; for large trees it is a call, and what build does with the results runs as loops over numbers.
    """
    scalars = [inputs.y, inputs.s, *more]
    looped = (
        _uses_torque(inputs, values)
        and inputs.finish is None
        and inputs.torque.value.shape[0] >= LOOPED
    )
    arguments = (
        [ca.MX.sym(f"i{k}", *symbol.shape) for k, symbol in enumerate(scalars)]
        if looped
        else scalars
    )

    def call(expressions, bound=()):
        stage = ca.Function(
            "stage",
            [*scalars, *(symbol for symbol, _ in bound)],
            [ca.SX(part) for part in expressions],
        )
        return stage.call([*arguments, *(value for _, value in bound)])

    def inline(expressions, bound=()):
        for symbol, value in bound:
            expressions = ca.substitute(list(expressions), [symbol], [ca.densify(value)])
        return list(expressions)

    matrix = build(call if looped else inline)
    matrix = matrix if looped else ca.sparsify(matrix)
    matrix = ca.cse(matrix) if _uses_torque(inputs, values) and not looped else matrix
    rows, columns = (np.array(index, dtype=int) for index in matrix.sparsity().get_triplet())
    return _finished(inputs, ca.Function(name, arguments, [ca.vec(matrix.nz[:])])), rows, columns


def _finished(inputs, function):
    return function if inputs.finish is None else inputs.finish(function)


def _resolved(inputs, expression):
    """Return the expression with the symbol of the torques replaced by what it stands for."""
    return (
        expression
        if inputs.torque is None
        else ca.substitute(expression, inputs.torque.symbol, inputs.torque.value)
    )


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
    own, by_torque = run(
        [_resolved(inputs, own), _resolved(inputs, ca.jacobian(values, torque.symbol))]
    )
    return own + by_torque @ _through(inputs, run)


def _through(inputs, run):
    """Return d torque / dy."""
    slope, torque, y = inputs.torque.slope(run), inputs.torque, inputs.y
    if torque.chosen is not None:
        entries, numbers = torque.chosen
        return _spread(
            slope[:, entries], range(slope.shape[0]), numbers, (slope.shape[0], y.shape[0])
        )
    return slope @ run([ca.jacobian(torque.place, y)])[0]


def _spread(matrix, rows, columns, shape):
    """Return a sparse matrix of that shape that is zero but at some rows and columns, in order, where it is the given one."""
    pattern = matrix.sparsity()
    pattern.enlarge(*shape, list(rows), list(columns))
    return type(matrix)(pattern, ca.vec(matrix.nz[:]))


def _squared(root, run, multipliers):
    return 2 * run([multipliers[0]])[0] * ca.triu(root.T @ root)


def _curvature(inputs, scalar, run):
    """Return the Hessian of a scalar by y, the torques' part by the chain rule through their given first and second derivatives."""
    y, torque = inputs.y, inputs.torque
    if not _uses_torque(inputs, scalar):
        return run([ca.hessian(scalar, y)[0]])[0]
    own, weight = ca.hessian(scalar, y)[0], ca.gradient(scalar, torque.symbol)
    mixed, inner = (
        ca.jacobian(ca.gradient(scalar, y), torque.symbol),
        ca.jacobian(weight, torque.symbol),
    )
    own, weight = run([_resolved(inputs, own), ca.densify(_resolved(inputs, weight))])
    upper, slope = torque.curvature(run, weight)
    if torque.chosen is not None:
        entries, numbers = torque.chosen
        total = own + _spread(upper[entries, entries], numbers, numbers, (y.shape[0], y.shape[0]))
    else:
        pull = ca.SX.sym("pull", torque.place.shape[0])
        by_place = run([ca.jacobian(torque.place, y)])[0]
        bend = ca.triu2symm(ca.triu(upper))
        total = (
            own
            + by_place.T @ (bend @ by_place)
            + run([ca.hessian(ca.dot(pull, torque.place), y)[0]], ((pull, slope),))[0]
        )
    if mixed.nnz() + inner.nnz():
        through = _through(inputs, run)
        mixed, inner = run([_resolved(inputs, mixed), _resolved(inputs, inner)])
        crossed = mixed @ through
        total += crossed + crossed.T + through.T @ (inner @ through)
    return total


def function(name, inputs, outputs, input_names, output_names):
    """Return a casadi.Function with named inputs and outputs."""
    return ca.Function(name, inputs, outputs, input_names, output_names)


def trace(problem, formulation, wanted, wrenches=None):
    """Return a function (y (width, N), s (N,)) -> (m, N) of wanted(Instant), for looking at a motion rather than optimising it.

    `wrenches` as in `symbols`: y ends with those of the feet, about the origin, if they are "given", and with torques as "variables".
    """
    inputs = _looking(Same(problem), formulation, wrenches)
    compiled = ca.Function(
        "trace", [inputs.y, inputs.s], [ca.cse(column("trace", wanted(inputs.at)))]
    )
    return lambda y, s: evaluate(compiled, y, s)


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """A value that a cache finds again by its identity."""

    value: object

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return self.value is other.value


@lru_cache(maxsize=4)
def _looking(same, formulation, wrenches):
    """Return the Inputs of traces, kept, because all that is traced of one motion shares poses, torques and reactions."""
    return symbols(same.value, formulation, wrenches=wrenches)


def trace_joined(problem, formulation, wanted, wrenches=None):
    """Return a function (y (2 width,)) -> (m,) of wanted(start Instant, end Instant)."""
    inputs = joined_symbols(problem, formulation, wrenches=wrenches)
    compiled = ca.Function(
        "trace", [inputs.y, inputs.s], [ca.cse(column("trace", wanted(*inputs.at)))]
    )
    return lambda y: evaluate(compiled, y, np.zeros(1))[:, 0]


def evaluate(kernel_function, y, s, *more):
    """Evaluate a kernel's function at many instants: y (width, N), s (N,) -> (outputs, N)."""
    return np.array(kernel_function.map(len(s))(y, ca.DM(s).T, *more))

"""Kernels: vector functions of one instant with their derivatives, as scalar graphs, loops or
machine code.

Where inverse dynamics brings its own derivatives the kernel takes the chain rule through it, and
only what a constraint or an objective makes of the torques is differentiated automatically. So it
is with the angular momentum, which stands in a kernel's inputs where the torques do otherwise.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import casadi as ca
import numpy as np

from ocp.codegen.function_map import Graph, map_function
from ocp.mechanics.values.callback_checks import no_column
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.transcription.kernels.custom_derivatives import Spin, Torque
from ocp.transcription.kernels.inputs import Inputs, PendingKernel

LOOPED = 12  # from so many joints on, pair products run faster as loops than as scalar graphs


Bound = Sequence[tuple[Matrix, Matrix]]  # symbols and their values
Run = Callable[..., list[Matrix]]  # evaluates expressions, as `_sparse_function` says


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Kernel:
    """A vector function of one instant and its derivatives.

    `values`(y, s) -> (m,); `jacobian`(y, s) -> its nonzeros at (`rows`, `columns`), and the values
    (m,) beside them; `linear` (m,) tells the rows linear in y; `hessian(kind)` -> (function (y, s,
    multipliers (m,)) -> nonzeros of the upper triangle, rows, columns), kind "exact" or
    "gauss-newton". Given parameters at the end of y have no slopes, and no row with one
    counts as linear.

    Functions may be on their way to machine code, or not built yet: whoever asks for one waits.
    `made` has their getters; `begin`(kind) starts to make that of the Hessian, and returns its
    getter, rows and columns.
    """

    size: int
    width: int
    made: Mapping[str, Callable[[], ca.Function]]
    rows: np.ndarray
    columns: np.ndarray
    linear: np.ndarray
    begin: Callable[[str], tuple[Callable[[], ca.Function], np.ndarray, np.ndarray]]

    @property
    def values(self) -> ca.Function:
        """(y, s) -> (m,)."""
        return self.made["values"]()

    def has_nan(self, row: int) -> bool:
        """Tell whether nan stands as a number in the scalar graph of a row of the values."""
        graph = self.made["graph"]()
        y, s = graph.sx_in()
        one = ca.Function("row", [y, s], [graph(y, s)[row]])
        return any(
            one.instruction_id(k) == ca.OP_CONST and np.isnan(one.instruction_constant(k))
            for k in range(one.n_instructions())
        )

    @property
    def jacobian(self) -> ca.Function:
        """(y, s) -> the nonzeros."""
        return self.made["jacobian"]()

    def hessian(self, kind: str) -> tuple[ca.Function, np.ndarray, np.ndarray]:
        """Return the Function of the Hessian, and its rows and columns."""
        function, rows, columns = self.begin(kind)
        return function(), rows, columns

    def __repr__(self) -> str:
        return f"Kernel({self.width} inputs, {self.size} values, {len(self.rows)} slopes)"


def as_column(what: str, value: Numbers) -> ca.SX:
    """Return the result of a user's function as an SX column.

    Raises ValueError naming `what` if it is no expression of numbers.
    """
    try:
        return ca.vec(
            ca.SX(value if hasattr(value, "shape") else ca.vcat(list(np.atleast_1d(value))))
        )
    except (NotImplementedError, TypeError):
        raise no_column(what, value) from None


def make_kernel(inputs: Inputs, stack: ca.SX, *, squares: bool = False) -> Kernel:
    """Build the kernel of a column of expressions in the inputs.

    With `squares` its value is the measure, T, times the sum of their squares. Gauss-Newton keeps
    2 J'J of the residuals sqrt(T) r, and of anything else nothing. Repetitions are taken out of the
    values, before they are differentiated: that is quicker than to do so with the derivatives, and
    leaves as few.
    """
    inputs, stack = _one_stand_in(inputs, stack)
    y, s = inputs.y, inputs.s
    stack = ca.cse(stack)
    values = inputs.measure * ca.sumsqr(stack) if squares else stack
    stated = cache(partial(_content, inputs, stack, squares=squares))

    written = partial(_written_out, inputs, values)
    value_graph = cache(lambda: ca.Function("values", [y, s], [ca.cse(written())]))
    jacobian, rows, columns = _sparse_function(
        "jacobian",
        inputs,
        values,
        [],
        lambda run: _slope(inputs, values, run),
        stated,
        beside=values,
    )

    @cache
    def begin(kind: str) -> tuple[Callable[[], ca.Function], np.ndarray, np.ndarray]:
        multipliers = ca.SX.sym("lam", values.shape[0])
        if kind == "gauss-newton":
            root = ca.sqrt(inputs.measure) * stack if squares else ca.SX(0, 1)
            return _sparse_function(
                "squares",
                inputs,
                stack,
                [multipliers],
                lambda run: _gauss_newton(_slope(inputs, root, run), run, multipliers),
                stated,
            )
        scalar = ca.dot(multipliers, values)
        return _sparse_function(
            "hessian",
            inputs,
            scalar,
            [multipliers],
            lambda run: ca.triu(_curvature(inputs, scalar, run)),
            stated,
        )

    result, _ = (inputs.backend or as_built)("values", lambda: Graph(value_graph()), stated)
    return Kernel(
        size=values.shape[0],
        width=y.shape[0],
        rows=rows,
        columns=columns,
        begin=begin,
        made={"values": result, "jacobian": jacobian, "graph": value_graph},
        linear=_linear(inputs, values),
    )


def _content(inputs: Inputs, stack: ca.SX, *, squares: bool) -> str:
    """Return a text of all that a kernel's functions follow from, whose derivatives are those of
    built-in formulations."""
    symbols = [inputs.y, inputs.s]
    expressions = [stack, inputs.measure] if squares else [stack]
    torque = _stand_in(inputs, stack)
    if torque is not None:
        symbols.append(torque.symbol)
        expressions += [torque.value, torque.place]
    parts = ca.Function("parts", symbols, expressions)
    settings = f"{squares}, {inputs.sought}, {inputs.given}, {torque and torque.words}"
    return f"{settings}|{parts.serialize()}"


def _one_stand_in(inputs: Inputs, stack: ca.SX) -> tuple[Inputs, ca.SX]:
    """Return the inputs and the column with one symbol at most that stands for something, which the
    inputs have as their `torque`.

    Where torques and the angular momentum are both in it, the latter is written out.
    """
    spin = inputs.spin
    if spin is None or not ca.depends_on(stack, spin.symbol):
        return inputs, stack
    if _stand_in(inputs, stack) is not None:
        return inputs, ca.substitute(stack, spin.symbol, spin.value)
    return replace(inputs, torque=spin), stack


def _sparse_function(
    name: str,
    inputs: Inputs,
    values: ca.SX,
    more: Sequence[ca.SX],
    build: Callable[[Run], Matrix],
    stated: Callable[[], str],
    beside: ca.SX | None = None,
) -> tuple[Callable[[], ca.Function], np.ndarray, np.ndarray]:
    """Return the getter of the Function of the nonzeros of the matrix build(run), and of an
    expression `beside` it, and their rows and columns; `stated`() is a text of all that they follow
    from.

    `run(expressions, bound)` gives the value of SX expressions in the inputs, after binding symbols
    to values. In scalar graphs that is the expressions themselves; for large trees it is a call,
    and what build does with the results runs as loops over numbers.
    """
    scalars = [inputs.y, inputs.s, *more]

    def graph() -> Graph:
        torque = _stand_in(inputs, values)
        arguments, run = scalars, _inline
        # machine code is made of scalar graphs alone
        scalar = inputs.backend is not None and inputs.backend.scalar
        looped = torque is not None and not scalar and torque.tree.dof >= LOOPED
        if looped:
            arguments = [ca.MX.sym(f"i{k}", *each.shape) for k, each in enumerate(scalars)]
            run = partial(_call_stage, scalars, arguments)
        matrix = build(run)
        matrix = matrix if looped else ca.sparsify(matrix)
        matrix = ca.cse(matrix) if torque is not None and not looped else matrix
        outputs = [ca.vec(matrix.nz[:])]
        if beside is not None:
            outputs += run([_written_out(inputs, beside)])
        return Graph(ca.Function(name, arguments, outputs), matrix.sparsity())

    function, pattern = (inputs.backend or as_built)(name, graph, stated)
    rows, columns = (np.array(index, dtype=int) for index in pattern.get_triplet())
    return function, rows, columns


def _call_stage(
    scalars: Sequence[Matrix],
    arguments: Sequence[Matrix],
    expressions: Sequence[Matrix],
    bound: Bound = (),
) -> list[Matrix]:
    inputs = [*scalars, *(symbol for symbol, _ in bound)]
    stage = ca.Function("stage", inputs, [ca.SX(part) for part in expressions])
    return stage.call([*arguments, *(value for _, value in bound)])


def _inline(expressions: Sequence[Matrix], bound: Bound = ()) -> list[Matrix]:
    for symbol, value in bound:
        expressions = ca.substitute(list(expressions), [symbol], [ca.densify(value)])
    return list(expressions)


def as_built(name: str, build: Callable[[], Graph], follows: Callable[[], str]) -> PendingKernel:
    """Return the getter of the function of the Graph that `build`() builds, as it is, and its
    pattern; its `name` and the text of what it `follows` from are not used."""
    graph = build()
    return lambda: graph.function, graph.pattern


def _written_out(inputs: Inputs, expression: Matrix) -> Matrix:
    """Return the expression with the symbol of the torques replaced by what it stands for."""
    torque = _stand_in(inputs, expression)
    return expression if torque is None else ca.substitute(expression, torque.symbol, torque.value)


def _stand_in(inputs: Inputs, expression: Matrix) -> Torque | Spin | None:
    """Return the inverse dynamics whose symbol is in an expression; None where it is not."""
    torque = inputs.torque
    return torque if torque is not None and ca.depends_on(expression, torque.symbol) else None


def _linear(inputs: Inputs, values: Matrix) -> np.ndarray:
    """Tell which values are linear in y; those that contain torques count as not."""
    curved = np.array(ca.which_depends(values, inputs.differentiable, 2, True), dtype=bool)
    torque = _stand_in(inputs, values)
    fixed = [inputs.constants] if inputs.given else []
    for symbols in (*fixed, *([] if torque is None else [torque.symbol])):
        curved |= np.array(ca.which_depends(values, symbols, 1, True), dtype=bool)
    return ~curved


def _slope(inputs: Inputs, values: Matrix, run: Run) -> Matrix:
    """Return d values / dy, the torques' part by the chain rule through their given derivatives."""
    own, torque = ca.jacobian(values, inputs.differentiable), _stand_in(inputs, values)
    if inputs.given:  # by which nothing is differentiated
        own = ca.horzcat(own, type(own)(own.shape[0], inputs.given))
    if torque is None:
        return run([own])[0]
    own, by_torque = run(
        [_written_out(inputs, own), _written_out(inputs, ca.jacobian(values, torque.symbol))]
    )
    return own + by_torque @ _torque_slope(inputs, torque, run)


def _torque_slope(inputs: Inputs, torque: Torque | Spin, run: Run) -> Matrix:
    """Return d torque / dy."""
    slope, y = torque.slope(run), inputs.motion
    if torque.chosen is not None:
        entries, numbers = torque.chosen
        through = _spread(
            slope[:, entries], range(slope.shape[0]), numbers, (slope.shape[0], y.shape[0])
        )
    else:
        through = slope @ run([ca.jacobian(torque.place, y)])[0]
    if inputs.sought:
        through = ca.horzcat(through, run([ca.jacobian(torque.value, inputs.parameters)])[0])
    given = inputs.given
    return ca.horzcat(through, type(through)(through.shape[0], given)) if given else through


def _spread(
    matrix: Matrix, rows: Iterable[int], columns: Iterable[int], shape: tuple[int, int]
) -> Matrix:
    """Return a sparse matrix of that shape that is zero but at some rows and columns, in order,
    where it is the given one."""
    pattern = matrix.sparsity()
    pattern.enlarge(*shape, list(rows), list(columns))
    return type(matrix)(pattern, ca.vec(matrix.nz[:]))


def _gauss_newton(root: Matrix, run: Run, multipliers: Matrix) -> Matrix:
    """Return the upper triangle of 2 lam J'J of residuals with slopes `root`."""
    return 2 * run([multipliers[0]])[0] * ca.triu(root.T @ root)


def _curvature(inputs: Inputs, scalar: Matrix, run: Run) -> Matrix:
    """Return the Hessian of a scalar by y, the torques' part by the chain rule through their given
    first and second derivatives."""
    torque, own = _stand_in(inputs, scalar), ca.hessian(scalar, inputs.differentiable)[0]
    if inputs.given:  # by which nothing is differentiated
        own = ca.diagcat(own, type(own)(inputs.given, inputs.given))
    if torque is None:
        return run([own])[0]
    weight = ca.gradient(scalar, torque.symbol)
    mixed, inner = (
        ca.jacobian(ca.gradient(scalar, inputs.differentiable), torque.symbol),
        ca.jacobian(weight, torque.symbol),
    )
    if inputs.given:
        mixed = ca.vertcat(mixed, type(mixed)(inputs.given, mixed.shape[1]))
    own, weight = run([_written_out(inputs, own), ca.densify(_written_out(inputs, weight))])
    total = own + _torque_curvature(inputs, torque, run, weight)
    if mixed.nnz() + inner.nnz():
        through = _torque_slope(inputs, torque, run)
        mixed, inner = run([_written_out(inputs, mixed), _written_out(inputs, inner)])
        crossed = mixed @ through
        total += crossed + crossed.T + through.T @ (inner @ through)
    return total


def _torque_curvature(inputs: Inputs, torque: Torque | Spin, run: Run, weight: Matrix) -> Matrix:
    """Return the upper triangle, or all, of the second derivatives by y of weight . torque."""
    y, shape = inputs.motion, inputs.y.shape[0]
    upper, slope = torque.curvature(run, weight)
    if torque.chosen is not None:
        entries, numbers = torque.chosen
        return _spread(upper[entries, entries], numbers, numbers, (shape, shape)) + (
            _parameter_curvature(inputs, torque, run, weight) if inputs.sought else 0
        )
    pull = ca.SX.sym("pull", torque.place.shape[0])
    by_place = run([ca.jacobian(torque.place, y)])[0]
    bend = ca.triu2symm(ca.triu(upper))
    total = (
        by_place.T @ (bend @ by_place)
        + run([ca.hessian(ca.dot(pull, torque.place), y)[0]], ((pull, slope),))[0]
    )
    beside = inputs.sought + inputs.given
    total = ca.diagcat(total, type(total)(beside, beside)) if beside else total
    return total + (_parameter_curvature(inputs, torque, run, weight) if inputs.sought else 0)


def _parameter_curvature(inputs: Inputs, torque: Torque | Spin, run: Run, weight: Matrix) -> Matrix:
    """Return the part of the second derivatives by y of weight . torque in the columns of the
    parameters that are sought, above the diagonal and on it; it is found automatically."""
    scale = ca.SX.sym("scale", *torque.symbol.shape)
    pull = ca.gradient(ca.dot(scale, torque.value), inputs.parameters)
    columns = run([ca.jacobian(pull, inputs.differentiable)], ((scale, weight),))[0].T
    total = inputs.y.shape[0]
    first = inputs.motion.shape[0]
    return _spread(
        columns, range(columns.shape[0]), range(first, first + inputs.sought), (total,) * 2
    )


def function(
    name: str,
    inputs: Sequence[Matrix],
    outputs: Sequence[Matrix],
    input_names: Sequence[str],
    output_names: Sequence[str],
) -> ca.Function:
    """Return a casadi.Function with named inputs and outputs; higher wings make none themselves."""
    return ca.Function(name, inputs, outputs, input_names, output_names)


def evaluate(
    kernel_function: ca.Function, y: np.ndarray, s: np.ndarray, *extra: Matrix
) -> np.ndarray:
    """Return the first output of a kernel's function at many instants: y (width, N), s (N,) ->
    (outputs, N)."""
    return np.array(map_function(kernel_function, len(s)).call([y, ca.DM(s).T, *extra])[0])

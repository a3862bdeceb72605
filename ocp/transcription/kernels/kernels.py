"""Kernels: vector functions of one instant with their derivatives, as scalar graphs, loops or
machine code.

Where inverse dynamics brings its own derivatives the kernel takes the chain rule through it, and
only what a constraint or an objective makes of the torques is differentiated automatically. So it
is with the angular momentum, in kernels without torques, and with muscles over polynomial paths.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import casadi as ca
import numpy as np

from ocp.codegen.function_map import Graph, map_function
from ocp.mechanics.values.callback_checks import no_column
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.transcription.kernels.custom_derivatives import MuscleColumn, StandIn, Torque
from ocp.transcription.kernels.instant_symbols import Inputs, PendingKernel

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
    y, s = inputs.y, inputs.s
    stack = ca.cse(stack)
    values = inputs.measure * ca.sumsqr(stack) if squares else stack
    stated = cache(partial(_content, inputs, stack, squares=squares))

    written = partial(_written_out, values, inputs.stand_ins)
    value_graph = cache(lambda: ca.Function("values", [y, s], [ca.cse(written())]))
    jacobian, rows, columns = _sparse_function(
        "jacobian",
        inputs,
        values,
        [],
        lambda run: _slope(inputs, values, run, with_values=True),
        stated,
    )

    @cache
    def begin(kind: str) -> tuple[Callable[[], ca.Function], np.ndarray, np.ndarray]:
        multipliers = ca.SX.sym("lam", values.shape[0])
        if kind == "gauss-newton":
            root = ca.sqrt(inputs.measure) * stack if squares else ca.SX(0, 1)

            def squares_matrix(run: Run) -> list[Matrix]:
                return [_gauss_newton(_slope(inputs, root, run)[0], run, multipliers)]

            return _sparse_function(
                "squares",
                inputs,
                stack,
                [multipliers],
                squares_matrix,
                stated,
            )
        scalar = ca.dot(multipliers, values)
        return _sparse_function(
            "hessian",
            inputs,
            scalar,
            [multipliers],
            lambda run: [ca.triu(_curvature(inputs, scalar, run))],
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
    stand_ins = _stand_ins(inputs, stack)
    for each in stand_ins:
        symbols.append(each.symbol)
        _, whole = each.content
        expressions += [each.place] if whole else [each.value, each.place]
    parts = ca.Function("parts", symbols, expressions)
    words = ", ".join(each.content[0] for each in stand_ins) or None
    return f"{squares}, {inputs.sought}, {inputs.given}, {words}|{parts.serialize()}"


def _sparse_function(
    name: str,
    inputs: Inputs,
    values: ca.SX,
    more: Sequence[ca.SX],
    build: Callable[[Run], Sequence[Matrix]],
    stated: Callable[[], str],
) -> tuple[Callable[[], ca.Function], np.ndarray, np.ndarray]:
    """Return the getter of the Function of the nonzeros of the first matrix of build(run), and of
    columns beside it, and its rows and columns; `stated`() is a text of all that they follow from.

    `run(expressions, bound)` gives the value of SX expressions in the inputs, after binding symbols
    to values. In scalar graphs that is the expressions themselves; for large trees it is a call,
    and what build does with the results runs as loops over numbers.
    """
    scalars = [inputs.y, inputs.s, *more]

    def graph() -> Graph:
        stand_ins = _stand_ins(inputs, values)
        arguments, run = scalars, _inline
        # machine code is made of scalar graphs alone
        scalar = inputs.backend is not None and inputs.backend.scalar
        looped = not scalar and any(_is_large(each) for each in stand_ins)
        if looped:
            arguments = [ca.MX.sym(f"i{k}", *each.shape) for k, each in enumerate(scalars)]
            run = partial(_call_stage, scalars, arguments)
        matrix, *beside = build(run)
        matrix = matrix if looped else ca.sparsify(matrix)
        matrix = ca.cse(matrix) if stand_ins and not looped else matrix
        outputs = [ca.vec(matrix.nz[:]), *beside]
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


def _written_out(expression: Matrix, stand_ins: Iterable[StandIn]) -> Matrix:
    """Return the expression with symbols replaced by what they stand for."""
    for each in stand_ins:
        if ca.depends_on(expression, each.symbol):
            expression = ca.substitute(expression, each.symbol, each.value)
    return expression


def _stand_ins(inputs: Inputs, expression: Matrix) -> list[StandIn]:
    """Return the stand-ins whose symbols are in an expression."""
    return [each for each in inputs.stand_ins if ca.depends_on(expression, each.symbol)]


def _is_large(stand_in: StandIn) -> bool:
    """Tell whether derivatives run faster as loops: those of torques of many joints do."""
    tree = stand_in.tree
    return not isinstance(stand_in, MuscleColumn) and tree.dof - len(tree.states) >= LOOPED


def _linear(inputs: Inputs, values: Matrix) -> np.ndarray:
    """Tell which values are linear in y; those that contain torques count as not."""
    curved = np.array(ca.which_depends(values, inputs.differentiable, 2, True), dtype=bool)
    fixed = [inputs.constants] if inputs.given else []
    for symbols in (*fixed, *(each.symbol for each in _stand_ins(inputs, values))):
        curved |= np.array(ca.which_depends(values, symbols, 1, True), dtype=bool)
    return ~curved


def _slope(
    inputs: Inputs, values: Matrix, run: Run, *, with_values: bool = False
) -> Sequence[Matrix]:
    """Return d values / dy, the part of what symbols stand for by the chain rule through given
    derivatives; and the values beside it, if they are asked for."""
    own, stand_ins = ca.jacobian(values, inputs.differentiable), _stand_ins(inputs, values)
    if inputs.given:  # by which nothing is differentiated
        own = ca.horzcat(own, type(own)(own.shape[0], inputs.given))
    inner = [ca.jacobian(values, each.symbol) for each in stand_ins]
    own, *inner = run([_written_out(each, stand_ins) for each in (own, *inner)])
    bound: list[tuple[Matrix, Matrix]] = []
    for by_symbol, each in zip(inner, stand_ins):
        through, value = _given_slope(inputs, each, run)
        own = own + by_symbol @ through
        bound += [] if value is None else [(each.symbol, value)]
    if not with_values:
        return [own]
    known = [symbol for symbol, _ in bound]
    others = [each for each in stand_ins if not any(each.symbol is symbol for symbol in known)]
    return [own, *run([_written_out(values, others)], bound)]


def _given_slope(inputs: Inputs, stand_in: StandIn, run: Run) -> tuple[Matrix, Matrix | None]:
    """Return the derivative by y of the value of a symbol, and that value if it is beside."""
    slope, value = stand_in.slope(run)
    y = inputs.motion
    if stand_in.chosen is not None:
        entries, numbers = stand_in.chosen
        through = _spread(
            slope[:, entries], range(slope.shape[0]), numbers, (slope.shape[0], y.shape[0])
        )
    else:
        through = slope @ run([ca.jacobian(stand_in.place, y)])[0]
    if inputs.sought:
        through = ca.horzcat(through, _parameter_slope(inputs, stand_in, run, slope))
    given = inputs.given
    if given:
        through = ca.horzcat(through, type(through)(through.shape[0], given))
    return through, value


def _parameter_slope(inputs: Inputs, stand_in: StandIn, run: Run, slope: Matrix) -> Matrix:
    """Return the derivative of the value of a symbol by the parameters that are sought."""
    own = stand_in.parameter_slope(inputs.parameters) if isinstance(stand_in, Torque) else None
    if own is None:
        return run([ca.jacobian(stand_in.value, inputs.parameters)])[0]
    held, moved = run([own, ca.jacobian(stand_in.place, inputs.parameters)])
    return held + slope @ moved


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
    """Return the Hessian of a scalar by y, the part of what symbols stand for by the chain rule
    through given first and second derivatives."""
    stand_ins, own = _stand_ins(inputs, scalar), ca.hessian(scalar, inputs.differentiable)[0]
    if inputs.given:  # by which nothing is differentiated
        own = ca.diagcat(own, type(own)(inputs.given, inputs.given))
    if not stand_ins:
        return run([own])[0]
    symbols = ca.vertcat(*(each.symbol for each in stand_ins))
    weight = ca.gradient(scalar, symbols)
    mixed, inner = (
        ca.jacobian(ca.gradient(scalar, inputs.differentiable), symbols),
        ca.jacobian(weight, symbols),
    )
    if inputs.given:
        mixed = ca.vertcat(mixed, type(mixed)(inputs.given, mixed.shape[1]))
    starts = np.cumsum([0, *(each.symbol.shape[0] for each in stand_ins)]).tolist()
    weights = ca.vertsplit(weight, starts)
    total, *weights = run([_written_out(each, stand_ins) for each in (own, *weights)])
    for each, by_symbol in zip(stand_ins, weights):
        total = total + _given_curvature(inputs, each, run, by_symbol)
    if mixed.nnz() + inner.nnz():
        through = ca.vertcat(*(_given_slope(inputs, each, run)[0] for each in stand_ins))
        mixed, inner = run([_written_out(each, stand_ins) for each in (mixed, inner)])
        crossed = mixed @ through
        total += crossed + crossed.T + through.T @ (inner @ through)
    return total


def _given_curvature(inputs: Inputs, stand_in: StandIn, run: Run, weight: Matrix) -> Matrix:
    """Return the upper triangle, or all, of the second derivatives by y of the weighted sum of what
    a symbol stands for."""
    y, shape = inputs.motion, inputs.y.shape[0]
    upper, slope = stand_in.curvature(run, weight)
    if stand_in.chosen is not None:
        entries, numbers = stand_in.chosen
        return _spread(upper[entries, entries], numbers, numbers, (shape, shape)) + (
            _parameter_curvature(inputs, stand_in, run, weight) if inputs.sought else 0
        )
    pull = ca.SX.sym("pull", stand_in.place.shape[0])
    by_place = run([ca.jacobian(stand_in.place, y)])[0]
    bend = ca.triu2symm(ca.triu(upper))
    total = (
        by_place.T @ (bend @ by_place)
        + run([ca.hessian(ca.dot(pull, stand_in.place), y)[0]], ((pull, slope),))[0]
    )
    beside = inputs.sought + inputs.given
    total = ca.diagcat(total, type(total)(beside, beside)) if beside else total
    return total + (_parameter_curvature(inputs, stand_in, run, weight) if inputs.sought else 0)


def _parameter_curvature(inputs: Inputs, stand_in: StandIn, run: Run, weight: Matrix) -> Matrix:
    """Return the part of the second derivatives by y of that sum in the columns of the parameters
    that are sought, above the diagonal and on it; it is found automatically."""
    scale = ca.SX.sym("scale", *stand_in.symbol.shape)
    pull = ca.gradient(ca.dot(scale, stand_in.value), inputs.parameters)
    columns = run([ca.jacobian(pull, inputs.differentiable)], ((scale, ca.densify(weight)),))[0].T
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

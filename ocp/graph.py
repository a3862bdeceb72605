"""Expressions to casadi.Functions: SX kernels of one instant with their derivatives, mapped over instants and assembled sparsely.

A kernel's inputs are y = (T, q, q', q'') with primes for d/ds, and s. All instants of a block together are Y = M x + m, constant M holding
the spline bases, so the derivatives over x are constant sparse matrices times the nonzeros of the kernels' derivatives. The solver is
given these; letting it differentiate the mapped graph costs many times more.
"""
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ocp.problem import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A vector function of one instant and its derivatives.

    `values`(y, s) -> (m,); `jacobian`(y, s) -> its nonzeros at (`rows`, `columns`); `linear` (m,) tells the rows linear in y; `hessian(kind)`
    -> (function (y, s, multipliers (m,)) -> nonzeros of the upper triangle, rows, columns), kind "exact" or "gauss-newton".
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
class Block:
    """A kernel at several instants: `s` (N,), the map M (N * width, variables) as (`matrix`, `offset`), and for every value where it goes.

    `target` (m, N) is the row of the assembled vector, -1 for nowhere; values meant for the same row are summed with `weight` (m, N).
    """

    kernel: Kernel
    s: np.ndarray
    matrix: ca.DM
    offset: np.ndarray
    target: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What kernels are functions of: y = (T, q, q', q'') and s as SX symbols, the Instant they describe, and its `torque` when that has
    derivatives of its own; the Instant's tau then is a symbol that stands for it."""

    y: object
    s: object
    at: Instant
    torque: object = None


@dataclass(frozen=True, kw_only=True)
class Torque:
    """Joint torques as a value and derivatives that are given rather than found: `symbol` (n,) stands for `value` (n,), a function of
    `place` = (q, qd, qdd, moment and force of every load); `slopes`() -> d value / d place and `curvature`(multipliers) -> upper triangle
    of the second derivatives of multipliers . value."""

    symbol: object
    value: object
    place: object
    slopes: Callable
    curvature: Callable

    @cached_property
    def slope(self):
        """d value / d place, built once for all kernels."""
        return self.slopes()


def symbols(problem, formulation, provider=None):
    """Return the Inputs of kernels for a problem; `provider` (sensitivity, curvature) gives derivatives of the torques, None leaves them to
    automatic differentiation."""
    n = problem.tree.dof
    y, s = ca.SX.sym("y", 3 * n + 1), ca.SX.sym("s")
    motion = {"q": y[1:n + 1], "qd": y[n + 1:2 * n + 1] / y[0], "qdd": y[2 * n + 1:] / y[0] ** 2}
    at = Instant(tree=problem.tree, s=s, T=y[0], loads=problem.loads, inverse=formulation.inverse, **motion)
    if provider is None:
        return Inputs(y=y, s=s, at=at)
    symbol, (sensitivity, curvature) = ca.SX.sym("tau", n), provider
    loads = tuple(load.at(at.t) for load in problem.loads)
    arguments = (*motion.values(), loads)
    place = ca.vertcat(*motion.values(), *(ca.SX(load_part[k]) for load in loads for load_part in (load.moment, load.force) for k in range(3)))
    torque = Torque(
        symbol=symbol, value=at.tau, place=place, slopes=lambda: ca.horzcat(*sensitivity(problem.tree, *arguments)),
        curvature=lambda multipliers: _whole(n, *curvature(problem.tree, multipliers, *arguments)))
    return Inputs(y=y, s=s, at=replace(at, inverse=lambda *_: symbol), torque=torque)


def _whole(n, by_qq, by_q_qd, by_q_qdd, by_qd_qd, by_q_load):
    """Return the upper triangle over (q, qd, qdd, loads) from its blocks that are not zero."""
    count, loads = 2 * n, by_q_load.shape[1]
    return ca.vertcat(ca.horzcat(by_qq, by_q_qd, by_q_qdd, by_q_load), ca.horzcat(ca.SX(n, n), by_qd_qd, ca.SX(n, n + loads)),
                      ca.SX(n + loads, count + n + loads))


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
    slope = ca.cse(_slope(inputs, values))
    rows, columns = (np.array(index, dtype=int) for index in slope.sparsity().get_triplet())

    def hessian(kind):
        multipliers = ca.SX.sym("lam", values.shape[0])
        if kind == "gauss-newton":
            root = _slope(inputs, ca.sqrt(y[0]) * stack) if squares else ca.SX(1, y.shape[0])
            curvature = 2 * multipliers[0] * (root.T @ root)
        else:
            curvature = _curvature(inputs, ca.dot(multipliers, values))
        curvature = ca.cse(ca.triu(curvature))
        above, right = (np.array(index, dtype=int) for index in curvature.sparsity().get_triplet())
        return ca.Function("hessian", [y, s, multipliers], [ca.vec(curvature.nz[:])]), above, right

    return Kernel(
        size=values.shape[0], width=y.shape[0], rows=rows, columns=columns, hessian=hessian,
        values=ca.Function("values", [y, s], [ca.cse(_resolved(inputs, values))]), jacobian=ca.Function("jacobian", [y, s], [ca.vec(slope.nz[:])]),
        linear=_linear(inputs, values),
    )


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


def _slope(inputs, values):
    """Return d values / dy, the torques' part by the chain rule through their given derivatives."""
    slope = ca.jacobian(values, inputs.y)
    if not _uses_torque(inputs, values):
        return slope
    torque = inputs.torque
    through = torque.slope @ ca.jacobian(torque.place, inputs.y)
    return _resolved(inputs, slope) + _resolved(inputs, ca.jacobian(values, torque.symbol)) @ through


def _curvature(inputs, scalar):
    """Return the Hessian of a scalar by y, the torques' part by the chain rule through their given first and second derivatives."""
    y, torque = inputs.y, inputs.torque
    if not _uses_torque(inputs, scalar):
        return ca.hessian(scalar, y)[0]
    by_place = ca.jacobian(torque.place, y)
    through = torque.slope @ by_place
    weight = ca.gradient(scalar, torque.symbol)
    mixed = _resolved(inputs, ca.jacobian(ca.gradient(scalar, y), torque.symbol)) @ through
    inner = _resolved(inputs, ca.hessian(scalar, torque.symbol)[0])
    weight = _resolved(inputs, weight)
    pull, bend = ca.SX.sym("pull", torque.place.shape[0]), torque.curvature(weight)
    placed = ca.substitute(ca.hessian(ca.dot(pull, torque.place), y)[0], pull, ca.densify(torque.slope.T @ weight))
    return (_resolved(inputs, ca.hessian(scalar, y)[0]) + mixed + mixed.T + through.T @ inner @ through
            + by_place.T @ ca.triu2symm(bend) @ by_place + placed)


def assemble(blocks, variables, rows):
    """Return (values, jacobian) over all blocks as functions of a symbol x: MX (rows,), and MX (rows, variables) sparse."""
    def values(x):
        total = ca.MX(rows, 1)
        for block in blocks:
            scatter = _matrix(rows, block.target.size, block.target.T.ravel(), np.arange(block.target.size), block.weight.T.ravel())
            total += scatter @ ca.vec(_evaluate(block, block.kernel.values, x))
        return ca.densify(total)

    def jacobian(x):
        parts, entries, offset = [], [], 0
        for block in blocks:
            entries.append(_jacobian_entries(block, offset))
            parts.append(ca.vec(_evaluate(block, block.kernel.jacobian, x)))
            offset += len(block.kernel.rows) * len(block.s)
        return _gather(entries, parts, offset, (rows, variables))

    return values, jacobian


def assemble_hessian(blocks, variables, rows, kind):
    """Return hessian(x, multipliers of the assembled rows) over all blocks: MX (variables, variables), upper triangle."""
    def hessian(x, multipliers):
        parts, entries, offset = [], [], 0
        for block in blocks:
            function, above, right = block.kernel.hessian(kind)
            if len(above) == 0:
                continue
            spread = _matrix(block.target.size, rows, np.arange(block.target.size), block.target.T.ravel(), block.weight.T.ravel())
            local = ca.reshape(spread @ multipliers, block.kernel.size, len(block.s))
            entries.append(_hessian_entries(block, above, right, offset))
            parts.append(ca.vec(_evaluate(block, function, x, local)))
            offset += len(above) * len(block.s)
        return _gather(entries, parts, offset, (variables, variables))

    return hessian


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


def _evaluate(block, kernel_function, x, *more):
    count = len(block.s)
    inputs = ca.reshape(block.matrix @ x + ca.DM(block.offset), block.kernel.width, count)
    return kernel_function.map(count)(inputs, ca.DM(block.s).T, *more)


def _jacobian_entries(block, offset):
    """Return (row, column, source, weight) of every product of a kernel nonzero with an entry of M."""
    rows, columns = block.kernel.rows, block.kernel.columns
    source, instants = np.arange(len(rows) * len(block.s)), np.repeat(np.arange(len(block.s)), len(rows))
    kernel_row = np.tile(rows, len(block.s))
    picked, variable, value = _expand(block, instants * block.kernel.width + np.tile(columns, len(block.s)))
    target, weight = block.target[kernel_row, instants], block.weight[kernel_row, instants]
    keep = target[picked] >= 0
    picked, variable, value = picked[keep], variable[keep], value[keep]
    return target[picked], variable, source[picked] + offset, weight[picked] * value


def _hessian_entries(block, above, right, offset):
    """Return (row, column, source, weight) of M' H M, upper triangle, for kernel nonzeros at (above, right) of each upper triangle."""
    count = len(block.s)
    instants = np.repeat(np.arange(count), len(above)) * block.kernel.width
    first, variable, value = _expand(block, instants + np.tile(above, count))
    second, other, product = _expand(block, (instants + np.tile(right, count))[first])
    row, column, source = variable[second], other, first[second]
    weight, diagonal = value[second] * product, np.tile(above == right, count)[source]
    upper, twice = np.where(diagonal, row <= column, True), np.where(~diagonal & (row == column), 2.0, 1.0)
    row, column = np.minimum(row, column), np.maximum(row, column)
    return row[upper], column[upper], source[upper] + offset, (weight * twice)[upper]


def _expand(block, lines):
    """Return, for every entry of the given lines of M, the position in `lines`, the column and the value."""
    start, column, value = _csr(block)
    counts = start[lines + 1] - start[lines]
    picked = np.repeat(np.arange(len(lines)), counts)
    within = np.arange(len(picked)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = np.repeat(start[lines], counts) + within
    return picked, column[entry], value[entry]


def _csr(block):
    transposed = block.matrix.T
    return np.array(transposed.sparsity().colind()), np.array(transposed.sparsity().row(), dtype=int), np.array(transposed.nonzeros())


def _gather(entries, parts, sources, shape):
    """Return the sparse matrix whose nonzeros are one constant matrix times the stacked parts."""
    if not entries:
        return ca.MX(*shape)
    row, column, source, weight = (np.concatenate([entry[k] for entry in entries]) for k in range(4))
    places, index = np.unique(column * shape[0] + row, return_inverse=True)
    sparsity = ca.Sparsity.triplet(*shape, (places % shape[0]).tolist(), (places // shape[0]).tolist())
    return ca.MX(sparsity, _matrix(len(places), sources, index, source, weight) @ ca.vertcat(*parts))


def _matrix(rows, columns, row, column, value):
    """Return a sparse DM from triplets, duplicates summed; rows or columns of -1 are left out."""
    keep = (row >= 0) & (column >= 0)
    row, column, value = row[keep], column[keep], value[keep]
    places, index = np.unique(column * rows + row, return_inverse=True)
    sums = np.bincount(index, weights=value, minlength=len(places))
    sparsity = ca.Sparsity.triplet(rows, columns, (places % rows).tolist(), (places // rows).tolist())
    return ca.DM(sparsity, sums)

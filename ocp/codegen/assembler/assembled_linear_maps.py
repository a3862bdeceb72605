"""Constant sums and scattered products of an NLP as machine code, made without a compiler."""

from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from ocp.codegen.assembler.batch_loop import LANES
from ocp.codegen.assembler.executable_memory import NAME
from ocp.codegen.assembler.index_list_loops import (
    ProductKind,
    call_loop,
    call_sums,
    fill_zeros,
    write_loops,
    write_products,
)
from ocp.codegen.assembler.instructions import RBP, RBX, RDI, RSI, Code, at
from ocp.codegen.assembler.this_machine import Assembled, load_function, new_code
from ocp.codegen.linear_maps import BlockProduct, Given, Sums, are_disjoint, block_products
from ocp.index_sets import distinct

SUMMED = 10_000  # entries of constant matrices from which on machine code gains more than it costs
RUN, STEP = 100, 10  # products of numbers that a run and a step are worth, in forty evaluations
Tables = dict[str, np.ndarray]


def assemble_sums(
    functions: Mapping[str, Sums], *, always: bool = False
) -> dict[str, ca.Function] | None:
    """Return functions as machine code, None if that costs more than it gains and is not to be made
    `always`.

    Raises NoMachineCode if the system does not load them.
    """
    codes = sums_code(functions, always=always)
    if codes is None:
        return None
    return {name: load_function(*each) for name, each in codes.items()}


def sums_code(
    functions: Mapping[str, Sums], *, always: bool = False
) -> dict[str, Assembled] | None:
    """Return the code of `assemble_sums`, None where that returns None."""
    parts = {name: list(each.parts()) for name, each in functions.items()}
    size = sum(len(part.weights) for each in parts.values() for part in each)
    if size < SUMMED and not always:
        return None
    made = {}
    for function, sums in functions.items():
        c = new_code()
        tables: Tables = {}
        write_loops(c)
        c.begin_function(NAME)
        for part in parts[function]:
            name = part.name
            tables[f"starts{name}"], tables[f"from{name}"] = part.starts, part.places
            tables[f"weight{name}"] = part.weights
            c.load_input(part.vector)
            c.load_output(part.result, f"absent{name}")
            call_sums(c, name, part.rows, more=not part.first)
            c.label(f"absent{name}")
        c.end_function()
        _write_tables(c, tables)
        outputs = _dense(shape for shape, _ in sums.results)
        made[function] = Assembled(c, _dense(sums.shapes), outputs, 0)
    return made


def assemble_scatter(
    given: Given, targets: Sequence[np.ndarray], count: int, *, always: bool = False
) -> ca.Function | None:
    """Return the sum of scattered products as machine code.

    Args:
        given: products, and the shapes of the values that they multiply.
        targets: nonzeros (runs, K, pairs) that results of each product go to, -1 for nowhere.
        count: nonzeros of the result.
        always: make it even if it costs more than it gains.

    Returns:
        The function (values, ...) -> (count, 1), or None if it is not made.

    Raises:
        NoMachineCode: the system does not load it.
    """
    assembled = scatter_code(given, targets, count, always=always)
    return assembled and load_function(*assembled)


def scatter_code(
    given: Given, targets: Sequence[np.ndarray], count: int, *, always: bool = False
) -> Assembled | None:
    """Return the code of `assemble_scatter`, None where that returns None."""
    works = block_products(given, targets, LANES)
    kinds = sorted({_kind(each, end - start) for each in works for start, end in each.product.runs})
    if not (always or _pays(works, kinds)):
        return None
    shapes = [shape for _, every in given for shape in every]
    c = new_code()
    tables: Tables = {}
    write_loops(c)
    routines = dict(zip(kinds, write_products(c, kinds) if kinds else ()))
    once = are_disjoint(targets, count)
    c.begin_function(NAME)
    if not once:
        c.load_output(0)
        fill_zeros(c, count)
    for number, each in enumerate(works):
        moves = _entry_tables(each, tables, number)
        c.mov(RDI, RBX)
        fill_zeros(c, each.stride * each.product.shape[1] * each.longest)
        # Short runs first: the virtual machine adds them in that order
        lengths = [end - start for start, end in each.product.runs]
        for run in np.argsort(lengths, kind="stable").tolist():
            routine = routines[_kind(each, lengths[run])]
            _write_run(c, tables, each, run, f"{number}_{run}", moves, shapes, routine, once)
    c.end_function()
    _write_tables(c, tables)
    rooms = [each.stride * (each.product.shape[1] * each.longest + each.columns) for each in works]
    room = max(rooms, default=0)
    return Assembled(c, _dense(shapes), _dense([(count, 1)]), room)


def _kind(each: BlockProduct, length: int) -> ProductKind:
    """Return the kind of product of a run of this length; results stand behind the block."""
    slots = each.product.shape[1]
    out = 8 * each.stride * slots * each.longest
    return ProductKind(length * slots, each.columns, each.stride, out)


def _pays(works: Sequence[BlockProduct], kinds: Sequence[ProductKind]) -> bool:
    """Tell whether machine code gains more than it takes to make: runs, and unrolled steps."""
    gained = sum(each.product.weight.size * each.product.shape[0] for each in works)
    steps = sum(2 * each.inner * each.last for each in kinds)
    return gained > RUN * sum(len(each.product.runs) for each in works) + STEP * steps


def _entry_tables(
    each: BlockProduct, tables: Tables, number: int
) -> list[tuple[int, str, str, int]]:
    """Return the moves of values to a block: (number of the value, loop, table, entries)."""
    moves = []
    for chosen, label in ((each.first, "copied"), (~each.first, "added")):
        for source in distinct(each.source[chosen])[0].tolist():
            own = chosen & (each.source == source)
            name = f"{label}{number}_{source}"
            pairs = np.column_stack([each.entry, each.place])[own]
            tables[name] = pairs[::-1]  # loops take the last one first
            moves.append((source, label, name, int(own.sum())))
    return moves


def _write_run(
    c: Code,
    tables: Tables,
    each: BlockProduct,
    run: int,
    name: str,
    moves: Sequence[tuple[int, str, str, int]],
    shapes: Sequence[tuple[int, int]],
    routine: str,
    once: bool,
) -> None:
    """Write one run: fill the block, multiply it, and put the results where they belong."""
    (start, end), block = each.product.runs[run], each.stride * each.product.shape[1]
    for k in range(start, end):
        for source, label, table, size in moves:
            c.load_input(source, k * shapes[source][0])
            c.lea(RDI, at(RBX, offset=8 * block * (k - start)))
            call_loop(c, label, table, size)
    weights = each.product.weight[start:end].reshape(-1, each.columns)
    tables[f"weight{name}"] = np.repeat(weights.ravel(), LANES)
    c.address(RBP, f"weight{name}")
    c.call(routine)
    c.add_constant(RBX, -8 * each.stride)
    stretches = each.stretches[each.ends[run] : each.ends[run + 1]]
    if len(stretches):
        tables[f"stretch{name}"] = stretches
        c.lea(RSI, at(RBX, offset=8 * block * each.longest))
        c.load_output(0)
        label = "stretched" if once else "stretched_more"
        call_loop(c, label, f"stretch{name}", len(stretches))


def _dense(shapes: Iterable[tuple[int, int]]) -> list[ca.Sparsity]:
    return [ca.Sparsity.dense(*shape) for shape in shapes]


def _write_tables(c: Code, tables: Tables) -> None:
    for label, values in tables.items():
        kind = np.float64 if values.dtype == np.float64 else np.int32
        c.table(label, np.ascontiguousarray(values, dtype=kind).tobytes())

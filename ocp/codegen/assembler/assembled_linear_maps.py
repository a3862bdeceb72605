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
from ocp.codegen.assembler.instructions import (
    R8,
    R12,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RSI,
    Code,
    at,
)
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
        lengths = np.array([end - start for start, end in each.product.runs])
        # Short runs first: the virtual machine adds them in that order
        for length in distinct(lengths)[0].tolist():
            runs, routine = np.flatnonzero(lengths == length), routines[_kind(each, length)]
            _write_runs(c, tables, each, runs, f"{number}_{length}", moves, shapes, routine, once)
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


def _write_runs(
    c: Code,
    tables: Tables,
    each: BlockProduct,
    runs: np.ndarray,
    name: str,
    moves: Sequence[tuple[int, str, str, int]],
    shapes: Sequence[tuple[int, int]],
    routine: str,
    once: bool,
) -> None:
    """Write the loop over runs of one length: fill the block, multiply it, and put the results
    where they belong.

    r15 runs are left; of the first of them r14 is the line of a table (stretches, offsets of its
    first instant in each value), rbp its weights, and r12 its stretches.
    """
    block, product = each.stride * each.product.shape[1], each.product
    starts, ends = np.array(product.runs)[runs].T
    instants = np.concatenate([np.arange(*run) for run in zip(starts, ends)])
    stretches = [each.stretches[each.ends[run] : each.ends[run + 1]] for run in runs]
    sources = sorted({source for source, *_ in moves})
    offsets = [8 * shapes[source][0] * starts for source in sources]
    lines = np.column_stack([[len(own) for own in stretches], *offsets])
    tables[f"run{name}"], tables[f"stretch{name}"] = lines, np.concatenate(stretches)
    weights = tables[f"weight{name}"] = np.repeat(product.weight[instants].ravel(), LANES)
    for register, table in ((R14, "run"), (RBP, "weight"), (R12, "stretch")):
        c.address(register, f"{table}{name}")
    c.mov_constant(R15, len(runs))
    c.label(f"next{name}")
    for k in range(ends[0] - starts[0]):
        for source, label, table, size in moves:
            c.load_input(source, k * shapes[source][0])
            c.movsxd(RAX, at(R14, offset=4 + 4 * sources.index(source)))
            c.add(RSI, RAX)
            c.lea(RDI, at(RBX, offset=8 * block * k))
            call_loop(c, label, table, size)
    c.call(routine)
    c.add_constant(RBX, -8 * each.stride)
    c.movsxd(RCX, at(R14))
    c.test(RCX)
    c.jump(f"put{name}", "zero")
    c.mov(R8, R12)
    c.lea(RSI, at(RBX, offset=8 * block * each.longest))
    c.load_output(0)
    c.call("stretched" if once else "stretched_more")
    c.mov(R12, R8)
    c.label(f"put{name}")
    c.add_constant(R14, 4 * lines.shape[1])
    c.add_constant(RBP, weights.nbytes // len(runs))
    c.add_constant(R15, -1)
    c.jump(f"next{name}", "not zero")


def _dense(shapes: Iterable[tuple[int, int]]) -> list[ca.Sparsity]:
    return [ca.Sparsity.dense(*shape) for shape in shapes]


def _write_tables(c: Code, tables: Tables) -> None:
    for label, values in tables.items():
        kind = np.float64 if values.dtype == np.float64 else np.int32
        c.table(label, np.ascontiguousarray(values, dtype=kind).tobytes())

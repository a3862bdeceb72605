"""Machine-code loops over index lists: copies, weighted sums, and products of small matrices.

Results have the bits of CasADi's own sums: terms are added one after another.
"""

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.emitter import WIDTH
from ocp.codegen.assembler.instructions import (
    R8,
    R9,
    R10,
    R11,
    R13,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    Code,
    at,
)
from ocp.codegen.assembler.ir import ADD, MUL, PRODUCT, XOR, Step, Steps
from ocp.codegen.assembler.register_scheduling import Memory, body

COLUMNS = 6  # of a product, at most: sums stay in registers, beside a product for each


class ProductKind(NamedTuple):
    """Product of a matrix (inner, stride) with weights (inner, last), put `out` bytes behind it."""

    inner: int
    last: int
    stride: int
    out: int


def write_loops(c: Code) -> None:
    """Write the routines that `call_loop` and `call_sums` call, each as it is and accumulating."""
    for adds in (False, True):
        _write_entry_loop(c, "added" if adds else "copied", adds)
        _write_sum_loop(c, "summed_more" if adds else "summed", adds)
        _write_stretch_loop(c, "stretched_more" if adds else "stretched", adds)
    _write_zero_loop(c, "cleared")


def _write_entry_loop(c: Code, label: str, adds: bool) -> None:
    """Copy or add entries at rsi to rdi by rcx pairs of places at r8, the last one first."""
    c.label(label)
    c.movsxd(RAX, at(R8, RCX, 8, -8))
    c.movsxd(RDX, at(R8, RCX, 8, -4))
    c.load_scalar(0, at(RSI, RAX, 8))
    if adds:
        c.scalar_op(ADD, 0, 0, at(RDI, RDX, 8))
    c.store_scalar(at(RDI, RDX, 8), 0)
    c.add_constant(RCX, -1)
    c.jump(label, "not zero")
    c.ret()


def _write_sum_loop(c: Code, label: str, adds: bool) -> None:
    """Put rdx weighted sums of entries at rsi to rdi.

    Row starts are at r8, places of entries at r9, weights at r10.
    """
    c.label(label)
    c.mov_constant(RAX, 0)
    with c.loop(f"{label}_row", RAX, RDX):
        c.movsxd(RCX, at(R8, RAX, 4))
        c.movsxd(R11, at(R8, RAX, 4, 4))
        c.vector_op(XOR, 0, 0, 0)
        with c.loop(f"{label}_entry", RCX, R11):
            c.movsxd(R13, at(R9, RCX, 4))
            c.load_scalar(1, at(R10, RCX, 8))
            c.add_product(0, 1, at(RSI, R13, 8))
        if adds:
            c.scalar_op(ADD, 0, 0, at(RDI, RAX, 8))
        c.store_scalar(at(RDI, RAX, 8), 0)
    c.ret()


def _write_stretch_loop(c: Code, label: str, adds: bool) -> None:
    """Copy or add ecx stretches of entries at rsi to rdi: triples (from, to, length) at r8."""
    c.label(label)
    c.movsxd(RAX, at(R8))
    c.movsxd(RDX, at(R8, offset=4))
    c.movsxd(R9, at(R8, offset=8))
    c.lea(RAX, at(RSI, RAX, 8))
    c.lea(RDX, at(RDI, RDX, 8))
    c.mov_constant(R10, 0)
    c.lea(R11, at(R9, offset=-3))
    for name, end, step in (("four", R11, 4), ("one", R9, 1)):
        c.label(f"{label}_{name}")
        c.cmp(R10, end)
        c.jump(f"{label}_{name}_end", "not less")
        load, combine, store = (
            (c.load_vector, c.vector_op, c.store_vector)
            if step == 4
            else (c.load_scalar, c.scalar_op, c.store_scalar)
        )
        load(0, at(RAX, R10, 8))
        if adds:
            combine(ADD, 0, 0, at(RDX, R10, 8))
        store(at(RDX, R10, 8), 0)
        c.add_constant(R10, step)
        c.jump(f"{label}_{name}")
        c.label(f"{label}_{name}_end")
    c.add_constant(R8, 12)
    c.add_constant(RCX, -1)
    c.jump(label, "not zero")
    c.ret()


def _write_zero_loop(c: Code, label: str) -> None:
    """Put rdx zeros at rdi, four at a time and then one by one."""
    c.label(label)
    c.vector_op(XOR, 0, 0, 0)
    c.mov_constant(RCX, 0)
    c.lea(RAX, at(RDX, offset=-3))
    c.label(f"{label}_four")
    c.cmp(RCX, RAX)
    c.jump(f"{label}_few", "not less")
    c.store_vector(at(RDI, RCX, 8), 0)
    c.add_constant(RCX, 4)
    c.jump(f"{label}_four")
    c.label(f"{label}_few")
    with c.loop(f"{label}_one", RCX, RDX):
        c.store_scalar(at(RDI, RCX, 8), 0)
    c.ret()


def call_loop(c: Code, label: str, table: str, count: int) -> None:
    """Call a loop over the `count` entries of a table; rsi and rdi are set."""
    if count:
        c.address(R8, table)
        c.mov_constant(RCX, count)
        c.call(label)


def call_sums(c: Code, tables: str, rows: int, *, more: bool) -> None:
    """Call the weighted sums of tables `starts`, `from` and `weight`; rsi and rdi are set.

    With `more` they are added to what is there.
    """
    c.address(R8, f"starts{tables}")
    c.address(R9, f"from{tables}")
    c.address(R10, f"weight{tables}")
    c.mov_constant(RDX, rows)
    c.call("summed_more" if more else "summed")


def fill_zeros(c: Code, count: int) -> None:
    """Put `count` zeros at rdi."""
    c.mov_constant(RDX, count)
    c.call("cleared")


def write_products(c: Code, kinds: Sequence[ProductKind]) -> list[str]:
    """Write an unrolled routine for each kind of product, and return their labels.

    A routine multiplies the transposed weights at rbp, each repeated four times, with the matrix at
    rbx; both matrix and result (last, stride) are stored row by row. The stride is a multiple of
    four, and rbx moves on by as many entries.
    """
    parts, start, weights, inputs = [], 0, 0, 0
    product = c.special.get(ca.OP_MTIMES, PRODUCT)
    width = min(COLUMNS, c.registers // 2 - 1)
    for inner, last, _, _ in kinds:
        parts.append(_product_steps(inner, last, start, weights, inputs, width, product))
        start += len(parts[-1][0])
        weights, inputs = weights + inner * last, inputs + inner
    code, x, y, results = (np.concatenate(each) for each in zip(*parts))
    nothing = np.zeros(0, dtype=int)
    steps = Steps(
        code=code,
        x=np.where(x < 0, -1 - x + start + weights, x),  # inputs are numbered after the weights
        y=np.where(y < 0, -1 - y + start, y),
        condition=np.zeros(start, dtype=int),
        place=nothing,
        constants=nothing,
        inputs=nothing,
        outputs=nothing,
        results=results,
    )
    memory = Memory(
        base=np.repeat([RBX, RBP, RBX], [start, weights, inputs]),
        offset=np.concatenate(
            [np.zeros(start, dtype=int)]
            + [WIDTH * np.arange(each.inner * each.last) for each in kinds]
            + [8 * each.stride * np.arange(each.inner) for each in kinds]
        ),
        outputs=np.concatenate(
            [each.out + 8 * each.stride * np.arange(each.last) for each in kinds]
        ),
    )
    ends = np.cumsum([len(part[0]) for part in parts])
    labels = [f"product{number}" for number in range(len(kinds))]
    for label, part, kind in zip(labels, body(c, steps, memory, ends[:-1]), kinds):
        c.label(label)
        c.mov_constant(RCX, kind.stride // 4)
        c.label(f"{label}_more")
        c.emit(part)
        c.add_constant(RBX, WIDTH)
        c.add_constant(RCX, -1)
        c.jump(f"{label}_more", "not zero")
        c.ret()
    return labels


def _product_steps(
    inner: int,
    last: int,
    start: int,
    weights: int,
    inputs: int,
    width: int,
    product_steps: Sequence[Step],
) -> tuple[np.ndarray, ...]:
    """Return opcodes, both operands and results of one product, `width` columns at a time.

    Steps are numbered from `start`; inputs and weights from -1 downward.
    """
    (multiply, *_), (add, *_) = product_steps
    columns_of: tuple[list[np.ndarray], ...] = [], [], [], []
    codes, xs, ys, results = columns_of
    for first in range(0, last, width):
        columns = np.arange(first, min(first + width, last))
        size = len(columns)
        entry = np.arange(inner)[:, None]
        place = np.arange(size)
        product = start + np.where(entry, size * (2 * entry - 1) + 2 * place, place)
        total = np.where(entry == 0, product, product + 1)
        code = np.stack([np.where(entry == 0, MUL, multiply) + 0 * columns, 0 * product + add], -1)
        x = np.stack([-1 - inputs - entry + 0 * columns, np.roll(total, 1, 0)], -1)
        y = np.stack([-1 - weights - (entry * last + columns), product], -1)
        kept = np.ones(code.shape, dtype=bool)
        kept[0, :, 1] = False  # the first product is the first sum
        for steps, each in ((codes, code), (xs, x), (ys, y)):
            steps.append(each[kept])
        results.append(total[-1])
        start += (2 * inner - 1) * size
    return tuple(map(np.concatenate, (codes, xs, ys, results)))

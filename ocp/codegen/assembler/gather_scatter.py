"""Machine-code loops over index lists: copies, weighted sums, and products of small matrices.

Results have the bits of CasADi's own sums: terms are added one after another.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ocp.codegen.assembler.emitter import WIDTH, Text
from ocp.codegen.assembler.encoding import RBP, RBX, Memory, body
from ocp.codegen.assembler.instructions import (
    R8,
    R9,
    R10,
    R11,
    R13,
    RAX,
    RCX,
    RDI,
    RDX,
    RSI,
    Code,
    at,
)
from ocp.codegen.assembler.ir import ADD, MUL, XOR, Steps

COLUMNS = 6  # of a product, whose sums stay in registers


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
    c.emit("C3")  # ret


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
            c.scalar_op(MUL, 1, 1, at(RSI, R13, 8))
            c.scalar_op(ADD, 0, 0, 1)
        if adds:
            c.scalar_op(ADD, 0, 0, at(RDI, RAX, 8))
        c.store_scalar(at(RDI, RAX, 8), 0)
    c.emit("C3")  # ret


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
    c.emit("C3")  # ret


def call_loop(text: Text, label: str, table: str, count: int) -> None:
    """Call a loop over the `count` entries of a table; rsi and rdi are set."""
    if count:
        text.emit_to("4C 8D 05", table)  # lea r8, [rip + ...]
        text.emit("B9", count)  # mov ecx, count
        text.emit_to("E8", label)  # call


def call_sums(text: Text, tables: str, rows: int, *, more: bool) -> None:
    """Call the weighted sums of tables `starts`, `from` and `weight`; rsi and rdi are set.

    With `more` they are added to what is there.
    """
    text.emit_to("4C 8D 05", f"starts{tables}")  # lea r8, [rip + ...]
    text.emit_to("4C 8D 0D", f"from{tables}")  # lea r9, [rip + ...]
    text.emit_to("4C 8D 15", f"weight{tables}")  # lea r10, [rip + ...]
    text.emit("BA", rows)  # mov edx, rows
    text.emit_to("E8", "summed_more" if more else "summed")  # call


def fill_zeros(text: Text, count: int) -> None:
    """Put `count` zeros at rdi, which moves behind them."""
    text.emit("B9", count)  # mov ecx, count
    text.emit("31 C0 F3 48 AB")  # xor eax, eax; rep stosq


def write_products(text: Text, kinds: Sequence[ProductKind]) -> list[str]:
    """Write an unrolled routine for each kind of product, and return their labels.

    A routine multiplies the transposed weights at rbp, each repeated four times, with the matrix at
    rbx; both matrix and result (last, stride) are stored row by row. The stride is a multiple of
    four, and rbx moves on by as many entries.
    """
    parts, start, weights, inputs = [], 0, 0, 0
    for inner, last, _, _ in kinds:
        parts.append(_product_steps(inner, last, start, weights, inputs))
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
    for label, part, kind in zip(labels, body(steps, memory, (), ends[:-1]), kinds):
        text.label(label)
        text.emit("B9", kind.stride // 4)  # mov ecx, stride / 4
        text.label(f"{label}_more")
        text.emit(part)
        text.emit("48 83 C3 20 FF C9")  # add rbx, 32; dec ecx
        text.emit_to("0F 85", f"{label}_more")  # jnz
        text.emit("C3")  # ret
    return labels


def _product_steps(
    inner: int, last: int, start: int, weights: int, inputs: int
) -> tuple[np.ndarray, ...]:
    """Return opcodes, both operands and results of one product, COLUMNS columns at a time.

    Steps are numbered from `start`; inputs and weights from -1 downward.
    """
    columns_of: tuple[list[np.ndarray], ...] = [], [], [], []
    codes, xs, ys, results = columns_of
    for first in range(0, last, COLUMNS):
        columns = np.arange(first, min(first + COLUMNS, last))
        size = len(columns)
        entry = np.arange(inner)[:, None]
        product = start + size * np.maximum(0, 2 * entry - 1) + np.arange(size)
        total = np.where(entry == 0, product, product + size)
        code = np.full((2, *product.shape), MUL)
        code[1] = ADD
        x = np.array([-1 - inputs - np.broadcast_to(entry, product.shape), np.roll(total, 1, 0)])
        y = np.array([-1 - weights - (entry * last + columns), product])
        kept = np.ones((inner, 2, size), dtype=bool)
        kept[0, 1] = False  # the first product is the first sum
        for steps, each in ((codes, code), (xs, x), (ys, y)):
            steps.append(each.transpose(1, 0, 2)[kept])
        results.append(total[-1])
        start += (2 * inner - 1) * size
    return tuple(map(np.concatenate, (codes, xs, ys, results)))

"""Loops over lists of places: entries copied or added from some places to others, sums of entries
with weights, and products of small matrices, of four columns at once."""

from collections.abc import Sequence

import numpy as np

from ocp.codegen.assembler.emitter import WIDTH, Text
from ocp.codegen.assembler.encoding import RBP, RBX, Memory, body
from ocp.codegen.assembler.instructions import R8, R9, R10, R11, RAX, RCX, RDI, RDX, RSI, Code, at
from ocp.codegen.assembler.ir import ADD, MUL, Steps

AT_ONCE = 6  # columns of a product whose sums are in registers


def loops(text: Code) -> None:
    """Add `copied` and `added`, which put entries at rsi in places at rdi, by ecx pairs of numbers
    at r8 from the last to the first, and `summed` and `summed_more`, rdx sums of entries at rsi to
    rdi: those from one start at r8 to the next of the places at r9 and the weights at r10."""
    stretches(text)
    for label, adds in (("copied", False), ("added", True)):
        text.mark(label)
        text.add("41 8B 44 C8 F8")  # mov eax, [r8 + 8 rcx - 8]
        text.add("41 8B 54 C8 FC")  # mov edx, [r8 + 8 rcx - 4]
        text.add("C5 FB 10 04 C6")  # vmovsd xmm0, [rsi + 8 rax]
        if adds:
            text.add("C5 FB 58 04 D7")  # vaddsd xmm0, xmm0, [rdi + 8 rdx]
        text.add("C5 FB 11 04 D7 FF C9")  # vmovsd [rdi + 8 rdx], xmm0; dec ecx
        text.to("0F 85", label)  # jnz
        text.add("C3")  # ret
    for label, adds in (("summed", False), ("summed_more", True)):
        text.mark(label)
        text.add("31 C0")  # xor eax, eax
        text.mark(f"{label}_row")
        text.add("41 8B 0C 80 45 8B 5C 80 04")  # mov ecx, [r8 + 4 rax]; mov r11d, [r8 + 4 rax + 4]
        text.add("C5 F9 57 C0")  # vxorpd xmm0, xmm0, xmm0
        text.mark(f"{label}_entry")
        text.add("44 39 D9")  # cmp ecx, r11d
        text.to("0F 8D", f"{label}_end")  # jge
        text.add("45 8B 2C 89")  # mov r13d, [r9 + 4 rcx]
        text.add("C4 C1 7B 10 0C CA")  # vmovsd xmm1, [r10 + 8 rcx]
        text.add("C4 A1 73 59 0C EE")  # vmulsd xmm1, xmm1, [rsi + 8 r13]
        text.add("C5 FB 58 C1 FF C1")  # vaddsd xmm0, xmm0, xmm1; inc ecx
        text.to("E9", f"{label}_entry")  # jmp
        text.mark(f"{label}_end")
        if adds:
            text.add("C5 FB 58 04 C7")  # vaddsd xmm0, xmm0, [rdi + 8 rax]
        text.add("C5 FB 11 04 C7 FF C0 39 D0")  # vmovsd [rdi + 8 rax], xmm0; inc eax; cmp eax, edx
        text.to("0F 8C", f"{label}_row")  # jl
        text.add("C3")  # ret


def stretches(c: Code) -> None:
    """Add `stretched` and `stretched_more`, which put stretches of entries at rsi in places at rdi,
    or add them there, by ecx triples of numbers at r8: from where, to where, and how many."""
    for label, adds in (("stretched", False), ("stretched_more", True)):
        c.mark(label)
        c.number(RAX, at(R8))
        c.number(RDX, at(R8, offset=4))
        c.number(R9, at(R8, offset=8))
        c.address(RAX, at(RSI, RAX, 8))
        c.address(RDX, at(RDI, RDX, 8))
        c.set(R10, 0)
        c.address(R11, at(R9, offset=-3))
        for name, end, step in (("four", R11, 4), ("one", R9, 1)):
            c.mark(f"{label}_{name}")
            c.compare(R10, end)
            c.jump(f"{label}_{name}_end", "not less")
            load, combine, store = (
                (c.load, c.combine, c.store)
                if step == 4
                else (c.load_one, c.combine_one, c.store_one)
            )
            load(0, at(RAX, R10, 8))
            if adds:
                combine(ADD, 0, 0, at(RDX, R10, 8))
            store(at(RDX, R10, 8), 0)
            c.more(R10, step)
            c.jump(f"{label}_{name}")
            c.mark(f"{label}_{name}_end")
        c.more(R8, 12)
        c.more(RCX, -1)
        c.jump(label, "not zero")
        c.add("C3")  # ret


def moved(text: Text, label: str, table: str, count: int) -> None:
    """Call a loop with a table of so many entries; rsi and rdi are set."""
    if count:
        text.to("4C 8D 05", table)  # lea r8, [rip + ...]
        text.add("B9", count)  # mov ecx, count
        text.to("E8", label)  # call


def zeroed(text: Text, count: int) -> None:
    """Put zeros in so many places at rdi, which moves behind them."""
    text.add("B9", count)  # mov ecx, count
    text.add("31 C0 F3 48 AB")  # xor eax, eax; rep stosq


def products(text: Text, kinds: Sequence[tuple[int, int, int, int]]) -> list[str]:
    """Add a routine for each kind, (inner, last, stride, out), and return their labels: of the
    matrix (inner, stride) at rbx and weights (inner, last) at rbp, each four times, the product
    (last, stride) is put `out` bytes behind the former. Both have their rows side by side; stride
    is a multiple of four, and rbx moves on by as many entries."""
    parts, start, weights, inputs = [], 0, 0, 0
    for inner, last, _, _ in kinds:
        parts.append(_product(inner, last, start, weights, inputs))
        part = parts[-1]
        start, weights, inputs = start + len(part[0]), weights + inner * last, inputs + inner
    code, x, y, given = (np.concatenate(each) for each in zip(*parts))
    x = np.where(x < 0, -1 - x + start + weights, x)  # inputs stand behind the weights
    y = np.where(y < 0, -1 - y + start, y)
    nothing = np.zeros(0, dtype=int)
    steps = Steps(
        code=code,
        x=x,
        y=y,
        asked=np.zeros(start, dtype=int),
        place=nothing,
        constants=nothing,
        inputs=nothing,
        outputs=nothing,
        given=given,
    )
    memory = Memory(
        base=np.repeat([RBX, RBP, RBX], [start, weights, inputs]),
        offset=np.concatenate(
            [np.zeros(start, dtype=int)]
            + [WIDTH * np.arange(inner * last) for inner, last, _, _ in kinds]
            + [8 * stride * np.arange(inner) for inner, _, stride, _ in kinds]
        ),
        outputs=np.concatenate(
            [out + 8 * stride * np.arange(last) for _, last, stride, out in kinds]
        ),
    )
    ends = np.cumsum([len(part[0]) for part in parts])
    labels = [f"product{number}" for number in range(len(kinds))]
    texts = body(steps, memory, (), ends[:-1])
    for label, part, (_, _, stride, _) in zip(labels, texts, kinds):
        text.mark(label)
        text.add("B9", stride // 4)  # mov ecx, stride / 4
        text.mark(f"{label}_more")
        text.add(part)
        text.add("48 83 C3 20 FF C9")  # add rbx, 32; dec ecx
        text.to("0F 85", f"{label}_more")  # jnz
        text.add("C3")  # ret
    return labels


def _product(inner, last, start, weights, inputs):
    """Return opcodes, operands and the results of the steps of one product, AT_ONCE columns after
    AT_ONCE others; inputs and weights are numbered from -1 downward."""
    codes, xs, ys, given = [], [], [], []
    for first in range(0, last, AT_ONCE):
        columns = np.arange(first, min(first + AT_ONCE, last))
        size = len(columns)
        entry = np.arange(inner)[:, None]
        made = start + size * np.maximum(0, 2 * entry - 1) + np.arange(size)  # products
        total = np.where(entry == 0, made, made + size)
        product_of = -1 - inputs - np.broadcast_to(entry, made.shape)
        by = -1 - weights - (entry * last + columns)
        code = np.full((2, *made.shape), MUL)
        code[1] = ADD
        x = np.array([product_of, np.roll(total, 1, axis=0)])
        y = np.array([by, made])
        kept = np.ones((inner, 2, size), dtype=bool)
        kept[0, 1] = False  # the first product is the first sum
        codes, xs, ys = (
            [*all_, each.transpose(1, 0, 2)[kept]]
            for all_, each in ((codes, code), (xs, x), (ys, y))
        )
        given.append(total[-1])
        start += (2 * inner - 1) * size
    return tuple(map(np.concatenate, (codes, xs, ys, given)))


def summed(text: Text, tables: str, rows: int, *, more: bool) -> None:
    """Call `summed`, or with `more` what adds to what is there, with tables `starts`, `from` and
    `weight` of that name; rsi and rdi are set."""
    text.to("4C 8D 05", f"starts{tables}")  # lea r8, [rip + ...]
    text.to("4C 8D 0D", f"from{tables}")  # lea r9, [rip + ...]
    text.to("4C 8D 15", f"weight{tables}")  # lea r10, [rip + ...]
    text.add("BA", rows)  # mov edx, rows
    text.to("E8", "summed_more" if more else "summed")  # call

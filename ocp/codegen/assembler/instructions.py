"""Instructions that every processor has, by mnemonic, as far as loops over numbers need them.

Sixteen integer registers bear the names of x86-64; another processor gives each one of its own.
Arguments of a function come in rdi, rsi, rdx, rcx. A vector register holds four numbers, however
many registers of the processor that takes. Memory is `at(base, index, scale, offset)`; the first
operand is the destination.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler import ir
from ocp.codegen.assembler.emitter import Text

RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 = range(16)
Bytes = Sequence[ArrayLike]  # columns of instructions, one byte each
Group = tuple[np.ndarray, Bytes]  # which of several instructions, and their bytes
Places = tuple[np.ndarray, np.ndarray]  # base registers and offsets of places in memory


@dataclass(frozen=True, slots=True)
class At:
    """Memory operand: base + scale * index + offset (bytes)."""

    base: int
    index: int | None = None
    scale: int = 1
    offset: int = 0


at = At
Place = int | At


class Operations(NamedTuple):
    """Operations on vectors, arrays (n,): opcode, `condition` of comparisons, registers of `result`
    and `first` operand, and the `second` one in a register, or where `far` (n,) in memory; and of
    the `third` one of FUSE, whose product with the second is added to the first."""

    code: np.ndarray
    condition: np.ndarray
    result: np.ndarray
    first: np.ndarray
    second: np.ndarray
    far: np.ndarray
    memory: Places
    third: np.ndarray


class Code(Text):
    """Machine code written by mnemonic, and the bytes of many operations at once."""

    name: ClassVar[str]  # of the processors that run it
    machine: ClassVar[int]  # number of the processor in ELF files
    page: ClassVar[int]  # bytes of the largest page that its systems have
    registers: ClassVar[int]  # vector registers that a graph's steps use in turn
    fused: ClassVar[bool]  # whether loops have `multiply_add` and 14 vector registers

    special: ClassVar[ir.Operations] = {}  # steps of operations that other processors take more for

    @abstractmethod
    def prologue(self, label: str, room: int = 0) -> None:
        """Begin a C function that keeps `room` 64-bit numbers at rsp and what its caller needs."""

    @abstractmethod
    def epilogue(self) -> None:
        """End the C function; rax, or vector register 0, is its result."""

    @abstractmethod
    def ret(self) -> None:
        """Return from a routine that `call` calls."""

    @abstractmethod
    def give(self) -> None:
        """Return rax from a C function without prologue."""

    @abstractmethod
    def call(self, label: str) -> None:
        """Call a routine, which calls no other one."""

    @abstractmethod
    def write_library_call(self, label: str) -> None:
        """Write the routine that calls the C function at rax for four pairs of numbers at r14 and
        r15, and puts the results at r13; steps call it by r12."""

    @abstractmethod
    def address(self, to: int, label: str) -> None:
        """Load the address of a label."""

    @abstractmethod
    def mov(self, to: Place, source: Place) -> None:
        """Copy 64 bits between registers, or between a register and memory."""

    @abstractmethod
    def movsxd(self, to: int, source: At) -> None:
        """Load a signed 32-bit integer."""

    @abstractmethod
    def mov_constant(self, to: int, value: int) -> None:
        """Load a signed 32-bit constant."""

    @abstractmethod
    def lea(self, to: int, source: At) -> None:
        """Load an address."""

    @abstractmethod
    def add(self, to: int, source: Place) -> None:
        """Add integers."""

    @abstractmethod
    def sub(self, to: int, source: Place) -> None:
        """Subtract integers."""

    @abstractmethod
    def imul(self, to: int, source: Place) -> None:
        """Multiply integers."""

    @abstractmethod
    def add_constant(self, to: int, value: int) -> None:
        """Add a signed 32-bit constant; a jump may follow that asks whether the sum is zero."""

    @abstractmethod
    def shl(self, to: int, bits: int) -> None:
        """Shift left: multiply by a power of two."""

    @abstractmethod
    def clear_low(self, to: int, bits: int) -> None:
        """Set the lowest bits to zero: align to a power of two."""

    @abstractmethod
    def cmp(self, one: int, other: Place) -> None:
        """Compare for the next jump."""

    @abstractmethod
    def test(self, register: int) -> None:
        """Compare with zero for the next jump."""

    @abstractmethod
    def jump(self, label: str, when: str = "") -> None:
        """Jump to a label, always or by the last comparison: "less", "zero" and their opposites."""

    @abstractmethod
    def load_vector(self, to: int, source: At) -> None:
        """Load four numbers."""

    @abstractmethod
    def store_vector(self, to: At, source: int) -> None:
        """Store four numbers."""

    @abstractmethod
    def vector_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Apply an operation to four numbers."""

    @abstractmethod
    def load_scalar(self, to: int, source: At) -> None:
        """Load one number."""

    @abstractmethod
    def store_scalar(self, to: At, source: int) -> None:
        """Store one number."""

    @abstractmethod
    def scalar_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Apply an operation to one number."""

    def add_product(self, to: int, one: int, other: At) -> None:
        """Add the product of two numbers as CasADi's sums do; the first factor may be lost."""
        self.scalar_op(ir.MUL, one, one, other)
        self.scalar_op(ir.ADD, to, to, one)

    def broadcast(self, to: int, source: At) -> None:
        """Load one number into all four places; like the next three where that is `fused`."""
        raise NotImplementedError(self.name)

    def multiply_add(self, to: int, one: int, other: Place, *, minus: bool = False) -> None:
        """Add, or subtract, products of four numbers with one rounding."""
        raise NotImplementedError(self.name)

    def high_half(self, to: int, source: int) -> None:
        """Copy the last two of four numbers."""
        raise NotImplementedError(self.name)

    def second_number(self, to: int, source: int) -> None:
        """Copy the second of two numbers."""
        raise NotImplementedError(self.name)

    @abstractmethod
    def moves(self, store: bool, register: np.ndarray, memory: Places) -> Iterator[Group]:
        """Yield the bytes of loads into vector registers from aligned memory, or of stores."""

    @abstractmethod
    def operations(self, operations: Operations) -> Iterator[Group]:
        """Yield the bytes of Operations, in order."""

    @abstractmethod
    def calls(self, function: np.ndarray, memory: Sequence[Places]) -> Iterator[Group]:
        """Yield the bytes of calls of the routine at r12: functions at rbp + `function`, and places
        of result and two operands."""

    @contextmanager
    def loop(self, name: str, register: int, end: Place) -> Iterator[None]:
        """Repeat the body while `register` < `end`, a register or memory; then add 1 to it."""
        self.label(name)
        self.cmp(register, end)
        self.jump(f"{name}_end", "not less")
        yield
        self.add_constant(register, 1)
        self.jump(name)
        self.label(f"{name}_end")

    def begin_function(self, label: str) -> None:
        """Begin a CasADi function, (arg, res, iw, w, mem).

        arg and res, pointers to the entries of inputs and outputs, are kept at rsp and rsp + 8; a
        number fits at rsp + 16. rbx is w, aligned to WIDTH, so that the function asks for four
        numbers more than it uses.
        """
        self.align(16)
        self.prologue(label, room=3)
        self.mov(at(RSP), RDI)
        self.mov(at(RSP, offset=8), RSI)
        self.lea(RBX, at(RCX, offset=31))
        self.clear_low(RBX, 5)

    def end_function(self) -> None:
        """End a CasADi function, which returns 0."""
        self.mov_constant(RAX, 0)
        self.epilogue()

    def load_input(self, number: int, start: int = 0) -> None:
        """Point rsi to an input's entries, from entry `start` on."""
        self.mov(RAX, at(RSP))
        self.mov(RSI, at(RAX, offset=8 * number))
        if start:
            self.add_constant(RSI, 8 * start)

    def load_output(self, number: int, absent: str = "") -> None:
        """Point rdi to an output's entries; jump to the label `absent` if the caller wants none."""
        self.mov(RAX, at(RSP, offset=8))
        self.mov(RDI, at(RAX, offset=8 * number))
        if absent:
            self.test(RDI)
            self.jump(absent, "zero")


def byte_columns(values: ArrayLike, kind: type) -> list[np.ndarray]:
    """Return the bytes of numbers of a kind, least significant first, a column each."""
    data: np.ndarray = np.ascontiguousarray(values, dtype=kind)
    return list(data.view(np.uint8).reshape(len(data), data.itemsize).T)

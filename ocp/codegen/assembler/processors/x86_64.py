"""Encoder of x86-64: with AVX four numbers in a register, without it two in each of two.

(Intel, Software developer's manual, volume 2, sections 2.1 to 2.3: prefixes, ModR/M, SIB and VEX;
System V application binary interface, AMD64; Microsoft, x64 calling convention.)
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler.instructions import (
    R8,
    R9,
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    At,
    Code,
    Group,
    Operations,
    Place,
    Places,
    at,
    byte_columns,
)
from ocp.codegen.assembler.ir import AND, COMPARE, OR, SQRT, XOR

SAVED = RBX, RBP, R12, R13, R14, R15  # registers that a function must restore
WINDOWS_SAVED = (*SAVED, RDI, RSI)  # there, as vector registers from 6 on
WINDOWS_ARGUMENTS = ((RDI, RCX), (RSI, RDX), (RDX, R8), (RCX, R9))
SHADOW = 32  # bytes that Windows lets every function use above its return address
JUMPS = {"less": 0x8C, "not less": 0x8D, "zero": 0x84, "not zero": 0x85}
SCALES = {1: 0, 2: 1, 4: 2, 8: 3}
LOAD, STORE = 0x10, 0x11
ALIGNED = 0x28, 0x29  # moves of two numbers of aligned memory
VZEROUPPER = "C5 F8 77"


class X86(Code):
    """Integer instructions, and the conventions of calls, which on `windows` are others."""

    machine, page = 62, 4096
    ending = ""  # what a function does before it returns to code of other kinds

    def __init__(self, *, windows: bool = False) -> None:
        super().__init__()
        self.windows = windows

    def resolve(self, data: bytearray, place: int, target: int) -> None:
        """As of Text: the code before `place` ends with the distance."""
        data[place - 4 : place] = (target - place).to_bytes(4, "little", signed=True)

    def prologue(self, label: str, room: int = 0) -> None:
        """As of Code."""
        saved = WINDOWS_SAVED if self.windows else SAVED
        self.label(label)
        for register in saved:
            self._one_register(0x50, register)  # push
        self._room = 8 * (room + 1 - room % 2)  # keeps rsp aligned to 16 bytes
        wide = 160 if self.windows else 0
        self._immediate(0x81, 5, RSP, self._room + wide)  # sub
        if self.windows:
            for number in range(10):
                self._save_wide(STORE, number)
            for to, source in WINDOWS_ARGUMENTS:
                self.mov(to, source)

    def epilogue(self) -> None:
        """As of Code."""
        if self.windows:
            for number in range(10):
                self._save_wide(LOAD, number)
        self._immediate(0x81, 0, RSP, self._room + (160 if self.windows else 0))  # add
        for register in reversed(WINDOWS_SAVED if self.windows else SAVED):
            self._one_register(0x58, register)  # pop
        self.emit(self.ending)
        self.ret()

    def _save_wide(self, opcode: int, number: int) -> None:
        """Store or load vector register 6 + number above what a function keeps (movups)."""
        operands, high = _operands(6 + number, at(RSP, offset=self._room + 16 * number))
        self.emit(bytes([0x40 | high, 0x0F, opcode]) + operands)

    def ret(self) -> None:
        """As of Code."""
        self.emit("C3")

    give = ret

    def call(self, label: str) -> None:
        """As of Code."""
        self._to("E8", label)

    def write_library_call(self, label: str) -> None:
        """As of Code."""
        self.label(label)
        self.emit(self.ending)
        self._one_register(0x50, RAX)  # push, which aligns rsp to 16 bytes
        self._immediate(0x81, 5, RSP, SHADOW)  # sub
        for lane in range(4):
            self._scalar(LOAD, 0, at(R14, offset=8 * lane))
            self._scalar(LOAD, 1, at(R15, offset=8 * lane))
            self._operation(b"\xff", 2, at(RSP, offset=SHADOW))  # call
            self._scalar(STORE, 0, at(R13, offset=8 * lane))
        self._immediate(0x81, 0, RSP, SHADOW + 8)  # add
        self.ret()

    def address(self, to: int, label: str) -> None:
        """As of Code."""
        self._to(f"{0x48 | (to >> 3) << 2:02X} 8D {5 | (to & 7) << 3:02X}", label)  # lea

    def mov(self, to: Place, source: Place) -> None:
        """As of Code."""
        if isinstance(to, At):
            assert isinstance(source, int)
            self._operation(b"\x89", source, to)
        else:
            self._operation(b"\x8b", to, source)

    def movsxd(self, to: int, source: At) -> None:
        """As of Code."""
        self._operation(b"\x63", to, source)

    def mov_constant(self, to: int, value: int) -> None:
        """As of Code."""
        self._immediate(0xC7, 0, to, value)

    def lea(self, to: int, source: At) -> None:
        """As of Code."""
        self._operation(b"\x8d", to, source)

    def add(self, to: int, source: Place) -> None:
        """As of Code."""
        self._operation(b"\x03", to, source)

    def sub(self, to: int, source: Place) -> None:
        """As of Code."""
        self._operation(b"\x2b", to, source)

    def imul(self, to: int, source: Place) -> None:
        """As of Code."""
        self._operation(b"\x0f\xaf", to, source)

    def add_constant(self, to: int, value: int) -> None:
        """As of Code."""
        self._immediate(0x81, 0, to, value)

    def shl(self, to: int, bits: int) -> None:
        """As of Code."""
        self._operation(b"\xc1", 4, to)
        self.emit(bytes([bits]))

    def clear_low(self, to: int, bits: int) -> None:
        """As of Code."""
        self._immediate(0x81, 4, to, -(1 << bits))

    def cmp(self, one: int, other: Place) -> None:
        """As of Code."""
        self._operation(b"\x3b", one, other)

    def test(self, register: int) -> None:
        """As of Code."""
        self._operation(b"\x85", register, register)

    def jump(self, label: str, when: str = "") -> None:
        """As of Code."""
        self._to(f"0F {JUMPS[when]:02X}" if when else "E9", label)

    def calls(self, function: np.ndarray, memory: Sequence[Places]) -> Iterator[Group]:
        """As of Code."""
        columns: list[ArrayLike] = [0x48, 0x8B, *_memory_operand(RAX, RBP, function)]  # mov
        for register, place in zip((R13, R14, R15), memory):
            columns += [0x4C, 0x8D, *_memory_operand(register, *place)]  # lea
        yield np.arange(len(function)), [*columns, 0x41, 0xFF, 0xD4]  # call r12

    def _to(self, code: str, label: str) -> None:
        """Emit an instruction that ends with the distance to a label."""
        self.emit(code, 0)
        self.refer(label)

    def _one_register(self, opcode: int, register: int) -> None:
        """Emit an instruction with a register in its last byte."""
        self.emit(bytes([0x41] * (register > 7) + [opcode | register & 7]))

    def _immediate(self, opcode: int, extension: int, to: int, value: int) -> None:
        """Emit a 64-bit instruction with a 32-bit constant."""
        self._operation(bytes([opcode]), extension, to)
        self.emit(b"", value)

    def _operation(self, opcode: bytes, register: int, place: Place) -> None:
        """Emit a 64-bit instruction."""
        operands, high = _operands(register, place)
        self.emit(bytes([0x48 | high]) + opcode + operands)

    def _scalar(self, opcode: int, register: int, place: Place) -> None:
        """Emit an instruction on one number (SSE2)."""
        operands, high = _operands(register, place)
        self.emit(bytes([0xF2, 0x40 | high, 0x0F, opcode]) + operands)


class Avx(X86):
    """Vectors of four numbers; most processors with AVX multiply and add at once, too."""

    name, registers, fused = "x86-64 with AVX", 16, True
    ending = VZEROUPPER

    def load_vector(self, to: int, source: At) -> None:
        """As of Code (vmovupd)."""
        self._vector(LOAD, to, 0, source)

    def store_vector(self, to: At, source: int) -> None:
        """As of Code (vmovupd)."""
        self._vector(STORE, source, 0, to)

    def broadcast(self, to: int, source: At) -> None:
        """As of Code (vbroadcastsd)."""
        self._vector(0x19, to, 0, source, table=2)

    def vector_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code."""
        self._vector(opcode, to, one, other)

    def multiply_add(self, to: int, one: int, other: Place, *, minus: bool = False) -> None:
        """As of Code (vfmadd231pd, vfnmadd231pd)."""
        self._vector(0xBC if minus else 0xB8, to, one, other, table=2, wide=True)

    def load_scalar(self, to: int, source: At) -> None:
        """As of Code (vmovsd)."""
        self._vector(LOAD, to, 0, source, scalar=True)

    def store_scalar(self, to: At, source: int) -> None:
        """As of Code (vmovsd)."""
        self._vector(STORE, source, 0, to, scalar=True)

    def scalar_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code."""
        self._vector(opcode, to, one, other, scalar=True)

    def high_half(self, to: int, source: int) -> None:
        """As of Code (vextractf128)."""
        self._vector(0x19, source, 0, to, table=3)
        self.emit(b"\x01")

    def second_number(self, to: int, source: int) -> None:
        """As of Code (vunpckhpd)."""
        self._vector(0x15, to, source, source, length=0)

    def moves(self, store: bool, register: np.ndarray, memory: Places) -> Iterator[Group]:
        """As of Code."""
        prefix = _vex_prefix(register, 0, False)
        operand = _memory_operand(register, *memory)
        yield np.arange(len(register)), [*prefix, STORE if store else LOAD, *operand]

    def operations(self, operations: Operations) -> Iterator[Group]:
        """As of Code."""
        code, condition, result, first, second, far, (base, offset), _ = operations
        first = np.where(code == SQRT, 0, first)  # it has a single operand
        for compares in (False, True):
            own = (code == COMPARE) == compares
            for high in (True, False):
                at = np.flatnonzero(own & ~far & ((second > 7) == high))
                prefix = _vex_prefix(result[at], first[at], high)
                modrm = 0xC0 | (result[at] & 7) << 3 | second[at] & 7
                yield at, [*prefix, code[at], modrm, *([condition[at]] if compares else [])]
            at = np.flatnonzero(own & far)
            prefix = _vex_prefix(result[at], first[at], False)
            where = _memory_operand(result[at], base[at], offset[at])
            yield at, [*prefix, code[at], *where, *([condition[at]] if compares else [])]

    def _vector(
        self,
        opcode: int,
        register: int,
        first: int,
        place: Place,
        *,
        table: int = 1,
        scalar: bool = False,
        wide: bool = False,
        length: int = 4,
    ) -> None:
        """Emit an AVX instruction with a three-byte VEX prefix, of an opcode `table`."""
        operands, high = _operands(register, place)
        kind = 3 if scalar else length | 1  # packed doubles of 256 bits, or one double
        last = wide << 7 | (15 - first) << 3 | kind
        self.emit(bytes([0xC4, (~high & 7) << 5 | table, last, opcode]) + operands)


class Sse(X86):
    """Vectors of four numbers in registers k and k + 8, two in each: what every x86-64 has.

    An operation's result takes the place of its first operand. Loops load unaligned operands into
    register 7, which they do not use themselves.
    """

    name, registers, fused = "x86-64 without AVX", 8, False

    def load_vector(self, to: int, source: At) -> None:
        """As of Code (movupd)."""
        self._halves(LOAD, to, source)

    def store_vector(self, to: At, source: int) -> None:
        """As of Code (movupd)."""
        self._halves(STORE, source, to)

    def vector_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code."""
        assert to == one
        if isinstance(other, At):
            self.load_vector(7, other)
            other = 7
        self._halves(opcode, to, other)

    def load_scalar(self, to: int, source: At) -> None:
        """As of Code (movsd)."""
        self._scalar(LOAD, to, source)

    def store_scalar(self, to: At, source: int) -> None:
        """As of Code (movsd)."""
        self._scalar(STORE, source, to)

    def scalar_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code."""
        assert to == one and opcode not in (AND, OR, XOR)
        self._scalar(opcode, to, other)

    def moves(self, store: bool, register: np.ndarray, memory: Places) -> Iterator[Group]:
        """As of Code."""
        base, offset = memory
        opcode = ALIGNED[store]
        for half in range(2):
            operand = _memory_operand(register, base, offset + 16 * half)
            yield np.arange(len(register)), [0x66, 0x40 | 4 * half, 0x0F, opcode, *operand]

    def operations(self, operations: Operations) -> Iterator[Group]:
        """As of Code."""
        code, condition, result, first, second, far, (base, offset), _ = operations
        copied = np.flatnonzero((first != result) & (code != SQRT))
        for half in range(2):
            high, copy = 0x40 | 5 * half, 0xC0 | result[copied] << 3 | first[copied]
            yield copied, [0x66, high, 0x0F, ALIGNED[False], copy]
            for compares in (False, True):
                own = (code == COMPARE) == compares
                at = np.flatnonzero(own & ~far)
                modrm = 0xC0 | result[at] << 3 | second[at]
                last = [condition[at]] if compares else []
                yield at, [0x66, high, 0x0F, code[at], modrm, *last]
                at = np.flatnonzero(own & far)
                where = _memory_operand(result[at], base[at], offset[at] + 16 * half)
                last = [condition[at]] if compares else []
                yield at, [0x66, 0x40 | 4 * half, 0x0F, code[at], *where, *last]

    def _halves(self, opcode: int, register: int, place: Place) -> None:
        """Emit an instruction for each half of a vector."""
        for half in range(2):
            if isinstance(place, At):
                own: Place = At(place.base, place.index, place.scale, place.offset + 16 * half)
            else:
                own = place + 8 * half
            operands, high = _operands(register + 8 * half, own)
            self.emit(bytes([0x66, 0x40 | high, 0x0F, opcode]) + operands)


def _operands(register: int, place: Place) -> tuple[bytes, int]:
    """Return the ModR/M, SIB and offset bytes, and the high bits of registers for the prefix."""
    high, reg = (register >> 3) << 2, (register & 7) << 3
    if isinstance(place, int):
        return bytes([0xC0 | reg | place & 7]), high | place >> 3
    small = -128 <= place.offset < 128
    mode = 0x40 if small else 0x80
    offset = place.offset.to_bytes(1 if small else 4, "little", signed=True)
    high |= place.base >> 3
    if place.index is None and place.base & 7 != RSP:
        return bytes([mode | reg | place.base & 7]) + offset, high
    index = RSP if place.index is None else place.index  # rsp means no index
    assert place.index != RSP
    high |= (index >> 3) << 1
    sib = SCALES[place.scale] << 6 | (index & 7) << 3 | place.base & 7
    return bytes([mode | reg | 4, sib]) + offset, high


def _vex_prefix(register: np.ndarray, first: ArrayLike, high: bool) -> list[ArrayLike]:
    """Return the VEX prefix for a result's register and the first operand's (0 for none).

    `high` tells that the second operand is in a register above 7, which takes a third byte.
    """
    low = (15 - np.asarray(first)) << 3 | 0b101
    if high:
        return [0xC4, np.where(register > 7, 0x41, 0xC1), low]
    return [0xC5, np.where(register > 7, 0, 0x80) | low]


def _memory_operand(register: ArrayLike, base: ArrayLike, offset: np.ndarray) -> list[ArrayLike]:
    """Return the bytes that name a register and the memory at base + offset."""
    modrm = 0x80 | (np.asarray(register) & 7) << 3 | np.asarray(base)
    return [modrm, *byte_columns(offset, np.int32)]

"""Encoder of AArch64: vectors of four numbers in NEON registers k and k + 16, two in each.

Operands in memory are loaded into registers 15 and 31 first; 14 and 30 are for operations of
several instructions. Nothing is fused but where `multiply_add` asks for it. (Arm, Architecture
reference manual for A-profile, C4 and C6 to C7; Procedure call standard for AArch64.)
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.codegen.assembler import ir
from ocp.codegen.assembler.instructions import (
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    At,
    Bytes,
    Code,
    Group,
    Operations,
    Place,
    Places,
    byte_columns,
)
from ocp.codegen.assembler.ir import (
    ADD,
    AND,
    AND_NOT,
    COMPARE,
    DIV,
    EQUAL,
    FUSE,
    GREATEST,
    LEAST,
    LESS,
    LESS_EQUAL,
    MAX,
    MIN,
    MUL,
    OR,
    PAIR,
    SQRT,
    SUB,
    XOR,
    X,
    Y,
)

# Registers of the processor: arguments come in x0 to x3, and those from x19 on outlive calls
REGISTERS = 8, 3, 2, 19, 31, 20, 1, 0, 4, 5, 6, 7, 21, 22, 23, 24
NUMBERS = np.array(REGISTERS)
LINK, SCRATCH, OTHER = 30, 16, 17  # of return addresses; of addresses and constants
HIGH, MASK, OPERAND = 16, 14, 15  # vector registers: of second halves; scratch ones
CONDITIONS = {"zero": 0, "not zero": 1, "not less": 10, "less": 11}
# Words of operations on two numbers, and whether the operands change sides
WORDS = {
    ADD: (0x4E60D400, False),
    SUB: (0x4EE0D400, False),
    MUL: (0x6E60DC00, False),
    DIV: (0x6E60FC00, False),
    AND: (0x4E201C00, False),
    AND_NOT: (0x4E601C00, True),  # bic
    OR: (0x4EA01C00, False),
    XOR: (0x6E201C00, False),
    LEAST: (0x4EE0C400, False),  # fminnm
    GREATEST: (0x4E60C400, False),  # fmaxnm
}
COMPARISONS = {
    EQUAL: (0x4E60E400, False),
    LESS: (0x6EE0E400, True),  # greater
    LESS_EQUAL: (0x6E60E400, True),
}
ROOT, CHOOSE, COPY, GREATER = 0x6EE1F800, 0x6E601C00, 0x4EA01C00, 0x6EE0E400
FUSED = 0x4E60CC00, 0x4EE0CC00
LOAD_VECTOR, STORE_VECTOR = 0x3DC00000, 0x3D800000  # of two numbers, by a multiple of 16 bytes
LOAD, STORE, LOAD_32 = 0xF8400000, 0xF8000000, 0xB8800000  # by a signed number of bytes
LOAD_HALF, STORE_HALF, LOAD_NUMBER, STORE_NUMBER = 0x3CC00000, 0x3C800000, 0xFC400000, 0xFC000000
NEAR = 1 << 16  # bytes from which on an offset takes instructions of its own


class Arm(Code):
    """AArch64, by the calling convention that Linux and macOS share."""

    name, machine, page, registers, fused = "AArch64", 183, 1 << 16, 14, True
    special: ClassVar[ir.Operations] = {
        ca.OP_FMIN: ((LEAST, X, Y, 0),),
        ca.OP_FMAX: ((GREATEST, X, Y, 0),),
        ca.OP_MTIMES: ((PAIR, X, Y, 0), (FUSE, X, 0, 0)),  # as compilers write CasADi's loops
    }

    def resolve(self, data: bytearray, place: int, target: int) -> None:
        """As of Text: the code from `place` on is a branch, or begins an `address`."""
        distance = target - place
        word = int.from_bytes(data[place : place + 4], "little")
        if word & 0x7C000000 == 0x14000000:
            words = [word | (distance >> 2) & 0x3FFFFFF]
        else:
            last = int.from_bytes(data[place + 4 : place + 8], "little") & 31
            words = [word, *_constant(last, distance)]
        for number, each in enumerate(words):
            data[place + 4 * number : place + 4 * number + 4] = each.to_bytes(4, "little")

    def prologue(self, label: str, room: int = 0) -> None:
        """As of Code."""
        self.label(label)
        self._add_to_stack(-160)
        self._save(0xA9000000, 0x6D000000)  # stp
        self._room = 8 * (room + room % 2)  # sp is aligned to 16 bytes
        self._add_to_stack(-self._room)

    def epilogue(self) -> None:
        """As of Code."""
        self._add_to_stack(self._room)
        self._save(0xA9400000, 0x6D400000)  # ldp
        self._add_to_stack(160)
        self.give()

    def _save(self, integers: int, numbers: int) -> None:
        """Store or load in pairs what a function must restore, and its return address."""
        for place, one in enumerate(range(19, 29, 2)):
            self._words(integers | (2 * place) << 15 | (one + 1) << 10 | 31 << 5 | one)
        self._words(integers | 10 << 15 | LINK << 10 | 31 << 5 | 29)
        for place, one in enumerate(range(8, 16, 2)):
            self._words(numbers | (12 + 2 * place) << 15 | (one + 1) << 10 | 31 << 5 | one)

    def _add_to_stack(self, count: int) -> None:
        """Add to the stack pointer."""
        self._words((0x91000000 if count >= 0 else 0xD1000000) | abs(count) << 10 | 31 << 5 | 31)

    def ret(self) -> None:
        """As of Code."""
        self._words(0xD65F03C0)

    def give(self) -> None:
        """As of Code."""
        self._words(0xAA0003E0 | REGISTERS[RAX] << 16)  # mov x0, ...
        self.ret()

    def call(self, label: str) -> None:
        """As of Code."""
        self.refer(label)
        self._words(0x94000000)

    def write_library_call(self, label: str) -> None:
        """As of Code."""
        self.label(label)
        function = REGISTERS[RAX]
        self._words(0xA9BF0000 | LINK << 10 | 31 << 5 | function)  # stp, sp before
        for lane in range(4):
            self.load_scalar(0, At(R14, offset=8 * lane))
            self.load_scalar(1, At(R15, offset=8 * lane))
            self._words(0xF94003E0 | SCRATCH, 0xD63F0000 | SCRATCH << 5)  # ldr x16, [sp]; blr
            self.store_scalar(At(R13, offset=8 * lane), 0)
        self._words(0xA8C10000 | LINK << 10 | 31 << 5 | function)  # ldp, sp after
        self.ret()

    def address(self, to: int, label: str) -> None:
        """As of Code."""
        self.refer(label)
        register = REGISTERS[to]
        self._words(0x10000000 | OTHER)  # adr x17, here
        self._words(*_constant(register, 0))  # becomes the distance
        self._words(0x8B000000 | register << 16 | OTHER << 5 | register)

    def mov(self, to: Place, source: Place) -> None:
        """As of Code."""
        if isinstance(to, At):
            assert isinstance(source, int)
            self._access(STORE, REGISTERS[source], to)
        elif isinstance(source, At):
            self._access(LOAD, REGISTERS[to], source)
        else:
            self._words(0xAA0003E0 | REGISTERS[source] << 16 | REGISTERS[to])

    def movsxd(self, to: int, source: At) -> None:
        """As of Code."""
        self._access(LOAD_32, REGISTERS[to], source)

    def mov_constant(self, to: int, value: int) -> None:
        """As of Code."""
        self._words(*_constant(REGISTERS[to], value))

    def lea(self, to: int, source: At) -> None:
        """As of Code."""
        base = self._base(source)
        self._add_offset(REGISTERS[to], base, source.offset)

    def add(self, to: int, source: Place) -> None:
        """As of Code."""
        self._integer(0x8B000000, to, to, source)

    def sub(self, to: int, source: Place) -> None:
        """As of Code."""
        self._integer(0xCB000000, to, to, source)

    def imul(self, to: int, source: Place) -> None:
        """As of Code."""
        self._integer(0x9B007C00, to, to, source)

    def add_constant(self, to: int, value: int) -> None:
        """As of Code."""
        register = REGISTERS[to]
        if abs(value) < 1 << 12:
            word = 0xB1000000 if value >= 0 else 0xF1000000  # adds, subs
            self._words(word | abs(value) << 10 | register << 5 | register)
        else:
            self._words(*_constant(SCRATCH, value))
            self._words(0xAB000000 | SCRATCH << 16 | register << 5 | register)

    def shl(self, to: int, bits: int) -> None:
        """As of Code."""
        register = REGISTERS[to]
        self._words(0xD3400000 | (64 - bits) << 16 | (63 - bits) << 10 | register << 5 | register)

    def clear_low(self, to: int, bits: int) -> None:
        """As of Code."""
        register = REGISTERS[to]
        self._words(0xD340FC00 | bits << 16 | register << 5 | register)  # lsr
        self.shl(to, bits)

    def cmp(self, one: int, other: Place) -> None:
        """As of Code."""
        self._integer(0xEB000000, None, one, other)

    def test(self, register: int) -> None:
        """As of Code."""
        self._words(0xF100001F | REGISTERS[register] << 5)

    def jump(self, label: str, when: str = "") -> None:
        """As of Code: a far jump, left out by a near one of the opposite condition."""
        if when:
            self._words(0x54000040 | CONDITIONS[when] ^ 1)  # two instructions on
        self.refer(label)
        self._words(0x14000000)

    def load_vector(self, to: int, source: At) -> None:
        """As of Code."""
        self._access_pair(LOAD_HALF, to, source)

    def store_vector(self, to: At, source: int) -> None:
        """As of Code."""
        self._access_pair(STORE_HALF, source, to)

    def broadcast(self, to: int, source: At) -> None:
        """As of Code."""
        self._access(LOAD_NUMBER, to, source)
        self._words(0x4E080400 | to << 5 | to + HIGH, 0x4E080400 | to << 5 | to)  # dup

    def vector_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code."""
        if isinstance(other, At):
            self.load_vector(OPERAND, other)
            other = OPERAND
        for half in (0, HIGH):
            self._words(*_operation(opcode, 0, to + half, one + half, other + half))

    def multiply_add(self, to: int, one: int, other: Place, *, minus: bool = False) -> None:
        """As of Code (fmla, fmls)."""
        if isinstance(other, At):
            self.load_vector(OPERAND, other)
            other = OPERAND
        for half in (0, HIGH):
            self._words(FUSED[minus] | (other + half) << 16 | (one + half) << 5 | to + half)

    def add_product(self, to: int, one: int, other: At) -> None:
        """As of Code: with one rounding, as compilers write CasADi's loops."""
        self.load_scalar(OPERAND, other)
        self._words(FUSED[False] | OPERAND << 16 | one << 5 | to)

    def load_scalar(self, to: int, source: At) -> None:
        """As of Code."""
        self._access(LOAD_NUMBER, to, source)

    def store_scalar(self, to: At, source: int) -> None:
        """As of Code."""
        self._access(STORE_NUMBER, source, to)

    def scalar_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """As of Code: of two numbers, the second of which nobody reads."""
        if isinstance(other, At):
            self.load_scalar(OPERAND, other)
            other = OPERAND
        self._words(*_operation(opcode, 0, to, one, other))

    def high_half(self, to: int, source: int) -> None:
        """As of Code."""
        self._words(COPY | (source + HIGH) << 16 | (source + HIGH) << 5 | to)

    def second_number(self, to: int, source: int) -> None:
        """As of Code."""
        self._words(0x5E180400 | source << 5 | to)

    def moves(self, store: bool, register: np.ndarray, memory: Places) -> Iterator[Group]:
        """As of Code."""
        opcode = STORE_VECTOR if store else LOAD_VECTOR
        base, offset = NUMBERS[memory[0]], memory[1]
        near = offset < NEAR - 16
        halves = (0, HIGH)
        at = np.flatnonzero(near)
        place = base[at] << 5 | (offset[at] >> 4) << 10
        yield at, _columns(opcode | (half << 6) + place | register[at] + half for half in halves)
        at = np.flatnonzero(~near)
        access = (opcode | half << 6 | SCRATCH << 5 | register[at] + half for half in halves)
        yield at, _columns([*_far_address(SCRATCH, base[at], offset[at]), *access])

    def operations(self, operations: Operations) -> Iterator[Group]:
        """As of Code."""
        far = np.flatnonzero(operations.far)
        places = operations.memory[0][far], operations.memory[1][far]
        for which, columns in self.moves(False, np.full(len(far), OPERAND), places):
            yield far[which], columns
        second = np.where(operations.far, OPERAND, operations.second)
        every = 256 * operations.condition + operations.code
        for kind in np.unique(every).tolist():
            at = np.flatnonzero(every == kind)
            one, other, to = operations.first[at], second[at], operations.result[at]
            third = operations.third[at]
            code, condition = kind % 256, kind // 256
            words = (
                _operation(code, condition, *(each + half for each in (to, one, other, third)))
                for half in (0, HIGH)
            )
            yield at, _columns([word for each in words for word in each])

    def calls(self, function: np.ndarray, memory: Sequence[Places]) -> Iterator[Group]:
        """As of Code."""
        words = [*_far_address(SCRATCH, np.full(len(function), REGISTERS[RBP]), function)]
        words.append(np.full(len(function), 0xF9400000 | SCRATCH << 5 | REGISTERS[RAX]))  # ldr
        for register, (base, offset) in zip((R13, R14, R15), memory):
            words += _far_address(REGISTERS[register], NUMBERS[base], offset)
        words.append(np.full(len(function), 0xD63F0000 | REGISTERS[R12] << 5))  # blr
        yield np.arange(len(function)), _columns(words)

    def _words(self, *words: int | np.ndarray) -> None:
        """Emit instructions."""
        self.emit(b"".join(int(word).to_bytes(4, "little") for word in words))

    def _integer(self, word: int, to: int | None, one: int, other: Place) -> None:
        """Emit an operation on integers; `to` is None where only its flags are wanted."""
        if isinstance(other, At):
            self._access(LOAD, SCRATCH, other)
            second = SCRATCH
        else:
            second = REGISTERS[other]
        result = 31 if to is None else REGISTERS[to]
        self._words(word | second << 16 | REGISTERS[one] << 5 | result)

    def _base(self, place: At) -> int:
        """Return the register that holds base + scale * index, which may take an instruction."""
        base = int(NUMBERS[place.base])
        if place.index is None:
            return base
        shift = place.scale.bit_length() - 1
        self._words(
            0x8B000000 | int(NUMBERS[place.index]) << 16 | shift << 10 | base << 5 | SCRATCH
        )
        return SCRATCH

    def _add_offset(self, to: int, base: int, offset: int) -> None:
        """Emit the sum of a register and a constant."""
        if abs(offset) < 1 << 12:
            word = 0x91000000 if offset >= 0 else 0xD1000000
            self._words(word | abs(offset) << 10 | base << 5 | to)
        else:
            self._words(*_constant(OTHER, offset))
            self._words(0x8B206000 | OTHER << 16 | base << 5 | to)  # takes sp, too

    def _access(self, word: int, register: int, place: At) -> None:
        """Emit a load or store of a register."""
        base, offset = self._base(place), place.offset
        if not -256 <= offset < 256:
            self._add_offset(SCRATCH, base, offset)
            base, offset = SCRATCH, 0
        self._words(word | (offset & 0x1FF) << 12 | base << 5 | register)

    def _access_pair(self, word: int, register: int, place: At) -> None:
        """Emit loads or stores of both halves of a vector."""
        base = self._base(place)
        self._add_offset(SCRATCH, base, place.offset)
        for half in (0, HIGH):
            self._words(word | half << 12 | SCRATCH << 5 | register + half)


def _operation(
    code: int,
    condition: int,
    to: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    third: ArrayLike = 0,
) -> list[np.ndarray]:
    """Return the words of an operation on two numbers, of registers or arrays of them.

    MIN and MAX are chosen by a comparison, since the processor's own differ for zeros and for what
    is no number.
    """
    to, one, other, third = map(np.asarray, (to, one, other, third))
    if code == SQRT:
        return [ROOT | other << 5 | to]
    if code in (MIN, MAX):
        mask = MASK + (other & HIGH)
        greater = (other, one) if code == MIN else (one, other)
        return [
            GREATER | greater[1] << 16 | greater[0] << 5 | mask,
            CHOOSE | other << 16 | one << 5 | mask,
            COPY | mask << 16 | mask << 5 | to,
        ]
    if code == FUSE:
        return [COPY | one << 16 | one << 5 | to, FUSED[False] | other << 16 | third << 5 | to]
    word, turned = COMPARISONS[condition] if code == COMPARE else WORDS[code]
    first, second = (other, one) if turned else (one, other)
    return [word | second << 16 | first << 5 | to]


def _constant(register: int, value: int) -> list[int]:
    """Return two words that load a signed 32-bit constant, sign extended."""
    low, high = value & 0xFFFF, value >> 16 & 0xFFFF
    if value >= 0:
        first = 0xD2800000 | low << 5
    else:
        first = 0x92800000 | (low ^ 0xFFFF) << 5  # movn
    return [first | register, 0xF2A00000 | high << 5 | register]


def _far_address(to: int, base: np.ndarray, offset: np.ndarray) -> list[np.ndarray]:
    """Return words that add an offset below 4 GB, or above -65536, to base registers."""
    low, high = offset & 0xFFFF, offset >> 16 & 0xFFFF
    first = np.where(offset < 0, 0x92800000 | (low ^ 0xFFFF) << 5, 0xD2800000 | low << 5)
    return [
        first | OTHER,
        0xF2A00000 | high << 5 | OTHER,
        0x8B000000 | OTHER << 16 | base << 5 | to,
    ]


def _columns(words: Iterator[ArrayLike] | Sequence[ArrayLike]) -> Bytes:
    """Return the bytes of instructions given word by word, arrays of equal length."""
    return [column for each in words for column in byte_columns(each, np.uint32)]

"""x86-64 instructions by mnemonic, as far as loops over numbers need them.

Registers are numbers; memory is `at(base, index, scale, offset)`. (Intel, Software developer's
manual, volume 2, sections 2.1 to 2.3: prefixes, ModR/M and SIB bytes.)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ocp.codegen.assembler.emitter import Text

RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 = range(16)
SAVED = RBX, RBP, R12, R13, R14, R15  # registers that a function must restore
JUMPS = {"less": 0x8C, "not less": 0x8D, "zero": 0x84, "not zero": 0x85}
SCALES = {1: 0, 2: 1, 4: 2, 8: 3}


@dataclass(frozen=True, slots=True)
class At:
    """Memory operand: base + scale * index + offset (bytes)."""

    base: int
    index: int | None = None
    scale: int = 1
    offset: int = 0


at = At
Place = int | At


class Code(Text):
    """Machine code written by mnemonic; the first operand is the destination."""

    def prologue(self, label: str, room: int = 0) -> None:
        """Begin a C function that keeps `room` 64-bit numbers at rsp and restores SAVED."""
        self.label(label)
        for register in SAVED:
            self._one_register(0x50, register)  # push
        self._room = 8 * (room + 1 - room % 2)  # keeps rsp aligned to 16 bytes
        self._immediate(0x81, 5, RSP, self._room)  # sub

    def epilogue(self) -> None:
        """End the C function."""
        self._immediate(0x81, 0, RSP, self._room)  # add
        for register in reversed(SAVED):
            self._one_register(0x58, register)  # pop
        self.emit("C5 F8 77 C3")  # vzeroupper; ret

    def mov(self, to: Place, source: Place) -> None:
        """Copy 64 bits between registers, or between a register and memory."""
        if isinstance(to, At):
            assert isinstance(source, int)
            self._operation(b"\x89", source, to)
        else:
            self._operation(b"\x8b", to, source)

    def movsxd(self, to: int, source: At) -> None:
        """Load a signed 32-bit integer."""
        self._operation(b"\x63", to, source)

    def mov_constant(self, to: int, value: int) -> None:
        """Load a 32-bit constant."""
        self._immediate(0xC7, 0, to, value)

    def lea(self, to: int, source: At) -> None:
        """Load an address."""
        self._operation(b"\x8d", to, source)

    def add(self, to: int, source: Place) -> None:
        """Add integers."""
        self._operation(b"\x03", to, source)

    def sub(self, to: int, source: Place) -> None:
        """Subtract integers."""
        self._operation(b"\x2b", to, source)

    def imul(self, to: int, source: Place) -> None:
        """Multiply integers."""
        self._operation(b"\x0f\xaf", to, source)

    def add_constant(self, to: int, value: int) -> None:
        """Add a 32-bit constant."""
        self._immediate(0x81, 0, to, value)

    def shl(self, to: int, bits: int) -> None:
        """Shift left: multiply by a power of two."""
        self._operation(b"\xc1", 4, to)
        self.emit(bytes([bits]))

    def cmp(self, one: int, other: Place) -> None:
        """Compare for the next jump."""
        self._operation(b"\x3b", one, other)

    def jump(self, label: str, when: str = "") -> None:
        """Jump to a label, always or by the last comparison: "less", "zero" and their opposites."""
        self.emit_to(f"0F {JUMPS[when]:02X}" if when else "E9", label)

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

    def load_vector(self, to: int, source: At) -> None:
        """Load four numbers (vmovupd)."""
        self._vector(0x10, to, 0, source)

    def store_vector(self, to: At, source: int) -> None:
        """Store four numbers (vmovupd)."""
        self._vector(0x11, source, 0, to)

    def broadcast(self, to: int, source: At) -> None:
        """Load one number into all four places (vbroadcastsd)."""
        self._vector(0x19, to, 0, source, table=2)

    def vector_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Apply an AVX operation to four numbers."""
        self._vector(opcode, to, one, other)

    def multiply_add(self, to: int, one: int, other: Place, *, minus: bool = False) -> None:
        """Add, or subtract, products of four numbers with one rounding (vfmadd231pd)."""
        self._vector(0xBC if minus else 0xB8, to, one, other, table=2, wide=True)

    def load_scalar(self, to: int, source: At) -> None:
        """Load one number (vmovsd)."""
        self._vector(0x10, to, 0, source, scalar=True)

    def store_scalar(self, to: At, source: int) -> None:
        """Store one number (vmovsd)."""
        self._vector(0x11, source, 0, to, scalar=True)

    def scalar_op(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Apply an AVX operation to one number."""
        self._vector(opcode, to, one, other, scalar=True)

    def high_half(self, to: int, source: int) -> None:
        """Copy the last two of four numbers (vextractf128)."""
        self._vector(0x19, source, 0, to, table=3)
        self.emit(b"\x01")

    def second_number(self, to: int, source: int) -> None:
        """Copy the second of two numbers (vunpckhpd)."""
        self._vector(0x15, to, source, source, length=0)

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

"""Instructions of x86-64 by name, as far as loops over numbers need them.

Registers are numbers; memory is `at`(base, index, scale, offset). (Intel, Software developer's
manual, volume 2, 2.1 to 2.3: prefixes, and how registers and memory are told.)
"""

from dataclasses import dataclass

from ocp.codegen.assembler.emitter import Text

RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 = range(16)
SAVED = RBX, RBP, R12, R13, R14, R15  # which a function gives back as they were
JUMPS = {"less": 0x8C, "not less": 0x8D, "zero": 0x84, "not zero": 0x85}
SCALES = {1: 0, 2: 1, 4: 2, 8: 3}


@dataclass(frozen=True, slots=True)
class At:
    """Memory: base + scale index + offset (bytes)."""

    base: int
    index: int | None = None
    scale: int = 1
    offset: int = 0


at = At
Place = int | At


class Code(Text):
    """Machine code, instruction by instruction; the first operand is what is changed."""

    def function(self, label: str, room: int = 0) -> None:
        """Begin a function with so many numbers at rsp; what is SAVED is."""
        self.mark(label)
        for register in SAVED:
            self._one(0x50, register)  # push
        self._room = 8 * (room + 1 - room % 2)
        self._whole(0x81, 5, RSP, self._room)  # sub

    def done(self) -> None:
        """End the function."""
        self._whole(0x81, 0, RSP, self._room)  # add
        for register in reversed(SAVED):
            self._one(0x58, register)  # pop
        self.add("C5 F8 77 C3")  # vzeroupper; ret

    def move(self, to: Place, source: Place) -> None:
        """Copy 64 bits between registers, or a register and memory."""
        if isinstance(to, At):
            assert isinstance(source, int)
            self._operation(b"\x89", source, to)
        else:
            self._operation(b"\x8b", to, source)

    def number(self, to: int, source: At) -> None:
        """Take a whole number of 32 bits, with its sign."""
        self._operation(b"\x63", to, source)

    def set(self, to: int, value: int) -> None:
        """Take a constant."""
        self._whole(0xC7, 0, to, value)

    def address(self, to: int, source: At) -> None:
        """Take where memory is."""
        self._operation(b"\x8d", to, source)

    def plus(self, to: int, source: Place) -> None:
        """Add."""
        self._operation(b"\x03", to, source)

    def minus(self, to: int, source: Place) -> None:
        """Subtract."""
        self._operation(b"\x2b", to, source)

    def times(self, to: int, source: Place) -> None:
        """Multiply."""
        self._operation(b"\x0f\xaf", to, source)

    def more(self, to: int, value: int) -> None:
        """Add a constant."""
        self._whole(0x81, 0, to, value)

    def shift(self, to: int, bits: int) -> None:
        """Multiply by a power of two."""
        self._operation(b"\xc1", 4, to)
        self.add(bytes([bits]))

    def compare(self, one: int, other: Place) -> None:
        """Compare, for a jump after it."""
        self._operation(b"\x3b", one, other)

    def jump(self, label: str, when: str = "") -> None:
        """Go on at a label, `when` what was compared last was "less", "not less", "zero" ..."""
        self.to(f"0F {JUMPS[when]:02X}" if when else "E9", label)

    def load(self, to: int, source: At) -> None:
        """Take four numbers."""
        self._vector(0x10, to, 0, source)

    def store(self, to: At, source: int) -> None:
        """Put four numbers."""
        self._vector(0x11, source, 0, to)

    def spread(self, to: int, source: At) -> None:
        """Take a number four times."""
        self._vector(0x19, to, 0, source, table=2)

    def combine(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Do with four numbers each what an opcode of AVX does."""
        self._vector(opcode, to, one, other)

    def add_product(self, to: int, one: int, other: Place, *, minus: bool = False) -> None:
        """Add the products of four numbers each, or subtract them, rounded once."""
        self._vector(0xBC if minus else 0xB8, to, one, other, table=2, wide=True)

    def load_one(self, to: int, source: At) -> None:
        """Take one number."""
        self._vector(0x10, to, 0, source, one=True)

    def store_one(self, to: At, source: int) -> None:
        """Put one number."""
        self._vector(0x11, source, 0, to, one=True)

    def combine_one(self, opcode: int, to: int, one: int, other: Place) -> None:
        """Do with one number each what an opcode of AVX does."""
        self._vector(opcode, to, one, other, one=True)

    def upper(self, to: int, source: int) -> None:
        """Take the last two of four numbers."""
        self._vector(0x19, source, 0, to, table=3)  # vextractf128
        self.add(b"\x01")

    def second(self, to: int, source: int) -> None:
        """Take the second of two numbers."""
        self._vector(0x15, to, source, source, short=True)  # vunpckhpd

    def _one(self, opcode, register):
        """Add an instruction that has a register in its last byte."""
        self.add(bytes([0x41] * (register > 7) + [opcode | register & 7]))

    def _whole(self, opcode, extension, to, value):
        """Add an instruction on 64 bits with a constant of 32."""
        self._operation(bytes([opcode]), extension, to)
        self.add(b"", value)

    def _operation(self, opcode, register, place):
        """Add an instruction on 64 bits."""
        low, high = _told(register, place)
        self.add(bytes([0x48 | high]) + opcode + low)

    def _vector(self, opcode, register, first, place, **how):
        """Add an instruction of AVX: on four numbers, on `one`, or on two of a `short` register; of
        an opcode `table`."""
        low, high = _told(register, place)
        table, one = how.get("table", 1), how.get("one", False)
        length = 0 if one or how.get("short") else 4
        kind = 3 if one else 1
        prefix = [0xC4, (~high & 7) << 5 | table, how.get("wide", False) << 7]
        prefix[2] |= (15 - first) << 3 | length | kind
        self.add(bytes([*prefix, opcode]) + low)


def _told(register, place):
    """Return the bytes that tell a register and a register or memory, and the bits of prefixes that
    make numbers of registers whole."""
    high, reg = (register >> 3) << 2, (register & 7) << 3
    if isinstance(place, int):
        return bytes([0xC0 | reg | place & 7]), high | place >> 3
    small = -128 <= place.offset < 128
    mode = 0x40 if small else 0x80
    far = place.offset.to_bytes(1 if small else 4, "little", signed=True)
    high |= place.base >> 3
    if place.index is None and place.base & 7 != RSP:
        return bytes([mode | reg | place.base & 7]) + far, high
    index = RSP if place.index is None else place.index
    assert place.index != RSP
    high |= (index >> 3) << 1
    packed = SCALES[place.scale] << 6 | (index & 7) << 3 | place.base & 7
    return bytes([mode | reg | 4, packed]) + far, high

"""ELF images in memory: machine code as a shared library that CasADi loads, without a file.

The image has what dynamic loading needs and no sections: headers, a table of symbols, code with
its tables, and a dynamic segment on writable pages of its own. (System V application binary
interface, 4.1, and its supplements for AMD64 and AArch64.)
"""

import os
import struct
import tempfile
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import casadi as ca

from ocp.codegen.assembler.executable_memory import NAME, Names, NoMachineCode, Patterns
from ocp.codegen.assembler.instructions import RAX, RCX, RDI, RDX, RSI, Code, at

LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551  # kinds of segments
HASH, STRINGS, SYMBOLS, STRINGS_SIZE, SYMBOL_SIZE = 4, 5, 6, 10, 11  # entries of the dynamic one
HEADERS = 64 + 4 * 56


def library_image(
    c: Code, inputs: Patterns, outputs: Patterns, room: int, names: Names
) -> tuple[bytes, int]:
    """Return the image of a library with the CasADi function at the label NAME, and the place of
    the code in it."""
    _write_signature(c, inputs, outputs, room)
    for side, words in zip(("in", "out"), names[1:]):
        if words:
            items = [word.encode() + b"\0" for word in words]
            _write_list(c, f"{NAME}_name_{side}", items)
    exported = {
        f"{names[0]}{each[len(NAME) :]}": each for each in c.labels if each.startswith(NAME)
    }
    return elf_image(c, exported)


def _write_signature(c: Code, inputs: Patterns, outputs: Patterns, room: int) -> None:
    """Write the functions by which CasADi asks for inputs, outputs, patterns and memory."""
    for name, patterns in (("in", inputs), ("out", outputs)):
        c.label(f"{NAME}_n_{name}")
        c.mov_constant(RAX, len(patterns))
        c.give()
        _write_list(c, f"{NAME}_sparsity_{name}", [_pack_pattern(each) for each in patterns])
    c.label(f"{NAME}_work")
    for register, number in zip((RDI, RSI, RDX, RCX), (len(inputs), len(outputs), 0, room + 4)):
        c.mov_constant(RAX, number)
        c.mov(at(register), RAX)
    c.mov_constant(RAX, 0)
    c.give()


def _pack_pattern(pattern: ca.Sparsity) -> bytes:
    """Return a pattern as CasADi's C code has it."""
    shape = pattern.shape
    numbers = [*shape, 1] if pattern.is_dense() else [*shape, *pattern.colind(), *pattern.row()]
    return struct.pack(f"<{len(numbers)}q", *numbers)


def _write_list(c: Code, label: str, items: Sequence[bytes]) -> None:
    """Write a function that returns the address of an item by its number."""
    padded = [each + bytes(-len(each) % 8) for each in items]
    starts = [0, *accumulate(map(len, padded))]
    c.table(f"items of {label}", b"".join(padded))
    c.table(f"starts of {label}", struct.pack(f"<{len(starts)}i", *starts))
    c.label(label)
    c.address(RDX, f"items of {label}")
    c.address(RCX, f"starts of {label}")
    c.movsxd(RAX, at(RCX, RDI, 4))
    c.add(RAX, RDX)
    c.give()


def elf_image(c: Code, labels: Mapping[str, str]) -> tuple[bytes, int]:
    """Return the ELF image of a library that exports functions, {name: label}, and the place of
    the code in it."""
    names = list(labels)
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    spot = {name: strings.index(b"\0" + name.encode() + b"\0") + 1 for name in names}
    count = len(names) + 1
    hashed = HEADERS
    symbols = hashed + 4 * (2 + 1 + count)
    symbols += -symbols % 8
    words = symbols + 24 * count
    code = words + len(strings)
    code += -code % 64
    end = code + c.size
    dynamic = end + -end % c.page
    chain = struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)
    table = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", spot[name], 0x12, 0, 1, code + c.labels[labels[name]], 0)
        for name in names
    )
    entries = (
        (HASH, hashed),
        (STRINGS, words),
        (SYMBOLS, symbols),
        (STRINGS_SIZE, len(strings)),
        (SYMBOL_SIZE, 24),
        (0, 0),
    )
    tail = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    segments = (
        (LOAD, 5, 0, end, c.page),  # rights: 4 read, 2 write, 1 execute
        (LOAD, 6, dynamic, len(tail), c.page),
        (DYNAMIC, 6, dynamic, len(tail), 8),
        (STACK, 6, 0, 0, 16),
    )
    head = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        b"\x7fELF",
        2,
        1,
        1,
        0,
        0,
        3,
        c.machine,
        1,
        0,
        64,
        0,
        0,
        64,
        56,
        4,
        0,
        0,
        0,
    ) + b"".join(
        struct.pack("<IIQQQQQQ", kind, rights, at, at, at, size, size, unit)
        for kind, rights, at, size, unit in segments
    )
    parts = ((0, head), (hashed, chain), (symbols, table), (words, strings), (dynamic, tail))
    data = bytearray(dynamic + len(tail))
    for begin, part in (*parts, (code, c.to_bytes())):
        data[begin : begin + len(part)] = part
    return bytes(data), code


def load_image(data: bytes, name: str) -> ca.Function:
    """Return the function that CasADi loads from the file of an image in memory.

    The dynamic loader knows a library by its name, so each image gets a new link; its memory is
    freed when nobody has the library any more. Raises NoMachineCode if it cannot be loaded.
    """
    try:
        memory = os.memfd_create(NAME)
    except (OSError, AttributeError) as error:
        raise NoMachineCode(f"no memory for machine code: {error}") from None
    try:
        with os.fdopen(os.dup(memory), "wb") as file:
            file.write(data)
        with tempfile.TemporaryDirectory(prefix="ocp-") as folder:
            link = Path(folder) / "library.so"
            link.symlink_to(f"/proc/self/fd/{memory}")
            return ca.external(name, ca.Importer(str(link), "dll"))
    except (OSError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise NoMachineCode(f"the system does not load machine code: {reason}") from None
    finally:
        os.close(memory)

"""ELF images in memory: machine code as a shared library that CasADi loads, without a file.

The image has what dynamic loading needs and no sections: headers, a table of symbols, code with
its tables, and a dynamic segment on writable pages of its own. (System V application binary
interface, 4.1, and its supplement for AMD64.)
"""

import os
import struct
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import casadi as ca

from ocp.codegen.assembler.emitter import Text

NAME = "mapped"
PAGE = 4096
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551  # kinds of segments
HASH, STRINGS, SYMBOLS, STRINGS_SIZE, SYMBOL_SIZE = 4, 5, 6, 10, 11  # entries of the dynamic one
HEADERS = 64 + 4 * 56
Loaded = TypeVar("Loaded")
Patterns = Sequence[ca.Sparsity]
Names = tuple[str, Sequence[str], Sequence[str]]  # of a function, its inputs and its outputs


class NoMachineCode(RuntimeError):
    """Raised if machine code cannot be made for this machine, or loaded."""


def load_function(
    text: Text, inputs: Patterns, outputs: Patterns, room: int, names: Names = (NAME, (), ())
) -> ca.Function:
    """Return the function at the label NAME as a CasADi function.

    Args:
        text: the machine code.
        inputs, outputs: patterns.
        room: numbers that it uses at rbx.
        names: of the function, its inputs and its outputs.

    Raises:
        NoMachineCode: the system does not load it.
    """
    _write_signature(text, inputs, outputs, room)
    for side, words in zip(("in", "out"), names[1:]):
        if words:
            _write_list(text, f"name_{side}", [word.encode() + b"\0" for word in words])
    exported = {
        f"{names[0]}{label[len(NAME) :]}": label for label in text.labels if label.startswith(NAME)
    }
    return load_image(
        elf_image(text, exported),
        lambda path: ca.external(names[0], ca.Importer(str(path), "dll")),
    )


def _write_signature(text: Text, inputs: Patterns, outputs: Patterns, room: int) -> None:
    """Write the functions by which CasADi asks for inputs, outputs, patterns and memory."""
    for name, patterns in (("in", inputs), ("out", outputs)):
        text.label(f"{NAME}_n_{name}")
        text.emit("B8", len(patterns))  # mov eax, number
        text.emit("C3")  # ret
        _write_list(text, f"sparsity_{name}", [_pack_pattern(each) for each in patterns])
    text.label(f"{NAME}_work")
    sizes = len(inputs), len(outputs), 0, room + 4
    for code, number in zip(("07", "06", "02", "01"), sizes):
        text.emit(f"48 C7 {code}", number)  # mov qword [rdi, rsi, rdx, rcx], number
    text.emit("31 C0 C3")  # xor eax, eax; ret


def _pack_pattern(pattern: ca.Sparsity) -> bytes:
    """Return a pattern as CasADi's C code has it."""
    shape = pattern.shape
    numbers = [*shape, 1] if pattern.is_dense() else [*shape, *pattern.colind(), *pattern.row()]
    return struct.pack(f"<{len(numbers)}q", *numbers)


def _write_list(text: Text, name: str, items: Sequence[bytes]) -> None:
    """Write a function that returns the address of an item by its number."""
    padded = [each + bytes(-len(each) % 8) for each in items]
    starts = [0, *accumulate(map(len, padded))]
    text.table(name, b"".join(padded))
    text.table(f"{name}_starts", struct.pack(f"<{len(starts)}i", *starts))
    text.label(f"{NAME}_{name}")
    text.emit_to("48 8D 15", name)  # lea rdx, [rip + ...]
    text.emit_to("48 8D 0D", f"{name}_starts")  # lea rcx, [rip + ...]
    text.emit("48 63 04 B9 48 01 D0 C3")  # movsxd rax, [rcx + 4 rdi]; add rax, rdx; ret


def elf_image(text: Text, labels: Mapping[str, str]) -> bytes:
    """Return the ELF image of a library that exports functions, {name: label}."""
    names = list(labels)
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    place = {name: strings.index(b"\0" + name.encode() + b"\0") + 1 for name in names}
    count = len(names) + 1
    hashed = HEADERS
    symbols = hashed + 4 * (2 + 1 + count)
    symbols += -symbols % 8
    words = symbols + 24 * count
    code = words + len(strings)
    code += -code % 64
    end = code + text.size
    dynamic = end + -end % PAGE
    chain = struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)
    table = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", place[name], 0x12, 0, 1, code + text.labels[labels[name]], 0)
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
        (LOAD, 5, 0, end, PAGE),  # rights: 4 read, 2 write, 1 execute
        (LOAD, 6, dynamic, len(tail), PAGE),
        (DYNAMIC, 6, dynamic, len(tail), 8),
        (STACK, 6, 0, 0, 16),
    )
    head = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 0, 0, 0
    ) + b"".join(
        struct.pack("<IIQQQQQQ", kind, rights, at, at, at, size, size, unit)
        for kind, rights, at, size, unit in segments
    )
    parts = ((0, head), (hashed, chain), (symbols, table), (words, strings), (dynamic, tail))
    data = bytearray(dynamic + len(tail))
    for at, part in (*parts, (code, text.to_bytes())):
        data[at : at + len(part)] = part
    return bytes(data)


def load_image(data: bytes, load: Callable[[Path], Loaded]) -> Loaded:
    """Return the library that `load` makes of the file of an image in memory.

    The dynamic loader knows a library by its name, so each image gets a new link; its memory is
    freed when nobody has the library any more. Raises NoMachineCode if it cannot be loaded.
    """
    try:
        memory = os.memfd_create(NAME)
    except OSError as error:
        raise NoMachineCode(f"no memory for machine code: {error}") from None
    try:
        with os.fdopen(os.dup(memory), "wb") as file:
            file.write(data)
        with tempfile.TemporaryDirectory(prefix="ocp-") as folder:
            link = Path(folder) / "library.so"
            link.symlink_to(f"/proc/self/fd/{memory}")
            return load(link)
    except (OSError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise NoMachineCode(f"the system does not load machine code: {reason}") from None
    finally:
        os.close(memory)

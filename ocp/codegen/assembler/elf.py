"""Machine code as a library that CasADi loads: an ELF image in memory, in no file system.

The image has what dynamic loading asks for, and no sections: headers, a table of symbols, code with
its tables, and, on pages of its own that may be written, where the loader finds these. (System V
application binary interface, 4.1, and its supplement for AMD64.)
"""

import os
import struct
import tempfile
from collections.abc import Callable, Mapping, Sequence
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
    """Raised where the system does not let machine code be loaded."""


def load_function(
    text: Text, inputs: Patterns, outputs: Patterns, room: int, names: Names = (NAME, (), ())
) -> ca.Function:
    """Return the function at the label NAME, with inputs and outputs of these patterns; it uses so
    many numbers at rbx.

    Raises Unable where the system does not let it be loaded.
    """
    _told(text, inputs, outputs, room)
    for side, given in zip(("in", "out"), names[1:]):
        if given:
            _listed(text, f"name_{side}", [name.encode() + b"\0" for name in given])
    exported = {
        f"{names[0]}{label[len(NAME) :]}": label for label in text.labels if label.startswith(NAME)
    }
    return load_image(
        elf_image(text, exported),
        lambda path: ca.external(names[0], ca.Importer(str(path), "dll")),
    )


def _told(text, inputs, outputs, room):
    """Add what CasADi asks a function of a library: how many inputs and outputs, their patterns,
    and how much memory it wants."""
    for name, patterns in (("in", inputs), ("out", outputs)):
        text.mark(f"{NAME}_n_{name}")
        text.add("B8", len(patterns))  # mov eax, number
        text.add("C3")  # ret
        _listed(text, f"sparsity_{name}", [_packed(each) for each in patterns])
    text.mark(f"{NAME}_work")
    wanted = len(inputs), len(outputs), 0, room + 4
    for code, number in zip(("07", "06", "02", "01"), wanted):
        text.add(f"48 C7 {code}", number)  # mov qword [rdi, rsi, rdx, rcx], number
    text.add("31 C0 C3")  # xor eax, eax; ret


def _packed(pattern):
    """Return a pattern as CasADi's C code has it."""
    shape = pattern.shape
    numbers = [*shape, 1] if pattern.is_dense() else [*shape, *pattern.colind(), *pattern.row()]
    return struct.pack(f"<{len(numbers)}q", *numbers)


def _listed(text, name, items):
    """Add a function that returns where one of these items is, by its number."""
    starts = [0]
    for each in items:
        starts.append(starts[-1] + len(each) + -len(each) % 8)
    text.table(name, b"".join(each + bytes(-len(each) % 8) for each in items))
    text.table(f"{name}_starts", struct.pack(f"<{len(starts)}i", *starts))
    text.mark(f"{NAME}_{name}")
    text.to("48 8D 15", name)  # lea rdx, [rip + ...]
    text.to("48 8D 0D", f"{name}_starts")  # lea rcx, [rip + ...]
    text.add("48 63 04 B9 48 01 D0 C3")  # movsxd rax, [rcx + 4 rdi]; add rax, rdx; ret


def elf_image(text: Text, labels: Mapping[str, str]) -> bytes:
    """Return the image of a library with functions, {name: label}."""
    names = list(labels)
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    place = {name: strings.index(b"\0" + name.encode() + b"\0") + 1 for name in names}
    count = len(names) + 1
    hashed = HEADERS
    symbols = hashed + 4 * (2 + 1 + count)
    symbols += -symbols % 8
    told = symbols + 24 * count
    code = told + len(strings)
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
        (STRINGS, told),
        (SYMBOLS, symbols),
        (STRINGS_SIZE, len(strings)),
        (SYMBOL_SIZE, 24),
        (0, 0),
    )
    tail = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    segments = (
        (LOAD, 5, 0, end, PAGE),  # 4 is to be read, 2 written, 1 executed
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
    parts = ((0, head), (hashed, chain), (symbols, table), (told, strings), (dynamic, tail))
    data = bytearray(dynamic + len(tail))
    for at, part in (*parts, (code, text.bytes())):
        data[at : at + len(part)] = part
    return bytes(data)


def load_image(data: bytes, load: Callable[[Path], Loaded]) -> Loaded:
    """Return what `load` makes of an image. The loader knows a library by its name, so that is a
    new link each time; what it leads to is gone when nobody has the library any more.

    Raises Unable where the system does not let it be loaded.
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

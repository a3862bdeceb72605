"""Machine code as a library that CasADi loads: an ELF image in memory, in no file system.

The image has what dynamic loading asks for, and no sections: headers, a table of symbols, code with
its tables, and, on pages of its own that may be written, where the loader finds these. (System V
application binary interface, 4.1, and its supplement for AMD64.)
"""

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import casadi as ca

from ocp.solvers.assembled.driver import LANES, mapped
from ocp.solvers.assembled.encoding import body, memory_of
from ocp.solvers.assembled.matrices import steps_of_matrices
from ocp.solvers.assembled.reading import instructions_of
from ocp.solvers.assembled.steps import FUNCTIONS, known, steps_of
from ocp.solvers.assembled.text import Text
from ocp.solvers.machine_code import processor

NAME = "mapped"
Shapes = Sequence[tuple[int, int]]
PAGE = 4096
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551  # kinds of segments
HASH, STRINGS, SYMBOLS, STRINGS_SIZE, SYMBOL_SIZE = 4, 5, 6, 10, 11  # entries of the dynamic one
HEADERS = 64 + 4 * 56


class Unable(RuntimeError):
    """Raised where the system does not let machine code be loaded."""


@cache
def unable() -> str:
    """Return why this machine does not run what is made here, or does not let it be loaded; "" if
    it does."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or struct.calcsize("P") != 8:
        return f"kernels are assembled on Linux and x86-64 alone, not on {platform.platform()}"
    if "avx" not in processor().split() or not hasattr(os, "memfd_create"):
        return "kernels are assembled for processors with AVX alone"
    x = ca.SX.sym("x")
    try:
        made = assembled(ca.Function("tried", [x], [ca.sin(x) + 1]), 1)
    except Unable as reason:
        return str(reason)
    right = made is not None and float(made(0.5)) == float(ca.sin(0.5) + 1)
    return "" if right else "assembled kernels give other numbers here"


def assembled(function: ca.Function, count: int) -> ca.Function | None:
    """Return a `function` at `count` instants, of all that it takes and gives a column each, as
    machine code; None if it has an operation that there is no code for, or takes or gives what is
    no dense column.

    Raises Unable where the system does not let it be loaded.
    """
    patterns = [function.sparsity_in(k) for k in range(function.n_in())]
    outputs = [function.sparsity_out(k) for k in range(function.n_out())]
    if not all(each.is_dense() and each.is_column() for each in (*patterns, *outputs)):
        return None
    steps = _steps(function)
    if steps is None:
        return None
    sizes_in, sizes_out = [each.nnz() for each in patterns], [each.nnz() for each in outputs]
    text = Text()
    memory, size = memory_of(steps, (sizes_in, sizes_out))
    (code,) = body(steps, memory, addresses())
    mapped(text, NAME, code, (sizes_in, sizes_out), count)
    text.table("constants", steps.constants.repeat(LANES).tobytes())
    text.table("nothing", bytes(8 * max(sizes_in, default=0)))
    shapes_in, shapes_out = ([(size, count) for size in each] for each in (sizes_in, sizes_out))
    return loaded(text, shapes_in, shapes_out, LANES * size)


def _steps(function):
    """Return the Steps of a function, None if it has an operation that there is no code for."""
    if function.is_a("MXFunction"):
        steps = steps_of_matrices(function)
        if steps is not None:
            return steps
        try:
            function = function.expand()
        except RuntimeError:  # it has what is no graph
            return None
    instructions = instructions_of(function)
    return steps_of(instructions) if known(instructions) else None


@cache
def addresses() -> tuple[int, ...]:
    """Return where the functions of the C library are in this process."""
    library = ctypes.CDLL("libm.so.6")
    found = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in FUNCTIONS)
    return tuple(each or 0 for each in found)


def loaded(text: Text, shapes_in: Shapes, shapes_out: Shapes, room: int) -> ca.Function:
    """Return the function at the label NAME, with inputs and outputs of these shapes; it uses so
    many numbers at rbx.

    Raises Unable where the system does not let it be loaded.
    """
    _told(text, shapes_in, shapes_out, room)
    return _opened(image(text))


def _told(text, inputs, outputs, room):
    """Add what CasADi asks a function of a library: how many inputs and outputs, their patterns,
    and how much memory it wants."""
    for label, shapes in (("shapes_in", inputs), ("shapes_out", outputs)):
        text.table(
            label, struct.pack(f"<{3 * len(shapes)}q", *sum(((*each, 1) for each in shapes), ()))
        )
    for name, shapes in (("n_in", inputs), ("n_out", outputs)):
        text.mark(f"{NAME}_{name}")
        text.add("B8", len(shapes))  # mov eax, number
        text.add("C3")  # ret
    for name in ("in", "out"):
        text.mark(f"{NAME}_sparsity_{name}")
        text.add("48 8D 04 7F")  # lea rax, [rdi + 2 rdi]
        text.to("48 8D 15", f"shapes_{name}")  # lea rdx, [rip + ...]
        text.add("48 8D 04 C2 C3")  # lea rax, [rdx + 8 rax]; ret
    text.mark(f"{NAME}_work")
    wanted = len(inputs), len(outputs), 0, room + 4
    for code, number in zip(("07", "06", "02", "01"), wanted):
        text.add(f"48 C7 {code}", number)  # mov qword [rdi, rsi, rdx, rcx], number
    text.add("31 C0 C3")  # xor eax, eax; ret


def image(text: Text) -> bytes:
    """Return the image of a library with all labels that begin with NAME as its functions."""
    names = [label for label in text.labels if label.startswith(NAME)]
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
        struct.pack("<IBBHQQ", place[name], 0x12, 0, 1, code + text.labels[name], 0)
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


def _opened(data):
    """Return the function of an image. The loader knows a library by its name, so that is a new
    link each time; what it leads to is gone when CasADi lets go of the library."""
    try:
        memory = os.memfd_create(NAME)
    except OSError as error:
        raise Unable(f"no memory for machine code: {error}") from None
    try:
        with os.fdopen(os.dup(memory), "wb") as file:
            file.write(data)
        with tempfile.TemporaryDirectory(prefix="ocp-") as folder:
            link = Path(folder) / "library.so"
            link.symlink_to(f"/proc/self/fd/{memory}")
            return ca.external(NAME, ca.Importer(str(link), "dll"))
    except (OSError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise Unable(f"the system does not load machine code: {reason}") from None
    finally:
        os.close(memory)

"""The processor that runs this process, its C library, and how its system loads machine code."""

import ctypes
import platform
import struct
import sys
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from ocp.codegen.assembler.batch_loop import ADDRESSES
from ocp.codegen.assembler.elf import library_image, load_image
from ocp.codegen.assembler.executable_memory import (
    NAME,
    CodeMemory,
    MappedFunction,
    Names,
    NoMachineCode,
    Patterns,
)
from ocp.codegen.assembler.instructions import Code
from ocp.codegen.assembler.ir import FUNCTIONS
from ocp.codegen.assembler.processors.aarch64 import Arm
from ocp.codegen.assembler.processors.x86_64 import Avx, Sse

SYSTEMS = {"linux": "libm.so.6", "darwin": "libSystem.B.dylib", "win32": "ucrtbase"}
LIBRARIES = sys.platform == "linux"  # whether CasADi loads them from memory
X86, ARM = ("x86_64", "amd64"), ("aarch64", "arm64")  # as systems name processors
# Machine code that asks an x86-64 processor what it has: words of `cpuid`, and the registers that
# the system saves (`xgetbv`)
CPUID = bytes.fromhex("53 B8 01 00 00 00 31 C9 0F A2 89 C8 5B C3")
XGETBV = bytes.fromhex("31 C9 0F 01 D0 C3")
AVX, FMA, SAVES = 1 << 28, 1 << 12, 1 << 27
WIDE = 0b110  # registers of 128 and of 256 bits


def new_code() -> Code:
    """Return empty machine code for this machine.

    Raises NoMachineCode if its processor or system is not known.
    """
    machine, windows = platform.machine().lower(), sys.platform == "win32"
    known = sys.platform in SYSTEMS and struct.calcsize("P") == 8
    if known and machine in ARM and not windows:
        return Arm()
    if known and machine in X86:
        return (Avx if _features() & AVX else Sse)(windows=windows)
    where = platform.platform()
    raise NoMachineCode(f"kernels are assembled for x86-64 and AArch64 alone, not on {where}")


def is_fused() -> bool:
    """Tell whether this machine multiplies and adds with one rounding, for loops by mnemonic."""
    code = new_code()
    return code.fused and (isinstance(code, Arm) or bool(_features() & FMA))


@cache
def _features() -> int:
    """Return the flags AVX and FMA of an x86-64 processor whose system saves such registers."""
    memory = CodeMemory(CPUID + XGETBV)
    functions = memory.functions({"cpuid": 0, "xgetbv": len(CPUID)})
    words = functions.cpuid() & 0xFFFFFFFF
    saved = words & SAVES and functions.xgetbv() & WIDE == WIDE
    return words & (AVX | FMA) if saved else 0


@cache
def library_addresses() -> tuple[int, ...]:
    """Return the addresses of the C library's FUNCTIONS in this process.

    Raises NoMachineCode if there is no such library.
    """
    try:
        library = ctypes.CDLL(SYSTEMS[sys.platform])
        found = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in FUNCTIONS)
        return tuple(each or 0 for each in found)
    except (OSError, AttributeError) as error:
        raise NoMachineCode(f"no C library that is known: {error}") from None


class Assembled(NamedTuple):
    """What `load_function` takes: the code of a function that is not loaded yet."""

    code: Code
    inputs: Patterns
    outputs: Patterns
    room: int
    names: Names = (NAME, (), ())


def load_function(
    c: Code, inputs: Patterns, outputs: Patterns, room: int, names: Names = (NAME, (), ())
) -> ca.Function:
    """Return the function at the label NAME as a CasADi function.

    Args:
        c: the machine code.
        inputs, outputs: patterns.
        room: numbers that it uses at rbx.
        names: of the function, its inputs and its outputs.

    Raises:
        NoMachineCode: the system does not load it.
    """
    if LIBRARIES:
        return load_image(library_image(c, inputs, outputs, room, names)[0], names[0])
    return MappedFunction(CodeMemory(c.to_bytes()), c.labels[NAME], inputs, outputs, room, names)


def image_of(assembled: Assembled) -> dict[str, np.ndarray]:
    """Return the library of a function as arrays, for `load_image_of`: its bytes, and the place in
    it of the addresses of the C library's functions (0 without any)."""
    data, code = library_image(*assembled)
    labels = assembled.code.labels
    place = code + labels[ADDRESSES] if ADDRESSES in labels else 0
    return {"image": np.frombuffer(data, dtype=np.uint8), "addresses": np.array([place])}


def load_image_of(parts: Mapping[str, np.ndarray]) -> ca.Function:
    """Return the function of an image that another process may have written, with the addresses of
    the C library's functions in this one.

    Raises NoMachineCode: the system does not load it.
    """
    data, place = bytearray(parts["image"]), int(parts["addresses"][0])
    if place:
        table = np.array(library_addresses(), dtype=np.uint64).tobytes()
        data[place : place + len(table)] = table
    return load_image(bytes(data), NAME)

"""Machine code in anonymous memory: functions called by their addresses, on every system.

Memory is written first and made executable then, never both at once; on macOS of AArch64, where the
system maps memory for code made by a program, a thread switches between the two. (Apple, Porting
just-in-time compilers to Apple silicon; Microsoft, VirtualAlloc and VirtualProtect.)
"""

import ctypes
import mmap
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace

import casadi as ca
import numpy as np

NAME = "mapped"  # of functions, unless they have one of their own
JIT = 0x800  # MAP_JIT of macOS
RESERVE_COMMIT, RELEASE = 0x3000, 0x8000  # of Windows
READ_WRITE, EXECUTE_READ = 0x04, 0x20
Patterns = Sequence[ca.Sparsity]
Names = tuple[str, Sequence[str], Sequence[str]]  # of a function, its inputs and its outputs
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 5)  # of CasADi, in C
_KEPT: list["MappedFunction"] = []  # CasADi's graphs do not keep what Python evaluates


class NoMachineCode(RuntimeError):
    """Raised if machine code cannot be made for this machine, or loaded."""


class CodeMemory:
    """Machine code that can be called, at `address`; its memory is freed with the record."""

    def __init__(self, code: bytes) -> None:
        write = {"win32": _write_windows, "darwin": _write_mac}.get(sys.platform, _write_unix)
        try:
            self.address, free = write(code)
        except (OSError, ValueError, AttributeError) as error:
            reason = f"the system gives no memory for machine code: {error}"
            raise NoMachineCode(reason) from None
        weakref.finalize(self, free)

    def functions(self, places: Mapping[str, int]) -> SimpleNamespace:
        """Return the C functions at places of the code by name, which take addresses."""
        found = SimpleNamespace(memory=self)  # which must outlive them
        for name, place in places.items():
            setattr(found, name, ctypes.CFUNCTYPE(ctypes.c_int)(self.address + place))
        return found


def _write_unix(code: bytes) -> tuple[int, Callable[[], None]]:
    """Return the address of code in executable memory, and what frees it."""
    memory = mmap.mmap(-1, len(code), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    rights = mmap.PROT_READ | mmap.PROT_EXEC  # the kernel makes caches agree
    if protect(ctypes.c_void_p(address), ctypes.c_size_t(len(code)), rights):
        raise OSError(ctypes.get_errno(), "mprotect is refused")
    return address, memory.close


def _write_mac(code: bytes) -> tuple[int, Callable[[], None]]:
    """Return the address of code in executable memory, and what frees it."""
    system = ctypes.CDLL(None)
    if not hasattr(system, "pthread_jit_write_protect_np"):
        return _write_unix(code)
    memory = mmap.mmap(
        -1,
        len(code),
        flags=mmap.MAP_PRIVATE | mmap.MAP_ANON | JIT,
        prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC,
    )
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    system.pthread_jit_write_protect_np(0)
    ctypes.memmove(address, code, len(code))
    system.pthread_jit_write_protect_np(1)
    system.sys_icache_invalidate(ctypes.c_void_p(address), ctypes.c_size_t(len(code)))
    return address, memory.close


def _write_windows(code: bytes) -> tuple[int, Callable[[], None]]:
    """Return the address of code in executable memory, and what frees it."""
    system = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    system.VirtualAlloc.restype = ctypes.c_void_p
    size, before = ctypes.c_size_t(len(code)), ctypes.c_ulong()
    address = system.VirtualAlloc(None, size, RESERVE_COMMIT, READ_WRITE)
    if not address:
        raise OSError("VirtualAlloc is refused")
    place = ctypes.c_void_p(address)
    ctypes.memmove(place, code, len(code))
    if not system.VirtualProtect(place, size, EXECUTE_READ, ctypes.byref(before)):
        raise OSError("VirtualProtect is refused")
    system.FlushInstructionCache(ctypes.c_void_p(-1), place, size)  # -1 is this process
    return address, partial(system.VirtualFree, place, ctypes.c_size_t(0), RELEASE)


class MappedFunction(ca.Callback):
    """Machine code that CasADi calls through Python, without copies: where it loads no library."""

    def __init__(
        self,
        memory: CodeMemory,
        place: int,
        inputs: Patterns,
        outputs: Patterns,
        room: int,
        names: Names,
    ) -> None:
        ca.Callback.__init__(self)
        self.memory, self.inputs, self.outputs, self.names = memory, inputs, outputs, names
        self.code = FUNCTION(memory.address + place)
        self.work = np.zeros(room + 4)
        self.construct(names[0], {})
        _KEPT.append(self)

    def get_n_in(self) -> int:
        """Return the number of inputs."""
        return len(self.inputs)

    def get_n_out(self) -> int:
        """Return the number of outputs."""
        return len(self.outputs)

    def get_sparsity_in(self, number: int) -> ca.Sparsity:
        """Return the pattern of an input."""
        return self.inputs[number]

    def get_sparsity_out(self, number: int) -> ca.Sparsity:
        """Return the pattern of an output."""
        return self.outputs[number]

    def get_name_in(self, number: int) -> str:
        """Return the name of an input."""
        return self.names[1][number] if self.names[1] else f"i{number}"

    def get_name_out(self, number: int) -> str:
        """Return the name of an output."""
        return self.names[2][number] if self.names[2] else f"o{number}"

    def has_eval_buffer(self) -> bool:
        """Tell CasADi to hand over its memory as it is."""
        return True

    def eval_buffer(
        self, arg: Sequence[memoryview | None], res: Sequence[memoryview | None]
    ) -> int:
        """Call the machine code on CasADi's memory; None is an absent input or output."""
        sides = ((ctypes.c_void_p * len(side))(*map(_address, side)) for side in (arg, res))
        return self.code(*sides, None, self.work.ctypes.data, None)


def _address(buffer: memoryview | None) -> int | None:
    """Return the address of CasADi's memory."""
    if buffer is None or not len(buffer):
        return None
    return np.frombuffer(buffer, dtype=np.uint8).__array_interface__["data"][0]

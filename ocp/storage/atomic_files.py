"""Regular files, read whole and written atomically; plain data for JSON."""

import contextlib
import os
import stat
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp.version import VERSION

LATER = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer is open_file all the same
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def bytes_of(path: str | os.PathLike[str], most: float = inf) -> bytes:
    """Return the bytes of a regular file, or of one that a symbolic link leads to.

    Raises ValueError naming what is none, as a pipe that nobody may ever write to, and a file of
    more than `most` bytes; OSError if it cannot be read.
    """

    def open_file(name: str, flags: int) -> int:
        return os.open(name, flags | LATER)

    with open(path, "rb", opener=open_file) as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ValueError(f"{path}: is {_kind(state.st_mode)}, expected a regular file")
        if state.st_size > most:
            raise ValueError(f"{path}: expected at most {most} bytes, got {state.st_size}")
        return stream.read()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError naming the path unless a file can be written there; nothing is left behind.

    A new file or a regular one: neither a folder, a device or a pipe, nor a symbolic link, which
    somebody else may have laid.
    """
    path = Path(path)
    state = _state(path)
    if not path.parent.is_dir():
        raise OSError(f"{path}: folder {path.parent} does not exist")
    if state is not None:
        if not stat.S_ISREG(state.st_mode):
            raise OSError(f"{path}: is {_kind(state.st_mode)}, expected a new or a regular file")
        if not os.access(path, os.W_OK):
            raise OSError(f"{path}: exists and cannot be overwritten")
    import tempfile  # which few programs need

    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"{path}: cannot write in folder {path.parent}: {error.strerror}") from None


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write `content`, bytes or text, to a file whole or not at all; raise OSError naming it.

    It is on the disk before it takes the place of an older file, whose permissions it keeps; a new
    one has the usual ones. Nothing but a regular file is ever replaced.
    """
    check_writable(path)
    path = Path(path)
    import secrets  # which few programs need

    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(temporary, NEW, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            _replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        words = error.strerror or error
        raise OSError(error.errno, f"{path}: cannot be written: {words}") from None


def _replace(temporary: Path, path: Path) -> None:
    """Put a finished file in the place of another, with that one's permissions."""
    state = _state(path)
    if state is not None:
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # another's file stays that of its owner
                os.chown(temporary, state.st_uid, state.st_gid)
        os.chmod(temporary, stat.S_IMODE(state.st_mode))
    os.replace(temporary, path)
    with contextlib.suppress(OSError):  # not every system opens folders
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _state(path: Path) -> os.stat_result | None:
    """Return the state of what stands at a path, links themselves, or None."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise OSError(f"{path}: folder {path.parent} does not exist") from None


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((words for test, words in kinds if test(mode)), "a device")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "ocp": VERSION,
        "casadi": str(vars(ca)["__version__"]),
        "numpy": np.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def plain(value: Any, *, null: bool = False) -> Any:
    """Return JSON-ready data; numbers that are not finite become strings.

    These are "inf", "-inf" and "nan", which the records read back.

    With `null` they become null, which is all that JSON itself has for them. Raises TypeError or
    ValueError for what is no mapping, sequence, text, number or None.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry, null=null) for key, entry in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [plain(entry, null=null) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    number = float(value)
    if np.isfinite(number):
        return number
    return None if null else str(number)

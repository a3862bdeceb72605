"""Files written whole or not at all, and values made fit for JSON."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp.version import VERSION


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError naming the path unless a file can be written there; nothing is left behind."""
    path = Path(path)
    if path.is_dir():
        raise OSError(f"{path}: is a directory, expected a file name")
    if not path.parent.is_dir():
        raise OSError(f"{path}: folder {path.parent} does not exist")
    if path.exists() and not os.access(path, os.W_OK):
        raise OSError(f"{path}: exists and cannot be overwritten")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"{path}: cannot write in folder {path.parent}: {error.strerror}") from None


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write `content`, bytes or text, to a file whole or not at all; raise OSError naming it."""
    check_writable(path)
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


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

"""How a program of the house ends: with an exit status, and without a traceback for what a person
or a shell does to it."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ocp.startup import collecting_seldom, hear_interrupts
from ocp.version import MissingExtra

REFUSED = (ValueError, OSError, MissingExtra)  # errors of what a command was asked, told in a line
NOT_PRINTED, INTERRUPTED, NOBODY_READS = 1, 130, 141


def ended(function: Callable[..., int | None], *arguments: Any) -> int:
    """Return the exit status of a command, function(*arguments).

    130 after Ctrl-C; 141 where its output is read no further; 1 where a stream cannot be written, a
    full disk for example, or memory ends.
    """
    hear_interrupts()
    try:
        with collecting_seldom():
            status = _status(function, *arguments)
        _flush()
        return status
    except BrokenPipeError:
        return _closed(NOBODY_READS)
    except KeyboardInterrupt:
        return _closed(INTERRUPTED, "interrupted")
    except OSError as error:
        return _closed(NOT_PRINTED, f"error: {worded(error)}")
    except MemoryError:
        return _closed(NOT_PRINTED, "error: out of memory")


def of_a_stream(error: Exception) -> bool:
    """Tell whether standard output or error could not be written; files' errors name the file."""
    return isinstance(error, OSError) and error.errno is not None and error.filename is None


def worded(error: Exception) -> str:
    """Return an error in words: a file's by its name, without the number that the system gives."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'cannot be read').lower()}"
    return str(error)


def _status(function: Callable[..., int | None], *arguments: Any) -> int:
    """Return what a command returns, also where argparse leaves it."""
    try:
        return function(*arguments) or 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # which it is where the shell closed it
            stream.flush()


def _closed(status: int, words: str = "") -> int:
    """Say the last words and return the status.

    A stream that cannot be written is let go, so that Python does not try again as it ends.
    """
    for stream, text in ((sys.stdout, ""), (sys.stderr, words)):
        if stream is None:
            continue
        try:
            stream.write(f"{text}\n" if text else "")
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status

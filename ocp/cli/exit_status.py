"""Exit status of a program: refusals in one line, and no traceback for Ctrl-C or closed pipes."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from ocp.startup import collect_rarely, hear_interrupts
from ocp.studies.worker_processes import EngineError
from ocp.version import MissingExtra

REFUSED = (ValueError, OSError, MissingExtra, EngineError)  # errors that a command tells in a line
DONE, FAILED, BAD_ARGUMENTS, NOT_WRITTEN = 0, 1, 2, 3
INTERRUPTED, NOBODY_READS = 130, 141


def exit_status(function: Callable[..., int | None], *arguments: object) -> int:
    """Return the exit status of a command, function(*arguments).

    130 after Ctrl-C; 141 where its output is read no further; 1 where a stream cannot be written, a
    full disk for example, or memory ends.
    """
    hear_interrupts()
    try:
        with collect_rarely():
            try:
                status = function(*arguments) or DONE
            except SystemExit as end:  # by which argparse leaves
                status = FAILED if isinstance(end.code, str) else end.code or DONE
                if isinstance(end.code, str):
                    print(end.code, file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # which it is where the shell closed it
                stream.flush()
        return status
    except BrokenPipeError:
        return _close_streams(NOBODY_READS)
    except KeyboardInterrupt:
        return _close_streams(INTERRUPTED, "interrupted")
    except OSError as error:
        return _close_streams(FAILED, f"error: {error_words(error)}")
    except MemoryError:
        return _close_streams(FAILED, "error: out of memory")


def refuse(program: str, error: Exception) -> int:
    """Print one of the errors REFUSED in the program's name and return the status of bad arguments.

    An error of standard output or error, which name no file, is raised again.
    """
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        raise error
    print(f"{program}: error: {error_words(error)}", file=sys.stderr)
    return BAD_ARGUMENTS


def error_words(error: Exception) -> str:
    """Return an error in words: a file's by its name, without the number that the system gives."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'cannot be read').lower()}"
    return str(error)


def _close_streams(status: int, words: str = "") -> int:
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

"""Errors of a user's own file, told by its line."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ocp.version import MissingExtra


@contextmanager
def told_by_line(path: str | Path) -> Iterator[None]:
    """Raise ValueError naming file and line of what goes wrong in a user's own file: the last one
    of its lines that ran, with the error itself as the cause.

    What goes wrong elsewhere, streams that cannot be written and extras that are not installed are
    raised as they are.
    """
    own = Path(path).resolve()
    try:
        yield
    except MissingExtra:
        raise
    except SyntaxError as error:
        place = f"{error.filename}, line {error.lineno}"
        raise ValueError(f"{place}: {type(error).__name__}: {error.msg}") from error
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == own]
        if not lines or (isinstance(error, OSError) and error.filename is None):
            raise
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{path}, line {lines[-1]}: {kind}{error}") from error

"""Lines of numbers in text files, told apart and refused by file, line and column."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

MISSING = ("", "nan", "na", "n/a", "null", "none", "-")


def lines_of(path: str | Path) -> list[str]:
    """Return the lines of a text file; raise ValueError naming it if it is no text."""
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: expected a text file, got other bytes") from None


def numbers_in(
    path: str | Path,
    rows: Sequence[tuple[int, Sequence[str]]],
    labels: Sequence[str],
) -> np.ndarray:
    """Return the numbers (labels, N) of rows (line, entries); nan where an entry is missing.

    Raises ValueError naming file, line and column of an entry that is no number, and file and line
    of a row with another number of entries.
    """
    for line, entries in rows:
        if len(entries) != len(labels):
            raise ValueError(
                f"{path}: line {line}: expected {len(labels)} entries, got {len(entries)}"
            )
    try:
        return np.array([entries for _, entries in rows], dtype=float).reshape(-1, len(labels)).T
    except ValueError:
        parsed = [
            [_number(path, line, label, text) for label, text in zip(labels, entries)]
            for line, entries in rows
        ]
        return np.array(parsed).T


def _number(path: str | Path, line: int, label: str, text: str) -> float:
    if text.strip().lower() in MISSING:
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{path}: line {line}, column {label!r}: expected a number, got {text.strip()!r}"
        ) from None

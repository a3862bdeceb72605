"""Rows of numbers in text files; errors name file, line and column."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ocp.storage.atomic_files import bytes_of

MISSING = ("", "nan", "na", "n/a", "#n/a", "null", "none", "-", "1.#ind", "1.#qnan", "nan(ind)")
COMMA = re.compile(r"[-+]?\d*,\d*([eE][-+]?\d+)?")


def lines_of(path: str | Path) -> list[str]:
    """Return the lines of a text file; raise ValueError naming it and the line if it is no text."""
    content = bytes_of(path)
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = len(content[: error.start].splitlines() or [b""])
        raise ValueError(
            f"{path}: line {line}: expected a text file in UTF-8, got other bytes "
            f"({content[error.start :][:2].hex(' ')})"
        ) from None


def numbers_in(
    path: str | Path,
    rows: Sequence[tuple[int, Sequence[str]]],
    labels: Sequence[str],
    apart: str = "",
) -> np.ndarray:
    """Return the numbers (labels, N) of rows; nan where an entry is missing.

    Args:
        path: of the file, for errors.
        rows: (line, entries).
        labels: of the columns.
        apart: words for the mark between entries.

    Raises:
        ValueError: an entry is no number, or a row has another number of entries.
    """
    between = f" with {apart} between" if apart else ""
    for line, entries in rows:
        if len(entries) != len(labels):
            raise ValueError(
                f"{path}: line {line}: expected {len(labels)} entries{between}, got {len(entries)}"
            )
    plain = all(_is_plain(text) for _, entries in rows for text in entries)
    try:
        if plain:
            table = np.array([entries for _, entries in rows], dtype=float)
            return table.reshape(-1, len(labels)).T
    except ValueError:
        pass
    parsed = [
        [_number(path, line, label, text) for label, text in zip(labels, entries)]
        for line, entries in rows
    ]
    return np.array(parsed).reshape(-1, len(labels)).T


def _is_plain(text: str) -> bool:
    """Tell whether a text has nothing that only Python reads as a number."""
    return text.isascii() and "_" not in text


def _number(path: str | Path, line: int, label: str, text: str) -> float:
    text = text.strip()
    if text.lower().lstrip("-") in MISSING or text == "-":
        return np.nan
    try:
        if _is_plain(text):
            return float(text)
    except ValueError:
        pass
    point = " with a decimal point" if COMMA.fullmatch(text) else ""
    raise ValueError(
        f"{path}: line {line}, column {label!r}: expected a number{point}, got {text[:40]!r}"
    )

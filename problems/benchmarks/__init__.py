"""Measured costs and comparisons, and the parts that their programs share."""

import argparse
from collections.abc import Iterable, Sequence

from ocp.cli import DONE, FAILED
from ocp.studies import align_columns, markdown_lines

Claim = tuple[bool, str]  # whether it holds, and its line


def program_parser(name: str, page: str | None) -> argparse.ArgumentParser:
    """Return the parser of a program by its name in the gallery, described by its docstring."""
    prog = f"python -m problems.{name}"
    return argparse.ArgumentParser(prog=prog, description=page, allow_abbrev=False)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown, each row as soon as it is known."""
    for line in markdown_lines(header, rows):
        print(line, flush=True)


def print_claims(claims: Sequence[Claim]) -> int:
    """Print claims, and return the exit status: 0 if all of them hold, 1 if one is missed."""
    print(align_columns([("holds:" if holds else "MISSED:", text) for holds, text in claims]))
    return DONE if all(holds for holds, _ in claims) else FAILED

"""Studies of walks in conditions: their tables, claims, plain data, and command line."""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ocp.studies import Study, align_columns, markdown

Walk = tuple[Any, Any]  # a condition, with a `name` and `arguments`, and the cell of the study
Claim = tuple[bool, str]
STUDY_FLAGS = ("file", "workers", "seconds", "retry")  # those of `sweep`
Columns = Mapping[str, tuple[str, str]]  # of a table: name of a number and its format
SOUND: Mapping[str, Callable[[Any], bool]] = {
    "solved": lambda cell: cell.solved,
    "certified to 1e-2": lambda cell: cell.measured.get("certified") == 1.0,
}


def walks(conditions: Sequence[Any], study: Study) -> tuple[Walk, ...]:
    """Return each condition with what came of it."""
    return tuple(zip(conditions, study.cells))


def walks_table(
    title: str,
    done: Sequence[Walk],
    columns: Columns,
    own: Mapping[str, Callable[[Any], str]] | None = None,
) -> str:
    """Return the table of all walks, a line each.

    Args:
        title: of the table.
        done: the walks.
        columns: of numbers that were measured, and of the "objective".
        own: {column: its text from a condition}, which stand before those.
    """
    own, lines = own or {}, []
    for condition, cell in done:
        numbers = {"objective": cell.objective, **cell.measured}
        took = cell.statistics.get("iterations")
        told = (text(numbers.get(name), form) for name, form in columns.values())
        known = (words(condition) for words in own.values())
        lines.append((condition.name, cell.status, text(took, "d"), *known, *told))
    return markdown(title, ("condition", "status", "iterations", *own, *columns), lines)


def solved_claims(done: Sequence[Walk]) -> list[Claim]:
    """Return the claims that all walks are solved and certified; those that are not are named."""
    claims = []
    for word, holds in SOUND.items():
        missed = [condition.name for condition, cell in done if not holds(cell)]
        said = f"; not {', '.join(missed)}" if missed else ""
        claims.append((not missed, f"{len(done) - len(missed)} of {len(done)} {word}{said}"))
    return claims


def walks_data(done: Sequence[Walk], told: Sequence[Claim], names: Sequence[str]) -> dict[str, Any]:
    """Return walks and claims as plain data; `names` are those of a condition's own fields."""
    return {
        "walks": {
            condition.name: {
                **{name: getattr(condition, name) for name in names},
                "status": cell.status,
                "reason": cell.reason,
                "objective": cell.objective,
                "iterations": cell.statistics.get("iterations"),
                "numbers": dict(cell.measured),
            }
            for condition, cell in done
        },
        "claims": [{"holds": bool(holds), "text": words} for holds, words in told],
    }


def text(value: Any, form: str) -> str:
    """Return a number in a format, and nothing for None."""
    return "" if value is None else format(value, form)


def study_parser(
    name: str, description: str | None, known: Sequence[str], what: str
) -> argparse.ArgumentParser:
    """Return the parser of a study's command line, whose flags choose among `known` sets.

    Args:
        name: of the module.
        description: of the program.
        known: names of what can be walked alone.
        what: these are called, as "axes".
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m problems.{name}", description=description, allow_abbrev=False
    )
    file = f"{name.rpartition('.')[2]}.sqlite"
    words = f"some {what} alone, separated by commas (default: all)"
    parser.add_argument("--only", default=",".join(known), metavar=what.upper(), help=words)
    words = f"where solutions are kept (default: {file})"
    parser.add_argument("--file", default=file, metavar="FILE.sqlite", help=words)
    words = "processes (default: one per processor)"
    parser.add_argument("--workers", type=int, metavar="N", help=words)
    parser.add_argument("--seconds", type=float, metavar="S", help="that a walk may take at most")
    parser.add_argument("--retry", action="store_true", help="solve again what failed")
    return parser


def names_among(asked: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the names of a text of `--only`; raise ValueError naming an unknown one."""
    names = tuple(name.strip() for name in asked.split(",") if name.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = ", ".join(unknown) or "none"
        raise ValueError(f"--only: expected some of {', '.join(known)}, got {wrong}")
    return names


def say_cell(progress: Any, usual: Mapping[str, Any]) -> None:
    """Print what came of a cell on standard error, with the arguments that are not the `usual`."""
    cell = progress.cell
    own = {name: value for name, value in cell.parameters.items() if name in usual}
    words = " ".join(f"{name} {value}" for name, value in own.items() if value != usual[name])
    said = f"{words or 'usual'}: {cell.status}, {cell.seconds:.0f} s"
    print(f"{progress.done} of {progress.total}: {said}", file=sys.stderr, flush=True)


def claims_text(told: Sequence[Claim]) -> str:
    """Return claims as aligned text, each with whether it holds."""
    return align_columns([("holds:" if holds else "MISSED:", words) for holds, words in told])

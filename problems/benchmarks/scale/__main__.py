"""Growth of time and memory with joints, steps, control points, bodies and workers.

Every row is measured in a process of its own and kept in a file as soon as it is known; a run that
was interrupted goes on, and a row that is deleted there is measured anew. Seconds are the
processor's.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.scale.entries import PARTS, chosen, measure
from ocp.problems.benchmarks.scale.shown import tables
from ocp.problems.benchmarks.scale.store import LIMIT, filled


def run(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing, print the tables, and return the exit status."""
    flags = _parser().parse_args(arguments)
    try:
        wanted = chosen(flags.only, flags.largest)
        names = [each.name for each in wanted]
        known = filled(flags.file, names, measure, _seen, flags.seconds)
    except (ValueError, OSError) as error:
        return refuse("scale", error)
    rows = {name: known[name] for name in names}
    print(tables(wanted, rows))
    if flags.plot is not None:
        from ocp.problems.benchmarks.scale.picture import draw

        draw(wanted, rows, flags.plot)
    return FAILED if any("failed" in row for row in rows.values()) else DONE


def _seen(name: str, row: dict[str, Any]) -> None:
    words = row.get("failed") or row.get("status") or "measured"
    print(f"{name}: {words}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = program_parser("benchmarks.scale", __doc__)
    words = f"parts, {', '.join(PARTS)}, or beginnings of rows, as 'chains: star'"
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help=words)
    words = "rows of at most this size (joints, steps, control points, workers)"
    parser.add_argument("--largest", type=float, default=float("inf"), metavar="N", help=words)
    words = "where rows are kept (default: scale.json)"
    parser.add_argument("--file", type=Path, default=Path("scale.json"), metavar="PATH", help=words)
    words = f"s after which a row is given up (default: {LIMIT:g})"
    parser.add_argument("--seconds", type=float, default=LIMIT, metavar="S", help=words)
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the growth as well")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))

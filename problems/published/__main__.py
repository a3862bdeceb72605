"""Print every published number beside ours, computed now."""

import sys
from collections.abc import Sequence

from ocp.cli import DONE, exit_status, refuse
from ocp.problems.benchmarks import program_parser
from ocp.problems.published.row import HEADER
from ocp.problems.published.table import ROWS, rows


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the table row by row and return the exit status."""
    parser = program_parser("published", __doc__)
    parser.add_argument("--only", default="", metavar="PAPER", help=f"{', '.join(ROWS)}")
    parser.add_argument(
        "--all", action="store_true", help="rows that take more than half a minute as well"
    )
    flags = parser.parse_args(arguments)
    try:
        entries = list(rows(flags.only, slow=flags.all))
    except ValueError as error:
        return refuse("published", error)
    print(_line(HEADER), f"|{' --- |' * len(HEADER)}", sep="\n")
    for row in entries:
        print(_line(row.text()), flush=True)
    return DONE


def _line(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entries)} |"


if __name__ == "__main__":
    sys.exit(exit_status(run))

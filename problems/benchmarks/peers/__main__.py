"""Solve the same tasks by `ocp`, Pinocchio, Drake, OpenSim Moco and rockit, and print tables.

Rows of what is not installed (extra `peers`) say so and are left out.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from ocp.cli import BAD_ARGUMENTS, DONE, exit_status
from ocp.problems.benchmarks import program_parser
from ocp.problems.benchmarks.peers.report.picture import drawn
from ocp.problems.benchmarks.peers.report.table import lines
from ocp.problems.benchmarks.peers.running import planned, run
from ocp.problems.benchmarks.peers.tasks import SYSTEMS, TASKS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, print the tables and return the exit status."""
    parser = program_parser("benchmarks.peers", __doc__)
    parser.add_argument("--only", nargs="+", default=TASKS, choices=TASKS, metavar="TASK")
    parser.add_argument("--peers", nargs="+", default=SYSTEMS, choices=SYSTEMS, metavar="SYSTEM")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each setting, by turns")
    parser.add_argument("--json", type=Path, default=Path("peers.json"), help="what a run resumes")
    parser.add_argument("--plot", type=Path, help="a picture of errors over seconds")
    parser.add_argument("--all", action="store_true", help="print the rows of all settings")
    flags = parser.parse_args(arguments)
    if flags.rounds < 1:
        print(f"peers: error: --rounds: expected 1 at least, got {flags.rounds}", file=sys.stderr)
        return BAD_ARGUMENTS
    rows = planned(flags.only, flags.peers)
    rows = run(
        rows, flags.rounds, flags.json, lambda text: print(text, file=sys.stderr, flush=True)
    )
    print(*lines(rows, all_settings=flags.all), sep="\n")
    if flags.plot:
        drawn(rows, flags.plot)
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(main))

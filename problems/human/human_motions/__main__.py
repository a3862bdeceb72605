"""Solve and certify every motion of the human, and print a row for each as it is ready.

Rows tell status, iterations, processor seconds of building and solving, and the certificate, with
`--converged` also how far the motion on the next basis is. What fails stays in the table.
"""

import argparse
import sys
from collections.abc import Sequence

from ocp.cli import add_table_flags, certify_problems, exit_status, refuse
from ocp.problems.human.human_motions.motions import MOTIONS


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    It is 0 if all motions are certified, 1 if one is not, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        named = [part.strip() for part in (flags.only or "").split(";") if part.strip()]
        odd = next((name for name in named if name not in MOTIONS), None)
        if odd is not None:
            raise ValueError(f"--only: {odd}: expected some of {'; '.join(MOTIONS)}")
        return certify_problems({name: MOTIONS[name] for name in named or MOTIONS}, flags)
    except (ValueError, OSError) as error:
        return refuse("human_motions", error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.human_motions",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="ROW;...", help="these rows (default: all)")
    add_table_flags(parser)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))

"""Tell the report card of a gait that was saved."""

import argparse
import sys
from collections.abc import Sequence

from ocp import load
from ocp.cli import DONE, exit_status, refuse
from ocp.problems.gait.card import card_lines, card_table, report_card, save_card
from ocp.problems.gait.card.norms import NORMS_FLAG
from ocp.storage import check_writable


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.gait.card", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("solution", metavar="FILE.npz", help="a gait that was saved")
    parser.add_argument("--norms", **NORMS_FLAG)
    parser.add_argument("--card", metavar="FILE.json", help="write it, as .json, .csv or a picture")
    flags = parser.parse_args(arguments)
    try:
        if flags.card is not None:
            check_writable(flags.card)
        solution = load(flags.solution)
        card = report_card(solution, flags.norms)
        if flags.card is not None:
            save_card(solution, flags.card, flags.norms)
    except (ValueError, OSError) as error:
        return refuse("gait.card", error)
    print(*card_lines(card), *card_table(card), sep="\n")
    return DONE


if __name__ == "__main__":
    sys.exit(exit_status(run))

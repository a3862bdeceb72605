"""The walks of many people: women and men at random, their curves as bands before people's.

Everyone is solved from the walk of the median woman or man, and from standing where that fails. The
folder keeps all that was solved: the same command does what is left, wherever it was killed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.problems.gait.card.norms import NORMS_FLAG, norms
from ocp.problems.gait.people.bands import summary, tables, write_people
from ocp.problems.gait.people.measures import certified, measured
from ocp.problems.gait.people.picture import plot_bands
from ocp.problems.gait.people.sampling import people
from ocp.problems.gait.people.statement import TASK
from ocp.storage import write
from ocp.studies import Progress, sweep

COUNT, SEED, SHARE = 200, 0, 0.95  # people, and how many of them are to be solved


def said(progress: Progress) -> None:
    """Say how far the study is."""
    who = progress.cell.parameters
    minutes, seconds = divmod(round(progress.remaining), 60)
    print(
        f"{progress.done}/{progress.total}, {progress.failed} failed, "
        f"{minutes}:{seconds:02d} left; {who['sex']}, {who['stature']:.2f} m, "
        f"{who['mass']:.0f} kg, strength {who['percentile']:.0f} %: {progress.cell.status}",
        file=sys.stderr,
        flush=True,
    )


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    It is 0 if at least SHARE of the people are solved, 1 otherwise, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        norms(flags.norms)
        cells = people(flags.count, flags.seed)
        folder = Path(flags.folder)
        folder.mkdir(parents=True, exist_ok=True)
        study = sweep(
            TASK,
            cells,
            file=folder / "people.sqlite",
            workers=flags.workers,
            measure=certified if flags.certify else measured,
            retry=flags.retry,
            watch=said,
        )
    except (ValueError, OSError) as error:
        return refuse("people", error)
    told = summary(study, flags.norms)
    write(folder / "people.json", json.dumps(told, indent=1))
    write_people(study, folder / "people.csv")
    if told["curves"] is not None:
        plot_bands(told, folder / "people.png", flags.norms)
    print(*tables(told), sep="\n")
    return DONE if told["solved"] >= SHARE * told["asked"] else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.gait.people", description=__doc__, allow_abbrev=False
    )
    words = f"how many people (default: {COUNT})"
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help=words)
    words = f"of the random numbers (default: {SEED})"
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=words)
    words = "processes, 0 for this one alone (default: one for each processor)"
    parser.add_argument("--workers", type=int, metavar="N", help=words)
    words = "keeps people.sqlite, .json, .csv and .png (default: people)"
    parser.add_argument("--folder", default="people", metavar="DIR", help=words)
    parser.add_argument(
        "--certify", action="store_true", help="verify every walk, which takes time"
    )
    parser.add_argument("--retry", action="store_true", help="solve those anew that failed")
    parser.add_argument("--norms", **NORMS_FLAG)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))

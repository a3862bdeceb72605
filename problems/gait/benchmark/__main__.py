"""Walk by muscles in measured conditions, and tell what people spend; the same command goes on."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.problems.gait.benchmark.design import SETS, chosen, swept
from ocp.problems.gait.benchmark.tables import claims, data, table, walks
from ocp.storage import check_writable, write
from ocp.studies import align_columns


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        sets = [name.strip() for name in flags.only.split(",") if name.strip()]
        unknown = [name for name in sets if name not in SETS]
        if unknown or not sets:
            wrong = ", ".join(unknown) or "none"
            raise ValueError(f"--only: expected some of {', '.join(SETS)}, got {wrong}")
        if flags.json is not None:
            check_writable(flags.json)
        conditions = chosen(sets)
        options = {name: getattr(flags, name) for name in ("file", "workers", "seconds", "retry")}
        study = swept(conditions, watch=_said, **options)
    except (ValueError, OSError) as error:
        return refuse("gait.benchmark", error)
    done = walks(conditions, study)
    print(table(done), end="\n\n")
    told = claims(done)
    print(align_columns([("holds:" if holds else "MISSED:", text) for holds, text in told]))
    if flags.json is not None:
        write(flags.json, (json.dumps(data(done), indent=1) + "\n").encode())
    return DONE if all(holds for holds, _ in told) else FAILED


def _said(progress: Any) -> None:
    cell = progress.cell
    words = " ".join(f"{name} {value}" for name, value in cell.parameters.items() if value)
    text = f"{progress.done} of {progress.total}: {words}: {cell.status}, {cell.seconds:.0f} s"
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.gait.benchmark", description=__doc__, allow_abbrev=False
    )
    words = "some sets alone, separated by commas (default: all)"
    parser.add_argument("--only", default=",".join(SETS), metavar="SETS", help=words)
    words = "where solutions are kept (default: benchmark.sqlite)"
    parser.add_argument("--file", default="benchmark.sqlite", metavar="FILE.sqlite", help=words)
    words = "processes (default: one per processor)"
    parser.add_argument("--workers", type=int, metavar="N", help=words)
    parser.add_argument("--seconds", type=float, metavar="S", help="that a walk may take at most")
    parser.add_argument("--retry", action="store_true", help="solve again what failed")
    parser.add_argument("--json", metavar="FILE.json", help="write all numbers")
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))

"""Walk in all conditions, and tell and draw what changes over each; the same command goes on."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from ocp.cli import DONE, FAILED, exit_status, refuse
from ocp.plots import check_suffix
from ocp.problems.gait.conditions.design import AXES, USUAL, chosen, swept
from ocp.problems.gait.conditions.picture import plot_conditions
from ocp.problems.gait.conditions.tables import claims, data, steps_table, table, walks
from ocp.storage import check_writable, write
from ocp.studies import align_columns


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    It is 0 if all claims hold, 1 if one is missed, 2 for bad arguments.
    """
    flags = _parser().parse_args(arguments)
    try:
        axes = _axes(flags.only)
        if flags.plot is not None:
            check_suffix(flags.plot)
        for path in filter(None, (flags.plot, flags.json, flags.csv)):
            check_writable(path)
        conditions = chosen(axes)
        options = {name: getattr(flags, name) for name in ("file", "workers", "seconds", "retry")}
        study = swept(conditions, watch=_said, **options)
    except (ValueError, OSError) as error:
        return refuse("gait.conditions", error)
    done = walks(conditions, study)
    print(table(done), steps_table(done), sep="\n\n")
    told = claims(done)
    print(align_columns([("holds:" if holds else "MISSED:", text) for holds, text in told]))
    if flags.plot is not None:
        plot_conditions(done, flags.plot)
    if flags.json is not None:
        write(flags.json, (json.dumps(data(done), indent=1) + "\n").encode())
    if flags.csv is not None:
        study.write_csv(flags.csv)
    return DONE if all(holds for holds, _ in told) else FAILED


def _axes(text: str) -> tuple[str, ...]:
    """Return axes of a text; raise ValueError naming an unknown one."""
    axes = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in axes if name not in AXES]
    if unknown or not axes:
        wrong = ", ".join(unknown) or "none"
        raise ValueError(f"--only: expected some of {', '.join(AXES)}, got {wrong}")
    return axes


def _said(progress: Any) -> None:
    cell = progress.cell
    own = {name: cell.parameters[name] for name in USUAL if cell.parameters[name] != USUAL[name]}
    words = " ".join(f"{name} {value}" for name, value in own.items()) or "usual"
    text = f"{progress.done} of {progress.total}: {words}: {cell.status}, {cell.seconds:.0f} s"
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m problems.gait.conditions", description=__doc__, allow_abbrev=False
    )
    words = "some axes alone, separated by commas (default: all)"
    parser.add_argument("--only", default=",".join(AXES), metavar="AXES", help=words)
    words = "where solutions are kept (default: conditions.sqlite)"
    parser.add_argument("--file", default="conditions.sqlite", metavar="FILE.sqlite", help=words)
    words = "processes (default: one per processor)"
    parser.add_argument("--workers", type=int, metavar="N", help=words)
    parser.add_argument("--seconds", type=float, metavar="S", help="that a walk may take at most")
    parser.add_argument("--retry", action="store_true", help="solve again what failed")
    for name, ending, what in (
        ("plot", "png", "draw the page"),
        ("json", "json", "write all numbers"),
        ("csv", "csv", "write the table"),
    ):
        parser.add_argument(f"--{name}", metavar=f"FILE.{ending}", help=what)
    return parser


if __name__ == "__main__":
    sys.exit(exit_status(run))

"""Solvers compared: problems by solvers, each run judged by its certificate.

Every run has a process of its own, with limits of time and memory, and solves as the problem's own
command does: a gait with options tuned for IPOPT, a swing-up from the best of several coarse
solutions by IPOPT. The defaults try every solver at its best on the small problems and the gait;
lists at other flags multiply the runs: `ocp compare two_link_time ./mine.py --solvers ipopt,snopt`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

from ocp.cli.exit_status import DONE, INTERRUPTED, REFUSED, refuse
from ocp.cli.flags import (
    NOTHING,
    literal,
    of_function,
    parameters_of,
    read_line,
    read_value,
    split_names,
)
from ocp.dynamics import CHOICES, DERIVATIVES
from ocp.plots import check_suffix
from ocp.solvers import HESSIANS
from ocp.storage.atomic_files import check_writable
from ocp.studies.comparison.comparison import compare
from ocp.studies.comparison.comparison_jobs import BEST
from ocp.studies.comparison.limited_run import Run
from ocp.studies.comparison.solvers import SOLVERS, TRANSCRIPTIONS
from ocp.studies.store.argument_flags import Keywords
from ocp.studies.store.function_addresses import module_at
from ocp.studies.task import Task, task_of
from ocp.studies.workers import processors

PROBLEMS = ("two_link_time", "two_link_lift", "acrobot_swing", "four_bar_effort", "gait")
LISTS = {
    "hessians": ((BEST, *HESSIANS), BEST),
    "derivatives": (DERIVATIVES, "auto"),
    "dynamics": ((*CHOICES, "one of the problem's module"), "auto"),
    "transcriptions": (tuple(TRANSCRIPTIONS), "spline"),
}


def command(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status."""
    flags = read_line(_parser(), arguments, lambda flags: parameters_of(flags.problems or PROBLEMS))
    try:
        tasks = [task_of(module_at(name)) for name in flags.problems or PROBLEMS]
        solvers = list(SOLVERS) if flags.solvers is None else split_names(flags.solvers)
        lists = {name: split_names(getattr(flags, name)) for name in LISTS}
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
        comparison = compare(
            tasks,
            solvers,
            seconds=flags.seconds,
            memory=flags.memory,
            workers=flags.workers,
            file=flags.csv,
            watch=None if flags.quiet else _print_run,
            again=flags.again,
            arguments=_arguments(flags.sets, tasks),
            **lists,
        )
    except KeyboardInterrupt:
        words = "interrupted; with --csv the same command goes on from there"
        print(f"\ncompare: {words}", file=sys.stderr)
        return INTERRUPTED
    except REFUSED as error:
        return refuse("compare", error)
    print(
        f"{processors()} processors, {flags.workers} runs at a time, at most {flags.seconds:g} s "
        f"of solving and {flags.memory:g} GB each; times are those of this run: compare them with "
        "each other only\n"
    )
    print(comparison)
    if flags.plot is not None:
        comparison.plot(flags.plot)
    return DONE


def _arguments(texts: Iterable[str], tasks: Sequence[Task]) -> Keywords:
    """Return the problem's parameters that --set flags give."""
    arguments, kinds = {}, {one.name: one.kind for one in of_function(tasks[0].problem)}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ValueError(f"--set: expected PARAMETER=VALUE, got {text!r}")
        kind = kinds.get(name, NOTHING)
        arguments[name] = literal(value) if kind is NOTHING else read_value(value, kind)
    return arguments


def _print_run(one: Run) -> None:
    reason = f" ({one.reason})" if one.reason else ""
    print(f"{' '.join(one.key[:-1])}: {one.verdict}{reason}", flush=True)  # without its digest


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp compare",
        usage="ocp compare [NAME|FILE.py|PACKAGE.MODULE ...] [flags]",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = f"of the gallery, or files or modules of your own (default: {', '.join(PROBLEMS)})"
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=words)
    group = parser.add_argument_group("of what is compared")
    words = f"some of {', '.join(SOLVERS)} (default: all)"
    group.add_argument("--solvers", metavar="NAME,...", help=words)
    for name, (choices, default) in LISTS.items():
        words = f"some of {', '.join(choices)} (default: {default})"
        group.add_argument(f"--{name}", default=default, metavar="NAME,...", help=words)
    words = "a parameter of the problem; may be repeated"
    group.add_argument(
        "--set", action="append", default=[], dest="sets", metavar="PARAMETER=VALUE", help=words
    )

    group = parser.add_argument_group("of the runs")
    for name, kind, usual, words in (
        ("seconds", float, 120.0, "limit of a solve"),
        ("memory", float, 4.0, "limit of a run's address space, GB"),
        ("workers", int, 1, "runs at a time; with 1 times can be compared"),
    ):
        text = f"{words} (default: {usual:g})"
        group.add_argument(f"--{name}", type=kind, default=usual, metavar="NUMBER", help=text)
    group = parser.add_argument_group("outputs")
    words = "keep the runs there as they finish; those already there are not run again"
    group.add_argument("--csv", metavar="FILE.csv", help=words)
    group.add_argument("--again", action="store_true", help="run all again")
    words = "draw the performance profile and data profiles"
    group.add_argument("--plot", metavar="FILE.png", help=words)
    group.add_argument("--quiet", action="store_true", help="print the tables alone")
    return parser

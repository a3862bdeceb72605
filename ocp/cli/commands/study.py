"""A problem solved for many parameters at once: grids, samples, random starts, Pareto fronts.

Cells run in parallel and are kept in a file as they finish; the same command again does what is
still to be done: `ocp study gait --set speed=0.8:1.6:9 --set step=0.5,0.6 --workers 2`.
Over people: `ocp study lifting --set person=f5,f50,m50,m95 --measure loads --csv people.csv`.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from ocp.cli.exit_status import DONE, FAILED, INTERRUPTED, REFUSED, refuse
from ocp.cli.flags import (
    NOTHING,
    Annotation,
    literal,
    of_function,
    parameters_of,
    read_line,
    read_value,
    split_names,
)
from ocp.cli.output.study_report import ProgressLine, cells_text, front_text, optima_text
from ocp.plots import Curve, check_suffix, lines
from ocp.solution.solution import Solution
from ocp.storage.atomic_files import check_writable
from ocp.studies.parameter_designs import grid, is_number, latin_hypercube, side_by_side
from ocp.studies.pareto_front import Front, pareto
from ocp.studies.solve_cell import outputs
from ocp.studies.store.argument_flags import Keywords
from ocp.studies.store.function_addresses import module_at
from ocp.studies.study import Study, rank_optima, restarts, sweep
from ocp.studies.task import Task, task_of
from ocp.version import install_hint

MOST = 100_000  # values of a parameter
NAMES = ("transcription.dynamics", "transcription.method")  # also as module:name
Flags = argparse.Namespace


def command(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for and return the exit status.

    0: all solved, 1: some failed, 2: bad arguments, 130: interrupted.
    """
    flags = read_line(_parser(), arguments, lambda flags: parameters_of([flags.name]))
    file = flags.file or f"{Path(flags.name).stem.rpartition('.')[2]}-study.sqlite"
    try:
        module = module_at(flags.name)
        task = task_of(module)
        over = _design(flags, task)
        if flags.pareto is not None and len(flags.pareto.split(",")) != 2:
            raise ValueError(f"--pareto: expected two goals, got {flags.pareto!r}")
        for path in filter(None, (flags.csv, flags.plot)):
            check_writable(path)
        if flags.plot is not None:
            check_suffix(flags.plot)
        with _executor(flags.scheduler) as executor:
            options = {
                "measure": _measure(module, flags.measure),
                "certify": flags.certify,
                "file": file,
                "retry": flags.retry,
                "executor": executor,
                "workers": flags.workers,
                "seconds": flags.seconds,
                "watch": None if flags.quiet else ProgressLine(sys.stdout),
            }
            return _study(task, over, flags, options)
    except KeyboardInterrupt:
        print(f"\nstudy: interrupted; the same command resumes it from {file}", file=sys.stderr)
        return INTERRUPTED
    except REFUSED as error:
        return refuse("study", error)


def values(text: str, kind: Annotation = None) -> Any:
    """Return the values that a text of --set stands for.

    LOW:HIGH:COUNT are equal steps, LOW:HIGH bounds, real ones of a `kind` that is float, A,B,C a
    list, else one value. For a `kind` that is a tuple, 1,-1 is one value, and 1,-1;2,-2 are two.

    Args:
        text: as the command line has it.
        kind: annotation of the parameter.

    Raises:
        ValueError: the text stands for no values.
    """
    if "tuple" in str(kind):
        return [read_value(part, kind) for part in text.split(";")]
    parts = text.split(":")
    if len(parts) == 3:
        low, high, count = map(literal, parts)
        numbers = all(isinstance(end, (int, float)) for end in (low, high))
        if not numbers or not isinstance(count, int) or count < 1:
            raise ValueError(f"--set: expected LOW:HIGH:COUNT, got {text!r}")
        if count > MOST:
            raise ValueError(f"--set: expected at most {MOST} values, got {count}")
        return [low + (high - low) * k / max(count - 1, 1) for k in range(count)]
    if len(parts) == 2:
        ends = tuple(map(literal, parts))
        kinds = (kind, *get_args(kind))
        real = float in kinds and int not in kinds
        return tuple(map(float, ends)) if real and all(map(is_number, ends)) else ends
    return [literal(part) for part in text.split(",")] if "," in text else literal(text)


def _study(task: Task, over: Any, flags: Flags, options: Keywords) -> int:
    """Run a study, print it and write what was asked for; return the exit status."""
    front = None
    if flags.starts is not None:
        random = {"starts": flags.starts, "seed": flags.seed, "spread": flags.spread}
        done = restarts(task, over, **random, **options)
        text = optima_text(rank_optima(done), len(done.solved))
    elif flags.pareto is not None:
        front = pareto(task, over, flags.pareto.split(","), chain=flags.chain, **options)
        done, text = front.study, front_text(front)
    else:
        done, text = sweep(task, over, chain=flags.chain, **options), ""
    for note in done.notes:
        print(f"study: {note}", file=sys.stderr)
    count = f"{len(done.cells)} cells, {len(done.failed)} failed, in {done.path}"
    print("\n".join(part for part in (cells_text(done.cells), text, count) if part))
    _write(done, front, flags)
    return FAILED if done.failed else DONE


def _write(done: Study, front: Front | None, flags: Flags) -> None:
    if flags.csv is not None:
        done.write_csv(flags.csv)
    if flags.plot is not None and front is not None:
        _, first, second = zip(*front.points)
        curve = Curve(label=f"front of {len(first)}", x=first, y=second)
        lines(flags.plot, [curve], x=front.names[0], y=front.names[1])
    elif flags.plot is not None:
        done.plot(flags.plot, flags.y)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ocp study",
        usage="ocp study NAME|FILE.py|PACKAGE.MODULE [flags]",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", help="a problem of the gallery, or a file or module of your own")
    _design_flags(parser.add_argument_group("of the design"))
    _run_flags(parser.add_argument_group("of the run"))
    _output_flags(parser.add_argument_group("outputs"))
    return parser


def _design_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAMETER=VALUES",
        dest="sets",
        help="values of a parameter: LOW:HIGH:COUNT, A,B,C or one, tuples as 1,-1;2,-2; also of "
        "motion.NAME, transcription.NAME, solver.NAME, option.NAME, method.NAME",
    )
    words = "take the values side by side instead of all combinations"
    group.add_argument("--zip", action="store_true", help=words)
    words = "so many cells of a Latin hypercube; --set gives bounds LOW:HIGH"
    group.add_argument("--latin", type=int, metavar="COUNT", help=words)
    words = "one problem from so many random first guesses, the first of them straight"
    group.add_argument("--starts", type=int, metavar="COUNT", help=words)
    words = "of samples and random starts (default: 0)"
    group.add_argument("--seed", type=int, default=0, metavar="INT", help=words)
    words = "how far random starts wander (rad or m, default: 1)"
    group.add_argument("--spread", type=float, default=1.0, metavar="FLOAT", help=words)
    words = "print and draw the front of two terms of the objective"
    group.add_argument("--pareto", metavar="GOAL,GOAL", help=words)
    words = "start each cell from the solution of its neighbour, and keep the lowest branch"
    group.add_argument("--chain", action="store_true", help=words)


def _run_flags(group: argparse._ArgumentGroup) -> None:
    words = "verify every solution; the file has what was found"
    group.add_argument("--certify", action="store_true", help=words)
    words = (
        "of NAME's module: takes a solution, returns numbers by name; or `outputs`, the least and "
        "most of the problem's"
    )
    group.add_argument("--measure", metavar="FUNCTION", help=words)
    words = "processes (default: one per processor)"
    group.add_argument("--workers", type=int, metavar="COUNT", help=words)
    words = "stop a cell that takes longer; it has failed then"
    group.add_argument("--seconds", type=float, metavar="NUMBER", help=words)
    words = "of a Dask cluster, as tcp://host:port; needs the extra `cluster`"
    group.add_argument("--scheduler", metavar="ADDRESS", help=words)
    words = "where results are kept (default: NAME-study.sqlite)"
    group.add_argument("--file", metavar="FILE.sqlite", help=words)
    group.add_argument("--retry", action="store_true", help="run failed cells again")


def _output_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--csv", metavar="FILE.csv", help="write a table of the cells")
    group.add_argument("--plot", metavar="FILE.png", help="draw a figure per parameter")
    words = "of the table, to be drawn (default: objective)"
    group.add_argument("--y", default="objective", metavar="COLUMN", help=words)
    group.add_argument("--quiet", action="store_true", help="no progress line")


def _measure(module: ModuleType, name: str | None) -> Callable[[Solution], object] | None:
    """Return the measure of solutions: a module's function, or the least and most of outputs."""
    if name is None or (name == "outputs" and not hasattr(module, name)):
        return None if name is None else outputs
    if not callable(function := getattr(module, name, None)):
        raise ValueError(f"{module.__name__}: has no function {name!r}")
    return function


def _design(flags: Flags, task: Task) -> Any:
    """Return the design that flags ask for, or the one cell of a multistart; raise ValueError."""
    over = _sets(flags.sets, task)
    if flags.starts is not None:
        return _single(flags, over)
    if flags.latin is not None:
        return latin_hypercube(over, flags.latin, flags.seed)
    bounds = next((name for name, entry in over.items() if isinstance(entry, tuple)), None)
    if bounds is not None:
        raise ValueError(
            f"--set: {bounds}: bounds LOW:HIGH are for --latin; expected LOW:HIGH:COUNT"
        )
    return side_by_side(over) if flags.zip else grid(over)


def _sets(texts: Sequence[str], task: Task) -> Keywords:
    """Return {parameter: values} of --set flags."""
    kinds, over = {name: type(value) for name, value in task.defaults.items()}, {}
    kinds |= {one.name: one.kind for one in of_function(task.problem) if one.kind is not NOTHING}
    for text in texts:
        name, equals, rest = text.partition("=")
        if not name or not equals or not rest:
            raise ValueError(f"--set: expected PARAMETER=VALUES, got {text!r}")
        if name in over:
            raise ValueError(f"--set: {name}: is set twice")
        over[name] = split_names(rest) if name in NAMES else values(rest, kinds.get(name))
    return over


def _single(flags: Flags, over: Keywords) -> Keywords:
    """Return the only value of each parameter of a multistart."""
    cell = {
        name: entry[0] if isinstance(entry, list) and len(entry) == 1 else entry
        for name, entry in over.items()
    }
    several = any(isinstance(entry, list) for entry in cell.values())
    bounds = any(isinstance(entry, tuple) for entry in over.values())
    others = flags.zip or flags.latin is not None or flags.pareto is not None or flags.chain
    if several or bounds or others:
        raise ValueError(
            "--starts: of one problem only; --set takes one value of each parameter, and nothing "
            "else is asked for"
        )
    return cell


@contextmanager
def _executor(scheduler: str | None) -> Iterator[Any]:
    """Yield the executor of a Dask cluster, None without one."""
    if scheduler is None:
        yield None
        return
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise ValueError(f"--scheduler: needs Dask: {install_hint('cluster')}") from None
    with distributed.Client(scheduler, timeout=10) as client:
        yield client.get_executor()

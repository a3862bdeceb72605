"""A problem solved for many parameters at once: grids, samples, random starts and Pareto fronts, in parallel, in a file, resumed.

`python -m problems.study gait --set speed=0.8:1.6:9 --set step=0.5,0.6 --workers 2`. The same command again does what is still to be done.
A study over people: `python -m problems.study lifting --set person=f5,f50,f95,m5,m50,m95 --measure loads --csv people.csv --plot people.png`.
"""

import argparse
import importlib
import sys
from contextlib import contextmanager

from ocp.cli.run import literal
from ocp.plots import Curve, check_suffix, lines
from ocp.solution.files import check_writable
from ocp.studies.designs import grid, latin_hypercube, zipped
from ocp.studies.study import pareto, ranked, restarts, sweep
from ocp.studies.tables import table
from ocp.studies.task import task_of
from ocp.studies.workers import EngineError
from ocp.version import needs

DONE, SOME_FAILED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130
SHOWN = ("status", "objective", "duration", "iterations", "seconds")


def run(arguments=None):
    """Do what the command line asks for and return the exit status: 0 all solved, 1 some failed, 2 bad arguments, 130 interrupted."""
    flags = _parser().parse_args(arguments)
    try:
        module = _module(flags.name)
        over, file = (
            _design(flags),
            flags.file or f"{module.__name__.rpartition('.')[2]}-study.sqlite",
        )
        _check_outputs(flags)
        measure = None if flags.measure is None else _member(module, flags.measure)
        with _executor(flags.scheduler) as executor:
            options = {
                "method": task_of(module).method,
                "measure": measure,
                "certify": flags.certify,
                "file": file,
                "retry": flags.retry,
                "executor": executor,
                "workers": flags.workers,
                "watch": None if flags.quiet else _Line(sys.stdout),
            }
            return _study(module, over, flags, options)
    except KeyboardInterrupt:
        print(f"\nstudy: interrupted; the same command resumes it from {file}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, EngineError) as error:
        print(f"study: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS


def values(text):
    """Return the values that a text stands for: LOW:HIGH:COUNT equal steps, LOW:HIGH bounds, A,B,C a list, else one value."""
    parts = text.split(":")
    if len(parts) == 3:
        low, high, count = map(literal, parts)
        if (
            not all(isinstance(end, (int, float)) for end in (low, high))
            or not isinstance(count, int)
            or count < 1
        ):
            raise ValueError(f"--set: expected LOW:HIGH:COUNT, got {text!r}")
        return [low + (high - low) * k / max(count - 1, 1) for k in range(count)]
    if len(parts) == 2:
        return tuple(map(literal, parts))
    return [literal(part) for part in text.split(",")] if "," in text else literal(text)


def _study(module, over, flags, options):
    front = None
    if flags.starts is not None:
        done = restarts(
            module.problem,
            over,
            starts=flags.starts,
            seed=flags.seed,
            spread=flags.spread,
            **options,
        )
        text = _optima(ranked(done), len(done.solved))
    elif flags.pareto is not None:
        front = pareto(module.problem, over, flags.pareto.split(","), chain=flags.chain, **options)
        done, text = front.study, _front(front)
    else:
        done, text = sweep(module.problem, over, chain=flags.chain, **options), ""
    print(
        "\n".join(
            filter(
                None,
                (
                    _cells(done.cells),
                    text,
                    f"{len(done.cells)} cells, {len(done.failed)} failed, in {done.path}",
                ),
            )
        )
    )
    if flags.csv is not None:
        done.write_csv(flags.csv)
    if flags.plot is not None and front is not None:
        cells, *goals = zip(*front.points)
        lines(
            flags.plot,
            [Curve(label=f"front of {len(cells)}", x=goals[0], y=goals[1])],
            x=front.names[0],
            y=front.names[1],
        )
    elif flags.plot is not None:
        done.plot(flags.plot, flags.y)
    return SOME_FAILED if done.failed else DONE


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m problems.study", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add(
        "name",
        metavar="NAME",
        help="a problem of the gallery, or any module with a function `problem`",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="PARAMETER=VALUES",
        dest="sets",
        help="values of a parameter: LOW:HIGH:COUNT, A,B,C or one; also of transcription.NAME, solver.NAME, option.NAME, method.NAME",
    )
    add(
        "--zip",
        action="store_true",
        help="take the values side by side instead of all combinations",
    )
    add(
        "--latin",
        type=int,
        metavar="COUNT",
        help="so many cells of a Latin hypercube; --set gives bounds LOW:HIGH",
    )
    add(
        "--starts",
        type=int,
        metavar="COUNT",
        help="one problem from so many random first guesses, the first of them straight",
    )
    add(
        "--seed",
        type=int,
        default=0,
        metavar="INT",
        help="of samples and random starts (default: 0)",
    )
    add(
        "--spread",
        type=float,
        default=1.0,
        metavar="FLOAT",
        help="how far random starts wander (rad or m, default: 1)",
    )
    add(
        "--pareto",
        metavar="GOAL,GOAL",
        help="print and draw the front of two terms of the objective",
    )
    add("--chain", action="store_true", help="start each cell from the solution of its neighbour")
    add("--certify", action="store_true", help="verify every solution; the file has what was found")
    add(
        "--measure",
        metavar="FUNCTION",
        help="of NAME's module: takes a solution, returns numbers by name",
    )
    add("--workers", type=int, metavar="COUNT", help="processes (default: one per processor)")
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="of a Dask cluster, as tcp://host:port; needs the extra `cluster`",
    )
    add("--file", metavar="FILE.sqlite", help="where results are kept (default: NAME-study.sqlite)")
    add("--retry", action="store_true", help="run failed cells again")
    add("--csv", metavar="FILE.csv", help="write a table of the cells")
    add("--plot", metavar="FILE.png", help="draw a figure per parameter")
    add(
        "--y",
        default="objective",
        metavar="COLUMN",
        help="of the table, to be drawn (default: objective)",
    )
    add("--quiet", action="store_true", help="no progress line")
    return parser


def _module(name):
    """Return the problem's module: of the gallery, or any that Python finds."""
    for path in (f"ocp.problems.{name}", name):
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name is None or not path.startswith(error.name):
                raise
            continue
        return module if callable(getattr(module, "problem", None)) else _member(module, "problem")
    raise ValueError(f"{name}: there is no such problem; `python -m problems` lists them")


def _member(module, name):
    if not callable(getattr(module, name, None)):
        raise ValueError(f"{module.__name__}: has no function {name!r}")
    return getattr(module, name)


def _design(flags):
    over = {}
    for text in flags.sets:
        name, equals, rest = text.partition("=")
        if not name or not equals or not rest:
            raise ValueError(f"--set: expected PARAMETER=VALUES, got {text!r}")
        if name in over:
            raise ValueError(f"--set: {name}: is set twice")
        over[name] = values(rest)
    several = [name for name, entry in over.items() if isinstance(entry, (list, tuple))]
    if flags.starts is not None:
        if (
            several
            or flags.zip
            or flags.latin is not None
            or flags.pareto is not None
            or flags.chain
        ):
            raise ValueError(
                "--starts: of one problem only; --set takes one value of each parameter, and nothing else is asked for"
            )
        return over
    if flags.latin is not None:
        return latin_hypercube(over, flags.latin, flags.seed)
    bounds = next((name for name, entry in over.items() if isinstance(entry, tuple)), None)
    if bounds is not None:
        raise ValueError(
            f"--set: {bounds}: bounds LOW:HIGH are for --latin; expected LOW:HIGH:COUNT"
        )
    return zipped(over) if flags.zip else grid(over)


def _check_outputs(flags):
    if flags.pareto is not None and len(flags.pareto.split(",")) != 2:
        raise ValueError(f"--pareto: expected two goals, got {flags.pareto!r}")
    for path in filter(None, (flags.csv, flags.plot)):
        check_writable(path)
    if flags.plot is not None:
        check_suffix(flags.plot)


@contextmanager
def _executor(scheduler):
    """Yield the executor of a Dask cluster, None without one."""
    if scheduler is None:
        yield None
        return
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise ValueError(f"--scheduler: needs Dask: {needs('cluster')}") from None
    with distributed.Client(scheduler, timeout=10) as client:
        yield client.get_executor()


class _Line:
    """Says after each cell how far the study is: in one line of a terminal, else in a line for each."""

    def __init__(self, stream):
        self.stream, self.again = stream, stream.isatty()

    def __call__(self, progress):
        minutes, seconds = divmod(round(progress.remaining), 60)
        share = progress.done / progress.total
        bar = f"[{'#' * int(20 * share):<20}] " if self.again else ""
        text = (
            f"{bar}{progress.done}/{progress.total} cells, {progress.failed} failed, {minutes}:{seconds:02d} left; "
            + ", ".join(
                f"{name} {_word(value)}" for name, value in progress.cell.parameters.items()
            )
            + f": {progress.cell.status}"
        )
        end = "\n" if not self.again or progress.done == progress.total else ""
        self.stream.write(f"\r\033[K{text}{end}" if self.again else f"{text}{end}")
        self.stream.flush()


def _cells(cells):
    rows, measured = table(cells), dict.fromkeys(name for one in cells for name in one.measured)
    names = [*cells[0].parameters, *SHOWN]
    body = [
        [_word(row[name]) for name in names]
        + [_word(row[name], 4) for name in measured]
        + [row["reason"][:80]]
        for row in rows
    ]
    return _aligned([[*names, *measured, "reason" if any(row[-1] for row in body) else ""], *body])


def _optima(optima, count):
    body = [
        [
            str(rank),
            _word(optimum.objective),
            _word(optimum.solution.duration),
            f"{len(optimum.starts)} of {count}",
            ", ".join(map(str, optimum.starts[:12]))
            + (", ..." if len(optimum.starts) > 12 else ""),
        ]
        for rank, optimum in enumerate(optima, start=1)
    ]
    return "\n" + _aligned([["rank", "objective", "duration", "found", "by starts"], *body])


def _front(front):
    body = [
        [
            _word(first),
            _word(second),
            ", ".join(f"{name} {_word(value)}" for name, value in one.parameters.items()),
        ]
        for one, first, second in front.points
    ]
    return f"\nfront of {len(body)} points\n" + _aligned([[*front.names, "cell"], *body])


def _aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(entry.ljust(width) for entry, width in zip(row, widths)).rstrip() for row in rows
    )


def _word(value, digits=8):
    return (
        "" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    )


if __name__ == "__main__":
    sys.exit(run())

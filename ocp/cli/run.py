"""The command line of a problem: its function's signature becomes the flags, beside those that every problem has."""

import argparse
import inspect
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import NoReturn, get_args

from ocp import NotVerified, Solver, Task, Transcription, load
from ocp.cli.report import block, describe, summary
from ocp.dynamics import CHOICES, DERIVATIVES
from ocp.solution.certificate import verify
from ocp.solution.files import check_writable, plain, write
from ocp.solvers.backend import HESSIANS
from ocp.transcription.methods import METHODS
from ocp.transcription.transcribe import transcription_of

SOLVED, NOT_SOLVED, BAD_ARGUMENTS = 0, 1, 2
TOLERANCE_OPTIONS = {
    "ipopt": ("tol",),
    "bonmin": ("tol",),
    "fatrop": ("tolerance",),
    "uno": ("primal_tolerance", "dual_tolerance"),
    "blocksqp": ("opttol", "nlinfeastol"),
    "alpaqa": ("alm.tolerance", "alm.dual_tolerance"),
    "snopt": ("Major optimality tolerance", "Major feasibility tolerance"),
} | dict.fromkeys(("sqpmethod", "feasiblesqpmethod", "qrsqp"), ("tol_pr", "tol_du"))


# parameters of a method that are the program's, not the user's
FRAMEWORK = ("problem", "transcription", "solver", "guess", "watch", "attempts", "certify")


def main(task: Task) -> NoReturn:
    """Run a task as this program's command line says, and exit.

    Status 0: solved (and verified, if asked), 1: not solved, 2: bad arguments.
    """
    sys.exit(run(task))


def run(task: Task, arguments: Sequence[str] | None = None) -> int:
    """Do what `main` does and return the exit status."""
    name = task.name
    parser, own, how = _parser(task)
    flags = parser.parse_args(arguments)
    try:
        values = {key: getattr(flags, key) for key in own}
        statement = task.problem(**values)
        transcription, solver = _settings(flags)
        for path in (flags.save, flags.report, flags.plot, flags.animate):
            if path is not None:
                check_writable(path)
        _check_suffixes(flags)
        guess = None if flags.guess is None else load(flags.guess, statement)
        solution = task.method(
            statement,
            transcription,
            solver,
            guess=guess,
            watch=None if flags.quiet else _Ticker(),
            **{key: getattr(flags, key) for key in how},
        )
    except (ValueError, OSError) as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    certificate = verify(solution) if flags.verify is not None else None
    report = describe(task, values, solution, certificate)
    more = task.views.report(solution) if task.views.report is not None else {}
    print(
        summary(report)
        if flags.quiet
        else "\n".join([block(report), *(task.views.lines(more) if more else ())])
    )
    report |= more
    for line in solution.explanation:
        print(line, file=sys.stderr)
    _outputs(flags, solution, report, task.views)
    return _verdict(name, solution, certificate, flags.verify)


def _parser(task):
    """Return the parser and the names of the problem's own parameters, and of the method's."""
    name, problem, method = task.name, task.problem, task.method
    page = inspect.getdoc(inspect.getmodule(problem)) or ""
    parser = argparse.ArgumentParser(
        prog=f"python -m problems.{name}",
        description=page,
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    own, parameters = (
        parser.add_argument_group("of this problem"),
        inspect.signature(problem).parameters,
    )
    _add_flags(own, problem, parameters)
    how = {
        key: parameter
        for key, parameter in inspect.signature(method).parameters.items()
        if parameter.annotation is not parameter.empty and key not in FRAMEWORK
    }
    _add_flags(own, method, how)
    _common_flags(parser.add_argument_group("of every problem"), name)
    return parser, tuple(parameters), tuple(how)


def _add_flags(own, function, parameters):
    """Add a flag for each parameter, with the function's own words on it."""
    told = {
        key: " ".join(words.split()).rstrip(";.")
        for key, words in re.findall(r"`(\w+)`: ([^`]*)", inspect.getdoc(function) or "")
    }
    for key, parameter in parameters.items():
        flag, kind = "--" + key.replace("_", "-"), _kind(parameter)
        help_text = told.get(key, "of the problem").replace("%", "%%")
        if kind is bool:
            own.add_argument(
                flag,
                action=argparse.BooleanOptionalAction,
                default=parameter.default,
                help=help_text,
            )
        else:
            own.add_argument(
                flag,
                type=kind,
                default=parameter.default,
                metavar=kind.__name__.upper(),
                help=help_text,
            )


def _kind(parameter):
    """Return the type a flag's text is read as: the annotation's, without None, or that of the default."""
    kinds = [
        kind
        for kind in get_args(parameter.annotation) or (parameter.annotation,)
        if kind is not type(None)
    ]
    return kinds[0] if kinds[0] in (int, float, str, bool) else type(parameter.default)


def _common_flags(group, name):
    add, defaults = group.add_argument, Transcription()
    add(
        "--dynamics",
        default=defaults.dynamics,
        metavar="NAME",
        help=f"formulation: {', '.join(CHOICES)}; auto is newton_euler, for flexible links book",
    )
    add(
        "--derivatives",
        default=defaults.derivatives,
        metavar="NAME",
        help=f"provider: {', '.join(DERIVATIVES)}; auto is recursive, for flexible links ad",
    )
    add("--method", default="spline", metavar="NAME", help=f"one of {', '.join(METHODS)}")
    for entry, owners in _method_fields().values():
        kind = str if isinstance(entry.default, str) else int
        words = f"{entry.metadata['help']} ({', '.join(owners)})"
        add(f"--{entry.name}", type=kind, default=None, metavar=kind.__name__.upper(), help=words)
    add(
        "--compile",
        action="store_true",
        help="run kernels as machine code, if there is a C compiler",
    )
    add("--plugin", default="ipopt", metavar="NAME", help="solver plugin of CasADi")
    add("--hessian", default="exact", metavar="NAME", help=f"one of {', '.join(HESSIANS)}")
    add(
        "--tol",
        type=float,
        default=None,
        metavar="FLOAT",
        help="convergence tolerance of the solver",
    )
    add(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the solver plugin itself; may be repeated",
    )
    add("--guess", default=None, metavar="FILE.npz", help="start from a saved solution")
    add("--save", default=None, metavar="FILE.npz", help="save the solution")
    add("--report", default=None, metavar="FILE.json", help="write the report")
    add(
        "--verify",
        nargs="?",
        type=float,
        const=1e-3,
        default=None,
        metavar="TOLERANCE",
        help="certify the motion, to this tolerance (0.001 if none is given)",
    )
    add(
        "--plot",
        nargs="?",
        const=f"{name}.png",
        default=None,
        metavar="FILE.png",
        help="draw the overview",
    )
    add("--animate", default=None, metavar="FILE.gif", help="animate, as .gif or .html")
    add("--quiet", action="store_true", help="print one line only")


def _method_fields():
    """Return {name: (field, names of the methods that have it)} of all methods' settings."""
    settings = {}
    for name, method in METHODS.items():
        for entry in fields(method):
            settings.setdefault(entry.name, (entry, []))[1].append(name)
    return settings


def _settings(flags):
    options = {}
    if flags.tol is not None:
        if flags.plugin not in TOLERANCE_OPTIONS:
            raise ValueError(f"--tol: unknown for plugin {flags.plugin!r}; use --option NAME=VALUE")
        options |= dict.fromkeys(TOLERANCE_OPTIONS[flags.plugin], flags.tol)
    for text in flags.option:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f"--option: expected NAME=VALUE, got {text!r}")
        options[key] = literal(value)
    chosen = {name: getattr(flags, name) for name in ("method", "dynamics", "derivatives")}
    given = {name: getattr(flags, name) for name in _method_fields()}
    given = {name: value for name, value in given.items() if value is not None}
    transcription = transcription_of(chosen | given | {"compiled": flags.compile})
    return transcription, Solver(plugin=flags.plugin, hessian=flags.hessian, options=options)


def literal(text):
    """Return a text as the number or the truth value that it spells, or as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _check_suffixes(flags):
    for flag, path, known in (
        ("--plot", flags.plot, (".png", ".svg", ".pdf")),
        ("--animate", flags.animate, (".gif", ".html")),
    ):
        if path is not None and Path(path).suffix.lower() not in known:
            raise ValueError(f"{flag}: expected a file ending in {', '.join(known)}, got {path!r}")


def _outputs(flags, solution, report, views):
    if flags.save is not None:
        solution.save(flags.save)
    if flags.report is not None:
        write(flags.report, json.dumps(plain(report, null=True), indent=2) + "\n")
    if flags.plot is not None:
        views.plot(solution, flags.plot)
    if flags.animate is not None:
        views.animate(solution, flags.animate)


def _verdict(name, solution, certificate, tolerance):
    if not solution.success:
        return NOT_SOLVED
    if certificate is not None:
        try:
            certificate.require(tolerance)
        except NotVerified as error:
            print(f"{name}: {error}", file=sys.stderr)
            return NOT_SOLVED
    return SOLVED


class _Ticker:
    """Prints one line per iteration."""

    def __call__(self, iteration):
        if iteration.number == 0:
            print(f"{'iteration':>9}  {'objective':>14}  {'violation':>10}  {'seconds':>8}")
        print(
            f"{iteration.number:9d}  {iteration.objective:14.8g}  {iteration.violation:10.2e}  {iteration.seconds:8.3f}"
        )

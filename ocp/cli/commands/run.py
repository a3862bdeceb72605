"""The `ocp run` command: a task's parameters become flags, beside those that every problem has."""

import argparse
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ocp import certificate as certificates  # names of wings load when they are asked for
from ocp import solving, storage
from ocp.cli.exit_status import (
    BAD_ARGUMENTS,
    DONE,
    FAILED,
    INTERRUPTED,
    NOT_WRITTEN,
    REFUSED,
    exit_status,
    refuse,
)
from ocp.cli.flags import (
    CONVERGED,
    NOTHING,
    Setting,
    add,
    literal,
    of_function,
    of_record,
    parse,
    relative_tolerance,
)
from ocp.cli.output.brief_report import LINES, brief
from ocp.cli.output.iterations import iteration_printer, iteration_status, watch_both
from ocp.cli.output.run_report import block, describe, summary
from ocp.cli.output.saved_files import check_paths, check_tables, write_files
from ocp.cli.output.status_line import Steps, status_line
from ocp.dynamics import CHOICES, DERIVATIVES
from ocp.dynamics.catalogue import is_choice
from ocp.dynamics.formulation_record import Formulation
from ocp.motion.spline import KNOTS, BSpline
from ocp.solution.solution import Solution
from ocp.solvers import HESSIANS, Solver, keep_interrupts
from ocp.solvers import INTERRUPTED as STOPPED
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.store.function_addresses import module_at, named_value
from ocp.studies.task import GIVEN, Task, on_spline, task_of
from ocp.transcription import KERNELS
from ocp.transcription.transcription_methods import METHODS, Collocation, Method
from ocp.transcription.transcription_settings import Transcription, settings_of, transcription_of

if TYPE_CHECKING:
    from ocp.plots.bodies.viewer import Viewer

TOLERANCE_OPTIONS = {
    "bonmin": ("tol",),
    "fatrop": ("tolerance",),
    "uno": ("primal_tolerance", "dual_tolerance"),
    "blocksqp": ("opttol", "nlinfeastol"),
    "alpaqa": ("alm.tolerance", "alm.dual_tolerance"),
    "snopt": ("Major optimality tolerance", "Major feasibility tolerance"),
}
TOLERANCE_OPTIONS |= dict.fromkeys(("auto", "ipopt", "structured"), ("tol",))
TOLERANCE_OPTIONS |= dict.fromkeys(
    ("sqpmethod", "feasiblesqpmethod", "qrsqp"), ("tol_pr", "tol_du")
)
USAGE = "ocp run NAME|FILE.py|PACKAGE.MODULE [flags]"
TEXTS = {
    "degree": ("of the spline", ()),
    "knots": ("of the spline: variables, if free", KNOTS),
    "spacing": ("least distance of free knots, of the motion", ()),
    "plugin": ("solver: auto, structured, snopt, a plugin of CasADi", ()),
    "hessian": ("of the Lagrangian", HESSIANS),
    "dynamics": (
        "formulation; auto is newton_euler, for flexible links book; a table may have settings, "
        "as in 'table(points=65, degree=5)'",
        (*CHOICES, "or one of the problem's module"),
    ),
    "derivatives": (
        "of the torques; auto is recursive where the formulation is and more than four coordinates "
        "move, else ad",
        DERIVATIVES,
    ),
    "kernels": ("machine code made here, by a C compiler, or none; auto is assembled", KERNELS),
    "threads": ("of the virtual machine", ()),
}
Flags = Mapping[str, Arguments]  # {prefix: {name: value}}


def main(task: Task) -> NoReturn:
    """Run a task as this program's command line says, and exit.

    Status 0: solved, and where `--verify` is given certified; 1: not solved, not certified, or
    without `--verify` solved on a basis that is too coarse for its motion; 2: bad arguments;
    3: solved, but a file that was asked for could not be written; 130: interrupted.
    """
    sys.exit(exit_status(run_task, task, sys.argv[1:]))


def command(arguments: Sequence[str]) -> int:
    """Run the problem that is named first: one of the gallery, a file, or a module."""
    if not arguments or arguments[0].startswith("-"):
        asked = bool({"-h", "--help"} & {*arguments})
        text = f"usage: {USAGE}\n\n`ocp list` lists the gallery, `ocp run NAME --help` the flags."
        print(text, file=sys.stdout if asked else sys.stderr)
        return DONE if asked else BAD_ARGUMENTS
    name, *rest = arguments
    try:
        task = task_of(module_at(name))
    except REFUSED as error:
        return refuse("ocp run", error)
    return run_task(task, rest, f"ocp run {name}")


def run_task(task: Task, arguments: Sequence[str], program: str | None = None) -> int:
    """Do what `main` does and return the exit status; `program` is how the user calls it."""
    flags = parse(_parser(task, program or _program()), arguments)
    outputs = flags["output"]
    with status_line(task.name, silent=outputs["quiet"]) as steps:
        try:
            if outputs["verify"] is not None:
                relative_tolerance("--verify", outputs["verify"])
            elif outputs["converged"]:
                raise ValueError("--converged: is told by certificates; give --verify TOLERANCE")
            solution, viewer = _solve(task, flags, steps)
        except REFUSED as error:
            return refuse(task.name, error)
        certificate = None
        if outputs["verify"] is not None:
            certificate = solving.verify(solution, finer=outputs["converged"])
            if certificate.convergence is not None:
                solution = certificates.keep_convergence(solution, certificate.convergence)
        steps.clear()
        stated = flags.get("problem", {})
        room = LINES - steps.lines
        written = _print_and_write(task, stated, solution, certificate, outputs, room)
        if viewer is not None:
            viewer.show(solution)
            viewer.stay()
        status = _status(task.name, solution, certificate, outputs["verify"])
        return status if status != DONE or written else NOT_WRITTEN


def _program() -> str:
    """Return the command by which the user called a program that runs a task itself."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and not spec.name.startswith("pytest"):
        return f"python -m {spec.name.removesuffix('.__main__')}"
    return f"python {Path(sys.argv[0]).name}"


def _solve(task: Task, flags: Flags, steps: Steps) -> "tuple[Solution, Viewer | None]":
    """Return the solution that flags ask for, and the viewer that shows it, if any."""
    outputs = flags["output"]
    check_paths(outputs, task.views.files)
    spline = {name: value for name, value in flags["motion"].items() if value is not None}
    with keep_interrupts():
        statement = on_spline(task.state(flags.get("problem", {})), spline)
    check_tables(outputs, statement)
    solver, transcription = _solver(flags["solver"]), _transcription(task, flags["transcription"])
    method = transcription.method
    if "degree" in spline and isinstance(method, Collocation):
        raise ValueError(f"degree: is that of splines, and method {method.name!r} plans on a mesh")
    guess = None if outputs["guess"] is None else storage.load(outputs["guess"])
    watch = iteration_printer(steps) if outputs["details"] else iteration_status(steps)
    viewer = None
    if outputs["view"] is not None:
        from ocp.plots.bodies.viewer import Viewer  # pictures load when one is drawn

        viewer = Viewer(port=outputs["view"])
        words = f"shown at {viewer.url}, also when it is solved, until Ctrl-C"
        print(words, file=sys.stderr)
        watch = watch_both(watch, viewer.watch)
    settings = dict(flags.get("method", {}), guess=guess, watch=watch)
    tolerance = outputs["refine"]
    refines = "refine" in inspect.signature(task.method).parameters
    if tolerance is not None and refines:
        settings["refine"] = tolerance
    solution = task.method(statement, transcription, solver, **settings)
    if tolerance is not None and not refines:  # what the method finds is where refinement starts
        own = solution.transcription
        solution = solving.refine(
            solution.problem, tolerance, own, solver, guess=solution, watch=watch
        )
    return solution, viewer


def _solver(flags: Arguments) -> Solver:
    """Return the Solver of flags, `tol` and `option` among its options; raise ValueError."""
    chosen = dict(flags)
    tolerance, texts = chosen.pop("tol"), chosen.pop("option")
    options: Keywords = {}
    if tolerance is not None:
        if chosen["plugin"] not in TOLERANCE_OPTIONS:
            raise ValueError(
                f"--tol: unknown for plugin {chosen['plugin']!r}; use --option NAME=VALUE"
            )
        options |= dict.fromkeys(TOLERANCE_OPTIONS[chosen["plugin"]], tolerance)
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f"--option: expected NAME=VALUE, got {text!r}")
        options[key] = literal(value)
    return Solver(**chosen, options=options)


def _transcription(task: Task, flags: Arguments) -> Transcription:
    """Return the Transcription of flags, which may name values of the task's module."""
    settings = {name: value for name, value in flags.items() if value is not None}
    if settings["method"] == task.transcription.method.name:
        settings = settings_of(task.transcription) | settings
    if not is_choice(settings["dynamics"]):
        settings["dynamics"] = named_value(task.problem, settings["dynamics"], Formulation)
    if settings["method"] not in METHODS:
        settings["method"] = named_value(task.problem, settings["method"], Method)
    return transcription_of(settings)


def _print_and_write(
    task: Task,
    arguments: Arguments,
    solution: Solution,
    certificate: "certificates.Verification | None",
    outputs: Arguments,
    room: int,
) -> bool:
    """Print the result of a run, by default in `room` lines, write the files that were asked for,
    and tell whether all of them are written."""
    views, tolerance = task.views, outputs["verify"]
    report = describe(task, arguments, solution, certificate, tolerance)
    details = cache(lambda: {} if views.report is None else dict(views.report(solution)))
    explanation = list(solution.explanation)
    if outputs["quiet"]:
        text = [summary(report)]
    elif outputs["details"]:
        text = [block(report), *views.report_lines(details())]
    else:
        own = views.report_lines(details()) if views.brief is None else views.brief(solution)
        text = [brief(report, task.defaults, own, room - len(explanation))]
    try:
        print(*text, sep="\n", flush=True)
        for line in explanation:
            print(line, file=sys.stderr)
    finally:  # a full stream takes no files along
        written = write_files(task.name, views, solution, lambda: report | details(), outputs)
    return written


def _status(
    name: str, solution: Solution, certificate: "certificates.Verification | None", tolerance: float
) -> int:
    """Return the status that a solution stands for; a certificate judges also a coarse basis."""
    if solution.status == STOPPED:
        return INTERRUPTED
    if not solution.success:
        return FAILED
    if certificate is None:
        return FAILED if solution.statistics.get("coarse") else DONE
    try:
        certificate.require(tolerance)
    except certificates.NotVerified as error:
        print(f"{name}: {error}", file=sys.stderr)
        return FAILED
    return DONE


# Flags --------------------------------------------------------------------------------------------


def _parser(task: Task, program: str) -> argparse.ArgumentParser:
    """Return the parser of a task's flags; their destinations are "prefix.name"."""
    parser = argparse.ArgumentParser(
        prog=program,
        usage=f"{program} [flags]",
        description=inspect.getdoc(inspect.getmodule(task.problem)) or "",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    spline = _record_settings(BSpline, without=("points", "clamped", "inner", "curves"))
    own = [
        setting
        for setting in of_function(task.method, GIVEN)
        if setting.name in task.settings and setting.kind is not NOTHING
    ]
    tolerance = Setting(
        name="tol", kind=float, default=None, words="convergence tolerance of the solver"
    )
    option = Setting(
        name="option",
        kind=str,
        default=[],
        words="an option of the solver plugin itself; may be repeated",
    )
    for prefix, title, settings in (
        ("problem", "of this problem", of_function(task.problem)),
        (
            "motion",
            "of the spline that the motion is on, where not the problem's own",
            [replace(setting, default=None) for setting in spline],
        ),
        ("method", "of how it is solved", own),
        ("transcription", "of the transcription", _transcription_settings(task.transcription)),
        ("solver", "of the solver", [*_record_settings(Solver, without=("options",)), tolerance]),
    ):
        group = parser.add_argument_group(title)
        for setting in settings:
            add(group, prefix, setting)
    add(group, "solver", option, action="append", metavar="NAME=VALUE", default=[])
    _add_outputs(parser.add_argument_group("outputs"), task)
    return parser


def short_parser(task: Task, program: str, names: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that lists the flags of these names of a task's problem, and its outputs."""
    parser = argparse.ArgumentParser(
        prog=program,
        usage=f"{program} [flags]",
        description=f"{inspect.getdoc(inspect.getmodule(task.problem))}".partition("\n")[0],
        epilog=f"all flags of `ocp run {task.name} --help` are taken",
    )
    group = parser.add_argument_group("of this problem")
    settings = {setting.name: setting for setting in of_function(task.problem)}
    for name in names:
        add(group, "problem", settings[name])
    _add_outputs(parser.add_argument_group("outputs"), task)
    return parser


def _transcription_settings(stated: Transcription) -> list[Setting]:
    """Return the settings of the transcription and those of all methods, with the methods that have
    them; defaults are those `stated` by the task."""
    owners: dict[str, list[str]] = {}
    settings: dict[str, Setting] = {}
    for name, method in METHODS.items():
        for setting in of_record(method, without=("inner",)):  # no flag lists instants
            owners.setdefault(setting.name, []).append(name)
            settings.setdefault(setting.name, setting)
    defaults = settings_of(stated)
    choices = (*METHODS, "or one of the problem's module")
    chosen = Setting(
        name="method", kind=str, default=defaults["method"], words="which", choices=choices
    )
    shared = [
        replace(setting, default=defaults[setting.name])
        for setting in _record_settings(Transcription, without=("method",))
    ]
    own = []
    for name, setting in settings.items():
        default = defaults.get(name, setting.default)
        told = "" if default is None else f"; default: {default}"
        words = f"{setting.words} ({', '.join(owners[name])}{told})"
        own.append(replace(setting, default=None, words=words))
    return [chosen, *shared, *own]


def _record_settings(record: type, without: Sequence[str] = ()) -> list[Setting]:
    """Return the settings of a record, with the words and choices of TEXTS where it has them."""
    settings = []
    for setting in of_record(record, without):
        words, choices = TEXTS.get(setting.name, (setting.words, setting.choices))
        kind = str if setting.name == "dynamics" else setting.kind  # a formulation by its name
        settings.append(replace(setting, kind=kind, words=words, choices=choices))
    return settings


def _add_outputs(group: argparse._ArgumentGroup, task: Task) -> None:
    def path(key: str, words: str, example: str, **options: str) -> None:
        setting = Setting(name=key, kind=str, default=None, words=words)
        add(group, "output", setting, metavar=example, **options)

    path("guess", "start from a saved solution", "FILE.npz")
    path("save", "save the solution", "FILE.npz")
    path("report", "write the report", "FILE.json")
    verification = Setting(
        name="verify",
        kind=float,
        default=None,
        words="certify the motion, to this tolerance (0.001 if none is given)",
    )
    add(group, "output", verification, nargs="?", const=1e-3, metavar="TOLERANCE")
    converged = Setting(name="converged", default=False, words=CONVERGED)
    add(group, "output", converged, action="store_true")
    refinement = Setting(
        name="refine",
        kind=float,
        default=None,
        words="solve on finer and finer bases until the certificate holds, to this tolerance "
        "(0.001 if none is given)",
    )
    add(group, "output", refinement, nargs="?", const=1e-3, metavar="TOLERANCE")
    path("motion", "write the motion as a table, or for ROS as .yaml or .mcap", "FILE.mot")
    path("forces", "write the ground forces as a table", "FILE.mot")
    path("plot", "draw the overview", "FILE.png", nargs="?", const=f"{task.name}.png")
    port = Setting(name="view", kind=int, default=None, words="show it live in the browser (8080)")
    add(group, "output", port, nargs="?", const=8080, metavar="PORT")
    path("animate", "animate, as .gif, .mp4 or .html", "FILE.gif")
    for own in task.views.files:
        path(own.name, own.words, f"FILE{own.endings[0]}")
    amount = group.add_mutually_exclusive_group()
    for key, words in (
        ("details", "print every iteration and all that there is to say"),
        ("quiet", "print one line only"),
    ):
        add(amount, "output", Setting(name=key, default=False, words=words), action="store_true")

"""A task on the command line: its parameters become flags, beside those that every problem has."""

import argparse
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from ocp import certificate as certificates  # whose names load when they are asked for
from ocp import solving, storage
from ocp.cli.exit_status import INTERRUPTED, REFUSED, ended, of_a_stream, worded
from ocp.cli.flags import NOTHING, Setting, add, literal, of_function, of_record, parse
from ocp.cli.output.brief_report import LINES, brief
from ocp.cli.output.iterations import both, mentioned, printed
from ocp.cli.output.run_report import block, describe, summary
from ocp.cli.output.saved_files import check_paths, check_tables, leave
from ocp.cli.output.status_line import Steps, waited
from ocp.dynamics import CHOICES, DERIVATIVES
from ocp.dynamics.catalogue import is_choice
from ocp.dynamics.formulation import Formulation
from ocp.motion.spline import KNOTS, BSpline
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solvers import HESSIANS, Solver, keep_interrupts
from ocp.solvers import INTERRUPTED as STOPPED
from ocp.studies.store.qualified_names import module_at, named
from ocp.studies.task import Task, on_spline, task_of
from ocp.transcription import KERNELS
from ocp.transcription.methods import METHODS, Collocation, Method
from ocp.transcription.transcribe import Transcription, settings_of, transcription_of

SOLVED, NOT_SOLVED, BAD_ARGUMENTS, NOT_WRITTEN = 0, 1, 2, 3
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


def main(task: Task) -> NoReturn:
    """Run a task as this program's command line says, and exit.

    Status 0: solved (and verified, if asked), 1: not solved, 2: bad arguments, 3: solved, but a
    file that was asked for could not be written, 130: interrupted.
    """
    sys.exit(ended(run, task, sys.argv[1:]))


def command(arguments: Sequence[str]) -> int:
    """Run the problem that is named first: one of the gallery, a file, or a module."""
    if not arguments or arguments[0].startswith("-"):
        asked = bool({"-h", "--help"} & {*arguments})
        text = f"usage: {USAGE}\n\n`ocp list` lists the gallery, `ocp run NAME --help` the flags."
        print(text, file=sys.stdout if asked else sys.stderr)
        return SOLVED if asked else BAD_ARGUMENTS
    name, *rest = arguments
    try:
        task = task_of(module_at(name))
    except REFUSED as error:
        if of_a_stream(error):
            raise
        print(f"ocp run: error: {worded(error)}", file=sys.stderr)
        return BAD_ARGUMENTS
    return run(task, rest, f"ocp run {name}")


def run(task: Task, arguments: Sequence[str], program: str | None = None) -> int:
    """Do what `main` does and return the exit status; `program` is how the user calls it."""
    flags = parse(_parser(task, program or _called_as()), arguments)
    with waited(task.name, silent=flags["output"]["quiet"]) as steps:
        return _run(task, flags, steps)


def _run(task: Task, flags: Mapping[str, Mapping[str, Any]], steps: Steps) -> int:
    """Solve a task as flags ask for, tell what came of it, and return the exit status."""
    outputs = flags["output"]
    try:
        check_paths(outputs, task.views.files)
        with keep_interrupts():
            chosen = {name: value for name, value in flags["motion"].items() if value is not None}
            statement = on_spline(task.stated(flags.get("problem", {})), chosen)
        check_tables(outputs, statement)
        transcription, solver = _settings(task, flags)
        _check_degree(chosen, transcription.method)
        guess = None if outputs["guess"] is None else storage.load(outputs["guess"])
        watch = printed(steps) if outputs["details"] else mentioned(steps)
        viewer = None if outputs["view"] is None else _viewer(outputs["view"])
        watch = watch if viewer is None else both(watch, viewer.watch)
        settings = dict(flags.get("method", {}), guess=guess, watch=watch)
        solution = _solved(
            task.method, statement, transcription, solver, outputs["refine"], settings
        )
    except REFUSED as error:
        if of_a_stream(error):
            raise
        print(f"{task.name}: error: {worded(error)}", file=sys.stderr)
        return BAD_ARGUMENTS
    certificate = None if outputs["verify"] is None else certificates.verify(solution)
    steps.heard()
    arguments = flags.get("problem", {})
    whole = _tell(task, arguments, solution, certificate, outputs, LINES - steps.lines)
    if viewer is not None:
        viewer.show(solution)
        viewer.stay()
    verdict = _verdict(task.name, solution, certificate, outputs["verify"])
    return verdict if verdict != SOLVED or whole else NOT_WRITTEN


def _viewer(port: int) -> Any:
    """Return a viewer, and say where it is seen."""
    from ocp.plots.bodies.viewer import Viewer  # pictures load when one is drawn

    viewer = Viewer(port=port)
    print(f"shown at {viewer.url}, also when it is solved, until Ctrl-C", file=sys.stderr)
    return viewer


def _check_degree(chosen: Mapping[str, Any], method: Any) -> None:
    """Raise ValueError for a degree of splines where a method plans on a mesh of its own."""
    if "degree" in chosen and isinstance(method, Collocation):
        raise ValueError(f"degree: is that of splines, and method {method.name!r} plans on a mesh")


def _solved(
    method: Any,
    statement: Problem,
    transcription: Transcription,
    solver: Solver,
    tolerance: float | None,
    settings: dict[str, Any],
) -> Solution:
    """Return what a task's method finds, refined to a tolerance if there is one.

    Methods that cannot refine give refinement its start.
    """
    if tolerance is None:
        return method(statement, transcription, solver, **settings)
    if "refine" in inspect.signature(method).parameters:
        return method(statement, transcription, solver, refine=tolerance, **settings)
    start = method(statement, transcription, solver, **settings)
    return solving.refine(
        start.problem,
        tolerance,
        start.transcription,
        solver,
        guess=start,
        watch=settings["watch"],
    )


def _called_as() -> str:
    """Return how the user called the program that runs a task itself."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and not spec.name.startswith("pytest"):
        return f"python -m {spec.name.removesuffix('.__main__')}"
    return f"python {Path(sys.argv[0]).name}"


def _parser(task: Task, program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        usage=f"{program} [flags]",
        description=inspect.getdoc(inspect.getmodule(task.problem)) or "",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for prefix, title, settings in (
        ("problem", "of this problem", of_function(task.problem)),
        ("motion", "of the spline that the motion is on, where not the problem's own", _spline()),
        ("method", "of how it is solved", _own_settings(task)),
        ("transcription", "of the transcription", _transcription_settings(task.transcription)),
        ("solver", "of the solver", _of_record(Solver, without=("options",))),
    ):
        group = parser.add_argument_group(title)
        for setting in settings:
            add(group, prefix, setting)
        if prefix == "solver":
            _add_options(group)
    _add_outputs(parser.add_argument_group("outputs"), task)
    return parser


def _spline() -> list[Setting]:
    """Return the settings of a spline, which unless they are set are those of the problem."""
    settings = _of_record(BSpline, without=("points", "clamped", "inner"))
    return [replace(setting, default=None) for setting in settings]


def _own_settings(task: Task) -> list[Setting]:
    """Return the settings of a task's method that are flags, which are the annotated ones."""
    return [
        setting
        for setting in of_function(task.method)
        if setting.name in task.settings and setting.kind is not NOTHING
    ]


def _transcription_settings(stated: Transcription) -> list[Setting]:
    """Return the settings of the transcription and those of all methods, with who has them.

    Their defaults are those `stated` by the task.
    """
    owners: dict[str, list[str]] = {}
    settings: dict[str, Setting] = {}
    for name, method in METHODS.items():
        for setting in of_record(method, without=("inner",)):  # no flag lists instants
            owners.setdefault(setting.name, []).append(name)
            settings.setdefault(setting.name, setting)
    choices = (*METHODS, "or one of the problem's module")
    given = settings_of(stated)
    chosen = Setting(
        name="method", kind=str, default=given["method"], words="which", choices=choices
    )
    own = (
        replace(setting, default=given.get(name, setting.default))
        for name, setting in settings.items()
    )
    return [
        chosen,
        *(
            replace(setting, default=given[setting.name])
            for setting in _of_record(Transcription, without=("method",))
        ),
        *(replace(one, default=None, words=_owned(one, owners[one.name])) for one in own),
    ]


def _owned(setting: Setting, methods: Sequence[str]) -> str:
    """Return the words of a setting, with the methods that have it and its default."""
    default = "" if setting.default is None else f"; default: {setting.default}"
    return f"{setting.words} ({', '.join(methods)}{default})"


def _of_record(record: type, without: Sequence[str] = ()) -> list[Setting]:
    settings = []
    for setting in of_record(record, without):
        words, choices = TEXTS.get(setting.name, (setting.words, setting.choices))
        kind = str if setting.name == "dynamics" else setting.kind  # a formulation by its name
        settings.append(replace(setting, kind=kind, words=words, choices=choices))
    return settings


def _add_options(group: Any) -> None:
    tolerance = Setting(
        name="tol", kind=float, default=None, words="convergence tolerance of the solver"
    )
    option = Setting(
        name="option",
        kind=str,
        default=[],
        words="an option of the solver plugin itself; may be repeated",
    )
    add(group, "solver", tolerance)
    add(group, "solver", option, action="append", metavar="NAME=VALUE", default=[])


def _add_outputs(group: Any, task: Task) -> None:
    def path(key: str, words: str, example: str, **options: Any) -> None:
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
    refinement = Setting(
        name="refine",
        kind=float,
        default=None,
        words="solve on finer and finer bases until the certificate holds, to this tolerance "
        "(0.001 if none is given)",
    )
    add(group, "output", refinement, nargs="?", const=1e-3, metavar="TOLERANCE")
    path("motion", "write the motion as a table, or a trajectory of ROS as .yaml", "FILE.mot")
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


def _settings(task: Task, flags: Mapping[str, Mapping[str, Any]]) -> tuple[Transcription, Solver]:
    """Return the Transcription and the Solver that flags ask for; raise ValueError."""
    chosen = dict(flags["solver"])
    tolerance, texts = chosen.pop("tol"), chosen.pop("option")
    options: dict[str, Any] = {}
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
    return _transcription(task, flags["transcription"]), Solver(**chosen, options=options)


def _transcription(task: Task, flags: Mapping[str, Any]) -> Transcription:
    """Return the Transcription of flags, which may name values of the task's module."""
    settings = {name: value for name, value in flags.items() if value is not None}
    if settings["method"] == task.transcription.method.name:
        settings = settings_of(task.transcription) | settings
    if not is_choice(settings["dynamics"]):
        settings["dynamics"] = named(task.problem, settings["dynamics"], Formulation)
    if settings["method"] not in METHODS:
        settings["method"] = named(task.problem, settings["method"], Method)
    return transcription_of(settings)


def _tell(
    task: Task,
    arguments: Mapping[str, Any],
    solution: Solution,
    certificate: "certificates.Verification | None",
    outputs: Mapping[str, Any],
    room: int,
) -> bool:
    """Print what came of a run, by default in `room` lines, write what was asked for, and tell
    whether all of it is written."""
    views, tolerance = task.views, outputs["verify"]
    report = describe(task, arguments, solution, certificate, tolerance)
    details = cache(lambda: {} if views.report is None else dict(views.report(solution)))
    explanation = list(solution.explanation)
    if outputs["quiet"]:
        text = [summary(report)]
    elif outputs["details"]:
        text = [block(report), *views.said(details())]
    else:
        own = views.said(details()) if views.brief is None else views.brief(solution)
        text = [brief(report, task.defaults, own, room - len(explanation))]
    try:
        print(*text, sep="\n", flush=True)
        for line in explanation:
            print(line, file=sys.stderr)
    finally:  # a full stream takes no files along
        whole = leave(task.name, views, solution, lambda: report | details(), outputs)
    return whole


def _verdict(
    name: str, solution: Solution, certificate: "certificates.Verification | None", tolerance: float
) -> int:
    if solution.status == STOPPED:
        return INTERRUPTED
    if not solution.success:
        return NOT_SOLVED
    if certificate is not None:
        try:
            certificate.require(tolerance)
        except certificates.NotVerified as error:
            print(f"{name}: {error}", file=sys.stderr)
            return NOT_SOLVED
    return SOLVED

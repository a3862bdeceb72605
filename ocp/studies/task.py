"""A problem that can be run: by the command line, by studies and by comparisons alike."""

import inspect
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import ModuleType

from ocp.mechanics.values.parameters import Parameter
from ocp.motion.spline import BSpline
from ocp.pickling import portable
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution
from ocp.solving.solve_problem import solve
from ocp.spelling import suggest_fields, suggestion
from ocp.studies.store.argument_flags import EMPTY, Arguments, Keywords, call_by_flags, flags_of
from ocp.studies.store.function_addresses import GALLERY, module_at
from ocp.studies.user_file_errors import told_by_line
from ocp.transcription.transcription_settings import Transcription

Report = Arguments
OF_SPLINES = ("degree", "knots", "spacing")  # what a run may set of a problem's spline
GIVEN = 3  # first arguments of a method: problem, transcription, solver
FRAMEWORK = ("guess", "watch", "attempts", "certify", "refine", "values")  # that are no flags


def overview(solution: Solution, path: str | Path) -> None:
    """Draw the overview of a solution to a file, as `ocp.plots.plot` does."""
    from ocp.plots import plot  # pictures load when one is drawn

    plot(solution, path)


def on_spline(statement: Problem, settings: Arguments) -> Problem:
    """Return a problem on its spline with other settings: degree, knots, spacing.

    Raises ValueError naming one that a spline does not have, or that says nothing of its knots, and
    if the motion is on no spline.
    """
    check_spline(settings)
    if not settings:
        return statement
    refuse_phases(f"motion.{next(iter(settings))}", statement, "state it of each")
    if not isinstance(statement.motion, BSpline):
        raise ValueError(f"{next(iter(settings))}: the problem's motion is on no spline")
    motion = replace(statement.motion, **settings)
    if "spacing" in settings and "knots" not in settings and motion.knots == "given":
        raise ValueError("spacing: is that of free knots, and these are given; set knots to free")
    return replace(statement, motion=motion)


def check_spline(settings: Iterable[str]) -> None:
    """Raise ValueError naming a setting that is none of a problem's spline."""
    odd = next((name for name in settings if name not in OF_SPLINES), None)
    if odd is not None:
        known = ", ".join(OF_SPLINES)
        near = suggestion(odd, OF_SPLINES)
        raise ValueError(f"motion.{odd}: a spline has no such setting{near}; it has {known}")


def film(solution: Solution, path: str | Path) -> None:
    """Animate a solution, as `ocp.plots.animate` does."""
    from ocp.plots import animate

    animate(solution, path)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published number: its `quantity` with unit, `value` and `source`, beside `ours`(solution).

    The true `optimum` where it is known; a `remark`; `within` what share of it ours should lie,
    None where they differ for a reason, which the remark says. The number belongs to the problem
    with these `arguments` (beside the defaults) and is recomputed with the Transcription
    `settings`; with `comparable` False the source does not say enough to repeat it.
    """

    quantity: str
    value: float
    source: str
    ours: Callable[[Solution], float] = field(repr=False)
    optimum: float | None = None
    remark: str = ""
    within: float | None = None
    arguments: Arguments = field(default_factory=dict)
    settings: Arguments = field(default_factory=dict)
    comparable: bool = True


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A file that a problem's runs may leave beside those of every run: the flag --`name` with its
    `words`, the `endings` that it may have, as ".json", and `write`(solution, path)."""

    name: str
    words: str
    endings: tuple[str, ...]
    write: Callable[[Solution, str], object]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """How a problem's solution is looked at: `plot` and `animate`, each (solution, path).

    Where the usual report does not say enough, `report`(solution) returns plain data by name, and
    `lines`(data) their text, the most telling first. `brief`(solution), if given, returns those
    that are told unless all is asked for, where they take less to make. `files` are what runs may
    also leave.
    """

    plot: Callable[..., object] = overview
    animate: Callable[..., object] = film
    report: Callable[[Solution], Report] | None = None
    lines: Callable[[Report], Iterable[str]] | None = None
    brief: Callable[[Solution], Iterable[str]] | None = None
    files: tuple[OwnFile, ...] = ()

    def report_lines(self, report: Report) -> Iterable[str]:
        """Return the lines of a report; none of an empty one."""
        return [] if self.lines is None or not report else self.lines(report)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True)
class Task:
    """A problem that can be run: `problem`(**parameters) returns the Problem, `method` solves it.

    Arguments of the problem may be frozen records, whose fields are parameters as well.

    `method` has the arguments of `solve`, and passes on as `**settings` those that it does not
    name; further keyword parameters of its own, annotated and documented like the problem's, are
    settings of a run. `transcription` is what a run has unless it says otherwise. `views` draw and
    report what came of it, `published` are numbers to stand beside ours.

    `parameters` are what the problem also takes in place of numbers, each named as the argument
    that it stands for: a study that sets these builds one plan for all their values, which the
    method is handed as `values`. `certifies` says what a certificate of the solution is of where
    the method does more than one solve, as planning anew on the way. Raises TypeError naming what
    is no function, or no Transcription, and ValueError naming a parameter that the problem cannot
    leave open.
    """

    problem: Callable[..., Problem]
    _: KW_ONLY
    method: Callable[..., Solution] = solve
    transcription: Transcription = field(default_factory=Transcription)
    views: Views = Views()
    published: tuple[Published, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    certifies: str = ""

    def __post_init__(self) -> None:
        for name in ("problem", "method"):
            value = getattr(self, name)
            if not callable(value):
                raise TypeError(f"task: {name}: expected a function, got {type(value).__name__}")
        if not isinstance(self.transcription, Transcription):
            kind = type(self.transcription).__name__
            raise TypeError(f"task: transcription: expected a Transcription, got {kind}")
        object.__setattr__(self, "published", tuple(self.published))
        object.__setattr__(self, "parameters", tuple(self.parameters))
        for each in self.parameters:
            check_parameter(each, self.problem, self.method)

    @property
    def name(self) -> str:
        """Name of the file that states the problem, or of its folder where that is a package, in
        which the file or a folder is called statement."""
        path = Path(inspect.getfile(self.problem))
        if path.parent.name == "statement":
            return path.parent.parent.name
        return path.parent.name if path.stem in ("statement", "__init__") else path.stem

    def state(self, arguments: Arguments) -> Problem:
        """Return the problem with these arguments; raise ValueError naming the line where one's own
        file fails."""
        own = told_by_line(inspect.getfile(self.problem))
        with nullcontext() if self.problem.__module__.startswith(f"{GALLERY}.") else own:
            return call_by_flags(self.problem, arguments)

    @property
    def defaults(self) -> Keywords:
        """Values of the problem's parameters unless a run says otherwise."""
        flags = flags_of(self.problem).values()
        return {one.name: one.default for one in flags if one.default is not EMPTY}

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the method's own parameters, beside those that every method has."""
        own = list(inspect.signature(self.method).parameters.values())[GIVEN:]
        named = (one.name for one in own if one.kind is not one.VAR_KEYWORD)
        return tuple(name for name in named if name not in FRAMEWORK)

    def numbers(self, arguments: Arguments) -> tuple[Published, ...]:
        """Published numbers that belong to these arguments; `points` may be any."""

        def belongs(entry: Published) -> bool:
            wanted = self.defaults | dict(entry.arguments) | {"points": arguments.get("points")}
            return all(arguments[name] == wanted[name] for name in arguments)

        return tuple(entry for entry in self.published if belongs(entry))


def check_parameter(parameter: object, problem: Callable, method: Callable) -> None:
    """Raise ValueError naming a parameter that a problem cannot leave open, or a method not be
    given: one that stands for no argument, or for one that shapes the problem."""
    if not isinstance(parameter, Parameter):
        kind = type(parameter).__name__
        raise ValueError(f"task: parameters: expected Parameter records, got {kind}")
    what, arguments = f"task: parameter {parameter.name!r}", flags_of(problem)
    if parameter.name not in arguments:
        known = ", ".join(arguments) or "none"
        near = suggestion(parameter.name, arguments)
        raise ValueError(f"{what}: the problem has no such argument{near}; it has {known}")
    kind = arguments[parameter.name].annotation
    if "float" not in (kind if isinstance(kind, str) else str(kind)):
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", kind)
        raise ValueError(
            f"{what}: is of type {name}, which shapes the problem; only numbers of type float can "
            "be left open"
        )
    if parameter.free:
        raise ValueError(f"{what}: is free; what a study sets is given")
    if not takes_values(method):
        raise ValueError(f"{what}: the method takes no `values` of parameters")


def takes_values(method: Callable) -> bool:
    """Tell whether a method can be handed values of parameters."""
    taken = inspect.signature(method).parameters.values()
    return any(one.name == "values" or one.kind is one.VAR_KEYWORD for one in taken)


def task_at(name: str) -> Task:
    """Return the Task of a NAME of the gallery, a file ending in .py, or package.module; raise
    ValueError naming what is not there."""
    return task_of(module_at(name))


def task_of(module: ModuleType) -> Task:
    """Return the TASK of a module, else the Task of its function `problem`; raise ValueError."""
    task = getattr(module, "TASK", None)
    if isinstance(task, Task):
        return task
    problem = getattr(module, "problem", None)
    if not callable(problem):
        raise ValueError(f"{module.__name__}: has no TASK and no function 'problem'")
    return Task(problem)

"""The Jobs of a comparison: all combinations of what is asked, as plain data for processes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ocp.dynamics import DERIVATIVES, Formulation
from ocp.dynamics.catalogue import is_choice
from ocp.problem import Problem
from ocp.solvers import HESSIANS, Solver
from ocp.solving.solve_problem import solve
from ocp.spelling import suggestion
from ocp.studies.comparison.limited_run import Job, Run
from ocp.studies.comparison.solvers import SOLVERS, TRANSCRIPTIONS, Entry
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.store.cell_specification import bound_to, content_of, recipe, transcription_content
from ocp.studies.store.digests import digest, problem_digest
from ocp.studies.store.function_addresses import address, bound_address, named_value
from ocp.studies.task import Task
from ocp.transcription.transcription_settings import settings_of, transcription_of
from ocp.version import VERSION

BEST = "best"  # Hessian: each solver's own
DEFAULTS: Mapping[str, Sequence[str]] = {
    "hessians": (BEST,),
    "derivatives": ("auto",),
    "dynamics": ("auto",),
    "transcriptions": ("spline",),
}
Compared = Task | Problem | Callable[..., Problem]
Solvers = Sequence[str] | Mapping[str, Entry | Solver]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a problem is solved in a run, in words; the solver by its name and Entry."""

    solver: str
    entry: Entry
    hessian: str
    derivatives: str
    dynamics: str
    transcription: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a run: `seconds` of solving, `memory` in GB."""

    seconds: float
    memory: float


def jobs(
    problems: Iterable[Compared], solvers: Solvers, settings: Arguments, limits: Limits
) -> list[Job]:
    """Return the Jobs of all combinations; raise ValueError naming what there is not.

    `settings`: `arguments` of the problems; `hessians`, `derivatives`, `dynamics` and
    `transcriptions`, names of each.
    """
    entries, given = entries_of(solvers), {**DEFAULTS, **settings}
    known = (
        ("hessians", (BEST, *HESSIANS)),
        ("derivatives", DERIVATIVES),
        ("transcriptions", TRANSCRIPTIONS),
    )
    for name, choices in known:
        check_names(name, given[name], choices)
    ways = [
        _way(name, entry, way)
        for (name, entry), *way in product(entries.items(), *(given[name] for name in DEFAULTS))
    ]
    every = []
    for problem in problems:
        stated = _problem_content(problem, given.get("arguments") or {})
        every += [_job(problem, stated, way, limits) for way in ways]
    return list({job.run.key: job for job in every}.values())


def entries_of(solvers: Solvers) -> dict[str, Entry]:
    """Return {name: Entry} of solvers by name, or of those of one's own."""
    if isinstance(solvers, Mapping):
        return {name: _entry(one) for name, one in solvers.items()}
    names = [solvers] if isinstance(solvers, str) else list(solvers)
    check_names("solvers", names, SOLVERS)
    return {name: SOLVERS[name] for name in names}


def check_names(what: str, names: Sequence[str], known: Iterable[str]) -> None:
    """Raise ValueError naming the first name that is not known, or that there is none."""
    choices = list(known)
    odd = next((name for name in names if name not in choices), None)
    if odd is not None or not names:
        near = "" if odd is None else suggestion(odd, choices)
        raise ValueError(f"{what}: expected some of {', '.join(choices)}, got {odd!r}{near}")


def _entry(solver: Entry | Solver) -> Entry:
    if isinstance(solver, Entry):
        return solver
    return Entry(plugin=solver.plugin, hessian=solver.hessian, options=solver.options)


def _way(name: str, entry: Entry, choices: Sequence[str]) -> Way:
    hessian, derivatives, dynamics, transcription = choices
    return Way(
        solver=name,
        entry=entry,
        hessian=entry.hessian if hessian == BEST else hessian,
        derivatives=derivatives,
        dynamics=dynamics,
        transcription=transcription,
    )


def _job(problem: Compared, stated: Arguments, way: Way, limits: Limits) -> Job:
    plugin = way.entry.plugin
    if not isinstance(plugin, str):
        plugin = bound_to("solver", plugin)
    return Job(
        run=Run(
            problem=stated["title"],
            solver=way.solver,
            hessian=way.hessian,
            derivatives=way.derivatives,
            dynamics=way.dynamics,
            transcription=way.transcription,
            stated=digest(stated["stated"]),
        ),
        problem=stated["problem"],
        arguments=stated["arguments"],
        method=stated["method"],
        how=stated["how"],
        solver={"plugin": plugin, "hessian": way.hessian, "options": dict(way.entry.options)},
        transcription=_transcription(problem, way),
        environment=dict(way.entry.environment),
        seconds=limits.seconds,
        memory=limits.memory,
    )


def _problem_content(problem: Compared, arguments: Arguments) -> Keywords:
    """Return the content of a cell by which a process finds a problem, and its title in tables."""
    if isinstance(problem, Problem):
        place = bound_address(problem)
        if place is None:
            raise ValueError(
                "compare: a Problem holds functions that no other process can be told: hand over "
                "the function that makes it, or bind the Problem to a name of a module"
            )
        method = {"method": address(solve), "how": {}, "title": place.rpartition(":")[2]}
        stated = {"version": VERSION, "problem": problem_digest(lambda: problem, solve)}
        return method | {"problem": place, "arguments": {}, "stated": stated}
    task = problem if isinstance(problem, Task) else Task(problem)
    title = " ".join([task.name, *(f"{key}={value}" for key, value in arguments.items())])
    return content_of(recipe(task, None, Solver()), arguments) | {"title": title}


def _transcription(problem: Compared, way: Way) -> Arguments:
    task = problem if isinstance(problem, Task) else None
    function = problem if task is None else task.problem
    dynamics = way.dynamics
    if not is_choice(dynamics):
        dynamics = named_value(function, dynamics, Formulation)
    chosen = {"dynamics": dynamics, "derivatives": way.derivatives}
    settings = dict(TRANSCRIPTIONS[way.transcription])
    if task is not None and "method" not in settings:
        settings = settings_of(task.transcription) | settings
    stated = transcription_of(settings | chosen)
    return transcription_content(stated, {}, function)

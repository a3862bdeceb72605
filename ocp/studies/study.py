"""Studies: many solves as cells of one file, in processes of their own, resumed when repeated."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ocp.problem import Problem
from ocp.solution.solution import Solution
from ocp.solvers import Solver
from ocp.storage.result_files import read_solution as from_archive
from ocp.studies.cell_dispatch import Route, run_all
from ocp.studies.continuation import Chain, Plan, chain_design, lowest_cells, place_of
from ocp.studies.parameter_designs import design
from ocp.studies.solve_cell import restore_solution
from ocp.studies.store.argument_flags import Arguments, Keywords
from ocp.studies.store.cell_specification import Recipe, cell, content_of, recipe
from ocp.studies.store.database import Ledger
from ocp.studies.store.function_trust import Trust, trust_in, trust_of_contents
from ocp.studies.store.outdated_cells import mark_outdated
from ocp.studies.store.repair import whole
from ocp.studies.store.row_format import (
    DAMAGED,
    FAILED,
    ODD,
    OUTDATED,
    Cell,
    StudyFileError,
    damaged_cell,
)
from ocp.studies.store.unsaved_cells import recover_results
from ocp.studies.study_tables import draw_study, write_table
from ocp.studies.task import Task
from ocp.studies.workers import Engine
from ocp.transcription.transcription_settings import Transcription

# Optima are one whose objectives (relative) and motions (rad or m) are so near, at so many instants
ALIKE, APART, LOOKS = 1e-4, 0.05, 51
OF_CELLS = ("method", "how", "measure", "certify")
OF_STUDY = ("file", "workers", "executor", "watch", "retry", "seconds")
Function = Task | Callable[..., Problem]
Design = Arguments | Iterable[Arguments]


@dataclass(frozen=True, kw_only=True)
class Study:
    """The cells of a study, in the order of its design, and the file that keeps their solutions.

    `notes` say what was wrong with the file; `trust` what its cells may call.
    """

    path: Path
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    trust: Trust = field(default=Trust(), repr=False)
    keeper: object = field(default=None, repr=False)  # of the folder of a study without a file

    @property
    def solved(self) -> tuple[Cell, ...]:
        """The cells that were solved."""
        return tuple(one for one in self.cells if one.solved)

    @property
    def failed(self) -> tuple[Cell, ...]:
        """The cells that failed, with their reasons."""
        return tuple(one for one in self.cells if one.status == FAILED)

    @property
    def damaged(self) -> tuple[Cell, ...]:
        """The cells that the file does not give back, with reasons; a sweep solves them anew."""
        return tuple(one for one in self.cells if one.status == DAMAGED)

    @property
    def outdated(self) -> tuple[Cell, ...]:
        """The cells that solved another problem than their settings meant when they were last
        asked for."""
        return tuple(one for one in self.cells if one.status == OUTDATED)

    def solution(self, cell: Cell) -> Solution:
        """Return the Solution of a cell.

        It has the problem that a trusted function makes, else what its file holds as data; nothing
        else is called. Raises ValueError if it has none, or if it is damaged, and StudyFileError,
        one too, naming the file.
        """
        if cell.status == DAMAGED:
            raise StudyFileError(cell.reason)
        with Ledger(self.path, readonly=True) as ledger:
            archive = ledger.archive(cell.id)
        if archive is None:
            raise ValueError(
                f"cell {cell.parameters}: has no solution: {cell.reason or cell.status}"
            )
        name = f"{self.path}: cell {cell.parameters}"
        try:
            if not self.trust:
                return from_archive(archive, name)
            return restore_solution(archive, name, cell.content, self.trust.find)
        except ODD as error:
            words = str(error).removeprefix(f"{name}: ")
            raise StudyFileError(f"{name}: {words}") from None

    def write_csv(self, path: str | Path) -> None:
        """Write a table with a line per cell.

        Parameters, status, objective, duration (s), terms, measured numbers, seconds, reason. What
        is called as one of these columns has its kind before its name, as "parameter.objective".
        """
        write_table(self.cells, path)

    def plot(self, path: str | Path, y: str = "objective") -> tuple[Path, ...]:
        """Draw `y`, a column of the table, over each parameter that varies, and return the paths.

        Where several vary the paths end in their names. Raises ValueError for an unknown column.
        """
        return draw_study(self.cells, path, y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """A local optimum: the first Solution that reached it, and the numbers of all such `starts`."""

    solution: Solution
    starts: tuple[int, ...]

    @property
    def objective(self) -> float:
        """Its objective."""
        return self.solution.objective


def sweep(
    problem: Function,
    over: Design,
    transcription: Transcription | None = None,
    solver: Solver = Solver(),
    *,
    chain: bool = False,
    **options: Any,
) -> Study:
    """Solve problem(**cell) for all cells of a design, and return the Study.

    Args:
        problem: a Task, or a function that makes the Problem. A Task has its own transcription, and
            a
            default of the package's stands for none.
        over: {name: values} for a grid, or a list of dictionaries, as `side_by_side` and
            `latin_hypercube` return. Names may also be "motion.NAME" of the spline,
            "transcription.NAME", "solver.NAME", "option.NAME" of the plugin and "method.NAME".
        transcription: by default that of the Task.
        solver: with its options.
        chain: start each cell from the solution of a neighbour, from the middle of the design
            outwards, and anew should it fail; a cell that is higher than its neighbours is solved
            again from these, and the lowest of each cell counts.
        options: `method`, which solves as `solve` does (a Task has its own), with the arguments
            `how`; `measure`, a function of a Solution that returns {name: number}; `certify`, to
            verify each; and those of `carry_out`: file, workers, executor, watch, retry, seconds.

    Functions must be importable, or stand in a file; with `workers` 0, in this process, any
    callable
    is taken, lambdas and closures too.

    Raises:
        ValueError: what other processes cannot be told, by name.
    """
    way, given = _recipe(problem, transcription, solver, options)
    if chain:
        return carry_out(chain_design(way, design(over)), branches=True, **given)
    return carry_out([(cell(one, content_of(way, one)), None) for one in design(over)], **given)


def variants(
    problem: Function,
    ways: Mapping[str, Arguments],
    over: Design | None = None,
    transcription: Transcription | None = None,
    solver: Solver = Solver(),
    **options: Any,
) -> Study:
    """Solve the same cells in several ways and return the Study; its "variant" names the way.

    Args:
        problem: as of `sweep`.
        ways: {name: changes}, changes being a dictionary as a cell of `sweep` is.
        over, transcription, solver, options: as of `sweep`.
    """
    way, given = _recipe(problem, transcription, solver, options)
    plan: Plan = []
    for parameters in design({} if over is None else over):
        for name, changes in ways.items():
            data = content_of(way, {**parameters, **changes}) | {"variant": name}
            plan.append((cell(parameters | {"variant": name}, data), None))
    return carry_out(plan, **given)


def multistart(
    problem: Function,
    arguments: Arguments | None = None,
    transcription: Transcription | None = None,
    solver: Solver = Solver(),
    **options: Any,
) -> tuple[Optimum, ...]:
    """Return the distinct local optima, best first, that random first guesses lead to.

    Args:
        problem: as of `sweep`.
        arguments: of the problem beside its defaults.
        transcription, solver, options: as of `restarts`.
    """
    return rank_optima(restarts(problem, arguments, transcription, solver, **options))


def restarts(
    problem: Function,
    arguments: Arguments | None = None,
    transcription: Transcription | None = None,
    solver: Solver = Solver(),
    *,
    starts: int = 20,
    seed: int = 0,
    spread: float = 1.0,
    **options: Any,
) -> Study:
    """Solve one problem from several first guesses; the Study's "guess.number" counts them.

    Start 0 is the straight motion; the others wander off it by a random sum of half waves that is
    zero at both ends.

    Args:
        problem: as of `sweep`.
        arguments: of the problem beside its defaults.
        starts: their number.
        seed: of the random sums; the same seed and number give the same start.
        spread: factor of the random sums (rad or m).
        transcription, solver, options: as of `sweep`.
    """
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ValueError(f"starts: expected a whole number of at least 1, got {starts!r}")
    way, given = _recipe(problem, transcription, solver, options)
    plan: Plan = []
    stated = dict(arguments or {})
    for number in range(starts):
        start = {"number": number, "seed": seed, "spread": spread}
        data = content_of(way, stated, start)
        plan.append((cell(stated | {"guess.number": number}, data), None))
    return carry_out(plan, **given)


def rank_optima(done: Study) -> tuple[Optimum, ...]:
    """Return the optima of a study that is done, best first; failed cells are left out.

    Two results are one optimum if their objectives and motions agree.
    """
    optima: list[_Group] = []
    for one in sorted(done.solved, key=lambda one: one.objective or 0.0):
        solution, number = done.solution(one), one.content["start"]["number"]
        motion = solution.q(solution.times(LOOKS))
        group = next((other for other in optima if other.has(solution, motion)), None)
        if group is None:
            optima.append(_Group(solution, motion, [number]))
        else:
            group.numbers.append(number)
    return tuple(
        Optimum(solution=group.solution, starts=tuple(sorted(group.numbers))) for group in optima
    )


@dataclass
class _Group:
    """Solutions that are one optimum: the first of them, its motion, and the starts of all."""

    solution: Solution
    motion: np.ndarray
    numbers: list[int]

    def has(self, solution: Solution, motion: np.ndarray) -> bool:
        """Tell whether another solution is the same optimum."""
        own = self.solution.objective
        near = abs(solution.objective - own) <= ALIKE * max(abs(own), ALIKE)
        return bool(near and np.abs(motion - self.motion).max() <= APART)


def open_study(path: str | Path, trust: object = ()) -> Study:
    """Return the Study that a file holds, with all cells ever asked for; it may be running.

    Cells are "outdated" whose settings meant another problem when they were last asked for. The
    file
    is data: nothing that it names is imported or called.

    Args:
        path: of the file.
        trust: a Task, function, Formulation, Method or Transcription, or several, which solutions
            may
            then call.

    Raises:
        StudyFileError: the file is no study.
    """
    with Ledger(path, readonly=True) as ledger:
        cells = tuple(mark_outdated(ledger).values())
    return Study(path=Path(path), cells=cells, trust=trust_in(trust))


def carry_out(
    plan: Plan | Chain,
    *,
    branches: bool = False,
    file: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    watch: Callable[..., object] | None = None,
    retry: bool = False,
    seconds: float | None = None,
) -> Study:
    """Run the cells of a plan and return their Study.

    Args:
        plan: pairs of a Cell and the index of the one it starts from or None, or a Chain.
        branches: solve cells that are higher than their neighbours again from these; the lowest of
            each cell counts.
        file: where results are kept as they come. Cells that are there already are not run again,
            failed ones only with `retry`, and those that another process runs are waited for.
            Without a file results last as long as the Study.
        workers: processes, by default one per processor, 0 for none but this one.
        executor: any Executor of concurrent.futures, in place of workers.
        watch: called with a Progress after each cell.
        retry: run failed cells again.
        seconds: time after which a cell is stopped, and has failed.

    Raises:
        StudyFileError: the file cannot be read or written.
        EngineError: the executor breaks down.
    """
    keeper = None
    engine = Engine(executor, workers, seconds)
    route = Route([], plan) if isinstance(plan, Chain) else Route(plan)
    places = plan.cells if isinstance(plan, Chain) else [one for one, _ in plan]
    if file is None:
        keeper = _Keeper()
        file = keeper.folder / "study.sqlite"
    with whole(file) as ledger:
        recover_results(ledger)
        known, gone = run_all(route, ledger, engine, watch, retry, branches)
    best = lowest_cells(route.plan, known)
    winners = [best[place_of(one)] for one in places]
    return Study(
        path=Path(file),
        keeper=keeper,
        notes=(*ledger.notes, *(f"{file}: cell {one.id}: was damaged" for one in gone)),
        trust=trust_of_contents(one.content for one in places),
        cells=tuple(
            replace(one, parameters=place.parameters)
            if one.id in known
            else damaged_cell(one.id, f"{file}: cell {one.id}: is lost")
            for one, place in zip(winners, places)
        ),
    )


class _Keeper:
    """A temporary folder that lasts as long as this object."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ocp-study-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _recipe(
    problem: Function, transcription: Transcription | None, solver: Solver, options: Arguments
) -> tuple[Recipe, Keywords]:
    """Return the Recipe of the cells, and the options of `study`."""
    known = (*OF_CELLS, *OF_STUDY)
    odd = next((name for name in options if name not in known), None)
    if odd is not None:
        raise TypeError(f"study: no option {odd!r}; expected one of {', '.join(sorted(known))}")
    chosen = {name: value for name, value in options.items() if name in OF_CELLS}
    chosen["here"] = options.get("workers") == 0 and options.get("executor") is None
    given = {name: value for name, value in options.items() if name in OF_STUDY}
    return recipe(problem, transcription, solver, **chosen), given

"""Studies: many solves as cells of one file, run in processes of their own, written as they finish, resumed by the same command."""

import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ocp.solution.solution import Solution
from ocp.solvers.minimizing import Solver
from ocp.studies.cells import cell, content, restore, statement
from ocp.studies.database import FAILED, SOLVED, Ledger
from ocp.studies.designs import design, neighbours
from ocp.studies.tables import draw_study, write_table
from ocp.studies.workers import Engine, Run
from ocp.transcription.transcribe import Transcription

ALIKE, APART, LOOKS = (
    1e-4,
    0.05,
    51,
)  # one optimum: objectives so near (relative), motions so near (rad or m) at so many instants


@dataclass(frozen=True, kw_only=True)
class Study:
    """The cells of a study, in the order of its design, and the file that keeps their solutions."""

    path: Path
    cells: tuple
    keeper: object = field(
        default=None, repr=False
    )  # of the temporary folder of a study without a file

    @property
    def solved(self):
        """The cells that were solved."""
        return tuple(cell for cell in self.cells if cell.solved)

    @property
    def failed(self):
        """The cells that failed, with their reasons."""
        return tuple(cell for cell in self.cells if cell.status == FAILED)

    def solution(self, cell):
        """Return the Solution of a cell, with its problem; raise ValueError if the cell has none."""
        with Ledger(self.path, readonly=True) as ledger:
            archive = ledger.archive(cell.id)
        if archive is None:
            raise ValueError(
                f"cell {cell.parameters}: has no solution: {cell.reason or cell.status}"
            )
        return restore(archive, statement(cell.content))

    def write_csv(self, path):
        """Write a table with one line per cell: parameters, status, objective, times, terms, measured numbers, reason."""
        write_table(self.cells, path)

    def plot(self, path, y="objective"):
        """Draw `y`, a column of the table, over each parameter that varies; return the paths, which end in its name if there are several."""
        return draw_study(self.cells, path, y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """A local optimum: the first Solution that reached it, and the numbers of all `starts` that did."""

    solution: Solution
    starts: tuple

    @property
    def objective(self):
        """Its objective."""
        return self.solution.objective


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What two goals allow: `points` (cell, first, second) of which none is worse than another in both, by the first; and the whole study."""

    study: Study
    names: tuple
    points: tuple


def sweep(problem, over, transcription=Transcription(), solver=Solver(), *, chain=False, **options):
    """Solve problem(**cell) for all cells of a design, and return the Study.

    `over`: {name: values} is a grid; a list of dictionaries, as `zipped` and `latin_hypercube` return, is taken as it is. Names may also be
    "transcription.NAME", "solver.NAME", "option.NAME" of the plugin and "method.NAME". With `chain` each cell starts from the solution of
    its nearest neighbour, and anew should it fail from there.

    `options`: `method`, which solves as `solve` does, with the arguments `how`; `measure`, a function of a Solution that returns
    {name: number}; `certify`, to verify each; and those of `study`: file, workers, executor, watch, retry. All functions must be importable.
    """
    given, how = _taken(options)
    plan, cells = [], design(over)
    for parameters, near in zip(cells, neighbours(cells) if chain else [None] * len(cells)):
        data = content(problem, parameters, transcription, solver, **how)
        plan.append((cell(parameters, data, None if near is None else plan[near][0]), near))
    return study(plan, **given)


def compare(
    problem, variants, over=None, transcription=Transcription(), solver=Solver(), **options
):
    """Solve the same cells in several ways, and return the Study, whose parameter "variant" names the way.

    `variants`: {name: changes}, changes being a dictionary as a cell of `sweep` is: of parameters, of the transcription, or of the solver.
    `options` are those of `sweep`.
    """
    given, how = _taken(options)
    plan = []
    for parameters in design({} if over is None else over):
        for name, changes in variants.items():
            data = content(problem, parameters | dict(changes), transcription, solver, **how)
            plan.append((cell(parameters | {"variant": name}, data | {"variant": name}), None))
    return study(plan, **given)


def pareto(
    problem, over, goals, transcription=Transcription(), solver=Solver(), *, chain=True, **options
):
    """Sweep a design, of weights or of bounds, and return the Front of two `goals`, both the smaller the better.

    `goals`: names of two terms of the objective, whose unweighted values count, or of two `measure`d numbers. `options` are those of `sweep`.
    """
    done = sweep(problem, over, transcription, solver, chain=chain, **options)
    first, second = goals
    points = [
        (
            one,
            *((one.terms | one.measured | {"duration": one.duration}).get(name) for name in goals),
        )
        for one in done.solved
    ]
    missing = next(
        (name for k, name in ((1, first), (2, second)) for point in points if point[k] is None),
        None,
    )
    if missing is not None:
        raise ValueError(
            f"pareto: {missing}: some cell has no such term and measures no such number"
        )
    best, front = np.inf, []
    for point in sorted(points, key=lambda point: point[1:]):
        if point[2] < best:
            best = point[2]
            front.append(point)
    return Front(study=done, names=(first, second), points=tuple(front))


def multistart(problem, arguments=None, transcription=Transcription(), solver=Solver(), **options):
    """Return the distinct local optima, best first, to which random first guesses lead; `options` are those of `restarts`."""
    return ranked(restarts(problem, arguments, transcription, solver, **options))


def restarts(
    problem,
    arguments=None,
    transcription=Transcription(),
    solver=Solver(),
    *,
    starts=20,
    seed=0,
    spread=1.0,
    **options,
):
    """Solve one problem from `starts` first guesses, and return the Study, whose parameter "guess.number" counts them.

    Start 0 is the straight motion; the others wander off it, by `spread` times (rad or m) a random sum of half waves that is zero at both
    ends, the same for the same `seed` and number. `options` are those of `sweep`.
    """
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ValueError(f"starts: expected a whole number of at least 1, got {starts!r}")
    given, how = _taken(options)
    plan, arguments = [], dict(arguments or {})
    for number in range(starts):
        data = content(
            problem,
            arguments,
            transcription,
            solver,
            start={"number": number, "seed": seed, "spread": spread},
            **how,
        )
        plan.append((cell(arguments | {"guess.number": number}, data), None))
    return study(plan, **given)


def ranked(done):
    """Return the Optima of a Study, best first; those are the same whose objectives and motions are. Failed cells are left out."""
    optima = []  # objective, motion, solution, numbers
    for one in sorted(done.solved, key=lambda one: one.objective):
        solution, number = done.solution(one), one.content["start"]["number"]
        motion = solution.q(solution.times(LOOKS))
        for objective, other, _, numbers in optima:
            near = abs(solution.objective - objective) <= ALIKE * max(abs(objective), ALIKE)
            if near and np.abs(motion - other).max() <= APART:
                numbers.append(number)
                break
        else:
            optima.append((solution.objective, motion, solution, [number]))
    return tuple(
        Optimum(solution=solution, starts=tuple(sorted(numbers)))
        for _, _, solution, numbers in optima
    )


def open_study(path):
    """Return the Study that a file holds, with all cells ever asked for; it may be running at the time."""
    with Ledger(path, readonly=True) as ledger:
        return Study(path=Path(path), cells=tuple(ledger.cells().values()))


def study(plan, *, file=None, workers=None, executor=None, watch=None, retry=False):
    """Run the cells of a plan, pairs of a Cell and the index of the one it starts from or None, and return the Study.

    `file`: where results are kept as they come; cells that are there already are not run again, failed ones only with `retry`. Without a
    file they last as long as the Study. `workers`: processes, by default one per processor, 0 for none but this one; or any Executor of
    concurrent.futures as `executor`. `watch(Progress)` is called after each cell.

    Raises StudyFileError naming the file that cannot be read or written, and EngineError where the executor breaks down.
    """
    keeper = None
    if file is None:
        keeper = _Keeper()
        file = keeper.folder / "study.sqlite"
    engine = Engine(executor, workers)
    with Ledger(file) as ledger:
        ledger.plan([one for one, _ in plan])
        known = ledger.cells()
        settled = {
            key: one
            for key, one in known.items()
            if one.status == SOLVED or one.status == FAILED and not retry
        }
        if any(one.id not in settled for one, _ in plan):
            with engine:
                Run(plan, ledger, engine, watch, settled).all()
            known = ledger.cells()
    return Study(
        path=Path(file),
        keeper=keeper,
        cells=tuple(replace(known[one.id], parameters=one.parameters) for one, _ in plan),
    )


class _Keeper:
    """A temporary folder that lasts as long as this object."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ocp-study-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _taken(options):
    """Return the options of `study`, and those of a cell's content."""
    known = (
        {"file", "workers", "executor", "watch", "retry"},
        {"method", "how", "measure", "certify"},
    )
    odd = next((name for name in options if not any(name in names for names in known)), None)
    if odd is not None:
        raise TypeError(
            f"study: no option {odd!r}; expected one of {', '.join(sorted(known[0] | known[1]))}"
        )
    return tuple({name: options[name] for name in options if name in names} for names in known)

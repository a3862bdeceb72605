"""Worker process of the explorer: one problem with open parameters, solved for each request.

It keeps the plan and the last motion, so that a request costs a warm solve. A request that arrives
while another is solved takes its place.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from typing import TypeAlias

from ocp.certificate import verify
from ocp.mechanics.values.parameters import Parameter, parameters_of
from ocp.plots import page
from ocp.solution.solution import Solution
from ocp.solvers import Solver
from ocp.solvers.iteration_log import Iteration
from ocp.solvers.optimum.prediction import near_path
from ocp.solving.plan import Kept, keep_plans
from ocp.spelling import suggestion
from ocp.storage import save
from ocp.studies.designs import is_number
from ocp.studies.store.argument_records import Keywords
from ocp.studies.store.qualified_names import module_at
from ocp.studies.task import Task, task_of

TOLERANCE = 1e-2  # to which motions are certified
WIDE = (0.6, 1.6)  # of a parameter's value: the range of its slider, within the parameter's own
NEARBY = near_path(1e-12, 1e-6)  # options with which IPOPT begins at a neighbour's motion
Values: TypeAlias = Mapping[str, float]


class Superseded(Exception):
    """Raised within a solve when a newer request waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider:
    """A parameter that moves: its `name`, `value` and `unit`, the range of the slider, and the
    bounds `least` and `most` of what may be typed (None without one)."""

    name: str
    value: float
    unit: str
    lower: float
    upper: float
    least: float | None
    most: float | None


def moving_parameters(task: Task, names: Collection[str] = ()) -> tuple[Parameter, ...]:
    """Return the parameters of a task that move: those of these `names`, else those that its
    problem has by default, and what the problem itself leaves open.

    A number of 0, as of a load, leaves out what it is of: such a parameter moves if it is named.
    Raises ValueError naming a parameter that there is not, and where there are none.
    """
    own = [each for each in parameters_of(task.state({})) if not each.free]
    known = {each.name: each for each in (*own, *task.parameters)}
    for name in names:
        if name not in known:
            raise ValueError(
                f"{task.name}: no parameter {name!r}{suggestion(name, known)}; it has "
                f"{', '.join(known) or 'none'}"
            )
    numbers = {name: value for name, value in task.defaults.items() if is_number(value) and value}
    usual = task.defaults | dict.fromkeys(known.keys() - task.defaults.keys())
    chosen = names or [name for name in known if name in numbers or usual[name] is None]
    if not chosen:
        raise ValueError(
            f"{task.name}: nothing of it can be moved: its Task states no parameters, as "
            "Task(problem, parameters=(Parameter('mass', 75.0, 'kg'),))"
        )
    return tuple(
        replace(known[name], value=float(numbers.get(name, known[name].value))) for name in chosen
    )


def slider_of(parameter: Parameter) -> Slider:
    """Return the Slider of a parameter."""
    value, ends = parameter.value, (parameter.lower, parameter.upper)
    near = sorted(share * value for share in WIDE) if value else (-1.0, 1.0)
    return Slider(
        name=parameter.name,
        value=value,
        unit=parameter.unit,
        lower=max(near[0], ends[0]),
        upper=min(near[1], ends[1]),
        least=ends[0] if math.isfinite(ends[0]) else None,
        most=ends[1] if math.isfinite(ends[1]) else None,
    )


@dataclass(kw_only=True)
class Explored:
    """A `task` whose `parameters` are open, the plans that were made of it, and its last motion."""

    task: Task
    parameters: tuple[Parameter, ...]
    plans: Kept = field(default_factory=dict)
    last: Solution | None = None

    def __post_init__(self) -> None:
        named = {each.name: each for each in self.task.parameters}
        mine = {each.name: each for each in self.parameters if each.name in named}
        self.problem = self.task.state(mine)

    def solve(self, values: Values, watch: Callable[[Iteration], object] | None = None) -> Solution:
        """Return the motion for values of all parameters, begun at the last one; where that fails
        begun anew, which also says what must give way."""
        for guess in (self.last, None) if self.last is not None else (None,):
            with keep_plans(self.plans):
                solution = self.task.method(
                    self.problem,
                    self.task.transcription,
                    Solver(options={} if guess is None else NEARBY),
                    guess=guess,
                    values=dict(values),
                    watch=watch,
                )
            if solution.success:
                self.last = solution
                break
        return solution


def work(name: str, names: Collection[str], pipe: Connection) -> None:
    """Solve what arrives by a pipe, {"number", "values"}, until it is closed; a "file" is saved.

    What is told, in this order: {"sliders"}, and of each request {"number", "status"}, where it is
    solved with its page, and {"number", "verdict"}.
    """
    try:
        task = task_of(module_at(name))
        explored = Explored(task=task, parameters=moving_parameters(task, names))
    except Exception as error:  # told where the command was given
        pipe.send({"refused": f"{error}"})
        return
    pipe.send({"sliders": [asdict(slider_of(each)) for each in explored.parameters]})
    while True:
        try:
            request = pipe.recv()
            while pipe.poll():  # the newest wins
                request = pipe.recv()
            _answer(explored, request, pipe)
        except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
            return


def _answer(explored: Explored, request: Keywords, pipe: Connection) -> None:
    """Solve one request, or save the last motion, and send the answer."""
    if "file" in request:
        if explored.last is not None:
            save(explored.last, request["file"])
        pipe.send({"saved": explored.last is not None})
        return

    def watch(iteration: Iteration) -> None:
        if pipe.poll():
            raise Superseded

    number = request["number"]
    try:
        solution = explored.solve(request["values"], watch)
        pipe.send({"number": number} | _solution_message(explored.task, solution))
        if solution.success and not pipe.poll():
            verdict = verify(solution).verdict(TOLERANCE)
            certified = verdict.startswith("certified")
            pipe.send({"number": number, "verdict": verdict, "certified": certified})
    except Superseded:
        pipe.send({"number": number, "status": "superseded"})
    except (ValueError, RuntimeError) as error:
        pipe.send({"number": number, "status": "refused", "lines": f"{error}".splitlines()})


def _solution_message(task: Task, solution: Solution) -> Keywords:
    """Return the message on a solution; that on one that failed says what must give way."""
    statistics = solution.statistics
    return {
        "status": "solved" if solution.success else solution.status,
        "lines": list(solution.explanation)[:6],
        "objective": solution.objective,
        "duration": solution.duration,
        "iterations": int(statistics["iterations"]),
        "seconds": float(statistics["total_seconds"]),
        "terms": [[name, weight * value] for name, weight, value in solution.terms],
        "page": page(solution, title=task.name).text if solution.success else None,
    }

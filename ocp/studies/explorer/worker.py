"""Worker process of the explorer: one problem with open parameters, solved for each request.

It keeps plans and motions, so that a request costs a solve that begins at the nearest one. A
request that arrives while another is solved or certified takes its place.
"""

import contextlib
import json
import math
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ocp.certificate import certify
from ocp.mechanics.values.parameters import Parameter, parameters_of
from ocp.plots import page, scene_data
from ocp.problem.statement import Problem
from ocp.report.report import describe, report_lines
from ocp.solution.solution import Solution
from ocp.solvers import Solver
from ocp.solvers.optimum.predicted_optimum import near_path
from ocp.solvers.progress import Iteration
from ocp.solving.plan import Kept, keep_plans
from ocp.spelling import suggestion
from ocp.storage import save
from ocp.studies.explorer.inbox import Inbox, Superseded
from ocp.studies.explorer.posture import Posed, brought_model, is_model
from ocp.studies.explorer.pushes import Pushed, pushes_on
from ocp.studies.store.argument_flags import Flag, Keywords, flags_of
from ocp.studies.task import Task, task_at

SHOWN = ("parameter", "statement", "status")  # lines of a report that the page has already
TOLERANCE = 1e-2  # to which motions are certified
WIDE = (0.6, 1.6)  # of a parameter's value: the range of its slider, within the parameter's own
TRIANGLES = 10_000  # of a scene's meshes, which a page without a graphics card draws too
STATEMENTS = 4  # of a problem with other arguments, whose plans are kept
ANSWERS = 100  # of a statement, at the nearest of which a solve begins
# how a solve begins at a neighbour's motion: where the first plugin is none for a program, the next
WAYS = Solver(plugin="structured"), Solver(options=near_path(1e-12, 1e-6))
Values: TypeAlias = Mapping[str, float]


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
    """Return the parameters of a task that move: those of these `names`, else all that it states,
    and what the problem itself leaves open.

    Raises ValueError naming a parameter that there is not, and where there is nothing to move, nor
    to state anew.
    """
    own = [each for each in parameters_of(task.state({})) if not each.free]
    known = {each.name: each for each in (*own, *task.parameters)}
    for name in names:
        if name not in known:
            raise ValueError(
                f"{task.name}: no parameter {name!r}{suggestion(name, known)}; it has "
                f"{', '.join(known) or 'none'}"
            )
    if not (known or switches_of(task, ())):
        raise ValueError(
            f"{task.name}: nothing of it can be moved: its Task states no parameters, as "
            "Task(problem, parameters=(Parameter('mass', 75.0, 'kg'),)), and its problem has no "
            "arguments that are numbers, words of a closed set, yes or no"
        )
    return tuple(known[name] for name in names or known)


def usual_value(task: Task, parameter: Parameter) -> float:
    """Return the value of a parameter of a task unless it moves: the argument's default, if that
    is a number, as 0 of a load that is not there."""
    default = task.defaults.get(parameter.name)
    return float(default) if isinstance(default, float | int) else parameter.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """An argument that states the problem anew: its `name` and `value`, a number (a `whole` one or
    any), None, yes or no, or one of its `words`."""

    name: str
    value: object
    words: tuple[object, ...] = ()
    whole: bool = False


def switches_of(task: Task, moving: Collection[Parameter]) -> list[Switch]:
    """Return the Switches of a task: yes or no, words of a closed set, and numbers that are not
    among those that move."""
    named = {each.name for each in moving}
    return [
        Switch(name=name, value=flag.default, words=flag.words, whole=float not in flag.numbers)
        for name, flag in flags_of(task.problem).items()
        if name not in named and (flag.words or _is_switch(flag))
    ]


def _is_switch(flag: Flag) -> bool:
    """Tell whether a flag is a number, one that may be left out, or yes or no."""
    return isinstance(flag.default, bool | int | float) or (
        flag.default is None and bool(flag.numbers)
    )


def slider_of(parameter: Parameter, value: float) -> Slider:
    """Return the Slider of a parameter that has a `value` unless it moves."""
    ends, far = (parameter.lower, parameter.upper), WIDE[1] * abs(parameter.value) or 1.0
    near = sorted(share * value for share in WIDE) if value else (-far, far)
    return Slider(
        name=parameter.name,
        value=value,
        unit=parameter.unit,
        lower=max(near[0], ends[0]),
        upper=min(near[1], ends[1]),
        least=ends[0] if math.isfinite(ends[0]) else None,
        most=ends[1] if math.isfinite(ends[1]) else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A `problem` as it was stated, the `plans` that were made of it, and its `answers`: motions,
    each with its values in shares of the sliders' ranges (parameters,), the newest last."""

    problem: Problem
    plans: Kept = field(default_factory=dict)
    answers: deque[tuple[np.ndarray, Solution]] = field(
        default_factory=lambda: deque(maxlen=ANSWERS)
    )

    def nearest(self, place: np.ndarray) -> Solution | None:
        """Return the motion whose values are nearest to a place, None where there is none yet."""
        near = [float(np.linalg.norm(known - place)) for known, _ in self.answers]
        return self.answers[int(np.argmin(near))][1] if near else None


@dataclass(kw_only=True)
class Explored:
    """A `task` whose `parameters` move, names of those that are `opened`, what was stated of it,
    by arguments, and its last motion.

    A parameter that a task states is open from the first time that it moves: open ones take longer,
    and what is left out at first, as a load of 0, stays out until then.
    """

    task: Task
    parameters: tuple[Parameter, ...]
    stated: dict[str, Stated] = field(default_factory=dict)
    last: Solution | None = None
    opened: set[str] = field(default_factory=set)

    @cached_property
    def usual(self) -> Values:
        """Values of the parameters that the task states, unless they move."""
        named = {each.name for each in self.task.parameters}
        mine = [each for each in self.parameters if each.name in named]
        return {each.name: usual_value(self.task, each) for each in mine}

    def message(self) -> Keywords:
        """Return the message on a problem: sliders, switches, flags, files, points to push."""
        return {
            "sliders": [asdict(each) for each in self.sliders],
            "switches": [asdict(each) for each in switches_of(self.task, self.parameters)],
            "flags": list(flags_of(self.task.problem)),
            "files": list(FILES),
            "pushed": list(self.pushed.points) if self.pushed else [],
        }

    @cached_property
    def sliders(self) -> list[Slider]:
        """What moves."""
        return [slider_of(each, usual_value(self.task, each)) for each in self.parameters]

    @cached_property
    def pushed(self) -> Pushed | None:
        """How the motion is pushed, if it can be."""
        return pushes_on(self.state({}).problem)

    def state(self, switched: Keywords) -> Stated:
        """Return the statement with other arguments."""
        key = json.dumps([switched, sorted(self.opened)], sort_keys=True)
        if key not in self.stated:
            mine = {each.name: each for each in self.parameters if each.name in self.opened}
            self.stated[key] = Stated(problem=self.task.state(mine | switched))
            for old in list(self.stated)[:-STATEMENTS]:
                del self.stated[old]
        self.stated[key] = self.stated.pop(key)  # the last is the newest
        return self.stated[key]

    def solve(
        self,
        values: Values,
        watch: Callable[[Iteration], object] | None = None,
        switched: Keywords | None = None,
    ) -> Solution:
        """Return the motion for values of all parameters, begun at the nearest one, of other
        statements at the last one; where that fails begun anew, which also says what must give
        way."""
        usual = self.usual
        self.opened |= {name for name in usual if values.get(name, usual[name]) != usual[name]}
        left_out = usual.keys() - self.opened
        given = {name: value for name, value in values.items() if name not in left_out}
        stated = self.state(switched or {})
        place = self._place(values)
        begin = stated.nearest(place) or self.last

        def attempt(solver: Solver, guess: Solution | None) -> Solution:
            with keep_plans(stated.plans, check_mesh=False):
                return self.task.method(
                    stated.problem,
                    self.task.transcription,
                    solver,
                    guess=guess,
                    watch=watch,
                    **({"values": given} if given else {}),
                )

        solution = None
        for solver in WAYS if begin else ():
            with contextlib.suppress(ValueError):  # of a plugin, or a motion, of another program
                solution = attempt(solver, begin)
                break
        if solution is None or not solution.success:
            solution = attempt(Solver(), None)
        if solution.success:
            self.last = solution
            stated.answers.append((place, replace(solution, history=())))
        return solution

    def _place(self, values: Values) -> np.ndarray:
        """Return values in shares of the ranges of their sliders."""
        return np.array(
            [
                values.get(each.name, each.value) / (each.upper - each.lower or 1.0)
                for each in self.sliders
            ]
        )


def work(name: str, names: Collection[str], pipe: Connection) -> None:
    """Solve what arrives by a pipe, {"number", "values", "switched"}, until it is closed; {"make",
    "path"} writes a file of the last motion, {"make", "model"} puts a model in place of it all.

    What is told, in this order: {"sliders", "switches"}, and of each request {"number", "status"},
    where it is solved with its scene, then {"number", "verdict", "card"}.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that serves
    try:
        explored = _subject(name, names)
        pipe.send(explored.message())
    except Exception as error:  # told where the command was given
        pipe.send({"refused": f"{error}"})
        return
    inbox = Inbox(pipe)
    while (request := inbox.take()) is not None:
        try:
            if "model" in request:
                try:
                    explored = brought_model(request["make"], request["model"])
                    pipe.send(explored.message())
                except Exception as error:  # told to the page that brought it
                    pipe.send({"refused": f"{error}"})
            elif "make" in request:
                pipe.send({"made": request["path"], "reason": _make(explored, request)})
            elif isinstance(explored, Posed):
                _pose(explored, request, pipe)
            else:
                _answer(explored, request, inbox)
        except OSError:  # nobody listens any more
            return


def _subject(name: str, names: Collection[str]) -> Explored | Posed:
    """Return the subject of a name: the model of a file, or a problem."""
    if is_model(name):
        if names:
            raise ValueError(f"{name}: --move is of a problem; of a model all joints move")
        return Posed(path=Path(name))
    task = task_at(name)
    return Explored(task=task, parameters=moving_parameters(task, names))


def _pose(posed: Posed, request: Keywords, pipe: Connection) -> None:
    """Tell the posture that a request asks for."""
    begin, number = time.monotonic(), request["number"]
    try:
        answer = posed.answer(request["values"], request["switched"])
        answer |= _scene_message(posed.scene(request["values"], TRIANGLES))
    except (ValueError, RuntimeError) as error:
        reason = f"{error}".splitlines()
        pipe.send({"number": number, "status": "refused", "lines": reason})
    else:
        pipe.send({"number": number} | answer | {"worked": time.monotonic() - begin})


def _write_page(task: Task, solution: Solution, path: Path) -> None:
    page(solution, path, title=task.name)


# files of a motion by their names: task, solution, path
FILES: Mapping[str, Callable[[Task, Solution, Path], object]] = {
    "motion.npz": lambda task, solution, path: save(solution, path),
    "page.html": _write_page,
    "picture.png": lambda task, solution, path: task.views.plot(solution, path),
    "film.gif": lambda task, solution, path: task.views.animate(solution, path),
}


def _make(explored: Explored | Posed, request: Keywords) -> str:
    """Write a file of the last motion; return why it cannot be."""
    if isinstance(explored, Posed) or explored.last is None:
        return "there is no motion yet"
    try:
        path = Path(request["path"])
        FILES[path.name](explored.task, explored.last, path)
    except (ValueError, RuntimeError, ImportError) as error:
        return f"{error}"
    return ""


def _answer(explored: Explored, request: Keywords, inbox: Inbox) -> None:
    """Solve one request, and tell what came of it, then its certificate and report."""
    number = request["number"]
    begin = time.monotonic()
    try:
        if request.get("push"):
            request = _push(explored, request)
        solution = explored.solve(
            request["values"], lambda _: inbox.check(begin), request["switched"]
        )
        answer = _solution_message(explored.task, solution, request)
        inbox.pipe.send({"number": number} | answer | {"worked": time.monotonic() - begin})
        if solution.success:
            inbox.rest()
            with inbox.interruptible():
                certificate = certify(solution)
                verdict = certificate.verdict(TOLERANCE)
                lines = report_lines(describe(solution, certificate))
            card = [list(line) for line in lines if line[0] not in SHOWN]
            certified = verdict.startswith("certified")
            told = {"number": number, "verdict": verdict, "certified": certified, "card": card}
            advice = {"lines": []} if certified else _advice(explored, request["switched"])
            inbox.pipe.send(told | advice)
    except Superseded:
        inbox.pipe.send({"number": number, "status": "superseded"})
    except (ValueError, RuntimeError) as error:
        reason = f"{error}".splitlines()
        inbox.pipe.send({"number": number, "status": "refused", "lines": reason})


def _advice(explored: Explored, switched: Keywords) -> Keywords:
    """Return lines on how a motion may be certified that is not, and the switches of that: twice
    the control points, where their number is a switch."""
    given = {each.name: each.value for each in switches_of(explored.task, explored.parameters)}
    points = (given | switched).get("points")
    if not isinstance(points, int):
        return {"lines": []}
    line = (
        "the rows hold at the nodes, the motion is checked between them too: with "
        f"points at {2 * points} in place of {points} it may be certified"
    )
    return {"lines": [line], "instead": {"points": 2 * points}}


def _push(explored: Explored, request: Keywords) -> Keywords:
    """Return the request for the motion after a push on the last one."""
    push = request["push"]
    if explored.pushed is None or explored.last is None:
        raise ValueError("push: there is no motion that can be pushed")
    way = np.array(push["way"])
    after = explored.pushed.state(explored.last, push["share"], push["point"], way)
    return request | {"values": request["values"] | after}


def _solution_message(task: Task, solution: Solution, request: Keywords) -> Keywords:
    """Return the message on a solution; that on one that failed says what must give way."""
    statistics = solution.statistics
    told = {
        "status": "solved" if solution.success else solution.status,
        "values": request["values"],
        "switched": request["switched"],
        "pushed": bool(request.get("push")),
        "lines": list(solution.explanation)[:6],
        "objective": solution.objective,
        "duration": solution.duration,
        "iterations": int(statistics["iterations"]),
        "seconds": float(statistics["total_seconds"]),
        "terms": [[name, weight * value] for name, weight, value in solution.terms],
    }
    return (
        told | _scene_message(scene_data(solution, title=task.name, triangles=TRIANGLES))
        if solution.success
        else told
    )


def _scene_message(scene: Keywords) -> Keywords:
    """Return a scene as text in which meshes stand by their names, and these: they are the same
    from motion to motion where bodies are."""
    meshes, solids = {}, []
    for solid in scene["solids"]:
        text = json.dumps({part: solid[part] for part in ("low", "size", "places", "faces")})
        name = blake2b(text.encode(), digest_size=9).hexdigest()
        meshes[name] = text
        look = {part: solid[part] for part in ("colour", "opacity", "frame")}
        solids.append(look | {"mesh": name})
    text = json.dumps(scene | {"solids": solids}, separators=(",", ":"))
    return {"scene": text, "meshes": meshes}

"""Solutions of the gallery's problems, each solved once for all rows that look at it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from ocp import Published, Solution, Solver
from ocp.cli import tasks
from ocp.problems.published.row import Row
from ocp.transcription import transcription_of

Fixed = tuple[tuple[str, Any], ...]
SLOW = ("gait", "barman_gait", "lifting", "acrobot_swing", "branched_acrobot_swing")


def solution(
    name: str, arguments: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
) -> Solution:
    """Return the solution of a problem of the gallery with these arguments and settings.

    By the method of its task, as `ocp run` has it.
    """
    return _solution(name, _fixed(arguments or {}), _fixed(settings or {}))


def _fixed(entries: Mapping[str, Any]) -> Fixed:
    return tuple(sorted(entries.items()))


@cache
def _solution(name: str, arguments: Fixed, settings: Fixed) -> Solution:
    task = _tasks()[name]
    statement = task.state(dict(arguments))
    stated = transcription_of(dict(settings)) if settings else task.transcription
    return task.method(statement, stated, Solver()).require(coarse=True)


_tasks = cache(tasks)


def task_rows() -> Iterator[Row]:
    """Yield a Row for every number that the tasks of the gallery know to be published."""
    for name, task in _tasks().items():
        for entry in task.published:
            words = (*entry.arguments.items(), *entry.settings.items())
            yield Row(
                source=entry.source,
                quantity=entry.quantity,
                printed=entry.value,
                ours=_ours(name, entry),
                by=" ".join([f"`{name}`", *(f"`--{key} {value}`" for key, value in words)]),
                optimum=entry.optimum,
                remark=entry.remark,
                within=entry.within,
                slow=name in SLOW,
            )


def _ours(name: str, entry: Published) -> Callable[[], float]:
    return lambda: entry.ours(solution(name, entry.arguments, entry.settings))

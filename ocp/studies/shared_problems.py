"""Problems that cells share: what is no parameter is stated once in a process, and prepared once.

So the cells of a sweep are solved on one plan, whose values alone change from cell to cell.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ocp.mechanics.values.parameters import Parameter, with_values
from ocp.problem import Problem
from ocp.solving.plan import Kept
from ocp.studies.store.cell_specification import Content, open_statement, parameters, structure
from ocp.studies.store.digests import problem_digest
from ocp.studies.store.function_addresses import resolve

MOST = 4  # structures of which a process keeps the plans, those that it used last
_PROBLEMS: OrderedDict[str, "OpenProblem"] = OrderedDict()


@dataclass(frozen=True, kw_only=True)
class OpenProblem:
    """The `problem` of cells with its `parameters` open, which the function `source` has made, and
    the `plans` that were made of it."""

    problem: Problem
    parameters: tuple[Parameter, ...]
    source: Callable
    plans: Kept = field(default_factory=dict)
    same: dict = field(default_factory=dict)  # what of the problem has nothing open in it

    @cached_property
    def digest(self) -> str:
        """The digest of the problem as it is built in this process."""
        return problem_digest(lambda: self.problem, self.source)

    def values(self, data: Content) -> dict[str, float]:
        """Return the values that a cell has of the parameters."""
        return {each.name: data["arguments"][each.name] for each in self.parameters}

    def at(self, data: Content) -> Problem:
        """Return the problem with numbers that a cell has of the parameters."""
        numbers = self.values(data)
        values = {each: numbers[each.name] for each in self.parameters}
        return with_values(self.problem, values, self.same)


def open_problem(data: Content) -> OpenProblem:
    """Return the problem that a cell shares with others; raise ValueError naming a setting that
    cannot be left open."""
    key = structure(data)
    if key not in _PROBLEMS:
        left_open = parameters(data)
        problem = open_statement(data, resolve, left_open)
        source = resolve(data["problem"])
        _PROBLEMS[key] = OpenProblem(problem=problem, parameters=left_open, source=source)
    _PROBLEMS.move_to_end(key)
    while len(_PROBLEMS) > MOST:
        _PROBLEMS.popitem(last=False)
    return _PROBLEMS[key]

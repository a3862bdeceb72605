"""Problems that cells share: what is no parameter is stated once in a process, and prepared once.

So the cells of a sweep are solved on one plan, whose values alone change from cell to cell.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from ocp.mechanics.parameters import Parameter, closed
from ocp.problem import Problem
from ocp.solution.plan import Kept
from ocp.studies.addresses import resolve
from ocp.studies.content import Content, open_statement, parameters, structure

MOST = 4  # structures of which a process keeps the plans, those that it used last
_OPENED: OrderedDict[str, "Opened"] = OrderedDict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The `problem` of cells with its `parameters` open, and the `plans` that were made of it."""

    problem: Problem
    parameters: tuple[Parameter, ...]
    plans: Kept = field(default_factory=dict)
    same: dict = field(default_factory=dict)  # what of the problem has nothing open in it

    def values(self, data: Content) -> dict[str, float]:
        """Return the values that a cell has of the parameters."""
        return {each.name: data["arguments"][each.name] for each in self.parameters}

    def at(self, data: Content) -> Problem:
        """Return the problem with numbers that a cell has of the parameters."""
        numbers = self.values(data)
        values = {each: numbers[each.name] for each in self.parameters}
        return closed(self.problem, values, self.same)


def opened(data: Content) -> Opened:
    """Return what a cell shares with others; raise ValueError naming what cannot be left open."""
    key = structure(data)
    if key not in _OPENED:
        left_open = parameters(data)
        problem = open_statement(data, resolve, left_open)
        _OPENED[key] = Opened(problem=problem, parameters=left_open)
    _OPENED.move_to_end(key)
    while len(_OPENED) > MOST:
        _OPENED.popitem(last=False)
    return _OPENED[key]

"""What a solver is to this house.

A Backend, a value with a function that prepares a run and one that checks options.

    def prepare(nlp, solver, start, see):
        ...                               # what is built once
        def run():
            ...                           # what takes the time; `see` every iterate
            return Answer(iterate=..., status="converged", success=True, iterations=7)
        return run

    mine = Backend(name="mine", prepare=prepare)
    solve(problem, solver=Solver(plugin=mine, options={"tol": 1e-8}))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ocp.pickling import portable
from ocp.solvers.nlp import NLP, Iterate
from ocp.spelling import suggest_fields

HESSIANS = ("exact", "gauss-newton", "lbfgs")
See = Callable[[float, Iterate], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a solve begins: the point `x` (variables,), and multipliers where they are known."""

    x: np.ndarray
    x_multipliers: np.ndarray | None = None
    g_multipliers: np.ndarray | None = None

    @property
    def warm(self) -> bool:
        """Tell whether multipliers are known."""
        return self.x_multipliers is not None

    def __repr__(self) -> str:
        return f"Start({len(self.x)} variables{', warm' if self.warm else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a solver came back with: its last `iterate`, or None.

    Its `status` in its own words, whether that is a `success`; `iterations` as it counts them;
    `calls` {function: (times called, seconds)} of what it evaluated.
    """

    iterate: Iterate | None
    status: str
    success: bool
    iterations: int
    calls: Mapping[str, tuple[int, float]] = field(default_factory=dict)


class Settings(Protocol):
    """Settings of a solver as its backend reads them; `Solver` is the record that has them."""

    @property
    def name(self) -> str:
        """Name of the plugin or Backend."""

    @property
    def hessian(self) -> str:
        """Kind of Hessian, one of HESSIANS."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of the solver by its own names."""


class Unsuited(ValueError):
    """Raised by a solver for a program that it is not made for."""


def accept(options: Mapping[str, Any]) -> None:
    """Accept any options."""


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A solver: `prepare`(nlp, solver, start, see) returns a function that solves.

    That function of nothing returns an Answer. The NLP has `gradient` and `jacobian`; `solver`
    carries the options and the kind of Hessian, one of `hessians`. The run shows every iterate,
    `see`(objective, Iterate), and stops when that returns True, which is how Ctrl-C works, the
    history is kept and the best iterate outlives a failure. `check`(options) raises ValueError,
    before any work is done, for options that the solver does not know; `shared` are those of IPOPT
    that it knows by the same names, which attempts tune it by.
    """

    name: str
    prepare: Callable[[NLP, Settings, Start, See], Callable[[], Answer]] = field(repr=False)
    check: Callable[[Mapping[str, Any]], None] = field(default=accept, repr=False)
    hessians: tuple[str, ...] = HESSIANS
    shared: tuple[str, ...] = ()

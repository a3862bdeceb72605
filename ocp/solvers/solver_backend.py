"""Solver backends: values with a function that prepares a run and one that checks options.

def prepare(nlp, solver, start, see):
    ...                               # set up once
    def run():
        ...                           # the search; `see` every iterate
        return Answer(iterate=..., status="converged", success=True, iterations=7)
    return run

mine = Backend(name="mine", prepare=prepare)
solve(problem, solver=Solver(plugin=mine, options={"tol": 1e-8}))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ocp.pickling import portable
from ocp.solvers.nlp import NLP, Iterate, Options
from ocp.spelling import suggest_fields

HESSIANS = ("exact", "gauss-newton", "lbfgs")
See = Callable[[float, Iterate], bool]  # takes objective and iterate; True stops the solver


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """First point `x` (variables,) of a solve, and multipliers if they are known."""

    x: np.ndarray
    x_multipliers: np.ndarray | None = None
    g_multipliers: np.ndarray | None = None

    @property
    def warm(self) -> bool:
        """Whether multipliers are known."""
        return self.x_multipliers is not None

    def __repr__(self) -> str:
        return f"Start({len(self.x)} variables{', warm' if self.warm else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Result of a solver: its last `iterate`, or None, and its `status` in its own words.

    `success` tells whether that is one; `calls` are {function: (times called, seconds)}.
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
    def options(self) -> Options:
        """Options of the solver by its own names."""


class Unsuited(ValueError):
    """Raised by a solver for a program that it is not made for."""


def accept(options: Options) -> None:
    """Accept any options."""


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A solver of nonlinear programs.

    Args:
        name: in messages and statistics.
        prepare: prepare(nlp, solver, start, see) returns a function without arguments that solves
            and returns an Answer. The NLP has a gradient and a Jacobian; `solver` has the options
            and the kind of Hessian. The run calls see(objective, iterate) for every iterate and
            stops when it returns True: Ctrl-C, history and the best iterate depend on it.
        check: raises ValueError, before any work, for options that the solver does not know.
        hessians: kinds of Hessian that it takes.
        shared: options of IPOPT that it knows by the same names, which attempts may tune.
    """

    name: str
    prepare: Callable[[NLP, Settings, Start, See], Callable[[], Answer]] = field(repr=False)
    check: Callable[[Options], None] = field(default=accept, repr=False)
    hessians: tuple[str, ...] = HESSIANS
    shared: tuple[str, ...] = ()

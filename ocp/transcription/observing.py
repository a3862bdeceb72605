"""Outputs of a problem that is open, along motions that are known: functions of its parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ocp.dynamics.formulation import Formulation
from ocp.mechanics.parameters import Parameter, parameters_of
from ocp.mechanics.types import Matrix
from ocp.problem.statement import Problem
from ocp.transcription.asking import given
from ocp.transcription.inputs import symbols
from ocp.transcription.kernels import evaluate

EVER = (1e-6, 1e6)  # s: durations of motions that are looked at


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Observed:
    """Outputs of an open problem at an instant of a known motion: their names and numbers of rows
    in `sizes`, and the `parameters` that they depend on."""

    sizes: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    stack: Matrix
    arguments: tuple[Matrix, Matrix, Matrix]

    def values(self, motion: tuple[np.ndarray, np.ndarray], p: np.ndarray) -> np.ndarray:
        """Return all rows (m, N) along a `motion`, as `placed` gives it, at the numbers p of the
        parameters."""
        return self._evaluated(self.stack, motion, p)

    def slopes(
        self, wanted: Sequence[Parameter]
    ) -> Callable[[tuple[np.ndarray, np.ndarray], np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return the function (motion, p) -> all rows (m, N) and their derivatives (m, wanted, N)
        by some of the parameters."""
        chosen = ca.vertcat(*(each.expression for each in wanted))
        both = ca.horzcat(self.stack, ca.densify(ca.jacobian(self.stack, chosen)))
        run = self._function(both)

        def at(motion: tuple, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            parts = _called(run, motion, p).reshape((*both.shape, -1), order="F")
            return parts[:, 0], parts[:, 1:]

        return at

    def _function(self, expression: Matrix) -> ca.Function:
        return ca.Function("observed", [*self.arguments], [ca.vec(ca.cse(expression))])

    def _evaluated(self, expression: Matrix, motion: tuple, p: np.ndarray) -> np.ndarray:
        return _called(self._function(expression), motion, p)


def observed(
    problem: Problem, formulation: Formulation, wanted: Mapping[str, Callable[..., Any]]
) -> Observed:
    """Return what functions of an Instant, {name: function}, give of a problem along any motion.

    Duration, constraints and symmetry of the problem are of no account; ground wrenches follow from
    the motion in two passes. Raises ValueError for functions that fail, naming the output.
    """
    bare = replace(problem, duration=EVER, constraints=(), symmetry=None)
    inputs = symbols(bare, formulation)
    inputs = replace(inputs, at=replace(inputs.at, flow=None))  # recordings end with accelerations
    columns = {name: given(f"output {name!r}", each, inputs) for name, each in wanted.items()}
    stack = ca.vertcat(*columns.values())
    parameters = parameters_of(stack)
    own = {hash(each) for each in parameters_of(inputs.y)}
    entries = [inputs.y[row] for row in range(inputs.y.shape[0])]
    motion = [entry for entry in entries if entry.element_hash() not in own]
    p = ca.vertcat(ca.SX(0, 1), *(each.expression for each in parameters))
    return Observed(
        sizes={name: rows.shape[0] for name, rows in columns.items()},
        parameters=parameters,
        stack=stack,
        arguments=(ca.vertcat(*motion), inputs.s, p),
    )


def placed(
    s: np.ndarray, duration: float, motion: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (y, s) of instants s (N,) of a motion (q, qd, qdd), each (n, N), of that duration."""
    q, qd, qdd = motion
    return np.vstack([np.full(len(s), duration), q, duration * qd, duration**2 * qdd]), s


def _called(function: ca.Function, motion: tuple, p: np.ndarray) -> np.ndarray:
    y, s = motion
    return evaluate(function, y, s, ca.repmat(ca.DM(p), 1, len(s)))

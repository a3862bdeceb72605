"""Outputs of a problem that is open, along motions that are known: functions of its parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import Formulation
from ocp.mechanics.values.parameters import Parameter, parameters_of
from ocp.mechanics.values.types import Matrix
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import symbols
from ocp.transcription.kernels.kernels import evaluate
from ocp.transcription.kernels.motion_traces import ByIdentity
from ocp.transcription.kernels.user_functions import call_user_function

EVER = (1e-6, 1e6)  # s: durations of motions that are looked at
Stretch = tuple[np.ndarray, np.ndarray]  # y and s of a motion, as `stack_motion` gives them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OutputFunctions:
    """Outputs of an open problem at an instant of a known motion: their names and numbers of rows
    in `sizes`, and the `parameters` that they depend on; `stack` is a column of all rows as a
    function of the `arguments` y, s and p."""

    sizes: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    stack: Matrix
    arguments: tuple[Matrix, Matrix, Matrix]

    def values(self, motion: Stretch, p: np.ndarray) -> np.ndarray:
        """Return all rows (m, N) along a motion at the numbers p of the parameters."""
        return _evaluate_along(_function(self), motion, p)

    def slopes(
        self, wanted: tuple[Parameter, ...]
    ) -> Callable[[Stretch, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return the function (motion, p) -> all rows (m, N), their derivatives (m, wanted, N) by
        some parameters, and none (m, 0, N) by the motion."""
        return self._slopes(wanted, moving=False)

    def slopes_of_motion(
        self, wanted: tuple[Parameter, ...]
    ) -> Callable[[Stretch, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return likewise the function (motion, p) -> all rows, their derivatives by parameters,
        and those (m, 3 n, N) by q and its two derivatives by s."""
        return self._slopes(wanted, moving=True)

    def _slopes(self, wanted: tuple[Parameter, ...], moving: bool) -> Callable:
        run, count = _function(self, wanted, moving), 1 + len(wanted)

        def at(motion: Stretch, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            columns, rows = _evaluate_along(run, motion, p), self.stack.shape[0]
            parts = columns.reshape((rows, -1, columns.shape[1]), order="F")
            return parts[:, 0], parts[:, 1:count], parts[:, count:]

        return at


def output_functions(
    problem: Problem, formulation: Formulation, names: tuple[str, ...]
) -> OutputFunctions:
    """Return the functions of a problem's outputs, by name, along any motion; the last ones are
    kept.

    Duration, constraints and symmetry of the problem are of no account; ground wrenches follow from
    the motion in two passes. Raises ValueError for outputs that are unknown or fail, naming them.
    """
    for name in names:
        if name not in problem.outputs:
            known = ", ".join(problem.outputs) or "none"
            raise ValueError(f"output {name!r}: the problem has no such output; it has {known}")
    return _output_functions(ByIdentity(problem), formulation, names)


@lru_cache(maxsize=8)
def _output_functions(
    same: ByIdentity, formulation: Formulation, names: tuple[str, ...]
) -> OutputFunctions:
    problem = same.value
    bare = replace(problem, duration=EVER, constraints=(), symmetry=None)
    inputs = symbols(bare, formulation)
    inputs = replace(inputs, at=replace(inputs.at, flow=None))  # recordings end with accelerations
    columns = {
        name: call_user_function(f"output {name!r}", problem.outputs[name], inputs)
        for name in names
    }
    stack = ca.vertcat(*columns.values())
    parameters = parameters_of(stack)
    own = {hash(each) for each in parameters_of(inputs.y)}
    entries = [inputs.y[row] for row in range(inputs.y.shape[0])]
    motion = [entry for entry in entries if entry.element_hash() not in own]
    p = ca.vertcat(ca.SX(0, 1), *(each.expression for each in parameters))
    return OutputFunctions(
        sizes={name: rows.shape[0] for name, rows in columns.items()},
        parameters=parameters,
        stack=stack,
        arguments=(ca.vertcat(*motion), inputs.s, p),
    )


def stack_motion(
    s: np.ndarray, duration: float, motion: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> Stretch:
    """Return (y, s) of instants s (N,) of a motion (q, qd, qdd), each (n, N), of that duration."""
    q, qd, qdd = motion
    return np.vstack([np.full(len(s), duration), q, duration * qd, duration**2 * qdd]), s


@lru_cache(maxsize=16)
def _function(
    seen: OutputFunctions, wanted: tuple[Parameter, ...] = (), moving: bool = False
) -> ca.Function:
    """Return the Function of all rows, and of their derivatives by some parameters beside them.

    Those by a `moving` motion follow.
    """
    motion = seen.arguments[0][1:] if moving else ca.SX(0, 1)
    symbols = ca.vertcat(ca.SX(0, 1), *(each.expression for each in wanted), motion)
    both = ca.horzcat(seen.stack, ca.densify(ca.jacobian(seen.stack, symbols)))
    return ca.Function("observed", [*seen.arguments], [ca.vec(ca.cse(both))])


def _evaluate_along(function: ca.Function, motion: Stretch, p: np.ndarray) -> np.ndarray:
    y, s = motion
    return evaluate(function, y, s, ca.repmat(ca.DM(p), 1, len(s)))

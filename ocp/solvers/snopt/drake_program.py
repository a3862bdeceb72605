"""An NLP as Drake's MathematicalProgram, which SNOPT solves, and the costs of the bridge.

Rows that depend on the same variables form one constraint over these alone, linear rows are
declared linear, and the objective's gradient comes in slices. Drake shows the whole point before it
asks for any of them; then all are evaluated at once. Nonlinear rows are divided by the sizes of
their bounds, so that one tolerance suits torques in N m and places in m.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ocp.solvers.nlp import NLP, Evaluator, Iterate, iterate_at
from ocp.solvers.solver_backend import See

Drake: TypeAlias = Any  # of the optional package pydrake

OVERHEAD = 4000  # numbers whose copying costs as much as one more constraint
SLICE = 32  # variables of one slice of the objective's gradient
NEAR = 0.1  # of the size of a row's bound, assumed: rows farther within may be left out


class Stop(Exception):
    """Ends the run from within an evaluation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrakeProgram:
    """Drake's `program` of an NLP, its `variables`, and the bindings of `bounds` and rows of g."""

    program: Drake
    point: "EvaluatedPoint"
    variables: Drake
    bounds: Drake
    constraints: list[tuple[np.ndarray, Drake]]

    def iterate(self, result: Drake) -> Iterate:
        """Return the last iterate of SNOPT, with its multipliers."""
        last = self.point.iterate(result.GetSolution(self.variables))
        last.x_multipliers[:] = -np.array(result.GetDualSolution(self.bounds)).ravel()
        for rows, binding in self.constraints:
            duals = -np.array(result.GetDualSolution(binding)).ravel()
            last.g_multipliers[rows] = duals * self.point.unit[rows]
        return last


def build_drake_program(
    nlp: NLP, point: "EvaluatedPoint", solvers: ModuleType, differentiation: ModuleType
) -> DrakeProgram:
    """Return the NLP, with the rows that a point keeps, as Drake's program.

    Args:
        nlp: with gradient and Jacobian.
        point: evaluates the NLP where SNOPT is.
        solvers, differentiation: modules of Drake.
    """
    program = solvers.MathematicalProgram()
    variables = program.NewContinuousVariables(len(nlp.lower))
    program.AddVisualizationCallback(point.move, variables)
    bounds = program.AddBoundingBoxConstraint(nlp.lower, nlp.upper, variables)
    constraints: list[tuple[np.ndarray, Drake]] = []
    nonlinear, pattern = point.nonlinear, _first(nlp)[1].sparsity_out(1)
    for columns in np.split(np.arange(len(nlp.lower)), range(SLICE, len(nlp.lower), SLICE)):
        cost = _objective(point, columns, differentiation)
        program.AddCost(cost, variables[columns])
    for rows, columns in group_rows(pattern, np.flatnonzero(nonlinear & point.kept)):
        function = _constraint(point, rows, columns, differentiation)
        lower, upper = (point.unit[rows] * bound[rows] for bound in (nlp.g_lower, nlp.g_upper))
        binding = program.AddConstraint(function, lower, upper, variables[columns])
        constraints.append((rows, binding))
    straight = np.flatnonzero(~nonlinear & point.kept)
    if len(straight):
        constraints.append((straight, _linear(program, nlp, straight, variables)))
    return DrakeProgram(
        program=program, point=point, variables=variables, bounds=bounds, constraints=constraints
    )


class EvaluatedPoint:
    """Values and derivatives at SNOPT's current point, evaluated once for all pieces.

    `bridging` are the seconds in which numbers pass between SNOPT and the evaluation. Drake asks
    for all pieces of a point in one go, so that time until the last piece is not SNOPT's. Rows that
    are not `kept` are no part of the search; a point far outside of any is `broken`, and ends it.
    """

    def __init__(self, nlp: NLP, see: See) -> None:
        self.nlp, self.see = nlp, see
        self.x = np.full(len(nlp.lower), np.nan)  # not evaluated yet
        self.count, self.seconds, self.deadline = 0, 0.0, np.inf
        self.kept, self.broken = np.full(len(nlp.g_lower), True), False
        self.sound = self.x  # the last one that was not broken
        self.bridging, self.left = 0.0, time.perf_counter()  # when a call of ours was left last
        self.functions = _first(nlp)
        self.nonlinear = _nonlinear(nlp)
        self.unit = np.where(self.nonlinear, _units(nlp), 1.0)
        pattern = self.functions[1].sparsity_out(1)
        self.shape, self.row = pattern.shape, np.array(pattern.row(), dtype=int)
        self.column = np.repeat(np.arange(pattern.size2()), np.diff(pattern.colind()))
        self.gradient, self.jacobian = map(Evaluator, self.functions)

    def move(self, x: np.ndarray) -> None:
        """Evaluate x (n,), whose pieces are asked for next; raise Stop if the search must end."""
        self.left = time.perf_counter()
        if np.array_equal(x, self.x):
            return
        self.x, self.count, self.broken = np.array(x, dtype=float), self.count + 1, False
        (f, slope), (g, self.nonzeros) = self.gradient(self.x), self.jacobian(self.x)
        gradient, jacobian = self.functions
        self.slope, self.g = _dense(gradient, 1, slope), _dense(jacobian, 0, g)
        self.f = float(f[0]) if len(f) else 0.0
        evaluated = time.perf_counter()
        self.seconds += evaluated - self.left
        self.left = evaluated
        if self.see(self.f, self.iterate(self.x)) or self.late():
            raise Stop
        self.broken = self.breaks(self.g, NEAR)
        if self.broken:
            raise Stop
        self.sound = self.x

    def leave(self) -> None:
        """Count the time since the evaluation, or the last piece, as bridging."""
        now = time.perf_counter()
        self.bridging, self.left = self.bridging + now - self.left, now

    def late(self) -> bool:
        """Tell whether the time is up."""
        return time.perf_counter() > self.deadline

    def iterate(self, x: np.ndarray) -> Iterate:
        """Return the Iterate at x, with multipliers of zero."""
        if not np.array_equal(x, self.x):
            return iterate_at(self.nlp, x)
        return Iterate(
            x=np.array(x, dtype=float),
            g=self.g.copy(),
            x_multipliers=np.zeros(len(x)),
            g_multipliers=np.zeros(len(self.g)),
        )

    def near(self, g: np.ndarray) -> np.ndarray:
        """Tell of each row of g whether it is no farther than NEAR within its bounds."""
        return self._inside(g) < NEAR

    def breaks(self, g: np.ndarray, by: float) -> bool:
        """Tell whether a row of g that is not kept is farther outside of its bounds than `by`."""
        return bool(np.any(self._inside(g)[~self.kept] < -by))

    def _inside(self, g: np.ndarray) -> np.ndarray:
        """Return the distances of g within its bounds, in units of SNOPT's rows."""
        return self.unit * np.minimum(g - self.nlp.g_lower, self.nlp.g_upper - g)

    def calls(self) -> dict[str, tuple[int, float]]:
        """Return calls and seconds of evaluations, and of the bridge."""
        return {"nlp_fg": (self.count, self.seconds), "bridge": (self.count, self.bridging)}


def _first(nlp: NLP) -> tuple[ca.Function, ca.Function]:
    """Return the gradient and the Jacobian of an NLP, which every Backend gets."""
    assert nlp.gradient is not None and nlp.jacobian is not None
    return nlp.gradient, nlp.jacobian


def _objective(
    point: EvaluatedPoint, columns: np.ndarray, differentiation: ModuleType
) -> Callable[[np.ndarray], Drake]:
    """Return the part of the objective for a slice of variables.

    The first part has the objective's value, each its slice of the gradient.
    """
    first = columns[0] == 0
    function = _drake_function(
        point,
        columns,
        differentiation,
        lambda: (np.array([point.f if first else 0.0]), point.slope[columns][None, :]),
    )
    return lambda x: function(x)[0]


def _constraint(
    point: EvaluatedPoint, rows: np.ndarray, columns: np.ndarray, differentiation: ModuleType
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of some variables that gives some rows of g."""
    place = np.full(point.shape, -1)
    place[np.ix_(rows, columns)] = np.arange(len(rows) * len(columns)).reshape(len(rows), -1)
    target = place[point.row, point.column]
    source = np.flatnonzero(target >= 0)
    target = target[source]

    def evaluate() -> tuple[np.ndarray, np.ndarray]:
        slope = np.zeros(len(rows) * len(columns))
        slope[target] = point.nonzeros[source]
        unit = point.unit[rows]
        return unit * point.g[rows], unit[:, None] * slope.reshape(len(rows), -1)

    return _drake_function(point, columns, differentiation, evaluate)


def _drake_function(
    point: EvaluatedPoint,
    columns: np.ndarray,
    differentiation: ModuleType,
    evaluate: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that Drake calls with numbers, or automatically differentiated ones."""

    def function(x: np.ndarray) -> np.ndarray:
        dual = x.dtype == object
        if not np.array_equal(
            differentiation.ExtractValue(x).ravel() if dual else x, point.x[columns]
        ):
            raise RuntimeError("Drake asks for values at a point that it has not shown")
        value, slope = evaluate()
        if dual:
            value = differentiation.InitializeAutoDiff(value[:, None], slope).ravel()
        point.leave()
        return value

    return function


def _nonlinear(nlp: NLP) -> np.ndarray:
    """Tell of each row of g whether it is nonlinear."""
    x = ca.MX.sym("x", len(nlp.lower))
    return np.array(ca.which_depends(nlp.constraints(x), x, 2, True), dtype=bool).ravel()


def _units(nlp: NLP) -> np.ndarray:
    """Return the factor of each row of g: one over its larger finite bound.

    Bounds below 1 count as 1, as they do for a certificate.
    """
    sides = [np.array(side, dtype=float).ravel() for side in (nlp.g_lower, nlp.g_upper)]
    sizes = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in sides]
    return 1.0 / np.maximum(1.0, np.maximum(*sizes))


def _linear(program: Drake, nlp: NLP, rows: np.ndarray, variables: Drake) -> Drake:
    """Add the linear rows of g and return their binding."""
    x = np.clip(1.0, nlp.lower, nlp.upper)
    g, jacobian = (np.array(value) for value in _first(nlp)[1](x, ca.DM(0, 1)))
    slope = np.where(np.isfinite(jacobian[rows]), jacobian[rows], 0.0)
    columns = np.flatnonzero(slope.any(axis=0))
    constant = g.ravel()[rows] - slope @ x
    return program.AddLinearConstraint(
        slope[:, columns],
        nlp.g_lower[rows] - constant,
        nlp.g_upper[rows] - constant,
        variables[columns],
    )


def group_rows(pattern: ca.Sparsity, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return [(rows, columns)]: rows of a Jacobian that share columns, so that little is copied.

    For a group of r rows over c columns Drake copies c numbers per column and r per column.
    """
    columns = dict(
        zip(
            range(pattern.size1()),
            np.split(np.array(pattern.T.row(), dtype=int), pattern.T.colind()[1:-1]),
        )
    )
    alike: dict[bytes, tuple[np.ndarray, list[int]]] = {}
    for row in rows:
        alike.setdefault(columns[row].tobytes(), (columns[row], []))[1].append(row)
    groups: list[tuple[list[int], np.ndarray]] = []
    for used, members in sorted(alike.values(), key=lambda pair: (*pair[0][:1], *pair[0][-1:])):
        if groups:
            before, over = groups[-1]
            joined = np.union1d(over, used)
            apart = _cost(len(before), len(over)) + _cost(len(members), len(used))
            if _cost(len(before) + len(members), len(joined)) <= apart:
                groups[-1] = (before + members, joined)
                continue
        groups.append((members, used))
    return [(np.array(members), used) for members, used in groups]


def _cost(rows: int, columns: int) -> int:
    return columns * (columns + rows) + OVERHEAD


def _dense(function: ca.Function, k: int, nonzeros: np.ndarray) -> np.ndarray:
    """Return the vector that is result k of a function, from its nonzeros."""
    pattern = function.sparsity_out(k)
    vector = np.zeros(pattern.size1())
    vector[np.array(pattern.row(), dtype=int)] = nonzeros
    return vector

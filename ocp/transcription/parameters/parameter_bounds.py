"""Bounds of a program as a function of its parameters, without records made anew."""

import casadi as ca
import numpy as np

from ocp.mechanics.values.parameters import expression_of, is_open
from ocp.solvers.nlp import Evaluator
from ocp.transcription.transcribe_phase import TranscribedPhase
from ocp.transcription.variables.layout import free_duration
from ocp.transcription.variables.variable_bounds import VariableBounds, single_variable_rows

Sides = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class ParameterBounds:
    """Bounds (lower, upper, g_lower, g_upper) of a phase's program for values of its parameters.

    Open bounds are one function of the parameters; closed ones are placed once.
    """

    def __init__(self, part: TranscribedPhase) -> None:
        self.layout, nlp = part.layout, part.nlp
        self.closed = nlp.g_lower, nlp.g_upper
        expressions: list[tuple[ca.SX, ca.SX]] = []
        rows, variables = [np.empty((0, 2), dtype=int)], [np.empty((0, 4))]
        every, fixed, count = VariableBounds(self.layout), VariableBounds(self.layout), 0
        for stated, group in zip(part.open_groups, part.groups):
            _, places, limits = every.place(group, count)
            if not stated.open:
                fixed.place(group, count)
            count += limits.shape[1]
            if not stated.open:
                continue
            variable, factor, *_ = single_variable_rows(group, group.lines)
            source = np.arange(len(stated.owners))[:, None] + np.zeros_like(places)
            source += len(expressions)
            expressions += [
                (expression_of(owner.lower_of(number)), expression_of(owner.upper_of(number)))
                for owner, number in stated.owners
            ]
            general, single = places >= 0, (places < 0) & (variable >= 0)
            rows.append(np.column_stack([places[general], source[general]]))
            constant = group.lines.constant
            parts = (each[single] for each in (variable, source, constant, factor))
            variables.append(np.column_stack([*parts]))
        fixed.settle()
        self.lower, self.upper = fixed.lower, fixed.upper
        if free_duration(part.layout.problem) and is_open(list(part.statement.duration)):
            lower, upper = (expression_of(each) for each in part.statement.duration)
            variables.append(np.array([[0, len(expressions), 0.0, 1.0]]))
            expressions.append((lower, upper))
            self.lower[0], self.upper[0] = -np.inf, np.inf
        self._set_tables(expressions, np.concatenate(rows), np.concatenate(variables))

    def _set_tables(
        self, expressions: list[tuple[ca.SX, ca.SX]], rows: np.ndarray, variables: np.ndarray
    ) -> None:
        layout = self.layout
        names = ca.vertcat(ca.SX(0, 1), *(each.expression for each in layout.values))
        sides = [ca.vertcat(ca.SX(0, 1), *each) for each in zip(*expressions)] or [ca.SX(0, 1)] * 2
        self.evaluate = Evaluator(ca.Function("bounds", [names], list(map(ca.densify, sides))))
        self.rows, self.row_source = rows.T
        self.variables, self.source = variables[:, :2].T.astype(int)
        self.constant, factor = variables[:, 2], variables[:, 3]
        self.factor, self.swapped = factor, factor < 0
        self.given = np.arange(layout.size)[layout.parameters][layout.free :]

    def __call__(self, values: np.ndarray) -> Sides:
        """Return the bounds for values (parameters,), in the order of the layout's parameters; of
        those that are sought the values do not count."""
        low, high = self.evaluate(values)
        g_lower, g_upper = (each.copy() for each in self.closed)
        g_lower[self.rows], g_upper[self.rows] = low[self.row_source], high[self.row_source]
        lower, upper = self.lower.copy(), self.upper.copy()
        sides = ((each[self.source] - self.constant) / self.factor for each in (low, high))
        one, other = sides
        np.maximum.at(lower, self.variables, np.where(self.swapped, other, one))
        np.minimum.at(upper, self.variables, np.where(self.swapped, one, other))
        lower[self.given] = upper[self.given] = values[self.layout.free :]
        return np.minimum(lower, upper), upper, g_lower, g_upper

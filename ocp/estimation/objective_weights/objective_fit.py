"""Weights of an objective found from motions: values, errors, and what the motions do not tell."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ocp.mechanics.values.parameters import Number
from ocp.pickling import portable
from ocp.problem.statement import Problem
from ocp.solution.solution import Solution

ALIKE = 0.95  # correlation of two weights from which on they are told to be hard to tell apart


@portable
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ObjectiveFit:
    """Weights found from motions.

    Attributes:
        problem: the Problem with these weights, to be solved.
        weights: {term: weight} of all terms of the objective.
        terms: those that were sought.
        errors: {term: standard error of the logarithm of its weight}, which is relative to it where
            it is small; inf if the motions do not tell it, 0 at a bound.
        covariance: of these logarithms (k, k), in the order of the terms.
        slopes: derivatives (M, k) of the residuals of each motion by these logarithms: curves over
            deviations or sizes, instant by instant, and the duration where it is free.
        unidentifiable: changes of weights, alone or together, that change no motion, in words.
        alike: pairs of terms that the motions hardly tell apart, in words.
        at_bounds: terms whose weight is at a bound of the search.
        inverse: {term: weight} by the first-order conditions alone, None where no motion is whole;
            `stationarity` what these leave of the gradients, 0 of optima.
        misfit: mean square of the residuals over their deviations per degree of freedom, 1 where
            the problem explains the motions; None unless all deviations are given.
        rms, rms_before: root mean square of the residuals of each motion, in deviations or shares
            of the curves' sizes, at these weights and at those of the statement.
        held_out, held_out_before: likewise of each motion at weights found from the others; empty
            unless `validate`.
        solutions: that of each motion with these weights.
        changes: constraints that became active or not from each motion's first solve to its last.
        status, success, iterations: how the search ended.
        explanation: lines on what makes the errors doubtful.
    """

    problem: Problem
    weights: Mapping[str, Number]
    terms: tuple[str, ...]
    errors: Mapping[str, float]
    covariance: np.ndarray
    slopes: tuple[np.ndarray, ...]
    unidentifiable: tuple[str, ...]
    alike: tuple[str, ...]
    at_bounds: tuple[str, ...]
    inverse: Mapping[str, Number] | None
    stationarity: float | None
    misfit: float | None
    rms: np.ndarray
    rms_before: np.ndarray
    held_out: np.ndarray
    held_out_before: np.ndarray
    solutions: tuple[Solution, ...]
    changes: tuple[int, ...]
    status: str
    success: bool
    iterations: int
    explanation: tuple[str, ...]

    def __repr__(self) -> str:
        return f"ObjectiveFit({', '.join(self.terms)}; {len(self.rms)} motions, {self.status})"

    def __str__(self) -> str:
        lines = []
        for name, weight in self.weights.items():
            told = "kept" if name not in self.errors else f"x/ {np.exp(self.errors[name]):.4g}"
            lines.append(f"{name:<24} {weight:>14.6g} {told}")
        lines += [f"at its bound: {name}" for name in self.at_bounds]
        lines += [f"not identifiable: {words}" for words in self.unidentifiable]
        lines += [f"hard to tell apart: {words}" for words in self.alike]
        if self.inverse is not None and self.stationarity is not None:
            found = ", ".join(f"{name} {weight:.4g}" for name, weight in self.inverse.items())
            lines.append(
                f"first-order conditions alone: {found}; they leave {self.stationarity:.2g}"
            )
        for k, pair in enumerate(zip(self.rms_before, self.rms)):
            lines.append(f"motion {k + 1}: residual {pair[0]:.4g} before, {pair[1]:.4g} now")
        for k, pair in enumerate(zip(self.held_out_before, self.held_out)):
            lines.append(f"motion {k + 1} held out: {pair[0]:.4g} before, {pair[1]:.4g} now")
        if self.misfit is not None:
            lines.append(f"misfit: {self.misfit:.4g} (1 is expected)")
        return "\n".join([*lines, self.status, *self.explanation])


def similar_pairs(terms: tuple[str, ...], covariance: np.ndarray) -> tuple[str, ...]:
    """Return in words the pairs of terms whose weights are correlated by ALIKE or more."""
    deviations = np.sqrt(np.diag(covariance))
    told = []
    for i, one in enumerate(terms):
        for j in range(i):
            size = deviations[i] * deviations[j]
            share = covariance[i, j] / size if size > 0 else 0.0
            if abs(share) >= ALIKE:
                told.append(f"{terms[j]} and {one} (correlation {share:+.3f})")
    return tuple(told)

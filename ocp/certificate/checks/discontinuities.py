"""Discontinuities of a problem: ends of spans, contact switches, jumps and kinks of loads.

A basis whose pieces end there can follow; one whose pieces run across them is smooth where the
motion is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import casadi as ca
import numpy as np

from ocp.mechanics.model.loads import Load
from ocp.problem.constraint import Span
from ocp.problem.statement import Problem
from ocp.transcription.kernels.kernels import function

LOOKS = 2001  # instants at which loads are looked at for jumps
HALVINGS = 30  # of a step between two of them
FIRM = 1e-3  # of the range of a load, or of its slope: what a jump does not shrink below


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """Instants s between 0 and 1: `ends` of spans and supports and kinks of loads (k,), and `jumps`
    of loads (m,), at which torques or accelerations jump too."""

    ends: np.ndarray
    jumps: np.ndarray


def find_breaks(problem: Problem, duration: float) -> Breaks:
    """Return the Breaks of a problem whose motion takes `duration` (s)."""
    spans = [each.when for each in problem.requirements if isinstance(each.when, Span)]
    ends = [end for span in spans for end in (span.start, span.end)]
    ends += [] if problem.ground is None else [*problem.ground.switches]
    jumps: list[float] = []
    for load in problem.loads:
        if isinstance(load, Load) and (callable(load.force) or callable(load.moment)):
            torn, kinked = _load_breaks(load, duration)
            jumps += torn
            ends += kinked
    return Breaks(ends=_inside(ends), jumps=_inside(jumps))


def _load_breaks(load: Load, duration: float) -> tuple[list[float], list[float]]:
    """Return the instants s at which a load jumps, and those at which its slope does.

    Jumps are what no halving of a step makes smaller.
    """
    t = ca.SX.sym("t")
    now = load.at(t)
    parts = [ca.SX(part[k]) for part in cast(Sequence, (now.force, now.moment)) for k in range(3)]
    force = ca.vertcat(*parts)
    slope = ca.jacobian(force, t)
    torn, kinked = (
        _jumps(function("push", [t], [ca.densify(part)], ["t"], ["push"]), duration)
        for part in (force, slope)
    )
    return torn, kinked


def _jumps(push: ca.Function, duration: float) -> list[float]:
    def at(s: np.ndarray) -> np.ndarray:
        return np.array(push.map(len(s))(ca.DM(s * duration).T))

    s = np.linspace(0.0, 1.0, LOOKS)
    values = at(s)
    span = np.ptp(values, axis=1, keepdims=True)
    span[span == 0] = np.inf
    steep = np.abs(np.diff(values / span, axis=1)).max(axis=0) > FIRM
    before, after = s[:-1][steep], s[1:][steep]
    if not len(before):
        return []
    for _ in range(HALVINGS):
        middle = (before + after) / 2
        first, second, third = (at(places) / span for places in (before, middle, after))
        left = np.abs(second - first).max(axis=0) > np.abs(third - second).max(axis=0)
        before, after = np.where(left, before, middle), np.where(left, middle, after)
    torn = np.abs((at(after) - at(before)) / span).max(axis=0) > FIRM
    return [*np.round(after[torn], 9)]


def _inside(instants: list[float]) -> np.ndarray:
    return np.array(sorted({float(s) for s in instants if 0 < s < 1}))

"""Free instants: constraints at a time that is a parameter, as of a via point.

The curve there is a function of all control points and of the instant itself: in every segment the
recursion of de Boor (1978, chapter X), of which the instant chooses one. So it is as smooth in time
as the spline is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import casadi as ca
import numpy as np

from ocp.dynamics.formulation_record import Formulation
from ocp.mechanics.values.parameters import Open
from ocp.mechanics.values.types import Matrix
from ocp.motion.free_knots import spline_value
from ocp.motion.spline import BSpline
from ocp.problem.instant import Forces, Instant
from ocp.problem.statement import Problem
from ocp.transcription.kernels.instant_symbols import Backend, Inputs, forces_from_motion
from ocp.transcription.variables.layout import Layout, MotionMap, free_duration, motion_size


def moment_symbols(
    problem: Problem,
    formulation: Formulation,
    when: Open,
    *,
    backend: Backend | None = None,
    lifted: bool = False,
) -> Inputs:
    """Return the Inputs of kernels at an open instant: y is (T if free, all control points).

    Forces that are `lifted` are not known there.
    """
    n, free = problem.tree.dof, free_duration(problem)
    y, s = ca.SX.sym("y", motion_size(problem)), ca.SX(when.expression)
    T = y[0] if free else ca.SX(problem.duration[0])
    q, qd, qdd = curves(problem.motion, ca.reshape(y[free:], n, problem.motion.points), s)
    known = replace(forces_from_motion(problem)[1](None), inverse=formulation.inverse)
    at = Instant(
        tree=problem.tree,
        s=s,
        T=T,
        q=q,
        qd=qd / T,
        qdd=qdd / T**2,
        loads=tuple(problem.loads),
        ground=problem.ground,
        forces=_UNKNOWN if lifted else known,
    )
    return Inputs(y=y, s=ca.SX.sym("s"), at=at, backend=backend)


def _unknown(*_: object) -> NoReturn:
    """Raise ValueError: what is lifted is known at nodes."""
    raise ValueError(
        "when: forces that are variables are not known at an instant that is open; expected a "
        "function of q, qd and qdd"
    )


_UNKNOWN = Forces(
    inverse=_unknown, torques=_unknown, ground=_unknown, cuts=_unknown, stays=_unknown
)


def curves(motion: Any, points: Matrix, s: Matrix) -> tuple[Matrix, ...]:
    """Return q, q' and q'' (n,) at an instant s, an expression, of control points (n, points)."""
    firsts = _firsts(motion)
    parts = [_in_segment(motion, points, s, first, firsts) for first in firsts]
    return tuple(ca.cse(sum(part[order] for part in parts)) for order in range(3))


def _firsts(motion: BSpline) -> list[int]:
    """Return the knots (their numbers) that begin segments."""
    knots = motion.knot_vector
    inside = range(motion.degree, len(knots) - motion.degree - 1)
    return [k for k in inside if knots[k + 1] > knots[k]]


def _in_segment(
    motion: BSpline, points: Matrix, s: Matrix, first: int, firsts: Sequence[int]
) -> list[Matrix]:
    """Return q, q' and q'' of the segment that a knot begins, zero where the instant is not in it.

    The first and the last segment, of those that `firsts` begin, go on beyond the ends of the
    motion.
    """
    knots, p = motion.knot_vector, motion.degree
    back = [s - knots[first - k] for k in range(p)]
    on = [knots[first + 1 + k] - s for k in range(p)]
    around = ca.horzsplit(points[:, first - p : first + 1])
    inside: Matrix = 1.0
    if first != firsts[0]:
        inside = inside * (s >= knots[first])
    if first != firsts[-1]:
        inside = inside * (s < knots[first + 1])
    return [inside * spline_value(around, back, on, order) for order in range(3)]


def moment_map(layout: Layout) -> MotionMap:
    """Return the MotionMap of an instant that is open: what of x makes y there."""
    motion, parameters = motion_size(layout.problem), range(layout.size)[layout.parameters]
    chosen = np.array([*range(motion), *parameters], dtype=int)
    ones = np.ones(len(chosen))
    return MotionMap(
        row=np.arange(len(chosen)),
        column=chosen,
        value=ones,
        shape=(len(chosen), layout.size),
        divisor=ones,
    )

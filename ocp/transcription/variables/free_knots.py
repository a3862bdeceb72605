"""Free knots, or intervals of free lengths: widths of segments as variables.

They are bounded by the spacing and sum up to the whole motion.
"""

from collections.abc import Sequence
from typing import Any, cast

import casadi as ca
import numpy as np

from ocp.motion.free_knots import Moving
from ocp.problem.constraint import Constraint, Span
from ocp.problem.contact.complementarity import touch_labels, touches
from ocp.problem.reserved_names import KNOTS
from ocp.problem.statement import Problem
from ocp.transcription.constraint_rows import Group
from ocp.transcription.kernels.instant_symbols import Backend, Inputs
from ocp.transcription.kernels.kernels import make_kernel
from ocp.transcription.transcription_methods import Method
from ocp.transcription.variables.layout import Layout


def knot_equations(layout: Layout, backend: Backend | None = None) -> tuple[Group, ...]:
    """Return the Groups of what free knots meet: widths sum up to 1, and none is below the
    spacing."""
    motion, columns = cast(Moving, layout.problem.motion), range(layout.size)[layout.widths]
    whole, least = _constraints(motion)
    return (
        _group(whole, [1.0], _selection(layout, columns, [0] * len(columns)), backend),
        _group(least, motion.breaks[1:], _selection(layout, columns, range(len(columns))), backend),
    )


def check_free_knots(problem: Problem, method: Method) -> None:
    """Raise ValueError naming what keeps free knots from moving: a method that cannot plan on them,
    or what holds at given instants of the motion."""
    if not method.moves_knots and not problem.motion.collocated:
        raise ValueError(
            f"method {method.name!r}: free knots are planned on by method 'spline'; take that, or "
            "give the knots (inner)"
        )
    if problem.ground is not None:
        raise ValueError(
            "motion: free knots would leave the contact schedule of the ground behind; "
            "give the knots (inner)"
        )
    if touches(problem.loads):
        raise ValueError(
            f"motion: free knots: forces of contacts {', '.join(touch_labels(problem.loads))} are "
            "known at given nodes; give the knots (inner)"
        )
    if problem.tree.stays:
        names = ", ".join(stay.name for stay in problem.tree.stays)
        raise ValueError(
            f"motion: free knots would leave the schedules of stays {names} behind; "
            "give the knots (inner)"
        )
    for constraint in problem.constraints:
        if isinstance(constraint.when, Span):
            raise ValueError(
                f"constraint {constraint.name!r}: its span of the motion does not move with free "
                "knots; give the knots (inner), or let it hold along the path"
            )


def _constraints(motion: Moving) -> tuple[Constraint, Constraint]:
    """Return the constraints on the sum of the widths and on every width."""
    whole, least = KNOTS
    part: dict[str, Any] = {"function": lambda at: at, "units": "of the motion"}
    return (
        Constraint(name=whole, lower=1.0, upper=1.0, labels=("widths",), **part),
        Constraint(name=least, lower=motion.spacing, labels=("width",), upper=np.inf, **part),
    )


def _selection(layout: Layout, columns: Sequence[int], rows: Sequence[int]) -> ca.DM:
    """Return the matrix (.., variables) that puts some variables into rows."""
    ones = ca.DM.ones(len(columns))
    return ca.DM.triplet(list(rows), list(columns), ones, max(rows) + 1, layout.size)


def _group(
    constraint: Constraint, s: Sequence[float] | np.ndarray, matrix: ca.DM, backend: Backend | None
) -> Group:
    y = ca.SX.sym("y")
    inputs = Inputs(y=y, s=ca.SX.sym("s"), at=None, backend=backend)
    return Group(
        kernel=make_kernel(inputs, y),
        s=np.asarray(s),
        matrix=matrix,
        owners=((constraint, 0),),
        active=np.ones((1, len(s)), dtype=bool),
    )

"""Dense sampling of a finished motion: ten instants where the nodes have one."""

from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.index_sets import distinct
from ocp.mechanics.values.types import Matrix
from ocp.problem.instant import Instant
from ocp.problem.phases.phase_problems import refuse_phases
from ocp.solution.solution import Solution
from ocp.transcription.kernels.kernels import as_column
from ocp.transcription.row_requests import DENSER, schedule_grid


def dense_instants(solution: Solution) -> np.ndarray:
    """Return the instants s of the dense grid, nodes and switches of contact among them."""
    refuse_phases("dense", solution.problem)
    nodes = solution.transcription.method.steps
    grids = [schedule_grid(solution.problem, factor * nodes) for factor in (1, DENSER)]
    return distinct(np.concatenate(grids).round(12))[0]


def traces(
    solution: Solution, wanted: Mapping[str, Callable[[Instant], Matrix]], t: ArrayLike
) -> dict[str, np.ndarray]:
    """Return {name: (m, N)} of several functions of an Instant along the motion at once.

    `wanted` is {name: function(Instant)}, `t` (N,) are times (s).
    """
    if not wanted:
        return {}
    sizes: list[int] = []
    values = solution.trace(stack_functions(wanted, sizes), t)
    return dict(zip(wanted, np.split(values, np.cumsum(sizes)[:-1])))


def stack_functions(
    wanted: Mapping[str, Callable[[Instant], Matrix]], sizes: list[int] | None = None
) -> Callable[[Instant], ca.SX]:
    """Return the function of an Instant that has all of {name: function(Instant)} in a column.

    It fills `sizes` with the number of rows of each.
    """

    def column_of_all(at: Instant) -> ca.SX:
        columns = [as_column(name, function(at)) for name, function in wanted.items()]
        if sizes is not None:
            sizes[:] = [rows.shape[0] for rows in columns]
        return ca.vertcat(*columns)

    return column_of_all

"""Motions as tables of pandas."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ocp.mechanics.values.units import unit_of
from ocp.version import library

if TYPE_CHECKING:
    from ocp.solution.solution import Solution

ENDINGS = {"q": "", "qd": ".rate", "qdd": ".acceleration", "tau": ".torque"}  # of columns


def dataframe(solution: "Solution", count: int) -> Any:
    """Return a motion as a pandas.DataFrame, as `Solution.to_dataframe`."""
    pandas = library("pandas", "data")
    if count < 2:
        raise ValueError(f"to_dataframe: count: expected at least 2 times, got {count}")
    t, joints = solution.times(count), solution.problem.tree.moving
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for quantity, ending in ENDINGS.items():
        for joint, row in zip(joints, getattr(solution, quantity)(t)):
            columns[joint.name + ending] = row
            units[joint.name + ending] = unit_of(joint, quantity)
    for name in solution.problem.outputs:
        for k, row in enumerate(solution.output(name, t)):
            columns[f"{name}.{k}"] = row
    frame = pandas.DataFrame(columns, index=pandas.Index(t, name="time"))
    frame.attrs["units"] = units
    return frame

"""Motions as pandas data frames."""

from typing import Any

import numpy as np

from ocp.mechanics.values.validation import unit_of
from ocp.solution.solution import Solution
from ocp.version import import_extra

ENDINGS = {"q": "", "qd": ".rate", "qdd": ".acceleration", "tau": ".torque"}  # of columns


def to_dataframe(solution: Solution, count: int = 201) -> Any:
    """Return a motion as a pandas.DataFrame: coordinates, rates, accelerations and torques.

    Columns are NAME, NAME.rate, NAME.acceleration and NAME.torque of every joint, and as
    "OUTPUT.k" the rows of the problem's outputs; `attrs["units"]` are the units of the joints'
    columns, the index is time (s).

    Args:
        solution: a Solution.
        count: number of equally spaced times, at least 2.

    Raises:
        ModuleNotFoundError: saying how to install pandas.
        ValueError: for less than two times.
    """
    pandas = import_extra("pandas", "data")
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

"""Pinocchio: a model from a URDF file, and its algorithms with their analytical derivatives."""

from collections.abc import Callable
from importlib import metadata

import numpy as np
import pinocchio as pin
from measuring import measured

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"


def version() -> str:
    """Return the release."""
    return pin.__version__


def dynamics(robot: str, base: str, seconds: float) -> Callable:
    """Inverse dynamics, their Jacobian and forward dynamics of a robot on a fixed base.

    `robot`: a file; `base`: the link that is held, which is the root link anyway; each is
    timed for so many `seconds`.
    """
    file = metadata.distribution("example-robot-data").locate_file(f"{ROBOTS}/{robot}")
    model = pin.buildModelFromUrdf(str(file))
    data = model.createData()

    def inverse(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return pin.rnea(model, data, q, v, a)

    def slopes(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
        return pin.computeRNEADerivatives(model, data, q, v, a)

    def jacobian(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        dq, dv, da = slopes(q, v, a)
        return np.hstack([dq, dv, np.triu(da) + np.triu(da, 1).T])

    def forward(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pin.aba(model, data, q, v, tau)

    return lambda: measured(model.names[1:], inverse, jacobian, forward, seconds)


TASKS = {"dynamics": dynamics}

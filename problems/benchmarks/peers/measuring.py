"""Time inverse dynamics, their Jacobian and forward dynamics of a robot, whoever computes them."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROUNDS = 11  # of timing, by turns
QUANTITIES = ("inverse", "jacobian", "forward")

Quantity = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def measured(
    names: Sequence[str], inverse: Quantity, jacobian: Quantity, forward: Quantity, calls: int
) -> dict[str, Any]:
    """Return microseconds of a call of each, and the numbers at one state, joints by name.

    `names` of the n coordinates; torques (n,) of places, rates and accelerations (n,); their
    `jacobian` (n, 3 n) by the three in turn; `forward`: accelerations of places, rates, torques.
    """
    order = np.argsort(names)
    q, v, a = (np.empty(len(names)) for _ in range(3))
    for k, vector in enumerate((q, v, a)):
        vector[order] = np.sin(1.0 + k + 3.0 * np.arange(len(names)))
    tau = np.array(inverse(q, v, a)).ravel()
    slopes = np.array(jacobian(q, v, a)).reshape(len(names), 3, len(names))
    back = np.array(forward(q, v, tau)).ravel()
    inputs = {"inverse": (q, v, a), "jacobian": (q, v, a), "forward": (q, v, tau)}
    functions = dict(zip(QUANTITIES, (inverse, jacobian, forward)))
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            taken[name].append(_microseconds(function, inputs[name], calls))
    return {
        "microseconds": {name: float(np.median(values)) for name, values in taken.items()},
        "values": {
            "inverse": tau[order].tolist(),
            "jacobian": slopes[order][:, :, order].ravel().tolist(),
            "forward": back[order].tolist(),
        },
    }


def _microseconds(function: Quantity, inputs: Sequence[np.ndarray], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        function(*inputs)
    return 1e6 * (time.process_time() - start) / calls

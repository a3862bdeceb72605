"""Time inverse dynamics, their Jacobian and forward dynamics of a robot, whoever computes them."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

BATCH = 20  # calls between two looks at the clock
QUANTITIES = ("inverse", "jacobian", "forward")

Quantity = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def measured(
    names: Sequence[str], inverse: Quantity, jacobian: Quantity, forward: Quantity, seconds: float
) -> dict[str, Any]:
    """Return microseconds of a call of each, and the numbers at one state, joints by name.

    `names` of the n coordinates; torques (n,) of places, rates and accelerations (n,); their
    `jacobian` (n, 3 n) by the three in turn; `forward`: accelerations of places, rates, torques;
    each is timed for so many `seconds`.
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
    taken = {
        name: _microseconds(function, inputs[name], seconds) for name, function in functions.items()
    }
    return {
        "microseconds": taken,
        "values": {
            "inverse": tau[order].tolist(),
            "jacobian": slopes[order][:, :, order].ravel().tolist(),
            "forward": back[order].tolist(),
        },
    }


def _microseconds(function: Quantity, inputs: Sequence[np.ndarray], seconds: float) -> float:
    """Return the mean processor time of a call, over so many seconds.

    Clocks of processor time tick in hundredths of a second on some machines.
    """
    start, count = time.process_time(), 0
    while count == 0 or time.process_time() - start < seconds:
        for _ in range(BATCH):
            function(*inputs)
        count += BATCH
    return 1e6 * (time.process_time() - start) / count

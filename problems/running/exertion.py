"""What a run costs: the effort of what excites its torques, their work, and rough motion."""

from math import sqrt
from typing import Any

import casadi as ca
import numpy as np

from ocp import Objective, Tree, dynamic_effort, integral, smoothness, squares
from ocp.mechanics import body_weight

RATES, WORK = "excitation", "work"  # names of terms
ROUND = 1e-3  # of the square of weight times 1 m/s: below which power counts as none


def exerted(body: Tree, smooth: float, work: float, lag: float) -> Objective:
    """Return dynamic effort, `smooth` times squared accelerations, `work` times mechanical work and
    the effort of torque rates under a `lag` (s).

    A torque tau of the limit tau0 follows its excitation e by a first-order lag T, e = (tau + T
    dtau/dt) / tau0. Over a cycle the integral of e^2 is that of (tau / tau0)^2 + (T / tau0
    dtau/dt)^2, since that of their product is none. The work is that of all joints, positive and
    negative, over the weight: |p| of a power p as sqrt(p^2 + e) - sqrt(e).
    """
    driven = {k: joint for k, joint in enumerate(body.moving) if joint.actuated}
    rows, weight = list(driven), body_weight(body)
    largest = np.array([max(map(abs, joint.torque)) for joint in driven.values()])
    objective = dynamic_effort(body) + smooth * smoothness(body)
    if work:

        def power(at: Any) -> Any:
            share = at.tau[rows] * at.qd[rows] / weight
            return ca.sum1(ca.sqrt(share**2 + ROUND) - sqrt(ROUND))

        objective += work * integral(WORK, power)
    if lag:
        objective += lag**2 * squares(RATES, lambda at: at.tau_rate[rows] / largest)
    return objective

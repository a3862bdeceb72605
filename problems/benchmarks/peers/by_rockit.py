"""rockit: differential equations in CasADi's symbols, multiple shooting or direct collocation."""

from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
import rockit
from casadi import cos, pi, sin, vertcat

QUIET = {"expand": True, "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}


def version() -> str:
    """Return the release."""
    return metadata.version("rockit-meco")


def two_link_time(method: str, intervals: int, free: bool = False, steps: int = 1) -> Callable:
    """Two links from rest to rest in least time.

    `method`: of METHODS; `intervals`, all as long as each other unless their lengths are `free`;
    `steps` of integration in each.
    """
    length, mass, inertia, limit = 0.4, 0.5, 0.1, 10.0
    ocp = rockit.Ocp(T=rockit.FreeTime(1.0))
    q, qd = ocp.state(2), ocp.state(2)
    tau = ocp.control(2)

    half = length / 2
    coupling = mass * length * half * cos(q[1])
    m22 = inertia + mass * half**2
    m12 = m22 + coupling
    m11 = 2 * inertia + mass * (2 * half**2 + length**2) + 2 * coupling
    pull = mass * length * half * sin(q[1])
    f1 = tau[0] + pull * (2 * qd[0] * qd[1] + qd[1] ** 2)
    f2 = tau[1] - pull * qd[0] ** 2
    qdd = vertcat(m22 * f1 - m12 * f2, m11 * f2 - m12 * f1) / (m11 * m22 - m12**2)
    ocp.set_der(q, qd)
    ocp.set_der(qd, qdd)

    ocp.subject_to(ocp.at_t0(q) == vertcat(0, -2))
    ocp.subject_to(ocp.at_t0(qd) == 0)
    ocp.subject_to(ocp.at_tf(q) == vertcat(1, -1))
    ocp.subject_to(ocp.at_tf(qd) == 0)
    ocp.subject_to(-limit <= (tau <= limit))
    ocp.add_objective(ocp.T)
    ocp.set_initial(q, vertcat(ocp.t / ocp.T, -2 + ocp.t / ocp.T))

    grid = rockit.FreeGrid(min=1e-3, max=1) if free else rockit.UniformGrid()
    ocp.method(_method(method, intervals, steps, grid))
    ocp.solver("ipopt", QUIET)
    solution = ocp.solve()
    return lambda: _answer(solution, solution.value(ocp.T), tau, q, intervals)


def cart_pole(method: str, intervals: int, steps: int = 1) -> Callable:
    """A cart swings its pole up within two seconds by the least squared force (Kelly 2017)."""
    cart, bob, length, gravity, limit, travel = 1.0, 0.3, 0.5, 9.81, 20.0, 1.0
    ocp = rockit.Ocp(T=2.0)
    q, qd = ocp.state(2), ocp.state(2)
    force = ocp.control()

    s, c = sin(q[1]), cos(q[1])
    below = cart + bob * s**2
    x_dd = (force + bob * s * (length * qd[1] ** 2 + gravity * c)) / below
    pole_dd = -(c * x_dd + gravity * s) / length
    ocp.set_der(q, qd)
    ocp.set_der(qd, vertcat(x_dd, pole_dd))

    ocp.subject_to(ocp.at_t0(q) == 0)
    ocp.subject_to(ocp.at_t0(qd) == 0)
    ocp.subject_to(ocp.at_tf(q) == vertcat(travel, pi))
    ocp.subject_to(ocp.at_tf(qd) == 0)
    ocp.subject_to(-limit <= (force <= limit))
    ocp.subject_to((q[0] <= 2) >= -2)
    ocp.add_objective(ocp.integral(force**2))
    ocp.set_initial(q, vertcat(travel * ocp.t / 2, pi * ocp.t / 2))

    ocp.method(_method(method, intervals, steps, rockit.UniformGrid()))
    ocp.solver("ipopt", QUIET)
    solution = ocp.solve()
    cost = solution.value(ocp.objective)
    return lambda: _answer(solution, cost, vertcat(force, 0), q, intervals)


def _method(name: str, intervals: int, steps: int, grid: Any) -> Any:
    if name == "shooting":
        return rockit.MultipleShooting(N=intervals, M=steps, intg="rk", grid=grid)
    return rockit.DirectCollocation(N=intervals, M=steps, grid=grid)


def _answer(solution: Any, objective: float, tau: Any, q: Any, intervals: int) -> dict[str, Any]:
    """Return objective and motion, whose controls are constant over each of the intervals."""
    times, torques = solution.sample(tau, grid="control")
    held = np.repeat(torques.reshape(len(times), -1)[:-1], 2, axis=0).T
    return {
        "objective": float(objective),
        "success": solution.stats["success"],
        "iterations": solution.stats["iter_count"],
        "t": np.repeat(times, 2)[1:-1].tolist(),
        "tau": held.tolist(),
    }


TASKS = {"two_link_time": two_link_time, "cart_pole": cart_pole}

"""`ocp`: the tasks by a mesh, a spline, or arcs whose ends are free."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from measuring import measured

from ocp import (
    BSpline,
    HermiteSimpson,
    Problem,
    Radau,
    Solution,
    Solver,
    Transcription,
    forward_dynamics,
    inverse_dynamics,
    solve,
)
from ocp.models.public import public_robot
from ocp.motion import Mesh
from ocp.problems.arms.two_link_arcs import problem as arcs
from ocp.problems.arms.two_link_time import problem as least_time
from ocp.problems.benchmarks.peers.reach import reach
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole_swing
from ocp.transcription import compile_function
from ocp.version import VERSION

METHODS = {"radau": Radau, "hermite-simpson": HermiteSimpson}
TABLES = 2001  # instants of a spline's table


def version() -> str:
    """Return the release."""
    return VERSION


def two_link_time(method: str, **settings: Any) -> Callable:
    """Two links from rest to rest in least time, by a method of METHODS, a spline, or arcs.

    `settings` of the method, of the spline, or of the problem in arcs; `derivatives` of the
    transcription.
    """
    if method == "arcs":
        return _solved(arcs(**settings), "spline")
    return _solved(least_time(), method, **settings)


def cart_pole(method: str, **settings: Any) -> Callable:
    """A cart swings its pole up within two seconds by the least squared force (Kelly 2017)."""
    return _solved(cart_pole_swing(), method, **settings)


def ur5_effort(method: str, **settings: Any) -> Callable:
    """A UR5 from rest to rest within 0.5 s by the least squared torques, within its limits."""
    return _solved(reach(), method, **settings)


def dynamics(robot: str, base: str, seconds: float, compiled: bool = False) -> Callable:
    """Inverse dynamics, their Jacobian and forward dynamics of a robot on a fixed base.

    `robot`: a file; `base`: the link that is held, which is the root link anyway; each is
    timed for so many `seconds`; `compiled` or on CasADi's virtual machine.
    """
    tree = public_robot(robot, repair=("balance", "weld"))
    q, v, a = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    tau = inverse_dynamics(tree, q, v, a)
    graphs = {
        "inverse": tau,
        "jacobian": ca.jacobian(tau, ca.vertcat(q, v, a)),
        "forward": forward_dynamics(tree, q, v, a),
    }
    functions = [
        _call(ca.Function(name, [q, v, a], [ca.densify(graph)]), compiled)
        for name, graph in graphs.items()
    ]
    return lambda: measured([joint.name for joint in tree.moving], *functions, seconds)


def _call(function: ca.Function, compiled: bool) -> Callable:
    """Return a call that evaluates a function in buffers of its own."""
    if compiled:
        function = compile_function(function)
    buffer, call = function.buffer()
    inputs = [np.zeros(function.size1_in(k)) for k in range(3)]
    result = np.zeros(function.size_out(0), order="F")
    for k, vector in enumerate(inputs):
        buffer.set_arg(k, memoryview(vector))
    buffer.set_res(0, memoryview(result.reshape(-1, order="F")))

    def evaluated(*vectors: np.ndarray) -> np.ndarray:
        for place, vector in zip(inputs, vectors):
            place[:] = vector
        call()
        return result

    evaluated.keep = buffer
    return evaluated


def _solved(
    statement: Problem,
    method: str,
    derivatives: str = "auto",
    plugin: str = "auto",
    **settings: Any,
) -> Callable:
    transcription = Transcription(derivatives=derivatives)
    if method == "spline" and settings:
        statement = replace(statement, motion=BSpline(**settings))
    elif method != "spline":
        transcription = replace(transcription, method=METHODS[method](**settings))
    solution = solve(statement, transcription, Solver(plugin=plugin))
    return lambda: _answer(solution)


def _answer(solution: Solution) -> dict[str, Any]:
    t = _instants(solution)
    return {
        "objective": solution.objective,
        "success": solution.success,
        "iterations": solution.statistics["iterations"],
        "t": t.tolist(),
        "tau": solution.tau(t).tolist(),
    }


def _instants(solution: Solution) -> np.ndarray:
    """Return times from the first to the last, and either side of places where torques jump."""
    times, motion = np.linspace(0.0, solution.duration, TABLES), solution.problem.motion
    if not isinstance(motion, Mesh):
        return times
    ends = motion.breaks[1:-1] * solution.duration
    return np.unique(np.r_[times, ends - 1e-9, ends + 1e-9])


TASKS = {
    "two_link_time": two_link_time,
    "cart_pole": cart_pole,
    "ur5_effort": ur5_effort,
    "dynamics": dynamics,
}

"""OpenSim Moco: a model of bodies and joints, a study of goals and bounds, CasADi within."""

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import opensim as osim

osim.Logger.setLevelString("error")


def version() -> str:
    """Return the release."""
    return str(osim.GetVersion())


def two_link_time(
    scheme: str, intervals: int, mode: str = "explicit", straight: bool = True
) -> Callable:
    """Two links from rest to rest in least time.

    `scheme` of transcription and mesh `intervals`; `mode` of the multibody dynamics; `straight`:
    controls within an interval lie on the line between its ends, which is Moco's default.
    """
    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(_arm())
    problem.setTimeBounds(0, osim.MocoFinalBounds(0.1, 5))
    for joint, begin, end in (("shoulder", 0, 1), ("elbow", -2, -1)):
        state = f"/jointset/{joint}/{joint}_angle"
        problem.setStateInfo(f"{state}/value", [-5, 5], begin, end)
        problem.setStateInfo(f"{state}/speed", [-50, 50], 0, 0)
        problem.setControlInfo(f"/forceset/{joint}_motor", [-1, 1])
    problem.addGoal(osim.MocoFinalTimeGoal("time"))
    return _solved(study, scheme, intervals, mode, straight, scale=10.0)


def cart_pole(
    scheme: str, intervals: int, mode: str = "explicit", straight: bool = True
) -> Callable:
    """A cart swings its pole up within two seconds by the least squared force (Kelly 2017)."""
    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(_cart())
    problem.setTimeBounds(0, 2)
    ends = {"cart": ([-2, 2], 0, 1), "pole": ([-10, 10], 0, pi)}
    straight_line = {}
    for joint, (bounds, begin, end) in ends.items():
        state = f"/jointset/{joint}/{joint}_place"
        straight_line[f"{state}/value"] = (begin, end)
        problem.setStateInfo(f"{state}/value", bounds, begin, end)
        problem.setStateInfo(f"{state}/speed", [-50, 50], 0, 0)
    problem.setControlInfo("/forceset/cart_motor", [-1, 1])
    effort = osim.MocoControlGoal("effort", 20.0**2)  # of controls that count in 20 N
    problem.addGoal(effort)
    return _solved(study, scheme, intervals, mode, straight, 20.0, straight_line)


def _arm() -> Any:
    length, mass, inertia, limit = 0.4, 0.5, 0.1, 10.0
    model = osim.Model()
    model.setGravity(osim.Vec3(0))
    middle, about = osim.Vec3(length / 2, 0, 0), osim.Inertia(inertia, inertia, inertia)
    upper = osim.Body("upper", mass, middle, about)
    lower = osim.Body("lower", mass, middle, about)
    zero, end = osim.Vec3(0), osim.Vec3(length, 0, 0)
    shoulder = osim.PinJoint("shoulder", model.getGround(), zero, zero, upper, zero, zero)
    elbow = osim.PinJoint("elbow", upper, end, zero, lower, zero, zero)
    for body, joint in ((upper, shoulder), (lower, elbow)):
        model.addBody(body)
        model.addJoint(joint)
        joint.updCoordinate().setName(f"{joint.getName()}_angle")
        _drive(model, joint, limit)
    model.finalizeConnections()
    return model


def _cart() -> Any:
    length, limit = 0.5, 20.0
    model = osim.Model()
    model.setGravity(osim.Vec3(0, -9.81, 0))
    cart = osim.Body("cart", 1.0, osim.Vec3(0), osim.Inertia(0))
    bob = osim.Body("bob", 0.3, osim.Vec3(0), osim.Inertia(0))
    zero, above = osim.Vec3(0), osim.Vec3(0, length, 0)
    slide = osim.SliderJoint("cart", model.getGround(), zero, zero, cart, zero, zero)
    pole = osim.PinJoint("pole", cart, zero, zero, bob, above, zero)
    for body, joint in ((cart, slide), (bob, pole)):
        model.addBody(body)
        model.addJoint(joint)
        joint.updCoordinate().setName(f"{joint.getName()}_place")
    _drive(model, slide, limit)
    model.finalizeConnections()
    return model


def _drive(model: Any, joint: Any, force: float) -> None:
    motor = osim.CoordinateActuator()
    motor.setName(f"{joint.getName()}_motor")
    motor.setCoordinate(joint.updCoordinate())
    motor.setOptimalForce(force)
    motor.setMinControl(-1)
    motor.setMaxControl(1)
    model.addForce(motor)


def _solved(
    study: Any,
    scheme: str,
    intervals: int,
    mode: str,
    straight: bool,
    scale: float,
    begun: dict[str, tuple[float, float]] | None = None,
) -> Callable:
    """Solve from the middle of all bounds, or where `begun` says from lines between two values."""
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(intervals)
    solver.set_transcription_scheme(scheme)
    solver.set_multibody_dynamics_mode(mode)
    solver.set_interpolate_control_mesh_interior_points(straight)
    solver.set_optim_convergence_tolerance(1e-6)
    solver.set_optim_constraint_tolerance(1e-6)
    solver.set_parallel(0)
    solver.set_verbosity(0)
    if begun:
        guess = solver.createGuess()
        for state, (first, last) in begun.items():
            guess.setState(state, np.linspace(first, last, guess.getNumTimes()))
        solver.setGuess(guess)
    solution = study.solve()
    success = solution.success()
    if not success:
        solution.unseal()
    return lambda: {
        "objective": solution.getObjective(),
        "success": success,
        "iterations": solution.getNumIterations(),
        "t": solution.getTimeMat().tolist(),
        "tau": (scale * solution.getControlsTrajectoryMat().T).tolist(),
    }


TASKS = {"two_link_time": two_link_time, "cart_pole": cart_pole}

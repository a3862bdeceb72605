"""Drake: a plant from a URDF file, direct collocation on it, SNOPT or IPOPT."""

import logging
from collections.abc import Callable
from importlib import metadata
from math import pi
from typing import Any

import numpy as np
from measuring import measured
from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces, MultibodyForces_
from pydrake.planning import DirectCollocation
from pydrake.solvers import BoundingBoxConstraint, IpoptSolver, SnoptSolver
from pydrake.trajectories import PiecewisePolynomial

logging.getLogger("drake").setLevel(logging.ERROR)

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"
SOLVERS = {"snopt": SnoptSolver, "ipopt": IpoptSolver}
INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'
LINK = '<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/>{}</inertial></link>'
JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4}"/>'
    '<axis xyz="{5}"/><limit lower="{6}" upper="{7}" effort="{8}"/></joint>'
)
MOTOR = (
    '<transmission name="{0}"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="{0}"/><actuator name="{0}"/></transmission>'
)


def version() -> str:
    """Return the release."""
    return metadata.version("drake")


def two_link_time(solver: str, samples: int, equal: bool = True) -> Callable:
    """Two links from rest to rest in least time.

    `solver` of SOLVERS; `samples` of time; `equal`: all steps of time are as long as each other.
    """
    heavy, middle = INERTIA.format(0.1), "0.2 0 0"
    turning = ("0 0 1", -5, 5, 10)
    arm = (
        LINK.format("upper", middle, 0.5, heavy)
        + LINK.format("lower", middle, 0.5, heavy)
        + JOINT.format("shoulder", "revolute", "world", "upper", "0 0 0", *turning)
        + JOINT.format("elbow", "revolute", "upper", "lower", "0.4 0 0", *turning)
        + MOTOR.format("shoulder")
        + MOTOR.format("elbow")
    )
    plant = _plant(arm)
    collocation = _collocation(plant, samples, 0.1 / samples, 5.0 / samples)
    if equal:
        collocation.AddEqualTimeIntervalsConstraints()
    collocation.AddFinalCost(collocation.time())
    return _solved(collocation, solver, (0, -2), (1, -1), 1.0)


def cart_pole(solver: str, samples: int) -> Callable:
    """A cart swings its pole up within two seconds by the least squared force (Kelly 2017)."""
    none = INERTIA.format(0)
    cart = (
        LINK.format("cart", "0 0 0", 1.0, none)
        + LINK.format("bob", "0 0 -0.5", 0.3, none)
        + JOINT.format("cart", "prismatic", "world", "cart", "0 0 0", "1 0 0", -2, 2, 20)
        + JOINT.format("pole", "continuous", "cart", "bob", "0 0 0", "0 -1 0", -10, 10, 0)
        + MOTOR.format("cart")
    )
    collocation = _least_effort(_plant(cart, gravity=9.81), samples, 2.0)
    return _solved(collocation, solver, (0, 0), (1, pi), 2.0)


def ur5_effort(solver: str, samples: int) -> Callable:
    """A UR5 from rest to rest within 0.5 s by the least squared torques, within its limits."""
    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModels(_file("ur_description/urdf/ur5_robot.urdf"))
    plant.Finalize()
    start, goal = (0.0, -1.2, 1.5, -1.9, -1.57, 0.0), (0.6, -0.8, 1.0, -1.5, -1.27, 0.5)
    return _solved(_least_effort(plant, samples, 0.5), solver, start, goal, 0.5)


def dynamics(robot: str, base: str, seconds: float) -> Callable:
    """Inverse dynamics, their Jacobian and forward dynamics of a robot on a fixed base.

    The Jacobian is that by place, rate and acceleration, by automatic differentiation; `robot`: a
    file; `base`: the link that is held, unless the file does so; each is timed for so many
    `seconds`.
    """
    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModels(_file(robot))
    if base:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(base))
    plant.Finalize()
    context, derived = plant.CreateDefaultContext(), plant.ToAutoDiffXd()
    other = derived.CreateDefaultContext()
    plant.get_applied_generalized_force_input_port().FixValue(context, np.zeros(len(_names(plant))))

    def inverse(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return _torques(plant, context, MultibodyForces(plant), q, v, a)

    def jacobian(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        motion = np.split(InitializeAutoDiff(np.concatenate([q, v, a])).ravel(), 3)
        return ExtractGradient(
            _torques(derived, other, MultibodyForces_[AutoDiffXd](derived), *motion)
        )

    def forward(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
        plant.get_applied_generalized_force_input_port().FixValue(context, tau)
        return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()

    return lambda: measured(_names(plant), inverse, jacobian, forward, seconds)


def _torques(plant: Any, context: Any, forces: Any, q: Any, v: Any, a: Any) -> Any:
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    plant.CalcForceElementsContribution(context, forces)
    return plant.CalcInverseDynamics(context, a, forces)


def _names(plant: MultibodyPlant) -> list[str]:
    """Return the joints in the order of their places."""
    joints = [plant.get_joint(k) for k in plant.GetJointIndices()]
    moving = [joint for joint in joints if joint.num_positions()]
    return [joint.name() for joint in sorted(moving, key=lambda joint: joint.position_start())]


def _plant(text: str, gravity: float = 0.0) -> MultibodyPlant:
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -gravity])
    Parser(plant).AddModelsFromString(f'<robot name="robot">{text}</robot>', "urdf")
    plant.Finalize()
    return plant


def _file(name: str) -> str:
    return str(metadata.distribution("example-robot-data").locate_file(f"{ROBOTS}/{name}"))


def _collocation(
    plant: MultibodyPlant, samples: int, shortest: float, longest: float
) -> DirectCollocation:
    """Return the collocation with the file's limits; steps last from `shortest` to `longest`."""
    collocation = DirectCollocation(
        plant,
        plant.CreateDefaultContext(),
        num_time_samples=samples,
        minimum_time_step=shortest,
        maximum_time_step=longest,
        input_port_index=plant.get_actuation_input_port().get_index(),
    )
    state, control = collocation.state(), collocation.input()
    lower = np.r_[plant.GetPositionLowerLimits(), plant.GetVelocityLowerLimits()]
    upper = np.r_[plant.GetPositionUpperLimits(), plant.GetVelocityUpperLimits()]
    force = plant.GetEffortUpperLimits()
    for variables, low, high in ((state, lower, upper), (control, -force, force)):
        finite = np.isfinite(low) | np.isfinite(high)
        bound = BoundingBoxConstraint(low[finite], high[finite])
        collocation.AddConstraintToAllKnotPoints(bound, variables[finite])
    return collocation


def _least_effort(plant: MultibodyPlant, samples: int, duration: float) -> DirectCollocation:
    step = duration / (samples - 1)
    collocation = _collocation(plant, samples, step, step)
    force = collocation.input()
    collocation.AddRunningCost(force.dot(force))
    return collocation


def _solved(
    collocation: DirectCollocation, solver: str, start: Any, goal: Any, duration: float
) -> Callable:
    """Solve from the straight motion, at rest at both ends."""
    prog, rest = collocation.prog(), np.zeros(len(start))
    begin, end = np.r_[start, rest], np.r_[goal, rest]
    prog.AddBoundingBoxConstraint(begin, begin, collocation.initial_state())
    prog.AddBoundingBoxConstraint(end, end, collocation.final_state())
    straight = PiecewisePolynomial.FirstOrderHold([0, duration], np.c_[begin, end])
    collocation.SetInitialTrajectory(PiecewisePolynomial(), straight)
    result = SOLVERS[solver]().Solve(prog)

    def answer() -> dict[str, Any]:
        times = collocation.GetSampleTimes(result)
        return {
            "objective": result.get_optimal_cost(),
            "success": result.is_success(),
            "t": times.tolist(),
            "tau": collocation.GetInputSamples(result).tolist(),
        }

    return answer


TASKS = {
    "two_link_time": two_link_time,
    "cart_pole": cart_pole,
    "ur5_effort": ur5_effort,
    "dynamics": dynamics,
}

"""A lift as curves over time: angles, torques, what back, hands and feet bear, the box."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp import Joint, Solution, Strength, Tree
from ocp.problems.gait.report.gait_cycle import joint_forces
from ocp.problems.lifting.report.low_back import Burden, borne
from ocp.problems.lifting.report.niosh import COUPLINGS, Work
from ocp.solution import traces

HANDS = ("right hand", "left hand")
INNER = ("hip", "knee", "ankle")  # whose forces joint_forces gives, in its order


@dataclass(frozen=True, slots=True, kw_only=True)
class Lift:
    """A lift at times `t` (N,), s, with a box of `mass` (kg).

    `angles` {joint: (N,), deg} and `torques` {joint: (N,), N m} with their `limits`, and what
    muscles are `able` to at the angles, downwards and upwards; the `trunk`'s lean forward and the
    `lumbar` flexion, of the two lower joints of the spine (N,), deg; the
    `burden` of L5/S1; `inner` {joint: (N,), N}, norms of what right hip, knee and ankle pass on;
    `pulls` {hand: (3, N), N} of the box, and the places of the `hands` {hand: (3, N), m}; `forces`
    {foot: (3, N), N}; the zero moment point `zmp` (3, N), m; the corners of the `box` (3, 8, N), m;
    and the `clearance` of each sphere of the body from it {point: (N,), m}.
    """

    t: np.ndarray
    mass: float
    angles: Mapping[str, np.ndarray]
    torques: Mapping[str, np.ndarray]
    limits: Mapping[str, tuple[float, float]]
    able: Mapping[str, tuple[np.ndarray, np.ndarray]]
    trunk: np.ndarray
    lumbar: np.ndarray
    burden: Burden
    inner: Mapping[str, np.ndarray]
    pulls: Mapping[str, np.ndarray]
    hands: Mapping[str, np.ndarray]
    forces: Mapping[str, np.ndarray]
    zmp: np.ndarray
    box: np.ndarray
    clearance: Mapping[str, np.ndarray]


def lifted(solution: Solution, t: np.ndarray) -> Lift:
    """Return the Lift of a solution at times t (N,), s."""
    mass = box_mass(solution)
    tree, feet = solution.problem.tree, [foot.name for foot in solution.problem.ground.feet]
    curves = traces(solution, _wanted(solution, mass), t)
    turning = [joint.name for joint in tree.moving if joint.kind == "revolute"]
    driven = [joint for joint in tree.moving if joint.actuated]
    angles = {name: np.degrees(curves["q"][tree.coordinate(name)]) for name in turning}
    return Lift(
        t=t,
        mass=mass,
        angles=angles,
        limits={joint.name: joint.torque for joint in driven},
        able={
            joint.name: _able(tree, joint, curves["q"][tree.coordinate(joint.name)])
            for joint in driven
        },
        torques={joint.name: curves["tau"][tree.coordinate(joint.name)] for joint in driven},
        trunk=np.degrees(np.arctan2(curves["trunk"][2], curves["trunk"][1])),
        lumbar=angles["spine1_flex"] + angles["spine2_flex"],
        burden=borne(solution, t),
        inner=dict(zip(INNER, np.linalg.norm(curves["inner"].reshape(-1, 3, len(t)), axis=1))),
        pulls={hand: curves[f"pull {hand}"] for hand in HANDS},
        hands={hand: curves[f"place {hand}"] for hand in HANDS},
        forces={name: curves[f"foot {name}"] for name in feet},
        zmp=curves["zmp"],
        box=curves["box"].reshape(8, 3, len(t)).transpose(1, 0, 2),
        clearance=_clearance(solution, curves["avoidance"]),
    )


def _able(tree: Tree, joint: Joint, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the strength of the muscles at a joint at its coordinates (N,), downwards and
    upwards."""
    known = {
        each.direction: np.array(each.capacity(ca.DM(q), ca.DM.zeros(len(q)))).ravel()
        for each in tree.elements
        if isinstance(each, Strength) and each.joint == joint.name
    }
    lower, upper = (np.full(len(q), float(limit)) for limit in joint.torque)
    return -known[-1] if -1 in known else lower, known.get(1, upper)


def box_mass(solution: Solution) -> float:
    """Return the mass of the box (kg), found or carried."""
    return float(solution.output("box_mass", 0.0)[0])


def work_of(solution: Solution) -> Work:
    """Return the frequency, the hours and the handles of lifting the box."""
    rate, hours, coupling = solution.output("work", 0.0)
    return Work(rate=float(rate), hours=float(hours), coupling=list(COUPLINGS)[round(coupling)])


def _wanted(solution: Solution, mass: float) -> dict[str, Callable[..., Any]]:
    """Return the functions of an Instant that a Lift is made of."""
    problem = solution.problem
    gravity, half = ca.DM(problem.tree.gravity), mass / 2
    wanted: dict[str, Callable[..., Any]] = {
        "q": lambda at: at.q,
        "tau": lambda at: at.tau,
        "zmp": lambda at: at.reaction.pressure(),
        "inner": joint_forces,
        "trunk": lambda at: at.position("C7T1") - at.position("L5S1"),
        "box": problem.outputs["box"],
        "avoidance": _avoidance(solution).function,
    }
    for hand in HANDS:
        grip = f"grip_{hand[0]}"
        wanted[f"place {hand}"] = lambda at, grip=grip: at.position(grip)
        wanted[f"pull {hand}"] = lambda at, grip=grip: half * (gravity - at.acceleration(grip))
    for foot in problem.ground.feet:
        wanted[f"foot {foot.name}"] = lambda at, name=foot.name: at.reaction.force(name)
    return wanted


def _avoidance(solution: Solution) -> Any:
    return next(each for each in solution.problem.constraints if each.name == "avoidance")


def _clearance(solution: Solution, distances: np.ndarray) -> dict[str, np.ndarray]:
    """Return by how much each sphere is off the box {point: (N,), m}."""
    rule = _avoidance(solution)
    return {
        name: line - rule.lower_of(k) for k, (name, line) in enumerate(zip(rule.labels, distances))
    }

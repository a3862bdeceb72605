"""From one step to the gait cycle: the step, and then its mirror image.

So both legs follow from either. The cycle begins with the strike of the right heel. Its first half
is the step itself, seen from the right leg; the second half is what the left leg does in the step,
since a reflection in the plane X = 0 makes it the right leg. Both ends of a half are kept, so that
a walk whose halves do not meet shows a jump at 50 %.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ocp import Instant, Problem, Solution, Symmetry
from ocp.mechanics import body_weight
from ocp.models.human import mirror
from ocp.problem import mirror_symmetry
from ocp.solution import dense_instants, traces

REFLECTED = np.array([[-1.0], [1.0], [1.0]])  # of a force in the plane X = 0
OTHER = {"right": "left", "left": "right"}
JOINTS = {
    "hip": "hip_flex",
    "knee": "knee_flex",
    "ankle": "ankle_df",
}  # the first joint from the trunk in each, without its side
NEXT = {"r": "l", "l": "r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The walk over 0 to 100 % of the right leg's gait cycle, all (M,).

    `angles` {joint: deg} are zero where it is frozen; `rates` {joint: rad/s}, `torques`
    {joint: N m}, `limits` {joint: (lower, upper), N m}; `forces` {foot: (3, M)}, left, up and
    forward, and `joint_forces` {joint: (M,)}, norms of what hip, knee and ankle pass on, in body
    weights. `toe_off` (%) ends the stance by the contact schedule; `mass` (kg), `weight` (N),
    `duration` (s) of the cycle.
    """

    percent: np.ndarray
    angles: Mapping[str, np.ndarray]
    rates: Mapping[str, np.ndarray]
    torques: Mapping[str, np.ndarray]
    limits: Mapping[str, tuple[float, float]]
    forces: Mapping[str, np.ndarray]
    joint_forces: Mapping[str, np.ndarray]
    toe_off: float
    mass: float
    weight: float
    duration: float

    def share(self, joint: str) -> np.ndarray:
        """Return the torque over its limit on the side to which it acts (M,); 1 is at the limit."""
        lower, upper = self.limits[joint]
        return np.maximum(self.torques[joint] / upper, self.torques[joint] / lower)

    def left(self, values: np.ndarray) -> np.ndarray:
        """Return values (..., M) of the right side as the left one has them: half a cycle later."""
        return np.roll(values, values.shape[-1] // 2, axis=-1)


def cycle(solution: Solution) -> Cycle:
    """Return the Cycle of a step, on the dense grid, of a human on two feet, "right" and "left"."""
    tree, s = solution.problem.tree, dense_instants(solution)
    curves = traces(solution, _wanted(), s * solution.duration)
    weight = body_weight(tree)
    names = [joint.name for joint in tree.moving]
    symmetry = reflection(solution.problem)
    both = {what: dict(zip(names, stride(symmetry, curves[what]))) for what in ("q", "qd", "tau")}
    still = {joint.name: np.zeros(2 * len(s)) for joint in tree.joints if joint.kind == "fixed"}
    turning = [joint.name for joint in tree.moving if joint.kind == "revolute"]
    driven = [joint for joint in tree.moving[: tree.dof - len(tree.states)] if joint.actuated]
    return Cycle(
        percent=50.0 * np.concatenate([s, 1.0 + s]),
        toe_off=50.0 * (1.0 + solution.problem.ground.foot("left").bears[1]),
        weight=weight,
        mass=sum(link.mass for link in tree.links),
        duration=2.0 * solution.duration,
        angles=still | {name: np.degrees(both["q"][name]) for name in turning},
        rates=both["qd"],
        torques={joint.name: both["tau"][joint.name] for joint in driven},
        limits={joint.name: joint.torque for joint in driven},
        forces={
            foot: np.hstack([curves[foot], REFLECTED * curves[other]]) / weight
            for foot, other in OTHER.items()
        },
        joint_forces=_inner_cycle(curves["inner"], weight),
    )


def _wanted() -> dict[str, Callable[..., Any]]:
    """Return the functions of an Instant that a Cycle is made of."""
    wanted: dict[str, Callable[..., Any]] = {
        "q": lambda at: at.q,
        "qd": lambda at: at.qd,
        "tau": lambda at: at.tau,
        "inner": joint_forces,
    }
    return wanted | {foot: lambda at, foot=foot: at.reaction.force(foot) for foot in OTHER}


def _inner_cycle(forces: np.ndarray, weight: float) -> dict[str, np.ndarray]:
    """Return {joint: norms (M,)} over the cycle of the joints' forces (18, N), in weights (N)."""
    norms = np.linalg.norm(forces.reshape(-1, 3, forces.shape[1]), axis=1) / weight
    halves = dict(zip(_inner(), norms))
    return {
        name: np.concatenate([half, halves[name[:-1] + NEXT[name[-1]]]])
        for name, half in halves.items()
    }


def reflection(problem: Problem) -> Symmetry:
    """Return the Symmetry of a step; that of the body where the problem asks for none."""
    return problem.symmetry or mirror_symmetry(problem.tree, *mirror(problem.tree))


def stride(symmetry: Symmetry, values: np.ndarray) -> np.ndarray:
    """Return values (n, N) of a step and then those of its mirror image, (n, 2 N).

    They are coordinates, rates, accelerations or torques.
    """
    return np.hstack([values, symmetry.image(values)])


def step_length(problem: Problem) -> float:
    """Return the distance (m) of the right foot ahead of the left one.

    It is told by the targets of the points that pin both. Raises ValueError if there are none.
    """
    targets = {
        pin.point: np.array(pin.target)
        for foot in problem.ground.feet
        for support in foot.supports
        for pin in support.pins
    }
    for name, target in targets.items():
        if name.endswith("_r") and f"{name[:-1]}l" in targets:
            return float((target - targets[f"{name[:-1]}l"])[2])
    raise ValueError(
        f"step length: no point is pinned on both sides; pinned are {', '.join(targets)}"
    )


def joint_forces(at: Instant) -> ca.SX:
    """Return the forces (N) that hips, knees and ankles pass to their links, stacked (18,).

    In order: right hip, knee, ankle, then left. The ground's wrenches act on the feet as loads
    (Barman 2020, step 9, after the second pass).
    """
    _, forces = at.reactions
    return ca.vertcat(*(forces[:, at.tree.link_index(name)] for name in _inner()))


def _inner() -> list[str]:
    return [f"{joint}_{side}" for side in "rl" for joint in JOINTS.values()]

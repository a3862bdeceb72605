"""From one step to the gait cycle: a symmetric walk is the step and then its mirror image, so both legs follow from either.

The cycle begins with the strike of the right heel. Its first half is the step itself, seen from the right leg; the second half is what the
left leg does in the step, since a reflection in the plane X = 0 makes it the right leg. Both ends of a half are kept, so that a walk whose
halves do not meet shows a jump at 50 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
from ocp.models.human import mirror

from ocp.dynamics import FORMULATIONS
from ocp.mechanics.loads import acting, attached
from ocp.mechanics.zero_moment import body_weight
from ocp.solution import dense, traces

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
    """The walk over 0 to 100 % of the right leg's gait cycle, (M,) all: `angles` {joint: deg}, zero where it is frozen, `rates` {joint: rad/s},
    `torques` {joint: N m}, `limits` {joint: (lower, upper), N m}; `forces` {foot: (3, M)}, left, up and forward, and `joint_forces` {joint:
    (M,)}, norms of what hip, knee and ankle pass on, in body weights. `toe_off` (%) ends the stance by the contact schedule; `mass` (kg),
    `weight` (N), `duration` (s) of the cycle."""

    percent: np.ndarray
    angles: Mapping
    rates: Mapping
    torques: Mapping
    limits: Mapping
    forces: Mapping
    joint_forces: Mapping
    toe_off: float
    mass: float
    weight: float
    duration: float

    def share(self, joint):
        """Return the torque over its limit on the side to which it acts (M,); 1 is at the limit."""
        lower, upper = self.limits[joint]
        return np.maximum(self.torques[joint] / upper, self.torques[joint] / lower)

    def left(self, values):
        """Return values (..., M) of the right side as the left one has them in the right leg's cycle: half a cycle later."""
        return np.roll(values, values.shape[-1] // 2, axis=-1)


def cycle(solution):
    """Return the Cycle of a step, on the dense grid; the solution's problem must be of a human on two feet, "right" and "left"."""
    tree, s = solution.problem.tree, dense(solution)
    feet = [solution.problem.ground.foot(name) for name in OTHER]
    wanted = {
        "q": lambda at: at.q,
        "qd": lambda at: at.qd,
        "tau": lambda at: at.tau,
        "inner": joint_forces,
    }
    wanted |= {foot.name: lambda at, name=foot.name: at.reaction.force(name) for foot in feet}
    found = traces(solution, wanted, s * solution.duration)
    weight, turning = (
        body_weight(tree),
        [row for row, joint in enumerate(tree.moving) if joint.kind == "revolute"],
    )
    names = [joint.name for joint in tree.moving]
    still = {joint.name: np.zeros(2 * len(s)) for joint in tree.joints if joint.kind == "fixed"}
    by_joint = {what: dict(zip(names, stride(tree, found[what]))) for what in ("q", "qd", "tau")}
    halves = dict(
        zip(_inner(), np.linalg.norm(found["inner"].reshape(-1, 3, len(s)), axis=1) / weight)
    )
    return Cycle(
        percent=50.0 * np.concatenate([s, 1.0 + s]),
        toe_off=50.0 * (1.0 + feet[1].bears[1]),
        weight=weight,
        mass=sum(link.mass for link in tree.links),
        duration=2.0 * solution.duration,
        angles=still | {names[row]: np.degrees(by_joint["q"][names[row]]) for row in turning},
        rates=by_joint["qd"],
        torques={
            joint.name: by_joint["tau"][joint.name] for joint in tree.moving if joint.actuated
        },
        limits={joint.name: joint.torque for joint in tree.moving if joint.actuated},
        forces={
            foot: np.hstack([found[foot], REFLECTED * found[OTHER[foot]]]) / weight
            for foot in OTHER
        },
        joint_forces={
            name: np.concatenate([halves[name], halves[name[:-1] + NEXT[name[-1]]]])
            for name in halves
        },
    )


def stride(tree, values):
    """Return the coordinates, rates, accelerations or torques (n, N) of a step and then those of its mirror image, (n, 2 N)."""
    index, sign = mirror(tree)
    return np.hstack([values, sign[:, None] * values[index]])


def step_length(problem):
    """Return how far (m) the right foot stands before the left one, by the targets of the points that pin both."""
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


def joint_forces(at):
    """Return the forces (N) that hips, knees and ankles pass to their links, stacked: right hip, knee, ankle, then left.

    The ground's wrenches act on the feet as loads   (Barman 2020, step 9, after the second pass).
    """
    tree, pushes = attached(at.tree, at.frames, tuple(at.reaction.wrenches.values()))
    loads = (*acting(at.loads, at.t), *pushes)
    _, forces = FORMULATIONS["newton_euler"].reactions(tree, at.q, at.qd, at.qdd, loads)
    return ca.vertcat(*(forces[:, tree.link_index(name)] for name in _inner()))


def _inner():
    return [f"{joint}_{side}" for side in "rl" for joint in JOINTS.values()]

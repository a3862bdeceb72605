"""Actuators of MuJoCo's models as limits of joints' torques, and forces that have none here."""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from ocp.interchange.mjcf_loops import called
from ocp.interchange.remarks import Remarks

JOINTS = (0, 1)  # what an actuator acts on: a joint, or it in its parent's axes
FIXED, PLAIN = 0, 0  # its gain is a number, its bias nothing: a motor


def drives(model: Any) -> dict[int, tuple[float, float]]:
    """Return the limits (N m or N) of the joints that actuators drive, by their numbers.

    A motor's is its gear times gain times control, every other's what limits its force; those of
    several at one joint add up, and the joint's own limit bounds them.
    """
    driven: dict[int, tuple[float, float]] = {}
    for k in range(model.nu):
        if int(model.actuator_trntype[k]) in JOINTS:
            joint = int(model.actuator_trnid[k][0])
            lower, upper = driven.get(joint, (0.0, 0.0))
            least, most = _limits(model, k)
            driven[joint] = lower + least, upper + most
    for joint, (lower, upper) in driven.items():
        if model.jnt_actfrclimited[joint]:
            least, most = (float(end) for end in model.jnt_actfrcrange[joint])
            driven[joint] = max(lower, least), min(upper, most)
    return driven


def _limits(model: Any, k: int) -> tuple[float, float]:
    """Return the least and the greatest torque (N m or N) of an actuator."""
    gear, force = float(model.actuator_gear[k][0]), (-inf, inf)
    motor = int(model.actuator_gaintype[k]) == FIXED and int(model.actuator_biastype[k]) == PLAIN
    if motor and model.actuator_ctrllimited[k] and model.actuator_gainprm[k][0]:
        force = tuple(np.sort(model.actuator_gainprm[k][0] * model.actuator_ctrlrange[k]).tolist())
    if model.actuator_forcelimited[k]:
        least, most = (float(end) for end in model.actuator_forcerange[k])
        force = max(force[0], least), min(force[1], most)
    ends = sorted(gear * end for end in force) if gear else [0.0, 0.0]
    return ends[0], ends[1]


def undriven_forces(model: Any, joints: Mapping[int, str]) -> Remarks:
    """Return by kind what of actuators, tendons and curved springs is not read."""
    acting = [
        called(model, "TENDON", k) or f"tendon {k + 1}"
        for k in range(model.ntendon)
        if any(
            np.any(getattr(model, f"tendon_{what}")[k])
            for what in ("stiffness", "damping", "armature", "frictionloss")
        )
    ]
    other = [
        called(model, "ACTUATOR", k) or f"actuator {k + 1}"
        for k in range(model.nu)
        if int(model.actuator_trntype[k]) not in JOINTS
    ]
    curved = [
        name
        for k, name in joints.items()
        if np.any(model.jnt_stiffnesspoly[k]) or np.any(model.dof_dampingpoly[model.jnt_dofadr[k]])
    ]
    return {
        "tendons with forces of their own are left out": acting,
        "actuators of other things than joints are left out": other,
        "stiffness and damping are those of the first power": curved,
    }

"""Actuators of MuJoCo's models as limits of joints' torques."""

from collections.abc import Mapping
from math import inf

import numpy as np

from ocp.interchange.mjcf.equalities import MjModel, object_name
from ocp.interchange.mjcf.muscles import is_muscle
from ocp.interchange.mjcf.tendons import TENDON, coordinate_sum, tendon_sum
from ocp.interchange.reader_notes import Remarks

JOINTS = 0, 1  # what actuators act on beside tendons: a joint, or it in its parent's axes
FIXED, PLAIN = 0, 0  # its gain is a number, its bias nothing: a motor


def actuator_limits(model: MjModel) -> dict[int, tuple[float, float]]:
    """Return {joint number: limits (N m or N)} of the joints that actuators drive.

    A motor's are its gear times gain times control, every other's the limits of its force; those of
    several at one joint add up, and the joint's own limit bounds them. What acts on a joint that
    follows another, or on a tendon of one joint and its followers, drives the leader.
    """
    driven: dict[int, tuple[float, float]] = {}
    for k in range(model.nu):
        share = None if is_muscle(model, k) else _driven_joint(model, k)
        if share is not None:
            joint, ratio = share
            lower, upper = driven.get(joint, (0.0, 0.0))
            least, most = sorted(ratio * end for end in _limits(model, k)) if ratio else (0.0, 0.0)
            driven[joint] = lower + least, upper + most
    for joint, (lower, upper) in driven.items():
        if model.jnt_actfrclimited[joint]:
            least, most = (float(end) for end in model.jnt_actfrcrange[joint])
            driven[joint] = max(lower, least), min(upper, most)
    return driven


def _driven_joint(model: MjModel, actuator: int) -> tuple[int, float] | None:
    """Return the one joint that an actuator drives, and the factor; None if there is none."""
    kind, number = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator][0])
    if kind in JOINTS:
        known = coordinate_sum(model, [(number, 1.0)])
    else:
        known = tendon_sum(model, number) if kind == TENDON else None
    if known is None or len(known[0]) != 1:
        return None
    return known[0][0], known[1].ratios[0]


def _limits(model: MjModel, k: int) -> tuple[float, float]:
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


def undriven_forces(model: MjModel, joints: Mapping[int, str]) -> Remarks:
    """Return by kind the actuators and curved springs that are not read."""
    other = [
        object_name(model, "ACTUATOR", k) or f"actuator {k + 1}"
        for k in range(model.nu)
        if _driven_joint(model, k) is None and not is_muscle(model, k)
    ]
    curved = [
        name
        for k, name in joints.items()
        if np.any(model.jnt_stiffnesspoly[k]) or np.any(model.dof_dampingpoly[model.jnt_dofadr[k]])
    ]
    return {
        "actuators that drive no joint alone are left out": other,
        "stiffness and damping are those of the first power": curved,
    }

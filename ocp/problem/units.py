"""Units of what belongs to a joint: of its coordinate, rate, acceleration and torque or force."""

from ocp.mechanics.joints import Joint

UNITS = {
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s2", "m/s2"),
    "tau": ("N m", "N"),
}


def unit_of(joint: Joint, quantity: str) -> str:
    """Return the unit of q, qd, qdd or tau of a joint that turns or slides."""
    return UNITS[quantity][joint.kind == "prismatic"]

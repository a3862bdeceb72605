"""Units of what belongs to a joint: of its coordinate and the rates of that, of its torque or force
and the rate of that."""

from ocp.mechanics.joints import Joint

UNITS = {
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s2", "m/s2"),
    "qddd": ("rad/s3", "m/s3"),
    "tau": ("N m", "N"),
    "tau_rate": ("N m/s", "N/s"),
}


def unit_of(joint: Joint, quantity: str) -> str:
    """Return the unit of one of UNITS of a joint that turns or slides."""
    return UNITS[quantity][joint.kind == "prismatic"]

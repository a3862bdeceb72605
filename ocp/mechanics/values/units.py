"""Units of what belongs to a joint: of its coordinate and the rates of that, of its torque or force
and the rate of that."""

import re
from typing import Any

UNITS = {  # at a joint that turns, one that slides, and a ball's component
    "q": ("rad", "m", ""),
    "qd": ("rad/s", "m/s", "1/s"),
    "qdd": ("rad/s2", "m/s2", "1/s2"),
    "qddd": ("rad/s3", "m/s3", "1/s3"),
    "tau": ("N m", "N", "N m"),
    "tau_rate": ("N m/s", "N/s", "N m/s"),
}
STATE_RATES = {"q": 0, "qd": 1, "qdd": 2, "qddd": 3, "tau": 0, "tau_rate": 1}  # per s
KINDS = {"prismatic": 1, "ball": 2}
MEASURE = re.compile(r"\((?P<size>[-+.\de]+) (?P<unit>.+)\)")  # as (598.4 N), one of a body weight


def unit_of(joint: Any, quantity: str) -> str:
    """Return the unit of one of UNITS of a joint that turns or slides, a ball's component, or an
    element's state, whose control has that of the state."""
    if joint.kind == "state":
        power = STATE_RATES[quantity]
        return f"{joint.unit or 1}/s{'' if power == 1 else power}" if power else joint.unit
    return UNITS[quantity][KINDS.get(joint.kind, 0)]


def plain_amount(amount: float, unit: str) -> tuple[float, str]:
    """Return an amount in the unit itself where it counts in a measure of it: 0.5 of "(598.4 N)"
    is 299.2 N."""
    measure = MEASURE.fullmatch(unit)
    if measure is None:
        return amount, unit
    return amount * float(measure["size"]), measure["unit"]

"""Suspicious values of URDF files: other units, and laws of joints that cannot move."""

from collections.abc import Sequence

from ocp.interchange.reader_notes import Remarks
from ocp.interchange.xml_elements import Element
from ocp.mechanics.values.degrees import TURNS, WITHOUT_END

FAR = 20.0  # m, beyond which the place of a joint is likely in millimetres


def suspicious_values(elements: Sequence[Element]) -> Remarks:
    """Return by kind the joints whose values are likely not meant so."""
    joints = [each for each in elements if each.tag == "joint"]
    return {
        f"angles beyond {TURNS:g} rad are taken as they are, degrees are not known here": [
            each.text("name") for each in joints if _in_degrees(each)
        ],
        f"places beyond {FAR:g} m are taken as they are, millimetres are not known here": [
            each.text("name") for each in joints if _in_millimetres(each)
        ],
        "damping and friction of fixed joints are left out": [
            each.text("name") for each in joints if _idle(each)
        ],
        "joints that are fixed and follow another stay fixed": [
            each.text("name")
            for each in joints
            if each.attributes.get("type") == "fixed" and each.one("mimic") is not None
        ],
    }


def _in_degrees(joint: Element) -> bool:
    limit = joint.one("limit")
    if limit is None or joint.attributes.get("type") != "revolute":
        return False
    ends = [abs(limit.number(end, 0.0)) for end in ("lower", "upper")]
    return any(TURNS < end < WITHOUT_END for end in ends)


def _in_millimetres(joint: Element) -> bool:
    origin = joint.one("origin")
    if origin is None or "xyz" not in origin.attributes:
        return False
    return max(abs(place) for place in origin.numbers("xyz", 3)) > FAR


def _idle(joint: Element) -> bool:
    dynamics = joint.one("dynamics")
    if dynamics is None or joint.attributes.get("type") != "fixed":
        return False
    return any(dynamics.number(what, 0.0) for what in ("damping", "friction"))

"""Models of OpenSim's versions before 3 in the words of those after."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ocp.interchange.xml_elements import Element

FIRST = 30000  # of the versions whose words are read: 3.0
WORDS = {
    "ActuatorSet": "ForceSet",
    "GeneralizedForce": "CoordinateActuator",
    "MuscleWrap": "PathWrap",
    "MuscleWrapSet": "PathWrapSet",
    "MusclePoint": "PathPoint",
    "MuscleViaPoint": "ConditionalPathPoint",
    "MovingMusclePoint": "MovingPathPoint",
    "MusclePointSet": "PathPointSet",
    "XAttachment": "x_location",
    "YAttachment": "y_location",
    "ZAttachment": "z_location",
    "pennation_angle": "pennation_angle_at_optimal",
}
WITHIN: Mapping[tuple[str, str], str] = {("ConditionalPathPoint", "coordinates"): "coordinate"}
COURSE = ("PathPointSet", "PathWrapSet")  # which muscles had without a path around them


def model_of(root: Element) -> Element:
    """Return the model of a file in the words of version 3 or later.

    Args:
        root: <OpenSimDocument>.

    Raises:
        ValueError: it has no model.
    """
    model = root.one("Model")
    if model is None:
        raise root.wrong(
            "it has no <Model>: expected a model of version 1 to 4, got "
            f"{', '.join(f'<{each.tag}>' for each in root.children[:3]) or 'nothing'}"
        )
    version = root.attributes.get("Version", "")
    return model if version.isdecimal() and int(version) >= FIRST else _in_new_words(model)


def _in_new_words(model: Element) -> Element:
    """Return a model with the words of today, from the innermost elements outwards."""
    order = [model]
    for each in order:
        order += each.children
    made: dict[int, Element] = {}
    for each in reversed(order):
        tag = WORDS.get(each.tag, each.tag)
        children = [made[id(child)] for child in each.children]
        made[id(each)] = replace(each, tag=tag, children=_members(tag, each, children))
    return made[id(model)]


def _members(tag: str, owner: Element, children: Sequence[Element]) -> tuple[Element, ...]:
    """Return the members of an element as version 3 has them."""
    named = [replace(each, tag=WITHIN.get((tag, each.tag), each.tag)) for each in children]
    if tag.endswith("Muscle"):
        course = [each for each in named if each.tag in COURSE]
        path = replace(owner, tag="GeometryPath", attributes={}, children=tuple(course), content="")
        return (*(each for each in named if each not in course), *([path] if course else ()))
    axes = next((each for each in named if each.tag == "TransformAxisSet"), None)
    if axes is None:
        return tuple(named)
    whole = replace(axes, tag="SpatialTransform", attributes={}, children=_axes(axes))
    return tuple(whole if each is axes else each for each in named)


def _axes(holder: Element) -> tuple[Element, ...]:
    """Return the axes of a joint by the names of their order, turns apart from slides."""
    inner = holder.one("objects")
    stated = (holder if inner is None else inner).every("TransformAxis")
    counts, named = {"rotation": 0, "translation": 0}, []
    for each in stated:
        turns = each.one("is_rotation")
        kind = "rotation" if turns and turns.content.lower() in ("true", "1") else "translation"
        counts[kind] += 1
        named.append(replace(each, attributes={"name": f"{kind}{counts[kind]}"}))
    return tuple(named)

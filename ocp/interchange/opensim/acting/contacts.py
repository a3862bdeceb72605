"""Contacts of OpenSim's models: spheres that sink into half spaces of the ground."""

from os import PathLike
from pathlib import Path

import numpy as np

from ocp.interchange.opensim.bodies import STILL, frame_on_link
from ocp.interchange.opensim.constraints import place_of
from ocp.interchange.opensim.coordinates import acts
from ocp.interchange.opensim.properties import (
    Objects,
    name_of,
    number_of,
    numbers_of,
    objects_of,
    pose_of,
    socket_of,
    words_of,
)
from ocp.interchange.xml_elements import Element, file_content, parse_xml
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree import Point, Tree
from ocp.problem import Acting, Compliant, contacts

SMOOTH, KINKED = "SmoothSphereHalfSpaceForce", "HuntCrossleyForce"
SPHERE, HALF_SPACE = "ContactSphere", "ContactHalfSpace"


def spheres_of(objects: Objects) -> list[Point]:
    """Return the centres of a model's contact spheres as points, called as they are."""
    points = []
    for each in objects.of(SPHERE):
        link, place = place_of(objects, each, "frame", "body_name")
        points.append(Point(name=name_of(each), link=link, position=place))
    return points


def opensim_contacts(path: str | PathLike[str], tree: Tree) -> tuple[Acting, ...]:
    """Contacts of an .osim file as loads of a Problem: its spheres on half spaces of the ground.

    The force across the plane is that of SmoothSphereHalfSpaceForce, to which a HuntCrossleyForce
    is smoothed; friction is that of `Compliant`, whose levels, and slope at rest, are the file's.

    Args:
        path: of the file.
        tree: that `load_model` has read from it.

    Returns:
        The loads, in the file's order.

    Raises:
        ValueError: the file states a contact of other shapes, or wrong; the message names it.
    """
    root = parse_xml(file_content(path), Path(path).name)
    objects = objects_of(root.child("Model"))
    loads: tuple[Acting, ...] = ()
    for each in objects.of(SMOOTH, KINKED):
        if acts(each):
            with each.located_errors():
                loads += (
                    _smooth_sphere(objects, tree, each)
                    if each.tag == SMOOTH
                    else _hunt_crossley(objects, tree, each)
                )
    return loads


def _smooth_sphere(objects: Objects, tree: Tree, force: Element) -> tuple[Acting, ...]:
    sphere = objects.find(force, socket_of(force, "sphere"), (SPHERE,))
    plane = objects.find(force, socket_of(force, "half_space"), (HALF_SPACE,))
    model = Compliant(
        radius=number_of(sphere, "radius"),
        stiffness=number_of(force, "stiffness", 1.0),
        dissipation=number_of(force, "dissipation", 0.0),
        **_friction(force, force),
        rounding=number_of(force, "constant_contact_force", 1e-5),
        closing=number_of(force, "hertz_smoothing", 300.0),
        parting=number_of(force, "hunt_crossley_smoothing", 50.0),
    )
    return _on_plane(objects, tree, sphere, plane, model)


def _hunt_crossley(objects: Objects, tree: Tree, force: Element) -> tuple[Acting, ...]:
    loads: tuple[Acting, ...] = ()
    stated = [each for each in _inside(force) if each.tag.endswith("ContactParameters")]
    for each in stated:
        shapes = [
            objects.find(force, word, (SPHERE, HALF_SPACE)) for word in words_of(each, "geometry")
        ]
        spheres = [shape for shape in shapes if shape.tag == SPHERE]
        planes = [shape for shape in shapes if shape.tag == HALF_SPACE]
        for plane in planes:
            for sphere in spheres:
                model = Compliant(
                    radius=number_of(sphere, "radius"),
                    stiffness=number_of(each, "stiffness", 0.0),
                    dissipation=number_of(each, "dissipation", 0.0),
                    **_friction(each, force),
                )
                loads += _on_plane(objects, tree, sphere, plane, model)
    return loads


def _friction(material: Element, force: Element) -> dict[str, float]:
    """Return the friction of a contact, whose slope over slip v is at rest that of OpenSim's,

        min(v / v_t, 1) (mu_d + 2 (mu_s - mu_d) / (1 + (v / v_t)^2)) + mu_v v

    (Sherman, Seth & Delp 2011), as `Compliant.grip` has another curve.
    """
    static = number_of(material, "static_friction", 0.0)
    dynamic = number_of(material, "dynamic_friction", 0.0)
    slope = 2 * static - dynamic
    wider = (4 * dynamic + 16 / 9 * (static - dynamic)) / slope if slope > 0 else 1.0
    return {
        "static": static,
        "dynamic": dynamic,
        "viscous": number_of(material, "viscous_friction", 0.0),
        "transition": number_of(force, "transition_velocity", 0.01) * wider,
    }


def _inside(element: Element) -> list[Element]:
    """Return all elements within one."""
    known = list(element.children)
    for each in known:
        known += each.children
    return known


def _on_plane(
    objects: Objects, tree: Tree, sphere: Element, plane: Element, model: Compliant
) -> tuple[Acting, ...]:
    """Return the contact of a sphere with a half space, whose outside is along its -x axis."""
    link, pose = frame_on_link(objects, plane, socket_of(plane, "frame", "body_name"))
    if link != GROUND:
        raise plane.wrong(f"it moves with {link!r}: only half spaces of the ground are read")
    place = numbers_of(plane, "location", 3, STILL)
    pose = pose @ pose_of(place, numbers_of(plane, "orientation", 3, STILL))
    normal = -pose[:3, 0] / np.linalg.norm(pose[:3, 0])
    return contacts(
        tree,
        (name_of(sphere),),
        model=model,
        normal=normal,
        place=pose[:3, 3],
        surface=plane.attributes.get("name", ""),
    )

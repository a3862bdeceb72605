"""Contacts of OpenSim's models: spheres that sink into half spaces of the ground, and points above
planes that push them away the more the nearer they are."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.interchange.opensim.bodies import STILL, frame_on_link
from ocp.interchange.opensim.constraints import place_of
from ocp.interchange.opensim.coordinates import acts
from ocp.interchange.opensim.old_versions import model_of
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
from ocp.mechanics.values.types import Matrix
from ocp.problem import Acting, Compliant, ForceLaw, contacts
from ocp.problem.motion_state import MotionState

SMOOTH, KINKED = "SmoothSphereHalfSpaceForce", "HuntCrossleyForce"
EXPONENTIAL = "ExponentialContactForce"
SHAPE = (0.0065905, 0.5336, 1150.0)  # m, N and 1/m: of its push, by default
SPHERE, HALF_SPACE = "ContactSphere", "ContactHalfSpace"
Touching: TypeAlias = tuple[Element, Element]  # a shape, and its material


def spheres_of(objects: Objects) -> list[Point]:
    """Return the centres of a model's contact spheres, and the stations of its exponential
    contacts, as points that are called as they are."""
    points = []
    for each in objects.of(EXPONENTIAL):
        link, place = place_of(objects, each.child("Station"), "parent_frame")
        points.append(Point(name=name_of(each), link=link, position=place))
    for each in objects.of(SPHERE):
        link, place = place_of(objects, each, "frame", "body_name")
        points.append(Point(name=name_of(each), link=link, position=place))
    return points


def opensim_contacts(path: str | PathLike[str], tree: Tree) -> tuple[Acting, ...]:
    """Contacts of an .osim file as loads of a Problem: its spheres on half spaces of the ground,
    and points over planes.

    The force across the plane is that of SmoothSphereHalfSpaceForce, to which a HuntCrossleyForce
    is smoothed, and of ExponentialContactForce; friction is that of `Compliant`, whose levels, and
    slope at rest, are the file's, or which comes about below the speed at which an exponential
    contact settles.

    Args:
        path: of the file.
        tree: that `load_model` has read from it.

    Returns:
        The loads, in the file's order.

    Raises:
        ValueError: the file states a contact of other shapes, or wrong; the message names it.
    """
    root = parse_xml(file_content(path), Path(path).name)
    objects = objects_of(model_of(root))
    loads: tuple[Acting, ...] = ()
    for each in objects.of(*LAWS):
        if acts(each):
            with each.located_errors():
                loads += LAWS[each.tag](objects, tree, each)
    return loads


def _smooth_sphere(objects: Objects, tree: Tree, force: Element) -> tuple[Acting, ...]:
    sphere = objects.find(force, socket_of(force, "sphere"), (SPHERE,))
    plane = objects.find(force, socket_of(force, "half_space"), (HALF_SPACE,))
    model = Compliant(
        radius=number_of(sphere, "radius"),
        stiffness=number_of(force, "stiffness", 1.0),
        dissipation=number_of(force, "dissipation", 0.0),
        **_friction(force, force, force),
        rounding=number_of(force, "constant_contact_force", 1e-5),
        closing=number_of(force, "hertz_smoothing", 300.0),
        parting=number_of(force, "hunt_crossley_smoothing", 50.0),
    )
    return _on_plane(objects, tree, sphere, plane, model)


def _hunt_crossley(objects: Objects, tree: Tree, force: Element) -> tuple[Acting, ...]:
    """Return the contacts of a HuntCrossleyForce: all its spheres touch all its half spaces, in one
    set of parameters or in two.

    Two materials have the stiffness k = k_1 k_2 / (k_1 + k_2) with k_i = E_i^(2/3), what is lost by
    the share that each is pressed in, and the harmonic means of their friction (Sherman, Seth &
    Delp 2011). The force acts midway between both surfaces.
    """
    spheres, planes = list[Touching](), list[Touching]()
    for each in (each for each in _inside(force) if each.tag.endswith("ContactParameters")):
        for word in words_of(each, "geometry"):
            shape = objects.find(force, word, (SPHERE, HALF_SPACE))
            (spheres if shape.tag == SPHERE else planes).append((shape, each))
    if not spheres or not planes:
        raise force.wrong(f"expected a {SPHERE} and a {HALF_SPACE} that touch, got others")
    loads: tuple[Acting, ...] = ()
    for plane, ground in planes:
        for sphere, material in spheres:
            stated = [number_of(each, "stiffness", 0.0) for each in (material, ground)]
            one, other = (each ** (2 / 3) for each in stated)
            share = other / (one + other) if one + other else 0.5
            lost = (number_of(each, "dissipation", 0.0) for each in (material, ground))
            model = Compliant(
                radius=number_of(sphere, "radius"),
                stiffness=stated[0] if one == other else (2 * one * share) ** 1.5,
                dissipation=share * next(lost) + (1 - share) * next(lost),
                **_friction(material, ground, force),
            )
            loads += _on_plane(objects, tree, sphere, plane, model)
    return loads


def _friction(one: Element, other: Element, force: Element) -> dict[str, float]:
    """Return the friction of two materials, whose slope over slip v is at rest that of OpenSim's,

        min(v / v_t, 1) (mu_d + 2 (mu_s - mu_d) / (1 + (v / v_t)^2)) + mu_v v

    (Sherman, Seth & Delp 2011), as `Compliant.grip` has another curve.
    """
    static, dynamic, viscous = (
        _harmonic_mean(*(number_of(each, f"{kind}_friction", 0.0) for each in (one, other)))
        for kind in ("static", "dynamic", "viscous")
    )
    slope = 2 * static - dynamic
    wider = (4 * dynamic + 16 / 9 * (static - dynamic)) / slope if slope > 0 else 1.0
    transition = number_of(force, "transition_velocity", 0.01) * wider
    return {"static": static, "dynamic": dynamic, "viscous": viscous, "transition": transition}


def _harmonic_mean(one: float, other: float) -> float:
    """Return 2 a b / (a + b), 0 for two zeros, and a for two that are the same."""
    if one == other:
        return one
    return 2 * one * other / (one + other) if one + other else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialPush:
    """The law of a point over the plane through `place` (3, m) with an upward unit `normal` (3), by
    its height z and its friction's `material`.

        f = d_1 exp(-d_2 (z - d_0)) (1 - c z'), at least 0 and at most `most` (N)

    of a `shape` (d_0 in m, d_1 in N, d_2 in 1/m) and a `viscosity` c (s/m) (Anderson & Pandy 1999).
    """

    point: str
    normal: tuple[float, ...]
    place: tuple[float, ...]
    shape: tuple[float, ...]
    viscosity: float
    most: float
    material: Compliant

    def __call__(self, at: MotionState) -> Matrix:
        """Return the force (3, N)."""
        normal, velocity = ca.DM(self.normal), at.velocity(self.point)
        rising = ca.dot(velocity, normal)
        push = self.push(ca.dot(normal, at.position(self.point) - ca.DM(self.place)), rising)
        return push * (normal + self.material.grip(velocity - rising * normal))

    def push(self, height: Matrix, rising: Matrix) -> Matrix:
        """Return the normal force (N) at a height (m) that changes at a rate (m/s)."""
        rest, level, steepness = self.shape
        elastic = level * ca.exp(-steepness * (height - rest))
        return ca.fmin(ca.fmax(elastic * (1 - self.viscosity * rising), 0), self.most)


def _exponential(objects: Objects, tree: Tree, force: Element) -> tuple[Acting, ...]:
    """Return the contact of a point with a plane of the ground, outside of which is its z axis."""
    turns_and_place = numbers_of(force, "contact_plane_transform", 6, 2 * STILL)
    pose = pose_of(turns_and_place[3:], turns_and_place[:3])
    settled = number_of(force, "settle_velocity", 0.01)
    law = ExponentialPush(
        point=name_of(force),
        normal=tuple(pose[:3, 2].tolist()),
        place=tuple(pose[:3, 3].tolist()),
        shape=numbers_of(force, "exponential_shape_parameters", 3, SHAPE),
        viscosity=number_of(force, "normal_viscosity", 0.5),
        most=number_of(force, "max_normal_force", 1e5),
        material=Compliant(
            static=number_of(force, "initial_mu_static", 0.7),
            dynamic=number_of(force, "initial_mu_kinetic", 0.5),
            viscous=0.0,
            transition=settled,
        ),
    )
    return (ForceLaw(point=law.point, law=law),)


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


LAWS = {SMOOTH: _smooth_sphere, KINKED: _hunt_crossley, EXPONENTIAL: _exponential}

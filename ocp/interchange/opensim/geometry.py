"""Looks of OpenSim's bodies as visuals of links: meshes by their files, and shapes."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ocp.interchange.mesh_paths import mesh_path
from ocp.interchange.opensim.bodies import FRAMES, STILL, frame_on_link
from ocp.interchange.opensim.properties import (
    Objects,
    flag_of,
    members_of,
    name_of,
    number_of,
    numbers_of,
    pose_of,
    words_of,
)
from ocp.interchange.xml_elements import Element
from ocp.mechanics.kinematics.spatial import rotate_x
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.types import Numbers

FOLDER = "Geometry"  # in which OpenSim looks for meshes beside a model
ONES = (1.0, 1.0, 1.0)
UPRIGHT = rotate_x(np.pi / 2)  # of cylinders, which OpenSim has along y


def visuals_of(
    objects: Objects, path: Path, folders: Sequence[Path]
) -> tuple[dict[str, list[Visual]], list[str]]:
    """Return {link: its visuals}, those of the ground left out, and the names of what is not shown.

    Args:
        objects: of the model.
        path: of its file, beside which, in a folder Geometry there and in `folders` meshes are.
        folders: where else.
    """
    shown: dict[str, list[Visual]] = {}
    lost: list[str] = []
    for link, pose, scale, element in _shapes(objects):
        with element.located_errors():
            if not _is_seen(element):
                continue
            files = words_of(element, "mesh_file", "geometry_file", "geometry_files")
            for file in files:
                found = _file(file, path, folders)
                if found:
                    here = {"size": scale * _scale(element), "pose": pose @ _old_pose(element)}
                    look = _colour(element)
                    visual = Visual(kind="mesh", path=found, colour=look, **here)
                    shown.setdefault(link, []).append(visual)
                else:
                    lost.append(file)
            if not files and element.tag in SHAPES:
                kind, lengths, turn = SHAPES[element.tag](element, _scale(element))
                visual = Visual(kind=kind, size=lengths, pose=pose @ turn, colour=_colour(element))
                shown.setdefault(link, []).append(visual)
            elif not files:
                lost.append(f"{element.attributes.get('name') or 'a shape'} ({element.tag})")
    return shown, list(dict.fromkeys(lost))


def _shapes(objects: Objects) -> Iterator[tuple[str, np.ndarray, np.ndarray, Element]]:
    """Yield link, pose (4x4) there, scales (3,) and element of the shapes of bodies."""
    for _, owner in objects.paths:
        stated = members_of(owner, "attached_geometry") if owner.tag in FRAMES else ()
        if stated:
            link, pose = frame_on_link(objects, owner, name_of(owner))
            yield from ((link, pose, np.ones(3), each) for each in stated if link != GROUND)
        if owner.tag == "Body" and name_of(owner) != GROUND:
            for whole in owner.every("VisibleObject"):  # before version 4
                for each in members_of(whole, "GeometrySet"):
                    yield name_of(owner), _old_pose(whole), _scale(whole), each
                if words_of(whole, "geometry_files"):
                    yield name_of(owner), np.eye(4), np.ones(3), whole


def _file(name: str, path: Path, folders: Sequence[Path]) -> str:
    """Return the path of a mesh, "" for one that is not there."""
    places = path.parent / FOLDER / name, *(folder / name for folder in folders)
    known = (Path(mesh_path(name, path, folders)), *places)
    return next((str(each) for each in known if each.is_file()), "")


def _is_seen(element: Element) -> bool:
    """Tell whether a shape is shown."""
    look = element.one("Appearance") or element
    return number_of(element, "display_preference", 4) > 0 and flag_of(look, "visible", True)


def _colour(element: Element) -> tuple[float, ...]:
    look = element.one("Appearance") or element
    stated = (*numbers_of(look, "color", 3, ONES), number_of(look, "opacity", 1.0))
    return tuple(np.clip(stated, 0.0, 1.0).tolist())


def _scale(element: Element) -> np.ndarray:
    return np.array(numbers_of(element, "scale_factors", 3, ONES))


def _old_pose(element: Element) -> np.ndarray:
    """Return the pose (4x4) of a shape before version 4, turns before its place."""
    six = numbers_of(element, "transform", 6, 2 * STILL)
    return pose_of(six[3:], six[:3])


Shape = tuple[str, Numbers, np.ndarray]


def _brick(element: Element, scale: np.ndarray) -> Shape:
    return "box", 2 * scale * numbers_of(element, "half_lengths", 3, (0.5, 0.5, 0.5)), np.eye(4)


def _ball(element: Element, scale: np.ndarray) -> Shape:
    return "ellipsoid", scale * number_of(element, "radius", 1.0), np.eye(4)


def _egg(element: Element, scale: np.ndarray) -> Shape:
    return "ellipsoid", scale * numbers_of(element, "radii", 3, ONES), np.eye(4)


def _rod(element: Element, scale: np.ndarray) -> Shape:
    """Return a cylinder, whose radius is scaled as x is."""
    lengths = number_of(element, "radius", 1.0), 2 * number_of(element, "half_height", 0.5)
    return "cylinder", (lengths[0] * scale[0], lengths[1] * scale[1]), UPRIGHT


SHAPES: dict[str, Callable[[Element, np.ndarray], Shape]] = {
    "Brick": _brick,
    "Sphere": _ball,
    "Ellipsoid": _egg,
    "Cylinder": _rod,
}

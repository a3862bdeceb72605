"""Geoms of MuJoCo's models as visuals of links."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ocp.interchange.mjcf.equalities import MjModel, MjSpec
from ocp.interchange.poses import pose_matrix
from ocp.mechanics.kinematics.spatial import invert
from ocp.mechanics.model.visuals import Visual
from ocp.mechanics.values.types import Numbers

HIDDEN = 3  # geoms of this group and higher are for contacts, and not shown
MESH = 7
KINDS = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", MESH: "mesh"}


def body_visuals(
    spec: MjSpec, model: MjModel, path: Path, number: int, shapes: str
) -> Iterator[Visual]:
    """Yield the visuals of a body: the geoms that MuJoCo shows, or those that touch others.

    Planes and height fields are left out.

    Args:
        spec: MuJoCo's statement of the file.
        model: compiled from it.
        path: of the file.
        number: of the body.
        shapes: "visual", or "collision" for those that touch.
    """
    first = model.body_geomadr[number]
    for k in range(first, first + model.body_geomnum[number]):
        kind = KINDS.get(int(model.geom_type[k]))
        touches = bool(model.geom_contype[k] or model.geom_conaffinity[k])
        wanted = touches if shapes == "collision" else model.geom_group[k] < HIDDEN
        if kind is None or not wanted:
            continue
        pose = pose_matrix(model.geom_pos[k], model.geom_quat[k])
        if kind == "mesh":
            shape, inside = _mesh(spec, model, path, int(model.geom_dataid[k]))
            yield Visual(**shape, pose=pose @ inside, colour=_colour(model, k))
        else:
            yield Visual(
                kind=kind, size=_size(kind, model.geom_size[k]), pose=pose, colour=_colour(model, k)
            )


def _size(kind: str, size: np.ndarray) -> tuple[float, ...]:
    """Return a size as visuals have it, from MuJoCo's halves."""
    if kind in ("capsule", "cylinder"):
        return float(size[0]), 2 * float(size[1])
    count, factor = {"sphere": (1, 1), "ellipsoid": (3, 1), "box": (3, 2)}[kind]
    return tuple(float(factor * each) for each in size[:count])


def _mesh(
    spec: MjSpec, model: MjModel, path: Path, number: int
) -> tuple[dict[str, Numbers], np.ndarray]:
    """Return a mesh by reference, and its pose (4x4): MuJoCo has moved it to its own axes."""
    stated = spec.meshes[number]
    file = path.parent / spec.meshdir / stated.file
    inside = invert(pose_matrix(model.mesh_pos[number], model.mesh_quat[number]))
    name = os.path.normpath(file) if stated.file else stated.name
    return {"kind": "mesh", "path": name, "size": tuple(map(float, stated.scale))}, inside


def _colour(model: MjModel, number: int) -> tuple[float, ...]:
    material = int(model.geom_matid[number])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[number]
    return tuple(float(each) for each in np.clip(rgba, 0.0, 1.0))

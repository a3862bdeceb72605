"""The surface of a human body in pictures: skins over elliptic sections of its own segments.

Lengths are those of the skeleton itself, girths those of cylinders with the segments' masses. The
profiles, of the man of STATURE and MASS, are near the breadths, depths and circumferences of ANSUR
II (2012) [assumed]; they carry no force and no mass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType

import numpy as np

from ocp import Tree
from ocp.mechanics import Visual, nominal, poses
from ocp.models.human.anthropometry import LINKS, MASS, PAIRED, STATURE, shares

SKIN, SHIRT, SHORTS = (0.86, 0.66, 0.53, 1.0), (0.36, 0.49, 0.62, 1.0), (0.20, 0.23, 0.29, 1.0)
HAIR, EYES, RUBBER = (0.22, 0.16, 0.12, 1.0), (0.08, 0.08, 0.10, 1.0), (0.93, 0.93, 0.91, 1.0)
SHOES = {"r": (0.835, 0.369, 0.0, 1.0), "l": (0.0, 0.447, 0.698, 1.0)}  # as the curves of a side
ROUND, BLUNT = 2.0, 2.3  # roundness of an ellipse, and of a trunk
WAIST, TUCKED = 0.75, (0.97, 1.1)  # share of the trunk from which a shirt narrows: at once, and on

Row = tuple[float, ...]  # share of the way, left and ahead (m), radii across and ahead, roundness
Part = tuple[str, str, str, Sequence[float] | None, Sequence[Row]]
# Of trunk, head and the right side: link, the points between which it reaches, its colour (of shoes
# none) and its sections, whose shares of the way grow from the first point to the second
TRUNK = ("C7T1", "pelvis_origin")
TORSO = (
    (
        (0.00, 0, 0.000, 0.066, 0.058),
        (0.04, 0, 0.000, 0.094, 0.066),
        (0.08, 0, 0.002, 0.130, 0.076),
    ),
    (
        (0.12, 0, 0.004, 0.158, 0.084),
        (0.16, 0, 0.005, 0.164, 0.090),
        (0.22, 0, 0.008, 0.154, 0.098),
    ),
    (
        (0.30, 0, 0.011, 0.142, 0.106),
        (0.40, 0, 0.012, 0.135, 0.107),
        (0.50, 0, 0.012, 0.129, 0.103),
    ),
    (
        (0.62, 0, 0.010, 0.124, 0.098),
        (0.72, 0, 0.010, 0.128, 0.098),
        (0.82, 0, 0.008, 0.140, 0.102),
    ),
    (
        (0.92, 0, 0.004, 0.151, 0.108),
        (1.02, 0, 0.000, 0.151, 0.108),
        (1.10, 0, -4e-3, 0.140, 0.100),
    ),
    ((1.16, 0, -0.004, 0.110, 0.082), (1.19, 0, -0.002, 0.070, 0.060)),
)
SLICES = {  # of the trunk, by its links: shares between which each is covered
    "spine4_rot": (0.0, 0.24, SHIRT),
    "spine3_rot": (0.18, 0.50, SHIRT),
    "spine2_rot": (0.40, 0.72, SHIRT),
    "spine1_rot": (0.58, 1.00, SHIRT),
    "glob_rx": (0.76, 1.19, SHORTS),
}
SKULL = ("head_top", "C7T1")
PARTS: tuple[Part, ...] = (
    ("neck_rot", *SKULL, SKIN, ((0.55, 0, 0.004, 0.052, 0.054), (1.06, 0, -0.004, 0.060, 0.058))),
    (
        *("head_rot", *SKULL, SKIN),
        (
            *((0.005, 0, 0, 0.020, 0.026), (0.03, 0, 0, 0.044, 0.054)),
            *(
                (0.10, 0, 0, 0.063, 0.079),
                (0.24, 0, 0, 0.074, 0.093),
                (0.40, 0, 4e-3, 0.076, 0.096),
            ),
            *((0.56, 0, 8e-3, 0.072, 0.091), (0.68, 0, 0.016, 0.064, 0.079)),
            *((0.80, 0, 0.032, 0.052, 0.059), (0.89, 0, 0.045, 0.036, 0.041)),
            *((0.925, 0, 0.05, 0.02, 0.024),),
        ),
    ),
    (
        *("head_rot", *SKULL, HAIR),
        (
            *((-0.03, 0, -0.010, 0.025, 0.03), (-0.01, 0, -0.012, 0.050, 0.060)),
            *((0.07, 0, -0.015, 0.069, 0.083), (0.22, 0, -0.019, 0.080, 0.093)),
            *((0.40, 0, -0.026, 0.081, 0.087), (0.54, 0, -0.036, 0.076, 0.072)),
            *((0.66, 0, -0.042, 0.064, 0.050),),
        ),
    ),
    (
        *("head_rot", *SKULL, SKIN),  # the nose
        (
            *((0.40, 0, 0.094, 0.008, 0.010), (0.52, 0, 0.104, 0.012, 0.014)),
            *((0.60, 0, 0.107, 0.017, 0.015), (0.635, 0, 0.1, 0.012, 0.012)),
        ),
    ),
    *(
        (
            "head_rot",
            *SKULL,
            EYES,
            ((0.405, side, 0.087, 7e-3, 8e-3), (0.445, side, 0.087, 8e-3, 9e-3)),
        )
        for side in (-0.03, 0.03)
    ),
    (
        *("shou_rot_r", "shoulder_r", "elbow_r", SKIN),
        (
            *((0.20, 0, 0, 0.042, 0.048), (0.45, 0, 0, 0.039, 0.046), (0.75, 0, 0, 0.035, 0.040)),
            *((1.0, 0, 0, 0.034, 0.038), (1.06, 0, 0, 0.029, 0.032), (1.11, 0, 0, 0.017, 0.019)),
        ),
    ),
    (
        *("shou_rot_r", "shoulder_r", "elbow_r", SHIRT),
        (
            *((-0.13, 0.010, 0, 0.018, 0.022), (-0.10, 0.008, 0, 0.032, 0.038)),
            *((-0.04, 0.004, 0, 0.043, 0.050), (0.05, 0, 0, 0.047, 0.055)),
            *((0.20, 0, 0, 0.046, 0.053), (0.48, 0, 0, 0.045, 0.051)),
        ),
    ),
    (
        *("elb_pron_r", "elbow_r", "wrist_r", SKIN),
        (
            *((-0.12, 0, 0, 0.017, 0.019), (-0.06, 0, 0, 0.029, 0.032), (0.0, 0, 0, 0.034, 0.038)),
            *((0.12, 0, 0, 0.037, 0.041), (0.30, 0, 0, 0.037, 0.040), (0.65, 0, 0, 0.029, 0.032)),
            *((0.93, 0, 0, 0.021, 0.028), (1.03, 0, 0, 0.018, 0.026)),
        ),
    ),
    (
        *("wri_rad_r", "wrist_r", "grip_r", SKIN),
        (
            *((-0.12, 0, 0, 0.018, 0.026, 2), (0.25, 0, 0, 0.018, 0.034, 2.4)),
            *((0.9, 0, 0, 0.015, 0.042, 2.6), (1.2, 0, 0, 0.013, 0.040, 2.8)),
            *((1.7, 0.006, -2e-3, 0.011, 0.036, 2.8), (2.0, 0.012, -4e-3, 9e-3, 0.028, 2.6)),
            *((2.15, 0.015, -5e-3, 6e-3, 0.018, 2),),
        ),
    ),
    (
        *("wri_rad_r", "wrist_r", "grip_r", SKIN),  # the thumb
        (
            *((0.20, 0.004, 0.024, 0.014, 0.014), (0.60, 0.01, 0.043, 0.014, 0.014)),
            *((1.00, 0.014, 0.056, 0.011, 0.012), (1.3, 0.016, 0.06, 8e-3, 9e-3)),
        ),
    ),
    (
        *("hip_rot_r", "hip_r", "knee_r", SKIN),
        (
            *((0.10, 0.006, 0, 0.068, 0.082), (0.35, 0.004, 0, 0.064, 0.077)),
            *((0.60, 0.002, 0, 0.056, 0.066), (0.85, 0, 0, 0.049, 0.055)),
            *((1.0, 0, 0.002, 0.048, 0.053), (1.06, 0, 0.002, 0.042, 0.046)),
            *((1.11, 0, 0.002, 0.025, 0.028),),
        ),
    ),
    (
        *("hip_rot_r", "hip_r", "knee_r", SHORTS),
        (
            *((-0.17, 0.006, 0, 0.028, 0.045), (-0.12, 0.006, 0, 0.050, 0.072)),
            *((-0.03, 0.006, 0, 0.068, 0.092), (0.10, 0.006, 0, 0.073, 0.092)),
            *((0.35, 0.004, 0, 0.072, 0.087), (0.62, 0.002, 0, 0.067, 0.079)),
        ),
    ),
    (
        *("knee_flex_r", "knee_r", "ankle_r", SKIN),
        (
            *((-0.10, 0, 0, 0.025, 0.028), (-0.05, 0, 0, 0.041, 0.046), (0.0, 0, 0, 0.047, 0.052)),
            *((0.08, 0, -0.003, 0.048, 0.053), (0.27, 0, -0.012, 0.050, 0.059)),
            *((0.5, 0, -0.010, 0.043, 0.050), (0.75, 0, -0.004, 0.033, 0.037)),
            *((0.92, 0, -0.003, 0.030, 0.036), (1.02, 0, -0.002, 0.031, 0.040)),
        ),
    ),
    (
        *("ankle_inv_r", "heel_r", "toe_r", None),  # left of a foot is left, and ahead of it up
        (
            *((-0.09, 0, 0.034, 0.016, 0.020, 2.2), (-0.06, 0, 0.036, 0.026, 0.030, 2.5)),
            *((0.0, 0, 0.042, 0.033, 0.040, 2.6), (0.14, 0, 0.05, 0.036, 0.05, 2.4)),
            *((0.26, 0, 0.05, 0.037, 0.05, 2.3), (0.45, 0, 0.039, 0.041, 0.038, 2.5)),
            *((0.62, 0, 0.029, 0.046, 0.028, 2.6), (0.74, 0, 0.026, 0.048, 0.024, 2.6)),
        ),
    ),
    (
        *("toe_ext_r", "heel_r", "toe_r", None),
        (
            *((0.70, 0, 0.026, 0.046, 0.022, 2.6), (0.85, 0, 0.023, 0.046, 0.02, 2.6)),
            *((0.98, 0.004, 0.02, 0.040, 0.017, 2.5), (1.08, 0.008, 0.016, 0.028, 0.012, 2.4)),
            *((1.12, 0.01, 0.014, 0.015, 7e-3, 2),),
        ),
    ),
    (
        *("ankle_inv_r", "heel_r", "toe_r", RUBBER),
        (
            *((-0.10, 0, 8e-3, 0.018, 7e-3, 3), (-0.07, 0, 8e-3, 0.029, 8e-3, 4)),
            *((0.10, 0, 8e-3, 0.038, 8e-3, 4), (0.5, 0, 8e-3, 0.044, 8e-3, 4)),
            *((0.74, 0, 8e-3, 0.051, 8e-3, 4),),
        ),
    ),
    (
        *("toe_ext_r", "heel_r", "toe_r", RUBBER),
        (
            *((0.70, 0, 8e-3, 0.050, 8e-3, 4), (0.90, 2e-3, 8e-3, 0.048, 8e-3, 4)),
            *((1.06, 7e-3, 8e-3, 0.034, 8e-3, 4), (1.12, 0.01, 8e-3, 0.02, 7e-3, 3)),
        ),
    ),
)


def with_surface(tree: Tree) -> Tree:
    """Return a human's tree whose links have the `visuals` of their segments, at nominal sizes."""
    tall = nominal(tree)
    frames = dict(zip(tall.link_names, map(np.array, poses(tall, np.zeros(tall.dof)))))
    places = {name: _place(tall, name, frames) for part in _all_parts() for name in part[1:3]}
    height = float(np.linalg.norm(places["head_top"] - places["heel_r"])) / STATURE
    girths = [_girth(tall, link, height) for link, *_ in _all_parts()]
    numbers = (np.concatenate([*each.values()]).tobytes() for each in (places, frames))
    looks = _looks(tuple(places), tuple(frames), *numbers, tuple(girths))
    links = [
        replace(link, visuals=looks.get(name, ()))
        for name, link in zip(tree.link_names, tree.links)
    ]
    return replace(tree, links=links)


def _place(tree: Tree, name: str, frames: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the place (3, m) of a point, of links at `frames` {name: (4x4)}."""
    point = tree.point(name)
    return np.array((frames[point.link] @ (*point.position, 1.0))[:3])


@lru_cache(maxsize=8)
def _looks(
    names: tuple[str, ...],
    links: tuple[str, ...],
    places: bytes,
    poses_at_rest: bytes,
    girths: tuple[float, ...],
) -> dict[str, tuple[Visual, ...]]:
    """Return {link: visuals} of a body whose points of `names` are at `places` (3, m), whose
    `links` have these poses (4x4), and whose parts have these `girths`; bodies of one size share
    them."""
    place = dict(zip(names, np.frombuffer(places).reshape(-1, 3)))
    frames = dict(zip(links, np.frombuffer(poses_at_rest).reshape(-1, 4, 4)))
    looks: dict[str, list[Visual]] = {}
    for (link, first, last, colour, rows), girth in zip(_all_parts(), girths):
        shape = _loft(place[first], place[last], girth, rows)
        for side, name in (("r", link), ("l", link[:-2] + "_l")):
            if side == "l" and not link.endswith("_r"):
                continue
            own = _mirrored(shape) if side == "l" else shape
            pose = np.linalg.inv(frames[name]) @ own.pose
            tone = SHOES[side] if colour is None else colour
            looks.setdefault(name, []).append(replace(own, pose=pose.round(6), colour=tone))
    return {name: tuple(each) for name, each in looks.items()}


def posed_looks(
    tree: Tree,
    names: Sequence[str],
    frame: np.ndarray,
    posture: Mapping[str, float] = MappingProxyType({}),
) -> list[Visual]:
    """Return the visuals of links of a `human()` that are one body, in that body's own axes.

    Args:
        tree: the human.
        names: of the links.
        frame: pose (4x4) of the global axes in the body's, all lengths in m.
        posture: {coordinate: value in rad} in which it is taken, the others 0.
    """
    frames = frames_in(tree, *posture.items())
    return [
        replace(visual, pose=(frame @ frames[k] @ visual.pose).round(12))
        for k in map(tree.link_index, names)
        for visual in tree.links[k].visuals
    ]


@lru_cache(maxsize=8)
def frames_in(tree: Tree, *posture: tuple[str, float]) -> tuple[np.ndarray, ...]:
    """Return the poses (4x4) of a tree's links in a `posture` of (coordinate, value in rad), the
    others 0; bodies are put together of links of one tree, by one sweep."""
    q = np.zeros(tree.dof)
    for name, angle in posture:
        q[tree.coordinate(name)] = angle
    return tuple(map(np.array, poses(tree, q)))


@cache
def _all_parts() -> list[Part]:
    """Return the parts of the right side and the middle, the trunk in slices that overlap."""
    rows = np.array([row for several in TORSO for row in several])
    parts = list(PARTS)
    for link, (low, high, colour) in SLICES.items():
        shares_of_way = [low, *(each for each in rows[:, 0] if low < each < high), high]
        between = [np.interp(shares_of_way, rows[:, 0], column) for column in rows.T]
        rows_of_slice = np.transpose(between)
        if colour is SHIRT:  # which is worn in the shorts
            below = rows_of_slice[:, 0] - WAIST
            rows_of_slice[below > 0, 3:] *= TUCKED[0] - TUCKED[1] * below[below > 0, None]
        within = [(*row, BLUNT) for row in rows_of_slice]
        parts.append((link, *TRUNK, colour, within))
    return parts


def _girth(tree: Tree, link: str, height: float) -> float:
    """Return a link's radii over those of the profiles: of a cylinder of its segment's mass, and of
    what is as hard as a head or a foot of the stature alone."""
    bare = link.removesuffix("_r")
    segment = next(name for name, parts in LINKS.items() if bare in parts)
    if segment in ("head_and_neck", "hand", "foot"):
        return height
    rows = [part + ("_r" if segment in PAIRED else "") for part in LINKS[segment]]
    mass = sum(float(tree.links[tree.link_index(row)].mass) for row in rows)
    return float(np.sqrt(mass / (MASS * shares("male")[segment]) / height))


def _loft(start: np.ndarray, end: np.ndarray, girth: float, rows: Sequence[Row]) -> Visual:
    """Return a skin about the way between two places (3, m): its first axis is the body's left, its
    second ahead of what hangs and above what lies."""
    way = end - start
    length = float(np.linalg.norm(way))
    z = way / length
    x = np.array([1.0, 0.0, 0.0]) - z[0] * z
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.column_stack([x, np.cross(z, x), z]), start
    sections = [
        (length * share, *(girth * each for each in shape[:4]), *(shape[4:] or (ROUND,)))
        for share, *shape in rows
    ]
    return Visual(kind="loft", size=np.round(sections, 5), pose=pose)


def _mirrored(shape: Visual) -> Visual:
    """Return the image of a skin in the plane X = 0."""
    pose, flip = np.array(shape.pose), np.diag([-1.0, 1.0, 1.0, 1.0])
    return replace(shape, pose=flip @ pose @ flip, size=np.array(shape.size) * (1, -1, 1, 1, 1, 1))

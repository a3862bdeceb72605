"""Mirror image of a tree in a plane: pairs of coordinates and their signs.

A reflection F = 1 - 2 n n' takes a turn about an axis w through p to the one about -F w through
F p, and a slide along d to that along F d. Joints are paired so where none has moved; that the
bodies are alike too, the torques of images tell. Muscles are images where their numbers are the
same and their paths as long. In a plane every joint lies on its own image, and
legs that lie on each other are images of one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.codegen.kept_results import recall
from ocp.codegen.record_content import record_content
from ocp.dynamics.tree_dynamics import inverse_dynamics
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.joints import Joint
from ocp.mechanics.model.tree import Tree, inward
from ocp.mechanics.muscles.muscle import muscles_of
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.validation import check_type, numbers, positive

SEED, STATES = 5, 2  # of random motions, by which images are certified
ASIDE = (0.0, 1.0, 0.0)
GROUND = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJoint:
    """A moving joint where none has moved.

    Fields: its rows of q; its frame (4x4); its twist (6,; angular, linear at the global origin),
    zero of a ball; the moments of all that it carries (4x4: second ones, kg m2, beside first ones,
    kg m, and the mass, kg); and the joint `below` it that moves, GROUND for none.
    """

    joint: Joint
    rows: tuple[int, ...]
    frame: np.ndarray
    twist: np.ndarray
    carried: np.ndarray
    below: int


Placed: TypeAlias = dict[int, PlacedJoint]
Signs: TypeAlias = list[tuple[int, float]]  # (own row, sign) by row of the image
Fit: TypeAlias = tuple[float, Signs]  # how far a joint is from an image, and the signs


def mirror_image(
    tree: Tree, normal: Sequence[float] = ASIDE, *, within: float = 1e-3
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return (index, sign), (n,) each, of a tree's mirror image: its coordinates are sign *
    q[index], its rates, accelerations and torques likewise.

    Of two joints that are each other's images as well as their own, as the hips of a biped in a
    plane, each is the other's.

    Args:
        normal: unit vector (3) across the plane, which goes through the origin.
        within: how far axes of images may be apart (m, and rad), and their torques as a share of
            the largest.

    Raises ValueError naming gravity that is not along the plane, the first joint that has no image,
    several that could be it, or an image that bears otherwise.
    """
    check_type("mirror_image: tree", tree, Tree)
    positive("mirror_image: within", within)
    direction = numbers("mirror_image: normal", normal, (3,))
    if abs(np.linalg.norm(direction) - 1) > 1e-9:
        raise ValueError(f"mirror_image: normal: expected unit length, got {direction.tolist()}")
    flip = np.eye(3) - 2 * np.outer(direction, direction)
    tree, placed = nominal(tree), _place_joints(nominal(tree))
    _check_gravity(tree, direction, within)
    index, sign = [0] * tree.dof, [0.0] * tree.dof
    images: dict[int, int] = {GROUND: GROUND}
    for k, each in placed.items():
        others = [
            m
            for m, other in placed.items()
            if other.below == images[each.below] and m not in images.values()
        ]
        other, pairs = _image(placed, k, others, flip, within)
        images[k] = other
        for row, (own, turned) in zip(placed[other].rows, pairs):
            index[row], sign[row] = each.rows[own], turned
    _mirror_states(tree, index, sign, within)
    _certify(tree, np.array(index), np.array(sign), within)
    return tuple(index), tuple(sign)


def _mirror_states(tree: Tree, index: list[int], sign: list[float], within: float) -> None:
    """Fill in the rows of elements' states: a muscle's image has its numbers, and a path as long
    where all joints are images; raise ValueError naming a muscle that has none, or several."""
    moving = tree.dof - len(tree.states)
    motions = np.random.default_rng(SEED).uniform(-0.5, 0.5, (STATES, tree.dof))
    motions[:, moving:] = tree.neutral[moving:]
    images = np.array(motions)
    images[:, :moving] = (np.array(sign) * motions[:, index])[:, :moving]
    here, there = _path_lengths(tree, motions), _path_lengths(tree, images)
    for name, lengths in here.items():
        own = next(each for each in muscles_of(tree) if each.name == name)
        alike = [
            other
            for other in muscles_of(tree)
            if replace(other, name=name, path=own.path, course=own.course) == own
            and np.abs(there[other.name] - lengths).max() <= within * lengths.max()
        ]
        if len(alike) != 1:
            several = ", ".join(each.name for each in alike) or "none"
            raise ValueError(f"mirror_image: muscle {name!r}: expected one image, got {several}")
        for variable, image in zip(own.states, alike[0].states):
            row = tree.coordinate(image.name)
            index[row], sign[row] = tree.coordinate(variable.name), 1.0


def _path_lengths(tree: Tree, motions: np.ndarray) -> dict[str, np.ndarray]:
    """Return {muscle: lengths of its path (m) in motions (N, n)}."""
    states = [State(tree=tree, q=ca.DM(q)) for q in motions]
    return {
        each.name: np.array([float(each.path.length(state)) for state in states])
        for each in muscles_of(tree)
    }


def _check_gravity(tree: Tree, normal: np.ndarray, within: float) -> None:
    """Raise ValueError where gravity has a part across the plane, which no reflection keeps."""
    gravity = np.array(tree.gravity)
    if abs(gravity @ normal) > within * np.linalg.norm(gravity):
        raise ValueError(
            f"mirror_image: normal: expected one across the tree's gravity {tree.gravity}, got "
            f"{tuple(normal.tolist())}"
        )


def _place_joints(tree: Tree) -> dict[int, PlacedJoint]:
    """Return the joints that move by coordinates of their own, by their numbers."""
    frames = [np.array(ca.DM(pose)) for pose in kinematics.poses(tree, ca.DM(tree.neutral))]
    moments = inward(tree, lambda k, children: _moments(tree, frames, k, children))
    below, placed = [GROUND] * len(tree.joints), dict[int, PlacedJoint]()
    for k, (joint, parent) in enumerate(zip(tree.joints, tree.parents)):
        below[k] = GROUND if parent < 0 else below[parent]
        if joint.follows is not None or not (joint.ball or joint.screw is not None):
            continue
        twist = np.zeros(6)
        if joint.screw is not None:
            turn, place = frames[k][:3, :3], frames[k][:3, 3]
            angular, linear = turn @ joint.screw[:3], turn @ joint.screw[3:]
            twist = np.concatenate([angular, linear + np.cross(place, angular)])
        placed[k] = PlacedJoint(
            joint=joint,
            rows=tree.spans[k],
            frame=frames[k],
            twist=twist,
            carried=moments[k],
            below=below[k],
        )
        below[k] = k
    return placed


def _moments(tree: Tree, frames: list, k: int, children: list) -> np.ndarray:
    """Return the integral of r r' dm (4x4) over a link and all beyond it, r = (x, y, z, 1)."""
    link = tree.links[k]
    place = frames[k] @ np.append(np.array(link.com), 1.0)
    moments = link.mass * np.outer(place, place)
    turn, inertia = frames[k][:3, :3], np.array(link.inertia)
    moments[:3, :3] += turn @ (np.trace(inertia) / 2 * np.eye(3) - inertia) @ turn.T
    return sum((of_child for _, of_child in children), moments)


def _image(
    placed: Placed, k: int, others: list[int], flip: np.ndarray, within: float
) -> tuple[int, Signs]:
    """Return the number of a joint's image, and by row of that (own row, sign)."""
    own = placed[k]
    known = {m: off for m in others if (off := _distance(own, placed[m], flip)) is not None}
    alike = [m for m, (off, _) in known.items() if off <= within]
    if alike:
        image = _choose_image(placed, k, alike, flip, within)
        return image, known[image][1]
    words = f"joint {own.joint.name!r}: no {own.joint.kind} joint is its image"
    if known:
        nearest = min(known, key=lambda m: known[m][0])
        words += f"; {placed[nearest].joint.name!r} is off by {known[nearest][0]:.3g}"
    raise ValueError(f"mirror_image: {words}")


def _distance(own: PlacedJoint, other: PlacedJoint, flip: np.ndarray) -> Fit | None:
    """Return the distance of a joint from the image of another, and the signs of its coordinates;
    None for a joint of another kind."""
    if own.joint.kind != other.joint.kind:
        return None
    return (_ball_distance if own.joint.ball else _axis_distance)(own, other, flip)


def _choose_image(placed: Placed, k: int, alike: list[int], flip: np.ndarray, within: float) -> int:
    """Return which of the joints that lie as joint k's image does is it: that which carries the
    image of what k carries, of several another than k itself.

    Raises ValueError where several others are, or one that carries something else than k, which is
    then its own image, on joints that lie the same.
    """
    mirror = np.eye(4)
    mirror[:3, :3] = flip
    carried = mirror @ placed[k].carried @ mirror.T
    off = {m: np.abs(placed[m].carried - carried).max() for m in alike}
    least = min(off.values()) + within * np.abs(carried).max()
    twins = [m for m in alike if m != k and off[m] <= least]
    if len(twins) == 1:
        return twins[0]
    if not twins:  # k carries its own image
        twins = [m for m in alike if m != k and _lie_alike(placed, k, m, flip, within)]
        if not twins:
            return k
    names = ", ".join(repr(placed[m].joint.name) for m in sorted({k, *twins}))
    raise ValueError(
        f"mirror_image: joints {names} lie on one another, and no single one is the image of "
        f"{placed[k].joint.name!r}; state which coordinates change places: "
        "mirror_symmetry(tree, index, sign), the end being sign * q[index] of the start"
    )


def _lie_alike(placed: Placed, k: int, m: int, flip: np.ndarray, within: float) -> bool:
    """Tell whether joint m and all beyond it lie as the images of joint k and all beyond that."""
    apart = _distance(placed[k], placed[m], flip)
    if apart is None or apart[0] > within:
        return False
    beyond, others = ([j for j, each in placed.items() if each.below == n] for n in (k, m))
    return len(beyond) == len(others) and all(
        any(_lie_alike(placed, j, other, flip, within) for other in others) for j in beyond
    )


def _axis_distance(own: PlacedJoint, other: PlacedJoint, flip: np.ndarray) -> Fit:
    """Return the distance of a joint's axis from the image of another's, and its sign."""
    image = np.concatenate([-flip @ own.twist[:3], flip @ own.twist[3:]])
    off, sign = min((float(np.abs(other.twist - s * image).max()), s) for s in (1.0, -1.0))
    return off, [(0, sign)]


def _ball_distance(own: PlacedJoint, other: PlacedJoint, flip: np.ndarray) -> Fit:
    """Return the distance of a ball from another's image, and the signs of its quaternion: -F turns
    its vector, from frame to frame."""
    turned = -other.frame[:3, :3].T @ flip @ own.frame[:3, :3]
    signed = np.round(turned)
    apart = flip @ own.frame[:3, 3] - other.frame[:3, 3]
    off = max(np.abs(turned - signed).max(), np.abs(apart).max())
    if np.abs(signed).sum() != 3:
        return np.inf, []
    chosen = np.abs(signed).argmax(axis=1)
    return float(off), [(0, 1.0), *((1 + c, float(signed[r, c])) for r, c in enumerate(chosen))]


def _certify(tree: Tree, index: np.ndarray, sign: np.ndarray, within: float) -> None:
    """Raise ValueError naming the joint whose image bears otherwise."""
    content, whole = record_content(tree)
    measure = partial(_torques_of_images, tree, index, sign)
    bear = recall("images", (content, index, sign), measure) if whole else measure()
    for here, there in zip(bear["here"], bear["there"]):
        off = np.abs(there - sign * here[index])
        k = int(np.argmax(off))
        if off[k] > within * np.abs(here).max():
            names = [joint.name for joint in tree.moving]
            raise ValueError(
                f"mirror_image: joint {names[k]!r}: its image {names[index[k]]!r} bears otherwise: "
                f"torques of a motion and of its image differ by {off[k]:.3g}, "
                f"{off[k] / np.abs(here).max():.2%} of the largest"
            )


def _torques_of_images(tree: Tree, index: np.ndarray, sign: np.ndarray) -> dict[str, np.ndarray]:
    """Return the torques (STATES, n) of random motions, "here", and of their images, "there"."""
    rng, motion = np.random.default_rng(SEED), ca.SX.sym("motion", tree.dof, 3)
    q, qd, qdd = ca.horzsplit(motion)
    needed = inverse_dynamics(tree, q, qd, qdd)

    def torques(*states: np.ndarray) -> np.ndarray:
        numbers = ca.substitute(needed, motion, ca.DM(np.column_stack(states)))
        return np.array(ca.evalf(numbers)).ravel()

    here, there = [], []
    for _ in range(STATES):
        states = [rng.uniform(-0.5, 0.5, tree.dof) + np.array(tree.neutral) for _ in range(3)]
        here.append(torques(*states))
        there.append(torques(*(sign * state[index] for state in states)))
    return {"here": np.array(here), "there": np.array(there)}

"""Postures of the skeleton of 55 joints as those of Rajagopal's full body, and back.

Axes of Rajagopal et al. (2016, IEEE Trans Biomed Eng 63:2068) are forward, up and to the right,
ours to the left, up and forward. A limb's joint turns alike in both, by the same angles but for
signs and a constant. The pelvis turns by the same three axes in the opposite order, and one joint
of three angles stands for the levels of the spine: there rotations go over, and angles are found
from them.
"""

import casadi as ca
import numpy as np

from ocp import Tree
from ocp.mechanics import nominal, poses

SIDES = ("r", "l")
# Rajagopal's coordinate of a side: ours, the sign and what is added (rad) to ours
LIMBS: dict[str, tuple[str, int, float]] = {
    "hip_flexion": ("hip_flex", 1, 0.0),
    "hip_adduction": ("hip_abd", -1, 0.0),
    "hip_rotation": ("hip_rot", 1, 0.0),
    "knee_angle": ("knee_flex", 1, 0.0),
    "ankle_angle": ("ankle_df", 1, 0.0),
    "subtalar_angle": ("ankle_inv", 1, 0.0),
    "mtp_angle": ("toe_ext", -1, 0.0),
    "arm_flex": ("shou_flex", 1, 0.0),
    "arm_add": ("shou_abd", -1, 0.0),
    "arm_rot": ("shou_rot", 1, 0.0),
    "elbow_flex": ("elb_flex", 1, 0.0),
    "pro_sup": ("elb_pron", 1, np.pi / 2),  # 0 where palms face forward; ours where they face in
    "wrist_flex": ("wri_flex", 1, 0.0),
    "wrist_dev": ("wri_rad", -1, 0.0),
}
HIPS, FEMURS = ("hip_flex_r", "hip_flex_l"), ("femur_r", "femur_l")  # links at the hips
SLIDES = ("pelvis_tx", "pelvis_ty", "pelvis_tz")  # forward, up, to the right
PELVIS = ("pelvis_tilt", "pelvis_list", "pelvis_rotation")
LUMBAR = ("lumbar_extension", "lumbar_bending", "lumbar_rotation")
WAYS = (("glob_tz", 1), ("glob_ty", 1), ("glob_tx", -1))  # ours along his slides
TURNS = (("glob_ry", 1), ("glob_rz", 1), ("glob_rx", -1))  # about up, forward and his right
LEVELS = ("spine1", "spine2", "spine3", "spine4")
BENDS = (("flex", -1), ("lat", 1), ("rot", 1))  # of a level, about his right, forward and up
AXES = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # his axes of a vector in ours
Values = dict[str, np.ndarray]  # {coordinate: its values (N,)}


def rajagopal_postures(human: Tree, model: Tree, q: np.ndarray) -> np.ndarray:
    """Postures of Rajagopal's body in which its segments stand as those of the skeleton.

    The middle of the hips stands at the same place. Clavicles, neck and head have no counterpart.

    Args:
        human: the skeleton, of `human` or `person`.
        model: Rajagopal2016 or one with its coordinates, of `load_model`.
        q: (n, N) or (n,) coordinates of the skeleton (rad, m).

    Returns:
        Coordinates of the model (m, N) or (m,); those of muscles, and those that the skeleton does
        not have, at their neutral values.
    """
    ours = _values(human, q)
    known = _limbs(ours, inverse=False)
    turn = _rotations("yxz", [sign * ours[name] for name, sign in TURNS])
    known |= dict(zip(PELVIS, _angles(turn)))
    spine = np.broadcast_to(np.eye(3), turn.shape)
    for level in LEVELS:
        bends = [sign * ours.get(f"{level}_{bend}", 0.0 * turn[:, 0, 0]) for bend, sign in BENDS]
        spine = spine @ _rotations("zxy", bends)
    known |= dict(zip(LUMBAR, _angles(spine)))
    ways = np.array([sign * ours[name] for name, sign in WAYS])
    middle, hips = AXES @ _hips(human, HIPS), _hips(model, FEMURS)
    known |= dict(zip(SLIDES, ways + middle[:, None] - np.einsum("nij,j->in", turn, hips)))
    return _column(model, known, q)


def human_postures(model: Tree, human: Tree, q: np.ndarray) -> np.ndarray:
    """Postures of the skeleton in which its segments stand as those of Rajagopal's body.

    What his lumbar joint turns is shared out evenly between the levels of the spine that move.

    Args:
        model: Rajagopal2016 or one with its coordinates, of `load_model`.
        human: the skeleton, of `human` or `person`.
        q: (m, N) or (m,) coordinates of the model (rad, m).

    Returns:
        Coordinates of the skeleton (n, N) or (n,); those without a counterpart at their neutral
        values.

    Raises:
        ValueError: no level of the spine moves by three angles.
    """
    his = _values(model, q)
    known = _limbs(his, inverse=True)
    turn = _rotations("zxy", [his[name] for name in PELVIS])
    turns = [-angle for angle in _angles(turn.transpose(0, 2, 1))[::-1]]
    known |= {name: sign * angle for (name, sign), angle in zip(TURNS, turns)}
    moving = {joint.name for joint in human.moving}
    levels = [each for each in LEVELS if all(f"{each}_{bend}" in moving for bend, _ in BENDS)]
    if not levels:
        raise ValueError(
            f"human_postures: expected a level of the spine, of {', '.join(LEVELS)}, that moves by "
            "three angles, got none"
        )
    share = _angles(_root(_rotations("zxy", [his[name] for name in LUMBAR]), len(levels)))
    for level in levels:
        known |= {f"{level}_{bend}": sign * x for (bend, sign), x in zip(BENDS, share)}
    slides = np.array([his[name] for name in SLIDES])
    middle, hips = AXES @ _hips(human, HIPS), _hips(model, FEMURS)
    ways = slides + np.einsum("nij,j->in", turn, hips) - middle[:, None]
    known |= {name: sign * way for (name, sign), way in zip(WAYS, ways)}
    return _column(human, known, q)


def _limbs(known: Values, *, inverse: bool) -> Values:
    """Return the angles of limbs of the one body from those of the other."""
    found: Values = {}
    for his, (ours, sign, offset) in LIMBS.items():
        for side in SIDES:
            a, b = f"{his}_{side}", f"{ours}_{side}"
            if inverse and a in known:
                found[b] = sign * (known[a] - offset)
            elif not inverse and b in known:
                found[a] = sign * known[b] + offset
    return found


def _values(tree: Tree, q: np.ndarray) -> Values:
    """Return the values of all coordinates of a tree by name."""
    rows = np.asarray(q, dtype=float)
    if rows.shape[:1] != (tree.dof,):
        raise ValueError(f"postures: expected {tree.dof} rows, got shape {rows.shape}")
    return {joint.name: np.atleast_1d(row) for joint, row in zip(tree.moving, rows)}


def _column(tree: Tree, known: Values, like: np.ndarray) -> np.ndarray:
    """Return known coordinates of a tree, others at their neutral values, in the shape of q."""
    still = np.asarray(nominal(tree.neutral), dtype=float)
    count = np.shape(like)[1:] or (1,)
    rows = [np.broadcast_to(known.get(j.name, x), count) for j, x in zip(tree.moving, still)]
    return np.array(rows).reshape(tree.dof, *np.shape(like)[1:])


def _hips(tree: Tree, links: tuple[str, str]) -> np.ndarray:
    """Return the middle (3, m, the tree's own axes) between hips where all coordinates are 0."""
    places = [poses(nominal(tree), np.zeros(tree.dof))[tree.link_index(name)] for name in links]
    return np.mean([np.array(ca.DM(place))[:3, 3] for place in places], axis=0)


def _rotations(order: str, angles: list[np.ndarray]) -> np.ndarray:
    """Return rotations (N, 3, 3) by angles about axes, each turned by those before."""
    total = np.broadcast_to(np.eye(3), (len(angles[0]), 3, 3))
    for letter, angle in zip(order, angles):
        k = "xyz".index(letter)
        i, j = (k + 1) % 3, (k + 2) % 3
        turn = np.tile(np.eye(3), (len(angle), 1, 1))
        turn[:, i, i] = turn[:, j, j] = np.cos(angle)
        turn[:, j, i], turn[:, i, j] = np.sin(angle), -np.sin(angle)
        total = total @ turn
    return total


def _angles(turn: np.ndarray) -> list[np.ndarray]:
    """Return the angles of rotations (N, 3, 3) about z, x and y, each turned by those before."""
    return [
        np.arctan2(-turn[:, 0, 1], turn[:, 1, 1]),
        np.arcsin(np.clip(turn[:, 2, 1], -1.0, 1.0)),
        np.arctan2(-turn[:, 2, 0], turn[:, 2, 2]),
    ]


def _root(turn: np.ndarray, count: int) -> np.ndarray:
    """Return rotations (N, 3, 3) that give a rotation when done `count` times (Rodrigues)."""
    spin = np.stack(
        [
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ],
        axis=1,
    )
    size = np.linalg.norm(spin, axis=1)  # twice the sine
    angle = np.arctan2(size, np.trace(turn, axis1=1, axis2=2) - 1) / count
    axis = spin / np.where(size > 0, size, 1.0)[:, None]
    cross = np.zeros_like(turn)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        cross[:, j, i], cross[:, i, j] = axis[:, k], -axis[:, k]
    sine, rest = np.sin(angle)[:, None, None], (1 - np.cos(angle))[:, None, None]
    root: np.ndarray = np.eye(3) + sine * cross + rest * cross @ cross
    return root

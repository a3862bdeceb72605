"""Poses of files as matrices."""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ocp.mechanics.model.quaternions_and_couplings import rotation_from_quaternion


def pose_matrix(position: ArrayLike, quaternion: ArrayLike) -> np.ndarray:
    """Return the pose (4x4) of a position (3, m) and a quaternion (4,), scalar first, of any
    length."""
    pose = np.eye(4)
    pose[:3, :3] = rotation_matrix(quaternion)
    pose[:3, 3] = position
    return pose


def rotation_matrix(quaternion: ArrayLike) -> np.ndarray:
    """Return the rotation (3x3) of a quaternion (4,), scalar first, of any length."""
    return np.array(ca.DM(rotation_from_quaternion(ca.DM(np.array(quaternion, dtype=float)))))

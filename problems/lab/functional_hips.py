"""Hips found from how thighs swing about the pelvis: centres of spheres of the thighs' markers.

Markers of a thigh stay at their distances from the hip, which is at one place of the pelvis: of all
markers v in the pelvis' frame together the centre c has the least sum of (|v - c|^2 - r^2)^2, each
with a radius of its own, which is linear   (Gamage & Lasenby 2002, eq. 7):

    2 sum cov(v, v) c = sum cov(v, |v|^2)
"""

from collections.abc import Mapping

import numpy as np

from ocp import Series
from ocp.problems.lab.marker_sets import MarkerSet

# m: deviation of thighs' markers out of the flattest surface through them, at least, so that noise
# of 1 mm puts a hip some mm off [assumed]: swings to the side and to the front give 50 to 100 mm
SPREAD = 0.01


def functional_hips(
    places: Mapping[str, np.ndarray], moving: Series, table: MarkerSet
) -> dict[str, np.ndarray]:
    """Return the places (3,) m of the hips {hip_r, hip_l} whose thighs swing in a trial.

    Args:
        places: {marker: (3,) m} of the static trial.
        moving: markers of somebody who swings thighs to all sides, in the same axes.
        table: of the markers.

    Raises:
        ValueError: fewer than three markers of the pelvis are seen, or no thigh swings to all
            sides.
    """
    seen = table.among(moving.values)
    fixed = [name for name in seen.segment("pelvis") if name in places]
    if len(fixed) < 3:
        raise ValueError(f"{moving.source}: expected 3 markers of the pelvis, got {len(fixed)}")
    pelvis = np.array([moving.values[name] for name in fixed])  # (markers, 3, N)
    still = np.array([places[name] for name in fixed])
    hips = {}
    for side in "rl":
        thigh = [moving.values[name] for name in seen.segment(f"thigh_{side}")]
        rows = np.array(thigh).reshape(-1, 3, len(moving.t))
        whole = np.isfinite(pelvis).all(axis=(0, 1)) & np.isfinite(rows).all(axis=(0, 1))
        inside = _on_pelvis(pelvis[:, :, whole], still, rows[:, :, whole])
        matrix, right = np.zeros((3, 3)), np.zeros(3)
        for marker in inside:
            off = marker - marker.mean(axis=1, keepdims=True)
            matrix += 2 * off @ off.T / off.shape[1]
            right += off @ np.sum(marker**2, axis=0) / off.shape[1]
        out = np.linalg.eigvalsh(matrix)[0] / 2 / max(len(inside), 1)
        if len(inside) and out > SPREAD**2:
            hips[f"hip_{side}"] = np.linalg.solve(matrix, right)
    if not hips:
        raise ValueError(
            f"{moving.source}: no functional trial: no thigh swings to all sides, by {SPREAD} m "
            "out of the flattest surface at least"
        )
    return hips


def _on_pelvis(pelvis: np.ndarray, places: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows (m, 3, N) as they are where the pelvis' markers (k, 3, N) are at places (k, 3)
    (Arun, Huang & Blostein 1987)."""
    here, there = pelvis.mean(axis=0), places.mean(axis=0)
    cross = np.einsum("ki,kjn->nij", places - there, pelvis - here)
    left, _, right = np.linalg.svd(cross)
    turns = np.linalg.det(left @ right)
    left[:, :, 2] *= turns[:, None]
    return np.einsum("nij,mjn->min", left @ right, rows - here) + there[:, None]

"""Loads on L5/S1 in a lift: net moment, force between the bodies, and the share of muscles.

Without muscles the spine is pressed by the force that the joint passes on. With them it is pressed
by the muscle too that gives the extension moment: one extensor behind the disc, parallel to the
spine, with no abdominal pressure, no antagonists and no share of ligaments in another line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import poses

BACK = "spine1_flex"  # the joint at L5/S1 that bends forward
# Moment arms (m) of the one extensor: between the erector spinae's centroid and that of the disc in
# men's MRI about 60 mm (Jorgensen et al. 2001; number [recalled]); 50 mm is what simple models take
# by custom (Gungor 2013, abstract), 75 mm the most (McGill & Norman 1987) [recalled]
ARM, ARMS = 0.06, (0.05, 0.075)


@dataclass(frozen=True, slots=True, kw_only=True)
class Burden:
    """What L5/S1 bears at times (N,), in N m and N.

    `extending` moment, of drives and tissue together; what the joint passes up, along the spine
    `pressing` and across it `shearing`, without the muscles' forces.
    """

    extending: np.ndarray
    pressing: np.ndarray
    shearing: np.ndarray

    def compression(self, arm: float = ARM) -> np.ndarray:
        """Return the compression (N,), N, with one extensor at a moment arm (m).

        C = N + max(M, 0) / arm
        """
        return self.pressing + np.maximum(self.extending, 0.0) / arm


def borne(solution: Solution, t: np.ndarray) -> Burden:
    """Return the Burden of L5/S1 at times t (N,), s."""
    tree = solution.problem.tree
    link, row = tree.link_index(BACK), tree.coordinate(BACK)
    upright = np.array(poses(tree, np.zeros(tree.dof))[link])[:3, :3]
    up = upright.T @ (0.0, 1.0, 0.0)
    passed = solution.reactions(t)[1][:, link]
    pressing = up @ passed
    return Burden(
        extending=-solution.trace(lambda at: at.tau[row] + at.elements[row], t)[0],
        pressing=pressing,
        shearing=np.linalg.norm(passed - np.outer(up, pressing), axis=0),
    )


def compressions(burden: Burden, t: np.ndarray) -> dict[str, Any]:
    """Return the largest compression with and without the extensor, as plain data.

    `arms_m` are those between which the moment arm lies, `between_N` the largest compressions with
    the longest and the shortest.
    """
    whole = burden.compression()
    return {
        "without_muscles_N": _peak(burden.pressing, t),
        "with_extensor_N": _peak(whole, t),
        "arm_m": ARM,
        "arms_m": list(ARMS),
        "between_N": sorted(float(burden.compression(arm).max()) for arm in ARMS),
    }


def compression_line(compressed: Mapping[str, Any], limit: float) -> str:
    """Return the compression in words, beside a limit (N)."""
    alone, whole = compressed["without_muscles_N"], compressed["with_extensor_N"]
    near, far = compressed["arms_m"]
    least, most = compressed["between_N"]
    return (
        f"{whole['value'] / 1e3:.2f} kN at {whole['time']:.2f} s with one extensor "
        f"{1e3 * compressed['arm_m']:.0f} mm behind the disc and no abdominal pressure "
        f"({least / 1e3:.2f} at {1e3 * far:.0f} mm, {most / 1e3:.2f} at {1e3 * near:.0f} mm), "
        f"{alone['value'] / 1e3:.2f} kN without muscles; NIOSH's limit is {limit / 1e3:.1f} kN"
    )


def _peak(line: np.ndarray, t: np.ndarray) -> dict[str, float]:
    return {"value": float(line.max()), "time": float(t[line.argmax()])}

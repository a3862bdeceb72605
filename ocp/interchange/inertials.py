"""Inertias of files made those of bodies: rounding is accepted, what is worse is refused or
repaired."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ocp.mechanics.tree import Link

NOISE = 1e-9  # of the largest entry of an inertia: what rounding of its numbers leaves
PASSED = 4e-10  # of it: what a Link passes as it is
SPECK = 1e-12  # kg m2 per kg: what is left of a point mass, as of a body of a micrometre
BALANCE = "take repair='balance' for the nearest inertia of a body"


def body(
    mass: float, com: Any, inertia: Any, repair: Sequence[str], **options: Any
) -> tuple[Link, str]:
    """Return the Link of a mass (kg), its centre and the inertia about it (3x3, kg m2), and in
    words what was repaired, "" if nothing was.

    What makes an inertia that of no body is cut off where rounding explains it, or where `repair`
    has "balance" (see `nearest`). `options` are other fields of the Link. Raises ValueError saying
    what is wrong.
    """
    given = np.asarray(inertia, dtype=float)
    off, scale, words = flaw(mass, given), float(np.abs(given).max()), ""
    inertia = given
    if off > PASSED * scale:
        inertia = nearest(mass, given)
        if off > max(NOISE * scale, SPECK * mass):
            if "balance" not in repair:
                raise ValueError(
                    f"no body of {mass:g} kg has principal moments {_moments(given)} kg m2: "
                    f"{_why(mass)}; {BALANCE}"
                )
            words = f"principal moments {_moments(given)} became {_moments(inertia)} kg m2"
    return Link(mass=mass, com=com, inertia=inertia, **options), words


def _moments(inertia: np.ndarray) -> str:
    return ", ".join(f"{moment:.4g}" for moment in np.linalg.eigvalsh(inertia))


def _why(mass: float) -> str:
    return "each is at most the sum of the others" if mass else "without mass there are none"


def flaw(mass: float, inertia: np.ndarray) -> float:
    """Return by how much (kg m2) an inertia (3x3) is that of no body; 0 where it is of one.

    It is one where the integral of r r' over the mass, tr(I)/2 - I, is positive semidefinite
    (Wensing, Kim & Slotine 2018).
    """
    if not mass:
        return float(np.abs(inertia).max())
    spread = np.trace(inertia) / 2 * np.eye(3) - inertia
    return max(0.0, -float(np.linalg.eigvalsh(spread)[0]))


def nearest(mass: float, inertia: np.ndarray) -> np.ndarray:
    """Return the inertia (3x3) of a body of that mass that is nearest to a given one.

    The integral of r r' is projected on the positive semidefinite matrices: principal axes stay,
    and what was negative along one becomes zero, as of a plate. Without mass it is zero.
    """
    if not mass:
        return np.zeros((3, 3))
    values, axes = np.linalg.eigh(np.trace(inertia) / 2 * np.eye(3) - inertia)
    spread = (axes * np.maximum(values, 0.0)) @ axes.T
    return np.trace(spread) * np.eye(3) - (spread + spread.T) / 2

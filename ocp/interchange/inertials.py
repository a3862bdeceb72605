"""Links from the inertial data of files: rounding is accepted, worse is refused, repaired or
kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ocp.interchange.reader_notes import Remarks
from ocp.mechanics.model.tree import Link

NOISE = 1e-9  # of the largest entry of an inertia: what rounding of its numbers leaves
PASSED = 4e-10  # of it: what a Link passes as it is
SPECK = 1e-12  # kg m2 per kg: what is left of a point mass, as of a body of a micrometre
BALANCE = "take repair='balance' for the nearest inertia of a body"
KEEP = "repair='keep' to compute with these numbers"
FRAMES = "inertias that frames with hardly any mass cannot have are dropped for the nearest"
REPAIRED = "repaired inertias"
KEPT = "inertias of no body are kept"


def link_from_inertia(
    mass: float,
    com: ArrayLike,
    inertia: ArrayLike,
    repair: Sequence[str],
    *,
    slight: float = 0.0,
    **looks: Any,
) -> tuple[Link, Remarks]:
    """Return a Link, and by kind the changes to an inertia that no body has.

    The inertia is cut off (see `nearest_inertia`) where rounding explains it, for a frame whose
    mass
    is at most `slight`, and where `repair` has "balance". "keep" in `repair` comes before that and
    leaves an inertia that only breaks the triangle inequality.

    Args:
        mass: kg.
        com: centre of mass (3,), m.
        inertia: about the centre of mass (3x3), kg m2.
        repair: some of "balance" and "keep".
        slight: mass (kg) up to which a link is a frame.
        looks: other fields of the Link.

    Raises:
        ValueError: no body has the inertia, and `repair` does not allow it.
    """
    given = np.asarray(inertia, dtype=float)
    off, scale = inertia_defect(mass, given), float(np.abs(given).max())
    if off <= PASSED * scale:
        return Link(mass=mass, com=com, inertia=given, **looks), {}
    repaired = Link(mass=mass, com=com, inertia=nearest_inertia(mass, given), **looks)
    if off <= max(NOISE * scale, SPECK * mass):
        return repaired, {}
    before, after = _moments(given), _moments(np.array(repaired.inertia))
    change = f"principal moments {before} became {after} kg m2"
    if mass <= slight:
        return repaired, {FRAMES: [f"{mass:g} kg, {change}"]}
    if "keep" in repair and _is_mass(mass, given):
        kept = Link(mass=mass, com=com, inertia=given, unphysical=True, **looks)
        return kept, {KEPT: [f"principal moments {before} kg m2"]}
    if "balance" not in repair:
        cure = f"{BALANCE}, or {KEEP}" if _is_mass(mass, given) else BALANCE
        raise ValueError(
            f"no body of {mass:g} kg has principal moments {before} kg m2: each is at most the "
            f"sum of the others; {cure}"
        )
    return repaired, {REPAIRED: [change]}


def _moments(inertia: np.ndarray) -> str:
    return ", ".join(f"{moment:.4g}" for moment in np.linalg.eigvalsh(inertia))


def _is_mass(mass: float, inertia: np.ndarray) -> bool:
    """Tell whether all kinetic energies of a link would be positive or zero."""
    return mass > 0 and bool(np.linalg.eigvalsh(inertia)[0] >= -NOISE * np.abs(inertia).max())


def inertia_defect(mass: float, inertia: np.ndarray) -> float:
    """Return by how much (kg m2) an inertia (3x3) breaks the triangle inequality; 0 for a body's.

    A body's integral of r r' over the mass, tr(I)/2 - I, is positive semidefinite (Wensing, Kim &
    Slotine 2018).
    """
    if not mass:
        return float(np.abs(inertia).max())
    spread = np.trace(inertia) / 2 * np.eye(3) - inertia
    return max(0.0, -float(np.linalg.eigvalsh(spread)[0]))


def nearest_inertia(mass: float, inertia: np.ndarray) -> np.ndarray:
    """Return the nearest inertia (3x3) that a body of a mass has.

    The integral of r r' is projected on the positive semidefinite matrices: principal axes stay,
    and
    negative values along one become zero, as of a plate. Without mass it is zero.
    """
    if not mass:
        return np.zeros((3, 3))
    values, axes = np.linalg.eigh(np.trace(inertia) / 2 * np.eye(3) - inertia)
    spread = (axes * np.maximum(values, 0.0)) @ axes.T
    return np.trace(spread) * np.eye(3) - (spread + spread.T) / 2

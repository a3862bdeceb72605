"""Links of planar mechanisms: flat bodies along x, and rods."""

from collections.abc import Sequence

from ocp import Link

DENSITY = 2.0  # kg/m, of the uniform slender rods that links are by default
Pair = tuple[float, float]


def flat(mass: float, com: Sequence[float], inertia: float) -> Link:
    """Return a link in the x-y plane, without thickness.

    `mass` (kg), `com` (2, m), and `inertia` (kg m2) about the centre of mass.
    """
    x, y = com
    return Link(mass=mass, com=(x, y, 0.0), inertia=((0, 0, 0), (0, inertia, 0), (0, 0, inertia)))


def rods(
    lengths: Sequence[float],
    masses: Sequence[float] | None = None,
    coms: Sequence[Pair] | None = None,
    inertias: Sequence[float] | None = None,
) -> tuple[Link, ...]:
    """Return flat links along x of these `lengths` (k, m).

    `masses` (k, kg), `coms`, centres of mass (k, 2; m), and `inertias` about them (k, kg m2), are
    those of slender rods where None.
    """
    if masses is None:
        masses = [DENSITY * length for length in lengths]
    if coms is None:
        coms = [(length / 2, 0.0) for length in lengths]
    if inertias is None:
        inertias = [mass * length**2 / 12 for mass, length in zip(masses, lengths)]
    return tuple(map(flat, masses, coms, inertias))

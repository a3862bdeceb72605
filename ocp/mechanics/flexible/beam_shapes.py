"""Shapes of beams: frequency equations of bending and torsion, their roots, and the shapes that
belong to them (Book 1983, eqs. 42-45)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial import Legendre

from ocp.mechanics.values.types import Matrix, Numbers

SPACING = 0.02  # of the scan for roots of a frequency equation, whose roots lie about pi apart
LOWEST = 0.02  # where that scan begins
Bar: TypeAlias = Any  # a Beam, whose module stands on this one
ABOUT = {"bend_y": "y", "bend_z": "z", "torsion": "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One mode shape as functions of x (m): its `value`, a shift along z or y for bending `about` y
    or z, an angle for torsion about x, and two derivatives, `slope` and `curvature`."""

    name: str
    about: str
    value: Matrix
    slope: Matrix
    curvature: Matrix = None

    def __post_init__(self) -> None:
        if self.about not in ("x", "y", "z"):
            raise ValueError(f"shape {self.name!r}: about: expected x, y or z, got {self.about!r}")
        at_base = [abs(float(self.value(0.0)))] + [abs(float(self.slope(0.0)))] * (
            self.about != "x"
        )
        if max(at_base) > 1e-9:
            raise ValueError(
                f"shape {self.name!r}: it moves at the base by {at_base}; all motion there belongs "
                "to the joint variable"
            )


def bending_roots(
    count: int,
    *,
    base: float | None = None,
    tip: float = 0.0,
    arm: float = 0.0,
    inertia: float = 0.0,
) -> tuple[list[float], list[np.ndarray]]:
    """Return the first roots b of a beam's frequency equation, and their shapes' coefficients (4,).

        omega = b^2 sqrt(E I / (mu L^4))

        phi = a cos(b x) + b sin(b x) + c e^(-b x) + d e^(-b (1 - x)),  0 <= x <= 1
        phi'''(1) = -b^4 tip (phi + arm phi')
        phi''(1)  = b^4 (inertia phi' + tip arm phi)
        phi''(0)  = -b^4 base phi'(0)

    In this form of phi the equation stays well scaled. `base`: None when clamped, otherwise the
    hub's inertia / (mu L^3), 0 when pinned; `tip`: mass / (mu L), `arm`: its centre's distance / L,
    `inertia`: about the tip / (mu L^3).
    """

    def matrix(beta: float | np.ndarray) -> np.ndarray:
        beta = np.asarray(beta, dtype=float)[..., None]
        start, end = _waves(beta, 0.0), _waves(beta, 1.0)
        rows = [
            start[0],
            start[1] if base is None else start[2] + beta**3 * base * start[1],
            end[2] - beta**3 * inertia * end[1] - beta**2 * tip * arm * end[0],
            end[3] + beta * tip * (end[0] + beta * arm * end[1]),
        ]
        return np.stack([row / np.abs(row).max(axis=-1, keepdims=True) for row in rows], axis=-2)

    roots = _roots(lambda beta: np.linalg.det(matrix(beta)), count)
    return roots, [np.linalg.svd(matrix(root))[2][-1] for root in roots]


def torsion_roots(count: int, *, inertia: float = 0.0) -> list[float]:
    """Return the first roots b of a beam's frequency equation in torsion.

        cos b = b inertia sin b,  omega = b sqrt(G I_x / (j L^2))

    `inertia`: that of the tip body / (j L).
    """
    return [
        _bisect(lambda b: np.cos(b) - b * inertia * np.sin(b), k * np.pi, (k + 0.5) * np.pi)
        for k in range(count)
    ]


def _waves(beta: np.ndarray, x: float | np.ndarray) -> list[np.ndarray]:
    """Return the four waves at x, and their derivatives over beta^k, k = 0 .. 3, each (..., 4)."""
    c, s, near, far = (
        np.cos(beta * x),
        np.sin(beta * x),
        np.exp(-beta * x),
        np.exp(-beta * (1.0 - x)),
    )
    return [
        np.concatenate(np.broadcast_arrays(*waves), axis=-1)
        for waves in (
            (c, s, near, far),
            (-s, c, -near, far),
            (-c, -s, near, far),
            (s, -c, -near, far),
        )
    ]


def _roots(function: Callable[[Numbers], np.ndarray], count: int) -> list[float]:
    roots: list[float] = []
    start = LOWEST
    while len(roots) < count:
        grid = start + SPACING * np.arange(200 * count + 1)
        values = function(grid)
        roots += [
            _bisect(function, grid[k], grid[k + 1])
            for k in np.flatnonzero(values[:-1] * values[1:] < 0)
        ]
        start = grid[-1]
    return roots[:count]


def _bisect(function: Callable[[Numbers], np.ndarray], low: float, high: float) -> float:
    below = function(low)
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if below * function(middle) > 0:
            low = middle
        else:
            high = middle


def bending_shapes(
    beam: Bar, what: str, count: int, *, base: float | None, tip: bool
) -> list[Shape]:
    about, scale = ABOUT[what], beam.mass * beam.length**2  # mu L^3
    mass, first, second = beam.end if tip else (0.0, np.zeros(3), np.zeros((3, 3)))
    along = 2 if about == "y" else 1
    roots, coefficients = bending_roots(
        count,
        base=None if base is None else base / scale,
        tip=mass / beam.mass,
        arm=first[0] / mass / beam.length if mass else 0.0,
        inertia=(second[0, 0] + second[along, along]) / scale,
    )
    return [
        _bend(f"{what}{k}", about, beam.length, root, weights)
        for k, (root, weights) in enumerate(zip(roots, coefficients), start=1)
    ]


def _bend(name: str, about: str, length: float, root: float, weights: np.ndarray) -> Shape:
    """Return the shape of one root, largest shift 1, less the turn of its base."""

    def wave(x: float | np.ndarray, order: int) -> Numbers:
        return (
            _waves(
                np.asarray(root * np.ones((*np.shape(x), 1))),
                np.asarray(x, dtype=float)[..., None] / length,
            )[order]
            @ weights
            * (root / length) ** order
        )

    turn, rest = wave(0.0, 1), wave(0.0, 0)
    grid = np.linspace(0.0, length, 401)
    shifts = wave(grid, 0) - turn * grid - rest
    size = np.abs(shifts).max() * (1.0 if shifts[-1] >= 0 else -1.0)
    return Shape(
        name=name,
        about=about,
        value=lambda x: (wave(x, 0) - turn * x - rest) / size,
        slope=lambda x: (wave(x, 1) - turn) / size,
        curvature=lambda x: wave(x, 2) / size,
    )


def torsion_shapes(beam: Bar, count: int, *, tip: bool) -> list[Shape]:
    polar = beam.mass * (beam.gyration[0] ** 2 + beam.gyration[1] ** 2)  # j L
    second = beam.end[2] if tip else np.zeros((3, 3))
    if not polar:
        raise ValueError(
            "torsion: the beam's gyration is zero; torsion needs a section with inertia, or "
            "polynomials and a tip body"
        )
    rates = [
        root / beam.length
        for root in torsion_roots(count, inertia=(second[1, 1] + second[2, 2]) / polar)
    ]
    sizes = [
        np.abs(np.sin(rate * np.linspace(0, beam.length, 401))).max()
        * np.copysign(1, np.sin(rate * beam.length))
        for rate in rates
    ]
    return [
        Shape(
            name=f"torsion{k}",
            about="x",
            value=lambda x, rate=rate, size=size: np.sin(rate * x) / size,
            slope=lambda x, rate=rate, size=size: rate * np.cos(rate * x) / size,
        )
        for k, (rate, size) in enumerate(zip(rates, sizes), start=1)
    ]


def polynomial_shape(beam: Bar, what: str, k: int) -> Shape:
    """Return x^2 (bending) or x (torsion) times the Legendre polynomial of degree k - 1 over the
    beam, 1 at the tip."""
    domain = [0.0, beam.length]
    value = Legendre([0.5, 0.5], domain=domain) ** (1 if what == "torsion" else 2) * Legendre.basis(
        k - 1, domain=domain
    )
    return Shape(
        name=f"{what}{k}",
        about=ABOUT[what],
        value=value,
        slope=value.deriv(),
        curvature=value.deriv(2),
    )

"""Assumed modes of uniform beams: frequency equations, shapes, and their integrals.

The beam lies along x from the origin of its link's frame, where it is clamped to that frame.
Bending about y moves its axis along z, bending about z along y, torsion turns the sections about x.
Book (1983), eqs. 25, 28, 42-45, 52.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.polynomial import chebyshev

from ocp.mechanics.flexible.beam_shapes import (
    Shape,
    bending_shapes,
    polynomial_shape,
    torsion_shapes,
)
from ocp.mechanics.flexible.link_modes import (
    Curve,
    Modes,
    axis_motion,
    small_turns,
    with_damping,
    without_noise,
)
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    freeze,
    inertia_matrix,
    numbers,
    positive,
    set_fields,
    symmetric,
)
from ocp.spelling import suggest_fields

NODES = 64  # of the Gauss rule that integrates products of shapes along a beam
SHAPES = ("clamped-free", "clamped-tip", "pinned", "hub", "polynomial")


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A rigid body fixed to a beam's tip: mass (kg), centre of mass, inertia.

    The centre of mass `com` (3, m) is reckoned from the tip, the inertia (3x3, kg m2) about it, in
    the link's axes.
    """

    mass: float
    com: Numbers = (0.0, 0.0, 0.0)
    inertia: Numbers = ((0.0, 0.0, 0.0),) * 3

    def __post_init__(self) -> None:
        inertia = inertia_matrix("tip inertia", self.inertia)
        set_fields(
            self,
            mass=positive("tip mass", self.mass, zero=True),
            com=freeze(numbers("tip com", self.com, (3,))),
            inertia=freeze(symmetric("tip inertia", inertia, 3)),
        )

    @property
    def moments(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return mass, first moment (3) and pseudo-inertia (3x3, integral of s s') about the
        tip."""
        com, inertia = np.array(self.com), np.array(self.inertia)
        return (
            self.mass,
            self.mass * com,
            np.trace(inertia) / 2 * np.eye(3) - inertia + self.mass * np.outer(com, com),
        )


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """A uniform Euler-Bernoulli beam: length (m), mass (kg), stiffness E I about y and z (N m2), G
    I_x (N m2), tip body.

    `gyration` (2, m): radii of gyration of the section about y and about z, without which torsion
    has no inertia but the tip's. With `rotary` the sections' turning counts in bending too, as
    Rayleigh has it.
    """

    length: float
    mass: float
    bending: Numbers
    torsion: float = 0.0
    gyration: Numbers = (0.0, 0.0)
    tip: Body | None = None
    rotary: bool = False

    def __post_init__(self) -> None:
        stiffness = numbers("beam bending stiffness", self.bending, (2,))
        radii = numbers("beam gyration", self.gyration, (2,))
        if (stiffness <= 0).any() or (radii < 0).any():
            raise ValueError(
                "beam: expected bending stiffness above 0 and gyration of at least 0, got "
                f"{stiffness.tolist()}, {radii.tolist()}"
            )
        set_fields(
            self,
            length=positive("beam length", self.length),
            mass=positive("beam mass", self.mass),
            torsion=positive("beam torsion stiffness", self.torsion, zero=True),
            bending=freeze(stiffness),
            gyration=freeze(radii),
        )
        if not isinstance(self.tip, Body | None):
            raise ValueError(f"beam tip: expected a Body or None, got {self.tip!r}")

    @property
    def end(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return mass, first moment (3) and pseudo-inertia (3x3) about the tip of what the tip
        carries."""
        return (0.0, np.zeros(3), np.zeros((3, 3))) if self.tip is None else self.tip.moments

    def rigidity(self, about: str) -> float:
        """Return E I or G I_x (N m2) about that axis."""
        return {"x": self.torsion, "y": self.bending[0], "z": self.bending[1]}[about]


def assumed_modes(
    beam: Beam,
    *,
    bend_y: int = 0,
    bend_z: int = 0,
    torsion: int = 0,
    shapes: str = "clamped-tip",
    hub: float = 0.0,
    stiffening: bool = True,
    damping: float | Sequence[float] = 0.0,
) -> Modes:
    """Return the Modes of a beam, named "bend_y1" and so on.

    `bend_y`, `bend_z`, `torsion`: numbers of shapes in bending about y and z and in torsion.
    `shapes`: "clamped-free" ones, "clamped-tip" with the beam's tip body, "pinned" at the base,
    "hub": pinned to a hub of inertia `hub` (kg m2), both less the turn of the base, which is the
    joint's; or "polynomial": from x^2, in torsion x, each one degree higher. `stiffening` keeps the
    terms of second order (see `modes_of`), `damping` is the ratio of each vibration.
    """
    if shapes not in SHAPES:
        raise ValueError(
            f"assumed_modes: shapes: expected one of {', '.join(SHAPES)}, got {shapes!r}"
        )
    shapes_of_beam = []
    for what, count in (("bend_y", bend_y), ("bend_z", bend_z), ("torsion", torsion)):
        if not isinstance(count, int | np.integer) or count < 0:
            raise ValueError(f"assumed_modes: {what}: expected a number of shapes, got {count!r}")
        if count and shapes == "polynomial":
            shapes_of_beam += [polynomial_shape(beam, what, k) for k in range(1, count + 1)]
        elif count and what == "torsion":
            shapes_of_beam += torsion_shapes(beam, count, tip=shapes != "clamped-free")
        elif count:
            base = {"pinned": 0.0, "hub": positive("assumed_modes: hub", hub, zero=True)}.get(
                shapes
            )
            shapes_of_beam += bending_shapes(
                beam, what, count, base=base, tip=shapes != "clamped-free"
            )
    if not shapes_of_beam:
        raise ValueError("assumed_modes: expected at least one shape in bend_y, bend_z or torsion")
    return with_damping(modes_of(beam, shapes_of_beam, stiffening=stiffening), damping)


def modes_of(beam: Beam, shapes: Sequence[Shape], *, stiffening: bool = True) -> Modes:
    """Return the Modes of a beam for the given Shapes, which must be smooth.

    With `stiffening` the axis shortens as it bends, by the integral of (v'^2 + w'^2) / 2, and turns
    are kept to second order, which puts axial loads, centrifugal ones among them, to work on
    bending. Without it a linear shape knows nothing of them, and what hangs on the link is longer
    by half the square of the slope there: 0.95 % at 0.138 rad.
    """
    shapes, m = tuple(shapes), len(shapes)
    for shape in shapes:
        if beam.rigidity(shape.about) <= 0:
            raise ValueError(f"shape {shape.name!r}: the beam has no stiffness about {shape.about}")
    curves = tuple(
        Curve(
            about=shape.about,
            value=_series(shape, shape.value, beam.length),
            slope=_series(shape, shape.slope, beam.length),
        )
        for shape in shapes
    )
    terms = tuple((k,) for k in range(m)) + (
        tuple(combinations_with_replacement(range(m), 2)) if stiffening else ()
    )
    mass, first, second, integrals = _integrals(beam, curves, terms)
    com = first / mass
    spread = second - mass * np.outer(com, com)
    return Modes(
        names=tuple(shape.name for shape in shapes),
        units=tuple("rad" if shape.about == "x" else "m" for shape in shapes),
        terms=terms,
        mass=mass,
        com=com,
        inertia=np.trace(spread) * np.eye(3) - spread,
        stiffness=_stiffness(beam, shapes),
        curves=curves,
        length=beam.length,
        **integrals,
    )


# Integrals ----------------------------------------------------------------------------------------


def _gauss(length: float) -> tuple[np.ndarray, np.ndarray]:
    points, weights = np.polynomial.legendre.leggauss(NODES)
    return (points + 1) * length / 2, weights * length / 2


def _integrals(
    beam: "Beam", curves: Sequence[Curve], terms: Sequence[tuple[int, ...]]
) -> tuple[float, np.ndarray, np.ndarray, dict[str, Numbers]]:
    """Return mass, first (3) and second moments (3x3) of the undeformed link, and the fields first,
    moment, coupling of its Modes.

    The particle at s in the section at x moves by phi_t(x) + Theta_t(x) s; the tip body's section
    is the beam's last.
    """
    x, weights = _gauss(beam.length)
    about = np.array([curve.about == "x" for curve in curves])
    shift, turn = axis_motion(curves, terms, beam.length, x)
    section = np.diag([0.0, beam.gyration[1] ** 2, beam.gyration[0] ** 2])
    end_shift, end_turn = (
        part[0] for part in axis_motion(curves, terms, beam.length, np.array([beam.length]))
    )
    turning = [
        small_turns(angles if beam.rotary else angles * about[:, None], terms) for angles in turn
    ] + [small_turns(end_turn, terms)]
    mass, push, second = beam.end
    t, axis = len(terms), np.array([1.0, 0.0, 0.0])
    total, lever, spread = 0.0, np.zeros(3), np.zeros((3, 3))
    first, moment, coupling = np.zeros((t, 3)), np.zeros((t, 3, 3)), np.zeros((t, t, 3, 3))
    slices = [
        (beam.mass * weight / beam.length, np.zeros(3), beam.mass * weight / beam.length * section)
        for weight in weights
    ]
    for (dm, h, p), place, phi, theta in zip(
        [*slices, (mass, push, second)], [*x, beam.length], [*shift, end_shift], turning
    ):
        carried, at = theta @ h, place * axis
        total, lever = total + dm, lever + dm * at + h
        spread = spread + dm * np.outer(at, at) + np.outer(at, h) + np.outer(h, at) + p
        moved = dm * phi + carried
        first += moved
        moment += (
            at[:, None] * moved[:, None, :]
            + h[:, None] * phi[:, None, :]
            + p @ theta.transpose(0, 2, 1)
        )
        coupling += (
            phi[:, None, :, None] * moved[None, :, None, :]
            + carried[:, None, :, None] * phi[None, :, None, :]
            + np.einsum("tij,jk,ulk->tuil", theta, p, theta)
        )
    coupling = (coupling + coupling.transpose(1, 0, 3, 2)) / 2
    integrals = {"first": first, "moment": moment, "coupling": coupling}
    return (
        total,
        lever,
        (spread + spread.T) / 2,
        {what: without_noise(array) for what, array in integrals.items()},
    )


def _stiffness(beam: "Beam", shapes: Sequence[Shape]) -> list[list[float]]:
    """Return the integrals of E I phi'' phi'' and G I_x phi' phi' (m, m).

    Book (1983), eqs. 42-45.
    """
    x, weights = _gauss(beam.length)
    strains = [
        np.broadcast_to((shape.slope if shape.about == "x" else shape.curvature)(x), x.shape)
        for shape in shapes
    ]
    return [
        [
            beam.rigidity(a.about) * (weights @ (strain * other)) if a.about == b.about else 0.0
            for b, other in zip(shapes, strains)
        ]
        for a, strain in zip(shapes, strains)
    ]


def _series(
    shape: Shape, function: Callable[[np.ndarray], np.ndarray], length: float
) -> tuple[float, ...]:
    """Return the Chebyshev coefficients of a function over the beam."""
    mapped: Numbers = lambda x: np.broadcast_to(function((x + 1) * length / 2), x.shape)
    for degree in (16, 32, 64, 128):
        coefficients = chebyshev.chebinterpolate(mapped, degree)
        size = np.abs(coefficients).max()
        if np.abs(coefficients[-3:]).max() <= 1e-13 * size:
            return freeze(
                np.trim_zeros(np.where(np.abs(coefficients) < 1e-17 * size, 0.0, coefficients), "b")
                if size
                else np.zeros(1)
            )
    raise ValueError(
        f"shape {shape.name!r}: it is not smooth enough for a series of degree 128; state the "
        "integrals as Modes instead"
    )

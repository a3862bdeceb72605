"""Assumed modes of uniform beams: frequency equations, shapes, and their integrals (Book 1983, eqs. 25, 28, 42-45, 52).

The beam lies along x from the origin of its link's frame, where it is clamped to that frame. Bending about y moves its axis along z, bending
about z along y, torsion turns the sections about x.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.polynomial import Legendre, chebyshev

from ocp.mechanics.checks import frozen, numbers, positive, set_fields, symmetric
from ocp.mechanics.modes import Curve, Modes, axis_motion, damped, small_turns, without_noise

NODES = 64  # of the Gauss rule that integrates products of shapes along a beam
SPACING = 0.02  # of the scan for roots of a frequency equation, whose roots lie about pi apart
LOWEST = 0.02  # where that scan begins
SHAPES = ("clamped-free", "clamped-tip", "pinned", "hub", "polynomial")
ABOUT = {"bend_y": "y", "bend_z": "z", "torsion": "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A rigid body fixed to a beam's tip: mass (kg), centre of mass (3, m, from the tip), inertia about it (3x3, kg m2), in the link's axes."""

    mass: float
    com: tuple = (0.0, 0.0, 0.0)
    inertia: tuple = ((0.0, 0.0, 0.0),) * 3

    def __post_init__(self):
        set_fields(
            self,
            mass=positive("tip mass", self.mass, zero=True),
            com=frozen(numbers("tip com", self.com, (3,))),
            inertia=frozen(symmetric("tip inertia", self.inertia, 3)),
        )

    @property
    def moments(self):
        """Return mass, first moment (3) and pseudo-inertia (3x3, integral of s s') about the tip."""
        com, inertia = np.array(self.com), np.array(self.inertia)
        return (
            self.mass,
            self.mass * com,
            np.trace(inertia) / 2 * np.eye(3) - inertia + self.mass * np.outer(com, com),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """A uniform Euler-Bernoulli beam: length (m), mass (kg), stiffness E I about y and z (N m2), G I_x (N m2), tip body.

    `gyration` (2, m): radii of gyration of the section about y and about z, without which torsion has no inertia but the tip's. With `rotary`
    the sections' turning counts in bending too, as Rayleigh has it.
    """

    length: float
    mass: float
    bending: tuple
    torsion: float = 0.0
    gyration: tuple = (0.0, 0.0)
    tip: Body | None = None
    rotary: bool = False

    def __post_init__(self):
        stiffness = numbers("beam bending stiffness", self.bending, (2,))
        radii = numbers("beam gyration", self.gyration, (2,))
        if (stiffness <= 0).any() or (radii < 0).any():
            raise ValueError(
                f"beam: expected bending stiffness above 0 and gyration of at least 0, got {stiffness.tolist()}, {radii.tolist()}"
            )
        set_fields(
            self,
            length=positive("beam length", self.length),
            mass=positive("beam mass", self.mass),
            torsion=positive("beam torsion stiffness", self.torsion, zero=True),
            bending=frozen(stiffness),
            gyration=frozen(radii),
        )
        if not isinstance(self.tip, Body | None):
            raise ValueError(f"beam tip: expected a Body or None, got {self.tip!r}")

    @property
    def end(self):
        """Return mass, first moment (3) and pseudo-inertia (3x3) about the tip of what the tip carries."""
        return (0.0, np.zeros(3), np.zeros((3, 3))) if self.tip is None else self.tip.moments

    def rigidity(self, about):
        """Return E I or G I_x (N m2) about that axis."""
        return {"x": self.torsion, "y": self.bending[0], "z": self.bending[1]}[about]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One mode shape as functions of x (m): shift along z or y for bending `about` y or z, angle for torsion about x, and two derivatives."""

    name: str
    about: str
    value: object
    slope: object
    curvature: object = None

    def __post_init__(self):
        if self.about not in ("x", "y", "z"):
            raise ValueError(f"shape {self.name!r}: about: expected x, y or z, got {self.about!r}")
        at_base = [abs(float(self.value(0.0)))] + [abs(float(self.slope(0.0)))] * (
            self.about != "x"
        )
        if max(at_base) > 1e-9:
            raise ValueError(
                f"shape {self.name!r}: it moves at the base by {at_base}; all motion there belongs to the joint variable"
            )


def assumed_modes(
    beam,
    *,
    bend_y=0,
    bend_z=0,
    torsion=0,
    shapes="clamped-tip",
    hub=0.0,
    stiffening=False,
    damping=0.0,
):
    """Return the Modes of a beam: numbers of shapes in bending about y and z and in torsion, named bend_y1 ...

    `shapes`: "clamped-free" ones, "clamped-tip" with the beam's tip body, "pinned" at the base, "hub": pinned to a hub of inertia `hub`
    (kg m2), both less the turn of the base, which is the joint's; or "polynomial": from x^2, in torsion x, each one degree higher.
    `stiffening` adds the terms of second order (see `modes_of`), `damping` is the ratio of each vibration.
    """
    if shapes not in SHAPES:
        raise ValueError(
            f"assumed_modes: shapes: expected one of {', '.join(SHAPES)}, got {shapes!r}"
        )
    found = []
    for what, count in (("bend_y", bend_y), ("bend_z", bend_z), ("torsion", torsion)):
        if not isinstance(count, int | np.integer) or count < 0:
            raise ValueError(f"assumed_modes: {what}: expected a number of shapes, got {count!r}")
        if count and shapes == "polynomial":
            found += [_polynomial(beam, what, k) for k in range(1, count + 1)]
        elif count and what == "torsion":
            found += _twists(beam, count, tip=shapes != "clamped-free")
        elif count:
            base = {"pinned": 0.0, "hub": positive("assumed_modes: hub", hub, zero=True)}.get(
                shapes
            )
            found += _bends(beam, what, count, base=base, tip=shapes != "clamped-free")
    if not found:
        raise ValueError("assumed_modes: expected at least one shape in bend_y, bend_z or torsion")
    return damped(modes_of(beam, found, stiffening=stiffening), damping)


def modes_of(beam, shapes, *, stiffening=False):
    """Return the Modes of a beam for the given Shapes, which must be smooth.

    With `stiffening` the axis shortens as it bends, by the integral of (v'^2 + w'^2) / 2, and turns are kept to second order, which puts
    axial loads, centrifugal ones among them, to work on bending. Without it a linear shape knows nothing of them.
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


# Frequency equations --------------------------------------------------------------------------------------------------------


def bending_roots(count, *, base=None, tip=0.0, arm=0.0, inertia=0.0):
    """Return the first roots beta of a beam's frequency equation, omega = beta^2 sqrt(E I / (mu L^4)), and their shapes' coefficients (4,).

    phi = a cos(b x) + b sin(b x) + c e^(-b x) + d e^(-b (1 - x)) over 0 <= x <= 1, in which the equation stays well scaled. `base`: None when
    clamped, otherwise the hub's inertia / (mu L^3), 0 when pinned; `tip`: mass / (mu L), `arm`: its centre's distance / L, `inertia`: about
    the tip / (mu L^3).   phi'''(1) = -b^4 tip (phi + arm phi'),   phi''(1) = b^4 (inertia phi' + tip arm phi),   phi''(0) = -b^4 base phi'(0)
    """

    def matrix(beta):
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


def torsion_roots(count, *, inertia=0.0):
    """Return the first roots of cos b = b inertia sin b, omega = b sqrt(G I_x / (j L^2)); `inertia` of the tip body / (j L)."""
    return [
        _bisect(lambda b: np.cos(b) - b * inertia * np.sin(b), k * np.pi, (k + 0.5) * np.pi)
        for k in range(count)
    ]


def _waves(beta, x):
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


def _roots(function, count):
    found, start = [], LOWEST
    while len(found) < count:
        grid = start + SPACING * np.arange(200 * count + 1)
        values = function(grid)
        found += [
            _bisect(function, grid[k], grid[k + 1])
            for k in np.flatnonzero(values[:-1] * values[1:] < 0)
        ]
        start = grid[-1]
    return found[:count]


def _bisect(function, low, high):
    below = function(low)
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if below * function(middle) > 0:
            low = middle
        else:
            high = middle


def _bends(beam, what, count, *, base, tip):
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


def _bend(name, about, length, root, weights):
    """Return the shape of one root, largest shift 1, less the turn of its base."""

    def wave(x, order):
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


def _twists(beam, count, *, tip):
    polar = beam.mass * (beam.gyration[0] ** 2 + beam.gyration[1] ** 2)  # j L
    second = beam.end[2] if tip else np.zeros((3, 3))
    if not polar:
        raise ValueError(
            "torsion: the beam's gyration is zero; torsion needs a section with inertia, or polynomials and a tip body"
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


def _polynomial(beam, what, k):
    """Return x^2 (bending) or x (torsion) times the Legendre polynomial of degree k - 1 over the beam, 1 at the tip."""
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


# Integrals ------------------------------------------------------------------------------------------------------------------


def _gauss(length):
    points, weights = np.polynomial.legendre.leggauss(NODES)
    return (points + 1) * length / 2, weights * length / 2


def _integrals(beam, curves, terms):
    """Return mass, first (3) and second moments (3x3) of the undeformed link, and the fields first, moment, coupling of its Modes.

    The particle at s in the section at x moves by phi_t(x) + Theta_t(x) s; the tip body's section is the beam's last.
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
    found = {"first": first, "moment": moment, "coupling": coupling}
    return (
        total,
        lever,
        (spread + spread.T) / 2,
        {what: without_noise(array) for what, array in found.items()},
    )


def _stiffness(beam, shapes):
    """Return the integrals of E I phi'' phi'' and G I_x phi' phi' (m, m)   (Book 1983, eqs. 42-45)."""
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


def _series(shape, function, length):
    """Return the Chebyshev coefficients of a function over the beam."""
    for degree in (16, 32, 64, 128):
        found = chebyshev.chebinterpolate(
            lambda x: np.broadcast_to(function((x + 1) * length / 2), x.shape), degree
        )
        size = np.abs(found).max()
        if np.abs(found[-3:]).max() <= 1e-13 * size:
            return frozen(
                np.trim_zeros(np.where(np.abs(found) < 1e-17 * size, 0.0, found), "b")
                if size
                else np.zeros(1)
            )
    raise ValueError(
        f"shape {shape.name!r}: it is not smooth enough for a series of degree 128; state the integrals as Modes instead"
    )

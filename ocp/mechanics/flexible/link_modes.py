"""Assumed modes of flexible links: shape integrals, stiffness and damping.

After Book (1983), sections 2 to 4.

A place r of the link moves by sums over terms t, each a product b_t of amplitudes: every amplitude
alone and, where geometric stiffening is asked for, every product of two. Its shift is sum b_t
phi_t(r) and its turn 1 + sum b_t Theta_t(r). `ocp.mechanics.flexible.beam_modes` makes such modes
of beams.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import chebyshev

from ocp.mechanics.values.parameters import array, nominal
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import (
    freeze,
    inertia_matrix,
    numbers,
    positive,
    set_fields,
    symmetric,
)
from ocp.pickling import portable
from ocp.spelling import suggest_fields

SECTIONS = 33  # of a beam, where the largest turn is looked for
NOISE = 1e-14  # of the largest entry: what rounding leaves of integrals that are zero


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A Shape `about` an axis as Chebyshev coefficients of its value and slope over the beam."""

    about: str
    value: Numbers
    slope: Numbers


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the modes do at one place: `position` (3, m, link frame), `shift` (terms, 3) and `turn`
    (m, 3, rad) per unit of amplitude."""

    position: Numbers
    shift: Numbers
    turn: Numbers

    def __post_init__(self) -> None:
        set_fields(
            self, **{what: freeze(getattr(self, what)) for what in ("position", "shift", "turn")}
        )


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Modes:
    """The integrals of a link's m mode shapes phi, by their `names`, over its mass.

    They are in the link's frame; r is the undeformed place of a particle (Book 1983, without his
    factor 1/2):

    - `first` (t, 3): of phi_t (eq. 52)
    - `moment` (t, 3, 3): of r phi_t' (eq. 28)
    - `coupling` (t, t, 3, 3): of phi_t phi_u' (eq. 25)
    - `stiffness` (m, m; eqs. 42-45), `damping` (m, m): of the amplitudes, in `units` m or rad
    - `mass`, `com` (3), `inertia` (3x3): of the undeformed link
    - `terms`: the products of amplitudes, m single ones first

    Where points and children sit the shapes come from `curves` over the `length`, or from the table
    `places`. Made by `assumed_modes` or `modes_of`, or stated by the user, for example from finite
    elements. Raises ValueError naming the field.
    """

    names: tuple[str, ...]
    mass: float
    com: Numbers
    inertia: Numbers
    first: Numbers
    moment: Numbers
    coupling: Numbers
    stiffness: Numbers
    damping: Numbers = None
    units: Numbers = None
    terms: Numbers = None
    places: tuple[Place, ...] = ()
    curves: tuple[Curve, ...] = ()
    length: float = 0.0

    def __repr__(self) -> str:
        return f"Modes({', '.join(self.names):.200}; mass {self.mass:g} kg, {self.length:g} m)"

    def __post_init__(self) -> None:
        names = tuple(self.names)
        m = len(names)
        if (
            not m
            or len(set(names)) < m
            or not all(isinstance(name, str) and name for name in names)
        ):
            raise ValueError(f"modes: names: expected different non-empty strings, got {names}")
        single = tuple((k,) for k in range(m))
        terms = single if self.terms is None else tuple(tuple(term) for term in self.terms)
        if terms[:m] != single or any(
            len(term) != 2 or not 0 <= term[0] <= term[1] < m for term in terms[m:]
        ):
            raise ValueError(
                f"modes: terms: expected {single} and then pairs (k, l) with k <= l, got {terms}"
            )
        t, units = len(terms), ("m",) * m if self.units is None else tuple(self.units)
        if len(units) != m or set(units) - {"m", "rad"}:
            raise ValueError(f"modes: units: expected m or rad for each of {m} modes, got {units}")
        set_fields(self, inertia=freeze(inertia_matrix("modes: inertia", self.inertia)))
        for what, shape in (
            ("com", (3,)),
            ("first", (t, 3)),
            ("moment", (t, 3, 3)),
            ("coupling", (t, t, 3, 3)),
        ):
            set_fields(
                self, **{what: freeze(numbers(f"modes: {what}", getattr(self, what), shape))}
            )
        damping = np.zeros((m, m)) if self.damping is None else self.damping
        set_fields(
            self,
            names=names,
            terms=terms,
            units=units,
            mass=positive("modes: mass", self.mass),
            places=tuple(self.places),
            stiffness=freeze(symmetric("modes: stiffness", self.stiffness, m, "")),
            damping=freeze(symmetric("modes: damping", damping, m, "")),
        )
        coupling = np.array(self.coupling)
        if np.abs(coupling - coupling.transpose(1, 0, 3, 2)).max() > 1e-9 * np.abs(coupling).max():
            raise ValueError(
                "modes: coupling: expected coupling[t][u] to be the transpose of coupling[u][t]"
            )
        if np.linalg.eigvalsh(_unit_diagonal(self.masses))[0] < 1e-13:
            raise ValueError(
                f"modes: the shapes of {', '.join(names)} are not independent, or one of them "
                "moves no mass"
            )
        for place in self.places:
            label = f"modes: place {tuple(place.position)}"
            numbers(f"{label}: position", place.position, (3,))
            numbers(f"{label}: shift", place.shift, (t, 3))
            numbers(f"{label}: turn", place.turn, (m, 3))

    @property
    def masses(self) -> np.ndarray:
        """Modal masses (m, m numpy): the trace of `coupling`."""
        m = len(self.names)
        return np.trace(np.array(self.coupling)[:m, :m], axis1=2, axis2=3)

    @property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies (m, rad/s) of the link with its base clamped.

        Of an open stiffness they are those of its parameters' own values.
        """
        return np.sqrt(np.maximum(_vibrations(self)[0], 0.0))

    def at(self, position: Sequence[float]) -> np.ndarray:
        """Return the matrices (terms, 4, 4) M_t: a frame at `position` (3) moves to (1 + sum b_t
        M_t) frame (Book 1983, eqs. 5, 7).

        Off a beam's axis a place moves with its section, beyond the beam's ends with the last one.
        Raises ValueError for a place that the table does not know.
        """
        place = np.asarray(position, dtype=float)
        if self.curves and place[0] <= 0:
            return np.zeros((len(self.terms), 4, 4))
        if self.curves:
            x = min(place[0], self.length)
            shift, turn = axis_motion(self.curves, self.terms, self.length, np.array([x]))
            shift, turn, arm = shift[0], small_turns(turn[0], self.terms), place - (x, 0.0, 0.0)
            shift = shift + turn @ arm
        else:
            there = [known for known in self.places if np.abs(place - known.position).max() < 1e-9]
            if not there:
                raise ValueError(
                    f"modes: no shape is known at {place.tolist()}; the places are "
                    f"{[known.position for known in self.places]}"
                )
            shift, turn = np.array(there[0].shift), small_turns(np.array(there[0].turn), self.terms)
        matrices = np.zeros((len(self.terms), 4, 4))
        matrices[:, :3, :3], matrices[:, :3, 3] = turn, shift - turn @ place
        return without_noise(matrices)


def section_turns(modes: Modes) -> np.ndarray:
    """Return the angles (places, m, 3), rad per unit of amplitude, by which sections turn.

    They are those of a beam at SECTIONS places over its length, or of the table of places.
    """
    if not modes.curves:
        return np.array([place.turn for place in modes.places]).reshape(-1, len(modes.names), 3)
    along = np.linspace(0.0, modes.length, SECTIONS)
    return axis_motion(modes.curves, modes.terms, modes.length, along)[1]


def without_noise(array: np.ndarray) -> np.ndarray:
    """Return the array with zeros for entries that rounding alone explains, that graphs may fold
    them."""
    return np.where(np.abs(array) < NOISE * np.abs(array).max(initial=0.0), 0.0, array) + 0.0


def with_damping(modes: Modes, ratio: float | Sequence[float]) -> Modes:
    """Return the modes with that ratio of critical damping, one number or one per vibration (m,).

    The vibrations are those of the link with its base clamped.
    """
    squares, vectors = _vibrations(modes)
    ratios = numbers(
        "damping ratio",
        np.broadcast_to(ratio, len(squares)) if np.ndim(ratio) == 0 else ratio,
        (len(squares),),
    )
    if (ratios < 0).any():
        raise ValueError(f"damping ratio: expected at least 0, got {ratios.tolist()}")
    carried = modes.masses @ vectors
    matrix = carried @ np.diag(2 * ratios * np.sqrt(np.maximum(squares, 0.0))) @ carried.T
    return replace(modes, damping=freeze((matrix + matrix.T) / 2))


def with_stiffness_factor(modes: Modes, factor: float) -> Modes:
    """Return the modes with their stiffness multiplied by a factor, which may be open; their shapes
    stay."""
    larger = positive("stiffness factor", factor, unit="") * array(modes.stiffness)
    return replace(modes, stiffness=freeze(larger))


def axis_motion(
    curves: Sequence[Curve], terms: Sequence[Sequence[int]], length: float, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return shift (x, terms, 3) and angles (x, m, 3) of a beam's axis at places x."""
    s, m = 2 * x / length - 1, len(curves)
    shift, angles = np.zeros((len(x), len(terms), 3)), np.zeros((len(x), m, 3))
    for k, curve in enumerate(curves):
        value, slope = chebyshev.chebval(s, curve.value), chebyshev.chebval(s, curve.slope)
        if curve.about == "x":
            angles[:, k, 0] = value
        else:
            shift[:, k, 2 if curve.about == "y" else 1] = value
            angles[:, k, 1 if curve.about == "y" else 2] = -slope if curve.about == "y" else slope
    for t, (k, l) in enumerate(terms[m:], start=m):
        if curves[k].about == curves[l].about != "x":
            product = (
                chebyshev.chebint(chebyshev.chebmul(curves[k].slope, curves[l].slope), lbnd=-1)
                * length
                / 2
            )
            shift[:, t, 0] = -chebyshev.chebval(s, product) * (0.5 if k == l else 1.0)
    return shift, angles


def small_turns(angles: np.ndarray, terms: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the matrices (terms, 3, 3) of a turn by small angles (m, 3): [theta_k], and to second
    order [theta_k][theta_l] made symmetric."""
    hats = np.cross(np.eye(3), angles[:, None, :])
    pairs = [
        (hats[k] @ hats[l] + hats[l] @ hats[k]) / (4 if k == l else 2)
        for k, l in terms[len(angles) :]
    ]
    return np.concatenate([hats, pairs]) if pairs else hats


def _unit_diagonal(matrix: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    return matrix / np.outer(scale, scale)


def _vibrations(modes: Modes) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared frequencies (m,), rising, and the mass-normal vectors (m, m) of stiffness
    against modal masses."""
    factor = np.linalg.inv(np.linalg.cholesky(modes.masses))
    squares, vectors = np.linalg.eigh(factor @ np.array(nominal(modes.stiffness)) @ factor.T)
    return squares, factor.T @ vectors

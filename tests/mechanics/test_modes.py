"""Assumed modes: roots to machine precision, integrals, frequencies, stiffening, damping, finite
elements, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from ocp.mechanics import (
    Beam,
    Body,
    Modes,
    Place,
    Shape,
    assumed_modes,
    modes_of,
    with_damping,
    with_stiffness_factor,
)
from ocp.mechanics.flexible.beam_shapes import bending_roots, torsion_roots
from ocp.mechanics.flexible.link_modes import section_turns, small_turns

BARE = Beam(length=1.3, mass=0.7, bending=(12.0, 30.0), torsion=4.0, gyration=(0.012, 0.01))
TIP = Body(mass=0.4, com=(0.05, 0.0, 0.0), inertia=np.diag([2e-3, 3e-3, 4e-3]))
LOADED = replace(BARE, tip=TIP)


def scale(stiffness, beam=BARE):
    """sqrt(E I / (mu L^4)) in rad/s."""
    return np.sqrt(stiffness / (beam.mass * beam.length**3))


def test_the_roots_are_those_of_the_textbook():
    np.testing.assert_allclose(
        bending_roots(5)[0],
        [
            1.8751040687119611,
            4.694091132974175,
            7.854757438237613,
            10.995540734875467,
            14.137168391046471,
        ],
        rtol=1e-14,
    )
    np.testing.assert_allclose(
        bending_roots(4, base=0.0)[0],
        [3.9266023120479188, 7.068582745628732, 10.210176122813031, 13.351768777754093],
        rtol=1e-14,
    )


@pytest.mark.parametrize("a", [0.01, 1.0, 300.0])
def test_a_point_mass_at_the_tip_obeys_its_frequency_equation(a):
    for b in bending_roots(6, tip=a)[0]:
        assert abs(
            1 / np.cosh(b) + np.cos(b) + a * b * (np.cos(b) * np.tanh(b) - np.sin(b))
        ) < 1e-12 * (1 + a * b)


@pytest.mark.parametrize("hub", [0.0, 0.02, 5.0])
def test_a_hub_at_the_base_obeys_its_frequency_equation(hub):
    for b in bending_roots(6, base=hub)[0]:
        assert abs(
            hub * b**3 * (1 / np.cosh(b) + np.cos(b)) + np.sin(b) - np.cos(b) * np.tanh(b)
        ) < 1e-12 * (1 + hub * b**3)


def test_extremes_meet_their_limits():
    clamped = bending_roots(4)[0]
    np.testing.assert_allclose(
        bending_roots(4, base=1e9)[0], clamped, rtol=1e-8
    )  # a hub that cannot turn
    np.testing.assert_allclose(
        bending_roots(3, base=0.0, tip=1e9)[0], np.pi * np.arange(1, 4), rtol=1e-8
    )  # pinned at both ends
    assert bending_roots(1, tip=1e4)[0][0] == pytest.approx(
        (3 / 1e4) ** 0.25, rel=1e-4
    )  # a spring with a mass
    np.testing.assert_allclose(torsion_roots(3), np.pi * (np.arange(3) + 0.5), rtol=1e-15)


@pytest.mark.parametrize("stiffening", [False, True])
def test_matching_shapes_have_the_frequencies_of_euler_and_bernoulli(stiffening):
    roots, found = np.array(bending_roots(3)[0]), {}
    for what in ("bend_y", "bend_z", "torsion"):
        found[what] = assumed_modes(BARE, **{what: 3}, stiffening=stiffening).frequencies
    np.testing.assert_allclose(found["bend_y"], roots**2 * scale(12.0), rtol=1e-10)
    np.testing.assert_allclose(found["bend_z"], roots**2 * scale(30.0), rtol=1e-10)
    polar = BARE.mass * (0.01**2 + 0.012**2)
    np.testing.assert_allclose(
        found["torsion"], np.pi * (np.arange(3) + 0.5) * np.sqrt(4.0 / (polar * 1.3)), rtol=1e-12
    )


@pytest.mark.parametrize("shapes", ["polynomial", "clamped-free"])
def test_other_shapes_converge_with_their_number(shapes):
    beam, counts = (
        (BARE, range(3, 8))
        if shapes == "polynomial"
        else (replace(BARE, tip=Body(mass=0.4)), (3, 6, 12))
    )
    exact = assumed_modes(beam, bend_z=3).frequencies
    errors = np.array(
        [
            assumed_modes(beam, bend_z=count, shapes=shapes).frequencies[:3] / exact - 1
            for count in counts
        ]
    )
    assert (errors > -1e-9).all() and (
        np.diff(errors, axis=0) < 1e-9
    ).all()  # from above, as Ritz has it
    assert (errors[-1] < 1e-3).all() and errors[0].max() > 1e-3


def test_matching_shapes_with_a_tip_body_are_orthogonal_in_mass_and_stiffness():
    modes = assumed_modes(LOADED, bend_y=3, bend_z=3, torsion=2)
    for matrix in (modes.masses, np.array(modes.stiffness)):
        sizes = np.sqrt(np.diag(matrix))
        assert np.abs(matrix / np.outer(sizes, sizes) - np.eye(8)).max() < 1e-9


def test_integrals_of_a_parabola_are_in_closed_form():
    modes = assumed_modes(BARE, bend_z=1, shapes="polynomial", stiffening=False)
    m, l = 0.7, 1.3
    np.testing.assert_allclose(modes.first, [[0, m / 3, 0]], atol=1e-15)
    np.testing.assert_allclose(
        modes.moment, [[[0, m * l / 4, 0], [0, 0, 0], [0, 0, 0]]], atol=1e-15
    )
    np.testing.assert_allclose(modes.coupling[0][0], np.diag([0, m / 5, 0]), atol=1e-15)
    np.testing.assert_allclose(modes.stiffness, [[30.0 * 4 / l**3]], rtol=1e-13)
    assert modes.mass == pytest.approx(m) and modes.com == pytest.approx((l / 2, 0, 0))
    np.testing.assert_allclose(
        np.diag(modes.inertia),
        m * np.array([2.44e-4, l**2 / 12 + 1.44e-4, l**2 / 12 + 1e-4]),
        atol=1e-14,
    )


def test_places_follow_the_beam():
    modes = assumed_modes(BARE, bend_y=1, bend_z=1, torsion=1, shapes="polynomial")
    l = 1.3
    about_y, about_z, twist, *pairs = modes.at((l, 0.0, 0.1))
    np.testing.assert_allclose(about_z @ [l, 0, 0.1, 1], [0, 1, 0, 0], atol=1e-14)
    np.testing.assert_allclose(about_y @ [l, 0, 0.1, 1], [-0.1 * 2 / l, 0, 1, 0], atol=1e-14)
    np.testing.assert_allclose(twist @ [l, 0, 0.1, 1], [0, -0.1, 0, 0], atol=1e-14)
    np.testing.assert_allclose(
        pairs[0] @ [l, 0, 0, 1], [-2 / (3 * l), 0, 0, 0], atol=1e-14
    )  # half the integral of (2 x / l^2)^2
    assert not modes.at((-0.1, 0, 0)).any()
    beyond = modes.at((l + 0.2, 0, 0))[1] @ [l + 0.2, 0, 0, 1]
    np.testing.assert_allclose(beyond, [0, 1 + 0.2 * 2 / l, 0, 0], atol=1e-14)


def test_shapes_of_first_order_stretch_what_hangs_on_them_and_those_of_second_order_hardly():
    """By half the square of the slope: 0.95 % at 0.138 rad."""
    stretched = []
    for stiffening in (False, True):
        modes = assumed_modes(BARE, bend_z=1, shapes="polynomial", stiffening=stiffening)
        (slope,) = np.abs(section_turns(modes)).max(axis=(0, 2))
        amplitude = 0.138 / slope
        powers = [amplitude ** len(term) for term in modes.terms]
        turn = sum(b * m[:3, :3] for b, m in zip(powers, modes.at((1.3, 0, 0))))
        stretched.append(np.linalg.norm((np.eye(3) + turn)[:, 0]) - 1)
    assert stretched[0] == pytest.approx(0.138**2 / 2, rel=0.01)
    assert abs(stretched[1]) < 1e-4


def test_places_turn_as_their_table_says():
    assert section_turns(finite()).shape == (1, 2, 3)
    assert section_turns(finite())[0] == pytest.approx(np.array(finite().places[0].turn))


def test_a_straight_second_order_axis_keeps_its_length():
    modes = assumed_modes(BARE, bend_z=2)
    amplitudes = np.array([0.02, -0.01])
    weights = [np.prod(amplitudes[list(term)]) for term in modes.terms]
    places = [np.array([x, 0, 0, 1]) for x in np.linspace(0, 1.3, 201)]
    path = np.array(
        [
            place + sum(w * m for w, m in zip(weights, modes.at(place[:3]))) @ place
            for place in places
        ]
    )
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(1.3, abs=2e-6)


def elements(count, beam, moments):
    """Mass and stiffness of a Hermite beam of that many elements, clamped, and the integrals of its
    functions over the mass."""
    h, mu, size = beam.length / count, beam.mass / beam.length, 2 * count + 2
    mass = np.zeros((size, size))
    stiffness = np.zeros((size, size))
    first = np.zeros(size)
    lever = np.zeros(size)
    for k in range(count):
        at = slice(2 * k, 2 * k + 4)
        mass[at, at] += (
            mu
            * h
            / 420
            * np.array(
                [
                    [156, 22 * h, 54, -13 * h],
                    [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                    [54, 13 * h, 156, -22 * h],
                    [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
                ]
            )
        )
        stiffness[at, at] += (
            moments
            / h**3
            * np.array(
                [
                    [12, 6 * h, -12, 6 * h],
                    [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                    [-12, -6 * h, 12, -6 * h],
                    [6 * h, 2 * h * h, -6 * h, 4 * h * h],
                ]
            )
        )
        along = np.array([0.15, h / 30, 0.35, -h / 20]) * h * h
        spread = np.array([0.5, h / 12, 0.5, -h / 12]) * h
        first[at] += mu * spread
        lever[at] += mu * (along + k * h * spread)
    return mass[2:, 2:], stiffness[2:, 2:], first[2:], lever[2:]


def finite(count=12, m=2):
    """The first modes of a finite-element beam, stated by the user."""
    mass, stiffness, first, lever = elements(count, BARE, 30.0)
    factor = np.linalg.inv(np.linalg.cholesky(mass))
    vectors = (factor.T @ np.linalg.eigh(factor @ stiffness @ factor.T)[1])[:, :m]
    vectors = vectors / vectors[-2]
    side = np.array([0.0, 1.0, 0.0])
    whole = assumed_modes(BARE, bend_z=1)
    return Modes(
        names=[f"bend_z{k + 1}" for k in range(m)],
        mass=whole.mass,
        com=whole.com,
        inertia=whole.inertia,
        first=np.outer(first @ vectors, side),
        moment=np.einsum("k,i,j->kij", lever @ vectors, [1.0, 0, 0], side),
        stiffness=vectors.T @ stiffness @ vectors,
        coupling=np.einsum("kl,i,j->klij", vectors.T @ mass @ vectors, side, side),
        places=(
            Place(
                position=(1.3, 0, 0),
                shift=np.outer(vectors[-2], side),
                turn=np.outer(vectors[-1], [0, 0, 1.0]),
            ),
        ),
    )


def test_integrals_from_finite_elements_are_those_of_the_shapes():
    stated, exact = finite(), assumed_modes(BARE, bend_z=2, stiffening=False)
    np.testing.assert_allclose(stated.frequencies, exact.frequencies, rtol=1e-4)
    for what in ("first", "moment", "coupling"):
        found, expected = np.array(getattr(stated, what)), np.array(getattr(exact, what))
        np.testing.assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())
    np.testing.assert_allclose(stated.at((1.3, 0, 0)), exact.at((1.3, 0, 0)), atol=2e-3)
    with pytest.raises(
        ValueError, match=r"modes: no shape is known at \[0.5, 0.0, 0.0\]; the places are"
    ):
        stated.at((0.5, 0, 0))


@pytest.mark.parametrize("shapes", ["polynomial", "clamped-tip"])
def test_vibrations_die_out_at_the_stated_ratio(shapes):
    modes = assumed_modes(LOADED, bend_y=2, bend_z=2, shapes=shapes, damping=0.03)
    inverse = np.linalg.inv(modes.masses)
    system = np.block(
        [
            [np.zeros((4, 4)), np.eye(4)],
            [-inverse @ np.array(modes.stiffness), -inverse @ np.array(modes.damping)],
        ]
    )
    values = np.linalg.eigvals(system)
    np.testing.assert_allclose(-values.real / np.abs(values), 0.03, rtol=1e-8)
    np.testing.assert_allclose(
        with_stiffness_factor(modes, 4.0).frequencies, 2 * modes.frequencies, rtol=1e-9
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: assumed_modes(BARE), "assumed_modes: expected at least one shape"),
        (
            lambda: assumed_modes(BARE, bend_y=1, shapes="free"),
            "assumed_modes: shapes: expected one of clamped-free, clamped-tip, pinned, hub",
        ),
        (
            lambda: assumed_modes(BARE, bend_y=-1),
            "assumed_modes: bend_y: expected a number of shapes, got -1",
        ),
        (
            lambda: assumed_modes(BARE, bend_y=1, hub=-1.0, shapes="hub"),
            "assumed_modes: hub: expected a number of at least 0, got -1",
        ),
        (
            lambda: assumed_modes(replace(BARE, gyration=(0, 0)), torsion=1),
            "torsion: the beam's gyration is zero",
        ),
        (
            lambda: assumed_modes(replace(BARE, torsion=0.0), torsion=1),
            "shape 'torsion1': the beam has no stiffness about x",
        ),
        (lambda: assumed_modes(BARE, bend_y=1, damping=-0.1), "damping ratio: expected at least 0"),
        (
            lambda: Beam(length=0.0, mass=1.0, bending=(1, 1)),
            "beam length: expected a number above 0, got 0",
        ),
        (
            lambda: Beam(length=1.0, mass=1.0, bending=(1, 0)),
            "beam: expected bending stiffness above 0",
        ),
        (lambda: Body(mass=-1.0), "tip mass: expected a number of at least 0"),
        (
            lambda: Shape(name="swing", about="z", value=lambda x: x, slope=lambda x: 1.0),
            "shape 'swing': it moves at the base",
        ),
        (
            lambda: Shape(name="swing", about="w", value=lambda x: x, slope=lambda x: 1.0),
            "shape 'swing': about: expected x, y or z, got 'w'",
        ),
        (lambda: modes_of(BARE, [kinked()]), "shape 'kink': it is not smooth enough"),
        (
            lambda: modes_of(BARE, [parabola("a"), parabola("b")]),
            "modes: the shapes of a, b are not independent",
        ),
        (
            lambda: replace(finite(), stiffness=[[1.0, 2.0], [2.0, 1.0]]),
            "modes: stiffness: expected a symmetric positive semidefinite matrix",
        ),
        (
            lambda: replace(finite(), first=[[0.0, 1.0, 0.0]]),
            r"modes: first: expected shape \(2, 3\), got \(1, 3\)",
        ),
        (
            lambda: replace(finite(), names=("a", "a")),
            "modes: names: expected different non-empty strings",
        ),
        (
            lambda: replace(finite(), units=("m", "inch")),
            "modes: units: expected m or rad for each of 2 modes",
        ),
        (lambda: replace(finite(), terms=((0,), (1,), (1, 0))), "modes: terms: expected"),
        (
            lambda: with_damping(finite(), (0.1, 0.2, 0.3)),
            r"damping ratio: expected shape \(2,\), got \(3,\)",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def parabola(name):
    """x^2 about z."""
    return Shape(
        name=name,
        about="z",
        value=lambda x: x**2,
        slope=lambda x: 2 * x,
        curvature=lambda x: 2 + 0 * x,
    )


def kinked():
    """A shape with a kink."""
    return Shape(
        name="kink",
        about="z",
        value=lambda x: np.maximum(x - 0.5, 0.0),
        slope=lambda x: np.where(x > 0.5, 1.0, 0.0),
    )


def test_turns_of_second_order_are_rotations_to_the_third():
    """About axes that differ too: 1 + [theta] + [theta]^2 / 2, theta the sum of all turns."""
    rng = np.random.default_rng(5)
    angles, terms = 1e-2 * rng.standard_normal((2, 3)), ((0,), (1,), (0, 0), (0, 1), (1, 1))
    amplitudes = np.array([1.0, -0.7])
    powers = [np.prod(amplitudes[list(term)]) for term in terms]
    turn = np.eye(3) + np.einsum("t,tij->ij", powers, small_turns(angles, terms))
    hat = np.cross(np.eye(3), (amplitudes @ angles)[None, :])
    assert turn == pytest.approx(np.eye(3) + hat + hat @ hat / 2, abs=1e-15)


def test_three_moments_of_a_tip_body_are_refused_with_how_to_write_them():
    with pytest.raises(
        ValueError, match=r"tip inertia: .* got \(3,\); .* numpy.diag\(\(1, 2, 2\)\)"
    ):
        Body(mass=0.4, inertia=(1, 2, 2))

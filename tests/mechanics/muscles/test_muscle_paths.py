"""Paths of muscles have the length, and the moment arms, of what they are made of."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from element_arm import ARM
from refusals import refused

from ocp import Follows, Link, Tree, revolute
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.model.quaternions_and_couplings import Polynomial
from ocp.mechanics.muscles.muscle_paths import GivenPath, PathPoint, PointPath, PolynomialPath
from ocp.mechanics.muscles.path_fits import PathSamples, fit_polynomial, sample_path
from ocp.mechanics.muscles.simm_splines import SimmSpline

SPLINE = SimmSpline(places=(-1, 0, 1, 2), values=(0.0, 0.03, 0.02, 0.05))
ORIGIN = PathPoint(link="ground", position=(0.1, 0.2, 0.3))
VIA = PathPoint(link="hip", position=(0.7, 0.1, 0.0))
MOVING = PathPoint(link="knee", position=(0.2, Follows(coordinate="knee", function=SPLINE), 0.1))
CONDITIONAL = PathPoint(link="hip", position=(0.9, 0.2, 0.0), coordinate="knee", within=(-0.5, 0.4))
END = PathPoint(link="foot", position=(0.1, 0.0, 0.05))
PATHS = {
    "two points": PointPath(points=("thigh", "shank")),
    "a place of the ground": PointPath(points=((0, 1.0, 0), "thigh", END)),
    "a via point": PointPath(points=(ORIGIN, VIA, END)),
    "a moving point": PointPath(points=(ORIGIN, VIA, MOVING)),
    "a conditional point": PointPath(points=(ORIGIN, CONDITIONAL, END)),
    "two conditional points": PointPath(points=(ORIGIN, VIA, CONDITIONAL, CONDITIONAL, MOVING)),
    "a polynomial": PolynomialPath(
        joints=("knee", "hip"),
        exponents=[(0, 0), (1, 0), (0, 3), (2, 1)],
        coefficients=(1, 2, 3, 4),
    ),
    "a function": GivenPath(joints=("knee",), function=lambda x: 0.3 + 0.02 * ca.cos(x)),
}
POSTURES = np.random.default_rng(0).uniform(-1.5, 1.5, (20, 2))


def functions(tree, path, kind=ca.SX):
    """A function of q that gives length, slope as the path has it, and as differentiated."""
    q = kind.sym("q", tree.dof)
    state = State(tree=tree, q=q)
    slope = path.slope(state)
    row = ca.horzcat(*[kind(slope.get(k, 0)) for k in range(tree.dof)])
    length = kind(path.length(state))
    return ca.Function("path", [q], [length, row, ca.jacobian(length, q)])


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_slopes_are_derivatives_of_lengths(name, kind):
    function = functions(ARM, PATHS[name], kind)
    for q in POSTURES:
        _, slope, derivative = (np.array(each) for each in function(q))
        np.testing.assert_allclose(slope, derivative, rtol=0, atol=1e-12)


def test_slopes_are_differences_of_lengths():
    function, h = functions(ARM, PATHS["a moving point"]), 1e-5
    for q in POSTURES:
        steps = [(float(function(q + h * e)[0]), float(function(q - h * e)[0])) for e in np.eye(2)]
        differences = [(after - before) / (2 * h) for after, before in steps]
        assert np.array(function(q)[1]).ravel() == pytest.approx(differences, abs=1e-8)


def test_a_conditional_point_counts_within_its_range_alone():
    fixed = PathPoint(link="hip", position=CONDITIONAL.position)
    inside = functions(ARM, PointPath(points=(ORIGIN, fixed, END)))
    outside = functions(ARM, PointPath(points=(ORIGIN, END)))
    path = functions(ARM, PATHS["a conditional point"])
    for knee in (-0.6, -0.5, 0.2, 0.4, 0.5):
        expected = inside if -0.5 <= knee <= 0.4 else outside
        q = 0.3, knee
        assert float(path(q)[0]) == pytest.approx(float(expected(q)[0]), abs=1e-15)
        course = PATHS["a conditional point"].route(State(tree=ARM, q=ca.DM(q))).course
        places = [tuple(np.array(ca.evalf(place)).ravel()) for place in course]
        assert len({*places}) == (3 if expected is inside else 2)


def test_joints_are_those_between_the_points():
    tendon = PointPath(points=(VIA, MOVING))
    assert tendon.joints(ARM) == ("knee",)
    assert PATHS["a via point"].joints(ARM) == ("hip", "knee")


def test_a_joint_between_the_points_counts_whose_coordinate_moves_one_before_them_too():
    """As vertebrae do that follow one coordinate: the path's length changes with that."""
    half = Follows(coordinate="bend", function=Polynomial((0.0, 0.5)))
    joints = [
        revolute("bend", axis=(0, 1, 0)),
        replace(revolute("next", "loin", axis=(0, 1, 0)), follows=half),
    ]
    links = [Link(name="loin", mass=1.0), Link(name="chest", mass=1.0)]
    ends = (
        PathPoint(link="loin", position=(0.1, 0, 0.1)),
        PathPoint(link="chest", position=(1, 0, 0)),
    )
    path = PointPath(points=ends)
    spine = Tree(joints=joints, links=links)
    assert path.joints(spine) == ("bend",)
    slope = path.slope(State(tree=spine, q=ca.DM([0.3])))[0]
    assert abs(float(ca.DM(slope))) > 1e-3


def test_a_polynomial_is_the_sum_of_its_terms():
    path = PATHS["a polynomial"]
    x, y = 0.7, -0.4
    assert path.polynomial((x, y)) == pytest.approx(1 + 2 * x + 3 * y**3 + 4 * x**2 * y)


def test_a_fit_says_its_error_and_keeps_its_range():
    within = {"hip": (0.0, 1.0), "knee": (-1.2, -0.6)}
    path = PATHS["a via point"]
    samples = sample_path(ARM, path, within, count=200)
    fit = fit_polynomial(samples, 5, within=1e-5)
    fresh = sample_path(ARM, path, within, count=50, seed=1)
    errors = [fit.polynomial(x) - l for x, l in zip(fresh.coordinates, fresh.lengths)]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(fit.rms, rel=0.5)
    assert fit.rms < 1e-5
    fit.check_range("muscle 'soleus'", {"hip": 0.3, "knee": -1.0})
    with refused("muscle 'soleus': its polynomial was fitted for 'knee' within -1."):
        fit.check_range("muscle 'soleus'", {"hip": 0.3, "knee": 0.2})


def test_a_fit_is_judged_by_samples_that_it_has_not_seen():
    x = np.linspace(0, 1, 40)
    lengths = 0.3 + 0.1 * x
    lengths[3::4] += 0.002
    samples = PathSamples(joints=("hip",), coordinates=x[:, None], lengths=lengths)
    fit = fit_polynomial(samples, 1, within=0.01)
    assert (fit.rms, fit.largest) == pytest.approx((0.002, 0.002))
    assert fit.polynomial([0.5]) == pytest.approx(0.35)


def test_a_fit_worse_than_asked_is_refused():
    samples = sample_path(ARM, PATHS["a via point"], {"hip": (-1, 1), "knee": (-2, 1)}, count=60)
    with refused("path over hip, knee: a polynomial of order 2 is "):
        fit_polynomial(samples, 2, within=1e-5)
    with refused(
        "path over hip, knee: order 9 has 55 terms: expected at least 147 samples, got 60"
    ):
        fit_polynomial(samples, 9, within=1e-5)


BAD = {
    "over no joint": (
        lambda: PointPath(points=("thigh", "heel")).check("muscle 'a'", ARM),
        "muscle 'a': its path crosses no joint: its length never changes",
    ),
    "a polynomial of no joint": (
        lambda: PolynomialPath(joints=("hip",), exponents=[[0]], coefficients=[0.3]).check(
            "muscle 'a'", ARM
        ),
        "muscle 'a': its path crosses no joint: its length never changes",
    ),
    "an unknown link": (
        lambda: PointPath(points=(VIA, PathPoint(link="knie", position=(0, 0, 0)))).check("m", ARM),
        "m: unknown link 'knie' (did you mean 'knee'?); the links are hip, knee, foot",
    ),
    "an unknown joint": (
        lambda: GivenPath(joints=("elbow",), function=lambda x: x).check("muscle 'a'", ARM),
        "muscle 'a': unknown joint 'elbow'",
    ),
    "a conditional end": (
        lambda: PointPath(points=(CONDITIONAL, END)),
        "path: an end, or a point beside a surface, cannot be conditional, as point 1 is",
    ),
    "one point": (
        lambda: PointPath(points=(END,)),
        "path: points: expected two or more, got (PathPoint(",
    ),
    "a range without coordinate": (
        lambda: PathPoint(link="hip", position=(0, 0, 0), within=(0, 1)),
        "path point on 'hip': expected a coordinate and the range within which it counts",
    ),
    "half an exponent": (
        lambda: PolynomialPath(joints=("hip",), exponents=[(0.5,)], coefficients=(1,)),
        "path: exponents: expected whole numbers of at least 0, got [[0.5]]",
    ),
    "a range upside down": (
        lambda: PolynomialPath(
            joints=("hip",), exponents=[(0,)], coefficients=(1,), lower=(1,), upper=(0,)
        ),
        "path: expected lower < upper, got [1.0] and [0.0]",
    ),
    "samples of another shape": (
        lambda: PathSamples(joints=("hip",), coordinates=[[0, 1]], lengths=[0]),
        "samples: coordinates: expected shape (1, 1), got (1, 2)",
    ),
    "places that do not increase": (
        lambda: SimmSpline(places=(0, 0), values=(1, 1)),
        "SimmSpline: places: expected two or more that increase, got [0.0, 0.0]",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_path_is_refused(name):
    make, message = BAD[name]
    with refused(message):
        make()

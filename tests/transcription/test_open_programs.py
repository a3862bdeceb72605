"""Programs with parameters: exact derivatives by what is sought, none by what is given, and values
that are those of the numbers."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from whole_graphs import assert_exact

import ocp
from ocp.models.arms.general_chain import general_chain
from ocp.models.arms.two_link import two_link
from ocp.problems.swing_ups import cart_pole_swing
from ocp.transcription.transcribe_phase import transcribe_phase

MASS = ocp.Parameter("mass", 1.3, "kg", 0.0, 5.0)
GRAVITY = ocp.Parameter("gravity", 9.0, "m/s2", 0.0, 20.0)
STRENGTH = ocp.Parameter("strength", 30.0, "N m", 1.0, 90.0)
VALUES = {MASS: 1.7, GRAVITY: 9.5, STRENGTH: 40.0}
METHODS = (
    ocp.Spline(nodes=2),
    ocp.Spline(nodes=2, torques="variables"),
    ocp.HermiteSimpson(intervals=4),
    ocp.Radau(intervals=3),
)


def arm(mass, gravity, strength):
    """The two-link arm, its second mass, gravity and strength as one likes."""
    tree = two_link(torque=10.0)
    first, second = tree.links
    joints = [replace(joint, torque=strength, position=4.0) for joint in tree.joints]
    links = (first, replace(second, mass=mass))
    return replace(tree, links=links, joints=joints, gravity=(0, -gravity, 0))


def moved(mass, gravity, strength, motion=None):
    """That arm from rest to rest with all kinds of rows."""
    tree = arm(mass, gravity, strength)
    return ocp.Problem(
        tree=tree,
        motion=motion or ocp.BSpline(points=8),
        duration=(0.1, 5.0),
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=(0.0, -2.0), qd=0.0),
            ocp.at_end(tree, q=(1.0, -1.0), qd=0.0),
            ocp.torque_limits(tree),
            ocp.joint_limits(tree, hull=True),
            ocp.path("heavy", lambda at: mass * at.qd, lower=-99.0, upper=99.0),
        ),
    )


def random_point(transcribed, seed=0):
    """Unknowns and multipliers at random, parameters where they are."""
    rng, nlp = np.random.default_rng(seed), transcribed.nlp
    x = rng.normal(size=len(nlp.lower))
    x[0] = 0.9
    if transcribed.layout.moving:
        x[transcribed.layout.widths] = rng.uniform(0.1, 0.3, transcribed.problem.motion.segments)
    x[transcribed.layout.parameters] = list(transcribed.layout.values.values())
    return x, rng.normal(size=len(nlp.g_lower))


def check_derivatives(transcribed):
    """Compare the program's derivatives with automatic ones of its values."""
    nlp, (x, multipliers) = transcribed.nlp, random_point(transcribed)
    sought = len(x) - len(transcribed.parameters) + transcribed.layout.free
    assert_exact(nlp, x, tolerance=1e-11, sought=sought)
    own = np.array(ca.triu2symm(nlp.hessian("exact")(x, [], 1.0, multipliers)))
    assert nlp.jacobian(x, [])[1][:, sought:].nnz() == 0
    assert not own[:, sought:].any()


@pytest.mark.parametrize("free", [(), ("mass",), ("mass", "gravity", "strength")])
@pytest.mark.parametrize("derivatives", ["recursive", "ad"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:30])
def test_derivatives_by_what_is_sought_are_exact(method, derivatives, free):
    settings = ocp.Transcription(method=method, derivatives=derivatives)
    opened = transcribe_phase(moved(MASS, GRAVITY, STRENGTH), settings, free=free)
    check_derivatives(opened.at({each: VALUES[each] for each in opened.parameters}))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: repr(method)[:30])
def test_bounds_alone_are_those_of_the_statement_with_the_values(method):
    """Of strength's bounds, and of all that stay, whichever statement the program keeps."""
    opened = transcribe_phase(
        moved(MASS, GRAVITY, STRENGTH), ocp.Transcription(method=method), free=()
    )
    values = {each: VALUES[each] for each in opened.parameters}
    whole, alone = opened.at(values), opened.at(values, bounds_alone=True)
    assert alone.problem is opened.problem and whole.problem is not opened.problem
    strong = {40.0 in np.abs(side) for side in (whole.nlp.g_upper, whole.nlp.upper)}
    assert True in strong
    for name in ("lower", "upper", "g_lower", "g_upper"):
        np.testing.assert_array_equal(getattr(alone.nlp, name), getattr(whole.nlp, name))


def test_derivatives_are_exact_on_free_knots():
    free = moved(MASS, GRAVITY, STRENGTH, ocp.BSpline(points=8, knots="free"))
    check_derivatives(transcribe_phase(free, free=("mass", "strength")))


@pytest.mark.parametrize("torques", ["explicit", "variables"])
def test_derivatives_of_long_chains_are_exact(torques):
    """Their products of pairs of joints run as loops, not as scalar graphs."""
    chain = general_chain(12)
    links = (*chain.links[:5], replace(chain.links[5], mass=MASS), *chain.links[6:])
    tree = replace(chain, links=links, gravity=(0.0, 0.0, -GRAVITY))
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=5),
        duration=0.9,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(tree, q=0.1),
            ocp.path("tau", lambda at: at.tau[:2], upper=100.0),
        ),
    )
    settings = ocp.Transcription(method=ocp.Spline(nodes=1, torques=torques))
    nlp = (opened := transcribe_phase(problem, settings, free=("mass",))).nlp
    x, multipliers = random_point(opened)
    curvature = np.array(ca.triu2symm(nlp.hessian("exact")(x, [], 1.0, multipliers)))

    def slope(step):
        at = x.copy()
        at[opened.layout.parameters.start] += step
        gradient, jacobian = nlp.gradient(at, [])[1], nlp.jacobian(at, [])[1]
        value = nlp.objective(at) + ca.dot(multipliers, nlp.constraints(at))
        return np.array(gradient + jacobian.T @ multipliers).ravel(), float(value)

    column = opened.layout.parameters.start
    (above, value_above), (below, value_below) = slope(1e-4), slope(-1e-4)
    size = np.abs(curvature).max()
    assert np.abs((above - below) / 2e-4 - curvature[:, column]).max() < 1e-7 * size
    first = slope(0.0)[0][column]
    assert abs((value_above - value_below) / 2e-4 - first) < 1e-6 * max(1.0, abs(first))


def test_a_given_number_costs_hardly_an_instruction():
    numbers = transcribe_phase(moved(1.3, 9.0, 30.0))
    opened = transcribe_phase(moved(MASS, 9.0, 30.0))
    for one, other in zip(numbers.groups, opened.groups):
        least = one.kernel.jacobian.n_instructions()
        assert other.kernel.jacobian.n_instructions() <= 1.1 * least + 20


def test_integrated_joints_follow_what_is_given():
    swing = cart_pole_swing.problem(points=8)
    cart, pole = swing.tree.links

    def as_long_as(length):
        long = replace(pole, com=(0.0, -length, 0.0))
        return replace(swing, tree=replace(swing.tree, links=(cart, long)))

    length = ocp.Parameter("length", 0.5, "m", 0.1, 1.0)
    settings = ocp.Transcription(method=ocp.Integrated(nodes=2))
    planned = ocp.prepare(as_long_as(length), settings).solve(length=0.45)
    stated = ocp.solve(as_long_as(0.45), settings)
    assert planned.success and planned.objective == pytest.approx(stated.objective, rel=1e-9)


def test_a_bound_that_follows_what_is_sought_has_one_multiplier_per_row():
    strong = moved(1.3, 9.0, STRENGTH)
    plan = ocp.prepare(replace(strong, objective=ocp.effort()), free=("strength",))
    held = plan.solve(strength=6.0).require()
    stated = ocp.solve(moved(1.3, 9.0, 6.0)).require()
    for name in stated.multipliers:
        one, other = stated.multipliers[name], held.multipliers[name]
        assert one.labels == other.labels and np.array_equal(one.s, other.s)
        assert np.allclose(one.values, other.values, atol=1e-4 * np.abs(one.values).max() + 1e-9)


def test_parameters_join_both_ends():
    """A cycle whose way is a parameter: rows that join the ends know it."""
    tree = arm(1.3, 9.0, 30.0)
    way = ocp.Parameter("way", 0.3, "rad", 0.0, 1.0)
    joined = ocp.path(
        "way", lambda start, end: end.q - start.q - way, lower=0.0, upper=0.0, when="joined"
    )
    problem = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=1.0,
        objective=ocp.effort(),
        constraints=(ocp.at_start(tree, q=(0.0, -1.0), qd=0.0), joined),
    )
    check_derivatives(transcribe_phase(problem, free=("way",)))
    solution = ocp.prepare(problem).solve(way=0.4).require()
    assert np.allclose(solution.q(1.0) - solution.q(0.0), 0.4, atol=1e-8)

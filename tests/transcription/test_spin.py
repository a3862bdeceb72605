"""Programs whose terms and constraints see the angular momentum: its own derivatives give them what
automatic ones do, for less."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from random_trees import random_tree

import ocp
from ocp.dynamics import derivatives_of, formulation_of
from ocp.problem.instant import NoRate
from ocp.transcription import transcribe_phase
from ocp.transcription.kernels.instant_symbols import symbols
from ocp.transcription.kernels.kernels import make_kernel

LASTS = ocp.Parameter("lasts", 0.8, "s", 0.1, 3.0)
BODY = random_tree(np.random.default_rng(6), 3, kinds=("prismatic", "revolute", "screw"))
CASES = {
    "given duration": ({"duration": 0.7}, ocp.Spline(nodes=2)),
    "free duration": ({}, ocp.Spline(nodes=2)),
    "duration that is sought": ({"duration": LASTS}, ocp.Spline(nodes=2)),
    "lifted": ({}, ocp.Spline(nodes=2, torques="variables")),
    "free knots": ({"motion": ocp.BSpline(points=5, knots="free")}, ocp.Spline(nodes=2)),
    "hermite-simpson": ({}, ocp.HermiteSimpson(intervals=2)),
}


def turning(**changes):
    """A body whose angular momentum is asked for alone, beside torques, in time, and at rest."""
    stated = {
        "tree": BODY,
        "motion": ocp.BSpline(points=5),
        "duration": (0.2, 2.0),
        "objective": ocp.squares("momentum", lambda at: at.angular_momentum / 3.0)
        + ocp.integral("turned", lambda at: at.angular_momentum[0] * at.tau[1] ** 2)
        + ocp.integral("rate", lambda at: at.rate(at.angular_momentum)[1] ** 2),
        "constraints": (
            ocp.path("turns", lambda at: at.angular_momentum * at.q[1], lower=-5.0, upper=9.0),
            ocp.path("power", lambda at: at.tau[0] + at.angular_momentum[2], upper=90.0),
        ),
    }
    return ocp.Problem(**stated | changes)


def derivatives(problem, settings, free):
    """Values, gradient, Jacobian and Hessian of a program at a point drawn at random."""
    transcribed = transcribe_phase(problem, settings, free=free)
    nlp, rng = transcribed.nlp, np.random.default_rng(5)
    x = np.clip(0.6 + 0.3 * rng.normal(size=len(nlp.lower)), 0.1, 1.5)
    multipliers = rng.normal(size=len(nlp.g_lower))
    f, gradient = nlp.gradient(x, [])
    g, jacobian = nlp.jacobian(x, [])
    hessian = nlp.hessian("exact")(x, [], 1.3, multipliers)
    return [np.array(ca.densify(part)) for part in (f, g, gradient, jacobian, hessian)]


@pytest.mark.parametrize("name", CASES)
def test_programs_have_the_derivatives_that_casadi_finds(name):
    changes, method = CASES[name]
    problem, free = turning(**changes), ["lasts"] * (name == "duration that is sought")
    own = derivatives(problem, ocp.Transcription(method=method), free)
    automatic = derivatives(problem, ocp.Transcription(method=method, derivatives="ad"), free)
    for one, other in zip(own, automatic):
        size = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11 * size)


def instant(tree, provided=True, finish=None):
    """The symbols of kernels of a tree."""
    formulation = formulation_of("newton_euler", tree)
    provider = derivatives_of(formulation, "auto", tree) if provided else None
    return symbols(replace(turning(), tree=tree, constraints=()), formulation, provider, finish)


def made(inputs):
    """The kernel of the squared momentum, and its second derivatives."""
    one = make_kernel(inputs, inputs.at.angular_momentum / 3.0, squares=True)
    return one, *one.hessian("exact")


def instructions(function):
    """Instructions of a function, with those of the ones that it calls."""
    codes = [k for k in range(function.n_instructions()) if _called(function, k) is not None]
    return function.n_instructions() + sum(instructions(_called(function, k)) for k in codes)


def _called(function, k):
    if not function.is_a("MXFunction") or function.instruction_id(k) != ca.OP_CALL:
        return None
    return function.instruction_MX(k).which_function()


@pytest.mark.parametrize("joints, share", [(8, 0.35), (14, 0.2)], ids=["scalar", "looped"])
def test_second_derivatives_take_a_fraction_of_what_automatic_ones_do(joints, share):
    """Of a chain that floats, in scalar graphs and in loops."""
    rng = np.random.default_rng(joints)
    tree = random_tree(rng, joints, kinds=("prismatic", "revolute"), branching=0.2)
    values, counts, y = [], [], rng.uniform(-1, 1, 1 + 3 * tree.dof)
    for provided in (True, False):
        one, hessian, rows, columns = made(instant(tree, provided))
        counts.append(instructions(hessian))
        whole = np.zeros((one.width, one.width))
        whole[rows, columns] = np.array(hessian(y, 0.3, 1.1)).ravel()
        values.append(whole)
    np.testing.assert_allclose(*values, rtol=0, atol=1e-12 * np.abs(values[1]).max())
    assert counts[0] < share * counts[1]


def test_kernels_without_the_momentum_are_as_they_were():
    """To the instruction."""
    inputs = instant(BODY)
    bare = replace(inputs, spin=None)
    for stack in (inputs.at.tau, inputs.at.position("point1")):
        sizes = [
            (one.jacobian.n_instructions(), one.hessian("exact")[0].n_instructions())
            for one in (make_kernel(each, stack) for each in (inputs, bare))
        ]
        assert sizes[0] == sizes[1]


def test_a_tree_with_parameters_has_its_momentum_written_out():
    heavy = ocp.Parameter("heavy", 1.3, "kg", 0.1, 5.0)
    links = (replace(BODY.links[0], mass=heavy), *BODY.links[1:])
    inputs = instant(replace(BODY, links=links))
    assert inputs.spin is None
    assert ca.depends_on(inputs.at.angular_momentum, heavy.expression)


def test_a_rate_that_contains_a_rate_is_refused_as_of_torques():
    at = instant(BODY).at
    with pytest.raises(NoRate, match="contains a rate already"):
        at.rate(at.rate(at.angular_momentum) + at.rate(at.qdd)[:3])

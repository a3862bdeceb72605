"""Wires are hauled with a tension that is chosen, within bounds, and only pull."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from element_arm import ARM

import ocp
from ocp.mechanics.elements.generalized_forces import State
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.unilateral_forces import stay_gaps, stay_rates, stay_torques

MASS, GRAVITY, RISE, TIME, MOST = 3.0, 9.81, 0.5, 1.0, 60.0
OVER = ("hook", (0, 3.0, 0), (1.0, 2.0, 0))


def crane(**hauled):
    """A load on a slide that nothing but a wire drives, over a pulley."""
    return ocp.Tree(
        links=(ocp.Link(mass=MASS, inertia=0.1 * np.eye(3)),),
        joints=(ocp.prismatic("load", axis=(0, 1, 0), actuated=False),),
        points=(ocp.Point(name="hook", link="load"),),
        gravity=(0, -GRAVITY, 0),
        stays=(ocp.wire("rope", OVER, **hauled),),
    )


def lifted(tree, **changes):
    """A load that is lifted from rest to rest."""
    stated = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=12),
        duration=TIME,
        objective=ocp.integral("pull", lambda at: at.stay_forces[0] ** 2),
        constraints=(ocp.at_start(tree, q=0.0, qd=0.0), ocp.at_end(tree, q=RISE, qd=0.0)),
    )
    return replace(stated, **changes)


@pytest.mark.parametrize("method", [None, ocp.Radau(intervals=4)])
def test_a_load_is_lifted_with_the_least_tension_of_its_closed_form(method, tmp_path):
    settings = ocp.Transcription(method=method) if method else ocp.Transcription()
    solution = ocp.solve(lifted(crane(tension=(0.0, 200.0))), settings).require()
    least = MASS**2 * (GRAVITY**2 * TIME + 12 * RISE**2 / TIME**3)
    assert solution.objective == pytest.approx(least, rel=1e-9)
    t = solution.times(5)
    slope = 6 * RISE / TIME**2 * (1 - 2 * t / TIME)
    np.testing.assert_allclose(solution.stay_forces(t)[0], MASS * (GRAVITY + slope), rtol=1e-6)
    certificate = ocp.verify(solution).require(1e-6)
    assert certificate.energy_error < 1e-12
    ocp.save(solution, tmp_path / "crane.npz")
    again = ocp.load(tmp_path / "crane.npz")
    assert not again.missing and again.problem.tree.stays == solution.problem.tree.stays


def test_tension_and_speed_of_hauling_keep_their_bounds():
    gain = MOST / MASS - GRAVITY
    best = np.sqrt(2 * RISE * (gain + GRAVITY) / (gain * GRAVITY))
    fine = ocp.Transcription(method=ocp.Radau(intervals=30, order=2))
    free = {"duration": (0.1, 3.0), "objective": ocp.duration()}
    quick = ocp.solve(lifted(crane(tension=(0.0, MOST)), **free), fine).require(coarse=True)
    assert quick.duration == pytest.approx(best, rel=1e-3)
    speed = 0.8
    slow = ocp.solve(lifted(crane(tension=(0.0, MOST), speed=speed), **free), fine).require(
        coarse=True
    )
    limited = RISE / speed + speed / (2 * gain) + speed / (2 * GRAVITY)
    assert slow.duration == pytest.approx(limited, rel=1e-3)
    hauled = ocp.verify(slow).violations["wires"]
    assert hauled.nodes < 1e-6 and np.abs(slow.qd(slow.times(31))).max() > speed - 1e-6
    rates = ocp.path("jerky", lambda at: at.rate(at.stay_forces), lower=-300.0, upper=300.0)
    tree = crane(tension=(0.0, MOST))
    stated = lifted(tree, **free)
    gentle = ocp.solve(replace(stated, constraints=(*stated.constraints, rates))).require()
    assert gentle.duration > best + 0.01


def test_tensions_work_by_the_slope_of_the_length():
    way = ((0.0, 3.0, 1.0), "thigh", "shank", "toe", (2.0, 0.0, 1.0))
    tree = replace(ARM, stays=(ocp.wire("rope", way, tension=(0.0, 9.0)),))
    q, qd = ca.SX.sym("q", tree.dof), ca.SX.sym("qd", tree.dof)
    given = stay_torques(tree, kinematics.motions(tree, q, qd), ca.SX(4.0))
    slope = State(tree=tree, q=q).length_slope(way)
    right = -4.0 * ca.vertcat(*[slope[row] for row in range(tree.dof)])
    gap = stay_gaps(tree, q)
    values = ca.vertcat(given - right, stay_rates(tree, q, qd) - ca.jtimes(gap, q, qd))
    place, rate = np.random.default_rng(2).uniform(-1, 1, (2, tree.dof))
    gaps = ca.Function("gap", [q, qd], [values])(place, rate)
    assert np.abs(np.array(gaps)).max() < 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ocp.wire("rope", OVER[:1], (0, 1)),
            "wire 'rope': path: expected two points or more",
        ),
        (
            lambda: ocp.wire("rope", OVER, (-1, 1)),
            "expected 0 <= least < most, since it only pulls",
        ),
        (lambda: ocp.wire("rope", OVER, 5.0), r"wire 'rope': tension: expected \(least, most\) N"),
        (lambda: ocp.wire("rope", OVER, (0, 1), speed=0), "wire 'rope': speed: expected a number"),
        (
            lambda: replace(ocp.wire("rope", OVER, (0, 1)), joint="load"),
            "wire 'rope': expected a path and a tension alone",
        ),
        (
            lambda: replace(
                crane(tension=(0, 1)), stays=(ocp.wire("rope", ("hook", "eye"), (0, 1)),)
            ),
            "wire 'rope': unknown point 'eye'",
        ),
        (
            lambda: replace(
                crane(tension=(0, 1)), stays=(ocp.wire("r", ("hook", "hook"), (0, 1)),)
            ),
            "are all on one link",
        ),
    ],
)
def test_bad_wires_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()

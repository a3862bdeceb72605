"""Constraints at open instants: a via point that is passed when it suits."""

import casadi as ca
import numpy as np
import pytest
from bipeds import crouch

import ocp
from ocp.models.arms.two_link import two_link
from ocp.transcription.parameters.free_instants import curves

ARM = two_link(gravity=9.81)
MESH = ocp.Transcription(method=ocp.HermiteSimpson(intervals=5))


def passing(
    when, motion=ocp.BSpline(points=12), function=lambda at: at.q, place=(0.8, 0.4), more=()
):
    """The arm from rest to rest in 0.9 s with its coordinates somewhere at the instant `when`."""
    via = ocp.path("via", function, lower=place, upper=place, when=when)
    ends = ocp.at_start(ARM, q=[0.0, 0.5], qd=0.0), ocp.at_end(ARM, q=[1.0, -0.5], qd=0.0)
    parts = {"tree": ARM, "motion": motion, "duration": 0.9, "objective": ocp.effort()}
    return ocp.Problem(constraints=(ends, via, more), **parts)


def test_the_curve_at_an_open_instant_is_the_splines():
    s = ca.SX.sym("s")
    rng = np.random.default_rng(3)
    for motion in (
        ocp.BSpline(points=9, degree=4),
        ocp.BSpline(points=7, inner=(0.2, 0.2, 0.7), degree=3),
        ocp.BSpline(points=8, degree=5, clamped=False),
    ):
        points = rng.normal(size=(2, motion.points))
        look = ca.Function("look", [s], curves(motion, ca.SX(ca.DM(points)), s))
        for place in (0.0, 0.13, 0.2, 0.5, 0.999, 1.0):
            for order, value in enumerate(look(place)):
                there = points @ motion.values([place], order)[0]
                assert np.allclose(np.array(value).ravel(), there, rtol=1e-10, atol=1e-10), (
                    motion,
                    place,
                    order,
                )


def test_a_given_instant_on_a_plan_is_one_that_was_stated():
    parts = {"function": lambda at: ca.vertcat(at.q[0], at.tau[1]), "place": (0.8, 4.0)}
    parts["motion"] = ocp.BSpline(points=8)
    plan = ocp.prepare(passing(ocp.Parameter("moment", 0.4), **parts))
    for s in (0.4, 0.55):
        planned, stated = plan.solve(moment=s), ocp.solve(passing((s, s), **parts))
        assert planned.objective == pytest.approx(stated.objective, rel=1e-9)
        assert planned.multipliers["via"].s == pytest.approx(s)
        assert np.allclose(
            planned.multipliers["via"].values, stated.multipliers["via"].values, rtol=1e-6
        )


def test_a_free_instant_is_found_where_a_search_outside_finds_it():
    plan = ocp.prepare(passing(ocp.Parameter("moment", 0.5, free=True)))
    best = plan.solve(plan.solve(moment=0.5)).require()
    s, step = best.parameters["moment"], 2e-3
    sides = [plan.solve(best, moment=s + shift).objective for shift in (-step, 0.0, step)]
    slope, bend = (sides[2] - sides[0]) / (2 * step), (sides[0] - 2 * sides[1] + sides[2]) / step**2
    assert sides[1] == pytest.approx(best.objective, rel=1e-10)
    assert bend > 0 and abs(slope / bend) < 1e-4 and 0.1 < s < 0.9
    assert np.allclose(best.q([s * best.duration])[:, 0], (0.8, 0.4), atol=1e-9)
    assert ocp.verify(best).require(1e-3)


def test_two_free_instants_keep_their_order():
    first, second = (
        ocp.Parameter(name, at, free=True) for name, at in (("one", 0.3), ("two", 0.5))
    )
    apart = ocp.path("apart", lambda at: second - first, lower=0.35, when="start")
    back = ocp.path("back", lambda at: at.q[0], lower=0.6, upper=0.6, when=second)
    best = ocp.solve(passing(first, more=(apart, back))).require()
    assert best.parameters["two"] - best.parameters["one"] > 0.35 - 1e-8


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: passing(3 * s), "when: expected an instant within 0 and 1, got"),
        (lambda s: ocp.solve(passing(s), MESH), "of splines on given knots only"),
        (
            lambda s: ocp.solve(passing(s, motion=ocp.BSpline(points=9, knots="free"))),
            "of splines on given",
        ),
        (
            lambda s: ocp.solve(
                crouch(constraints=(ocp.path("push", lambda at: at.tau, lower=0, when=s),))
            ),
            "forces that are variables are not known at an instant that is open",
        ),
        (lambda s: ocp.prepare(passing(s)).solve(moment=1.2), "an instant within 0 and 1, got 1.2"),
    ],
)
def test_instants_at_which_nothing_is_known_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build(ocp.Parameter("moment", 0.4))

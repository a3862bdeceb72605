"""Samples of an objective: raw measurements count at the instants at which they were taken."""

from dataclasses import replace

import numpy as np
import pytest

import ocp
from ocp import (
    BSpline,
    Phase,
    Point,
    Problem,
    Series,
    Transcription,
    Transition,
    angle_tracking,
    at_end,
    duration,
    inverse_kinematics,
    marker_tracking,
    solve,
    squares,
    verify,
)
from ocp.estimation.marker_residuals import point_places
from ocp.models.arms.two_link import two_link
from ocp.problem import samples
from ocp.problem.objectives import Term

T = np.linspace(2.0, 3.0, 41)
BASIS = BSpline(points=9, degree=5)


def arm():
    """Two links with three markers."""
    tree = two_link()
    first, last = (link.name or joint.name for link, joint in zip(tree.links, tree.joints))
    points = [
        Point(name=name, link=link, position=place)
        for name, link, place in (
            ("elbow", first, (-0.02, 0.05, 0.0)),
            ("wrist", last, (0.03, 0.0, 0.01)),
            ("hand", last, (0.1, 0.02, 0.0)),
        )
    ]
    return replace(tree, points=(*tree.points, *points))


def seen(noise=0.002):
    """Markers of a motion, with noise, and one of them missing for a while."""
    tree = arm()
    q = np.array([0.3 * np.sin(3 * T), 0.5 + 0.4 * np.cos(2 * T)])
    names = ("elbow", "wrist", "hand")
    places = point_places(tree, names, q)[0]
    places = places + noise * np.random.default_rng(1).standard_normal(places.shape)
    values = dict(zip(names, np.split(places, 3)))
    values["hand"] = np.where((T > 2.3) & (T < 2.5), np.nan, values["hand"])
    return Series(t=T, values=values, source="arm.trc")


def followed(**settings):
    objective = marker_tracking(arm(), seen(), size=0.002, offset=2.0, duration=1.0, **settings)
    return Problem(tree=arm(), motion=BASIS, duration=1.0, objective=objective)


def test_a_motion_that_follows_raw_markers_alone_is_that_of_inverse_kinematics():
    """Both are the least squares of the same samples, gaps and weights among them."""
    weights = {"elbow": 3.0}
    found = solve(followed(weights=weights)).require()
    fit = inverse_kinematics(arm(), seen(), motion=BASIS, weights=weights)
    assert found.q(T - 2.0) == pytest.approx(fit.q, abs=1e-6)


def test_the_sum_is_that_over_the_samples_and_the_certificate_agrees():
    found = solve(followed()).require()
    here = point_places(arm(), ("elbow", "wrist", "hand"), found.q(T - 2.0))[0]
    off = (here - np.vstack(list(seen().values.values()))) / 0.002
    assert found.objective == pytest.approx(np.nansum(off**2), rel=1e-9)
    certificate = verify(found)
    assert certificate.objective_error < 1e-9
    certificate.require(1e-2)


def test_samples_and_integrals_count_beside_each_other_by_every_method():
    aim = samples("aim", lambda at: at.q - 0.3, (0.25, 0.5, 1.0))
    whole = aim + 1e-4 * squares("slow", lambda at: at.qdd)
    for transcription in (Transcription(), Transcription(method="radau")):
        stated = Problem(tree=two_link(), motion=BASIS, duration=1.0, objective=whole)
        found = solve(stated, transcription).require()
        total = np.sum((found.q(np.array((0.25, 0.5, 1.0))) - 0.3) ** 2)
        t = np.linspace(0.0, 1.0, 4001)
        total += 1e-4 * np.trapezoid(np.sum(found.qdd(t) ** 2, axis=0), t)
        assert found.objective == pytest.approx(total, abs=1e-7)


def test_a_motion_of_free_duration_has_its_samples_at_shares():
    aim = samples("aim", lambda at: at.q[0] - 1.0, (0.5,)) + 1e-3 * duration()
    stated = Problem(
        tree=two_link(),
        motion=BASIS,
        duration=(0.5, 2.0),
        objective=aim,
        constraints=at_end(two_link(), q=(1.0, 0.0)),
    )
    found = solve(stated).require()
    assert found.q(np.array((found.duration / 2,)))[0] == pytest.approx(1.0, abs=1e-3)


def test_a_saved_motion_keeps_its_samples(tmp_path):
    found = solve(followed()).require()
    ocp.save(found, tmp_path / "arm.npz")
    again = ocp.load(tmp_path / "arm.npz")
    ((_, term),) = again.problem.objective.terms
    assert term.kind == "samples" and len(term.instants) == len(T)
    assert verify(again).objective_error < 1e-9


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: samples("a", lambda at: at.q, ()), "instants: of samples"),
        (lambda: samples("a", lambda at: at.q, (0.5, 1.2)), "expected shares from 0 to 1"),
        (
            lambda: Term(name="a", function=abs, kind="squares", instants=(0.5,)),
            "instants: of samples, and of these alone",
        ),
        (
            lambda: marker_tracking(arm(), seen(), offset=2.0, duration=0.0),
            "marker_tracking: duration",
        ),
        (
            lambda: angle_tracking(
                two_link(),
                Series(t=T, values={"elbow": np.zeros((1, len(T)))}, source="arm.mot"),
                offset=ocp.Parameter("begin", 2.0, "s"),
                duration=0.5,
            ),
            "offset: expected a number beside a duration",
        ),
    ],
)
def test_instants_that_are_none_are_told_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_samples_of_a_whole_of_phases_are_refused():
    with pytest.raises(ValueError, match="'a': samples are at shares of one phase"):
        Problem(
            tree=two_link(),
            objective=samples("a", lambda at: at.q, (0.5,)),
            phases=[Phase(name=name, motion=BASIS, duration=1.0) for name in ("one", "two")],
            links=[Transition()],
        )

"""Schedules that motions found, stated in phases."""

import numpy as np
import pytest
from refusals import refused
from touching_bodies import falling, leg, rigid_fall

import ocp
from ocp.models.walkers.five_link import five_link
from ocp.problem import mirror_symmetry
from ocp.solving.starts.contact_schedule import Stretch, _runs, _stretches
from ocp.solving.starts.phases_from_contacts import _images, _links, common_friction

UP = (0.0, 1.0, 0.0)
FEET = ("left foot", "right foot")
LEGS = (0, 1, 2, 5, 6, 3, 4)


@pytest.fixture(scope="module")
def fallen():
    mesh = ocp.Transcription(method=ocp.Radau(intervals=8, order=2))
    guess = ocp.Guess(q=np.array([[0.0] * 3, [0.1, 0.0, 0.0], [0.0] * 3, [0.4, 0.4, 0.3]]))
    return ocp.tighten(rigid_fall(), mesh, guess=guess, loose=0.1).require(coarse=True)


def test_a_fall_is_flight_and_then_stands(fallen):
    stretches = ocp.schedule_found(fallen)
    assert [each.standing for each in stretches] == [(), ("sole",)]
    assert [each.name for each in stretches] == ["flight", "sole"]
    landing = np.sqrt(2 * 0.1 / 9.81) / 0.4
    assert stretches[0].end == stretches[1].start == pytest.approx(landing, abs=0.2)


@pytest.fixture(scope="module")
def stated(fallen):
    problem, guess = ocp.phases_found(fallen)
    mesh = ocp.Transcription(method=ocp.Radau(intervals=6, order=4))
    return ocp.solve(problem, mesh, guess=guess).require()


def test_the_ground_of_each_phase_comes_back_from_a_file(stated, tmp_path):
    ocp.save(stated, tmp_path / "fall.npz")
    again, t = ocp.load(tmp_path / "fall.npz"), np.array([0.05, 0.39])
    name = "force on sole"
    np.testing.assert_allclose(again.output(name, t), stated.output(name, t), atol=1e-9)


def test_what_was_found_strikes_as_a_body_that_falls_does(fallen, stated):
    solution = stated
    assert solution.objective < fallen.objective
    impulse = solution.impulses["flight to sole"]["sole"][1]
    rate = solution.phases["flight"].qd(solution.phases["flight"].duration)
    assert impulse == pytest.approx(-0.5 * rate[1], abs=1e-6)  # of the foot: the leg slides freely
    assert solution.duration == pytest.approx(0.4)
    certificate = ocp.verify(solution)
    assert certificate.impacts[0].balance < 1e-9
    assert certificate.violations["sole: standing.sole"].dense < 1e-6
    t = np.array([0.05, 0.39])
    pushes = solution.output("force on sole", t)[1]
    assert pushes[0] == 0 < pushes[1]


def test_what_lasts_less_than_an_interval_is_no_stretch():
    s = np.linspace(0.05, 0.95, 10)
    stands = np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1], dtype=bool)
    runs = _runs(stands, s, 0.15)
    assert [run[0] for run in runs] == [False, True]
    assert runs[1][1:] == (pytest.approx(0.5), 1.0)


def test_contacts_that_change_within_an_interval_change_at_once():
    runs = {
        "left": [(True, 0.0, 0.48), (False, 0.48, 1.0)],
        "right": [(False, 0.0, 0.52), (True, 0.52, 0.8), (False, 0.8, 1.0)],
    }
    stretches = list(_stretches(runs, 0.1))
    assert [each.standing for each in stretches] == [("left",), ("right",), ()]
    assert stretches[1].start == pytest.approx(0.5)


def test_phases_that_come_again_are_numbered():
    runs = {"foot": [(False, 0.0, 0.3), (True, 0.3, 0.6), (False, 0.6, 1.0)]}
    names = [each.name for each in _stretches(runs, 0.1)]
    assert names == ["flight", "foot", "flight, 2"]


def walking(step=0.4):
    tree = five_link()
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=8),
        duration=1.0,
        objective=ocp.effort(),
        loads=ocp.contacts(tree, FEET, model=ocp.Complementarity(), normal=UP),
        symmetry=mirror_symmetry(tree, LEGS, (1.0,) * 7, shift={"x": step}),
    )


def test_the_image_of_a_foot_is_the_other_one_a_step_on():
    images = _images(walking())
    assert {end: image.start for end, image in images.items()} == dict(zip(FEET, FEET[::-1]))
    assert images["left foot"].way == pytest.approx([0.4, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    "beginning, ending, striking",
    [
        (("right foot",), ("left foot",), ()),
        (("left foot",), ("left foot",), ("right foot",)),
        (FEET, ("left foot",), ("right foot", "left foot")),
    ],
)
def test_what_lands_where_a_motion_leads_back_strikes_with_what_stands(beginning, ending, striking):
    problem = walking()
    stretches = [
        Stretch(name="first", start=0.0, end=0.5, standing=beginning),
        Stretch(name="last", start=0.5, end=1.0, standing=ending),
    ]
    links, symmetry = _links(problem, stretches, _images(problem))
    assert (symmetry is None) == bool(striking)
    assert tuple(links[-1].points if striking else ()) == striking


def test_ground_that_gives_way_has_no_schedule():
    soft = ocp.solve(falling(), ocp.Transcription(method=ocp.Radau(intervals=4)))
    with refused("schedule found: the motion has no complementary contacts"):
        ocp.schedule_found(soft)


def test_contacts_of_two_frictions_are_refused(fallen):
    every = tuple(
        ocp.contacts(
            leg(), "sole", model=ocp.Complementarity(friction=mu), normal=UP, surface=name
        )[0]
        for mu, name in ((0.5, "ice"), (0.8, "rock"))
    )
    with refused("phases found: expected one coefficient of friction, got sole on ice 0.5"):
        common_friction(every)

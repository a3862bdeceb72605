"""Robots whose contacts nobody schedules: what they find, and what momentum says of it."""

import numpy as np
import pytest
from touching_bodies import skidding

import ocp
from ocp.problems.hopping import unscheduled_ground, unscheduled_hop, unscheduled_walk
from ocp.problems.hopping.unscheduled_ground import GROUNDS, found, lines, report, solved_from

UP = (0.0, 1.0, 0.0)


def jump(contact):
    """A mass over a foot jumps from its rest on the ground to 0.1 m above it in 0.5 s."""
    tree = ocp.Tree(
        links=(ocp.Link(mass=0.5), ocp.Link(mass=2.0)),
        joints=(
            ocp.prismatic("foot", axis=UP, actuated=False),
            ocp.prismatic("leg", "foot", axis=UP),
        ),
        points=(ocp.Point(name="sole", link="foot"),),
        gravity=(0.0, -9.81, 0.0),
    )
    rest = {"compliant": 0.026, "complementarity": 0.0}[contact]  # sunk by 4 mm
    touching = ocp.contacts(tree, "sole", model=GROUNDS[contact], normal=UP)
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=12),
        duration=0.5,
        objective=ocp.effort(),
        loads=touching,
        outputs=ocp.contact_outputs(touching),
        constraints=(
            ocp.at_start(tree, q=(rest, 0.4), qd=0.0),
            ocp.at_end(tree, q=(0.1, 0.4), qd={"leg": 0.0}),
        ),
    )


@pytest.mark.parametrize("contact", GROUNDS)
def test_a_jump_leaves_the_ground_when_it_suits(contact):
    mesh = ocp.Transcription(method=ocp.Radau(intervals=10))
    solution = found(jump(contact), mesh, guess=ocp.Guess(q=[[0.02, 0.02, 0.1], [0.4, 0.3, 0.4]]))
    t = solution.require(coarse=True).nodes * solution.duration
    push, height = solution.output("force on sole", t)[1], solution.q(t)[0]
    stands = push > 5.0
    assert 0.2 < stands.mean() < 0.9
    assert push[height > 0.05].max() < 0.3  # of 24.5 N
    momentum = np.array([2.5, 2.0]) @ (solution.qd(0.5) - solution.qd(0.0))
    given = solution.problem.motion.weights @ push * 0.5
    assert momentum == pytest.approx(given - 2.5 * 9.81 * 0.5, abs=1e-5)
    assert ocp.verify(solution).deviations.defect < 3e-3


def test_a_biped_walks_on_ground_that_gives_way():
    mesh = ocp.Transcription(method=ocp.Radau(intervals=12))
    statement = unscheduled_walk.problem(step=0.3)
    solution = unscheduled_walk.walk(statement, mesh, certified=False).require(coarse=True)
    data = report(solution)
    left, right = (data["contacts"]["feet"][foot] for foot in unscheduled_walk.FEET)
    assert left["share"] < 0.6 and right["share"] < 0.7  # one swings, the other stands
    assert right["spans"][0][0] == 0 < left["spans"][0][0] < right["spans"][0][1]
    assert left["spans"][-1][1] == pytest.approx(0.6)
    assert data["contacts"]["mean"] == pytest.approx(1, abs=1e-3)
    assert len(lines(data)) == 3
    lifted = solution.trace(lambda at: at.position("left foot"), solution.times())[1]
    assert lifted.max() > 0.04


def test_the_hop_is_the_same_on_any_ground_but_for_the_ground():
    soft, hard = (unscheduled_hop.problem(contact=contact) for contact in GROUNDS)
    assert [each.name for each in soft.requirements] == [each.name for each in hard.requirements]
    assert unscheduled_hop.crouch(soft).q.shape == (5, 3)


def test_what_rigid_ground_finds_is_stated_in_phases_and_certified():
    start = ocp.Guess(q=[[0.0, 0.0, 0.1], [0.4, 0.3, 0.4]])
    mesh = ocp.Transcription(method=ocp.Radau(intervals=8, order=2))
    rigid = solved_from(lambda statement: start)(jump("complementarity"), mesh, refine=1e-3)
    ocp.verify(rigid.require()).require(1e-3)
    assert list(rigid.phases) == ["sole", "flight"]
    seen = report(rigid)["contacts"]["feet"]["sole"]
    assert seen["spans"] == [[0.0, pytest.approx(rigid.phases["sole"].duration, abs=1e-3)]]
    first = solved_from(lambda statement: start)(jump("complementarity"), mesh, certified=False)
    assert not first.phases  # whose leak gives a little
    assert rigid.objective == pytest.approx(first.objective, rel=0.05)


def test_a_spline_skids_from_the_answer_on_a_mesh(monkeypatch):
    """From a guess of one's own friction sets it ringing, and it does not end (200 iterations)."""
    monkeypatch.setattr(
        unscheduled_ground, "MESH", ocp.Transcription(method=ocp.Radau(intervals=8, order=4))
    )
    start = ocp.Guess(q=[[0.0, 0.2, 0.3], [0.1, 0.03, 0.03], [0.0] * 3, [0.4, 0.4, 0.3]])
    skid = found(skidding(points=24), ocp.Transcription(), guess=start).require(coarse=True)
    assert skid.statistics["iterations"] < 50
    assert not skid.problem.motion.collocated

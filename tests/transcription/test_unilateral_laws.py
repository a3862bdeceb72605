"""Stays in the optimiser: closed forms of what they bear, schedules and complementarity, replays,
files, and what is refused."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from refusals import refused

import ocp
from ocp.dynamics import FORMULATIONS
from ocp.models.mechanisms.hoist import hoist
from ocp.plots import stick
from ocp.problems.mechanisms.four_bar_effort import problem as turn
from ocp.problems.mechanisms.hoist import GRAVITY, LOAD, best, closed_form, problem
from ocp.transcription.transcribe_phase import transcribe_phase

ROD = ocp.Link(mass=2.0, com=(0.5, 0, 0), inertia=np.diag([0.0, 0.05, 0.05]))
LEAN = -0.6  # rad: where the stop is
WEIGHT = 2.0 * 9.81 * 0.5 * np.cos(LEAN)  # N m: of the rod about its hinge there


def leaning(start=LEAN, leak=1e-6, objective=None, **stays):
    """A rod that is to come to rest on a stop."""
    rest = stays.get("stays", (ocp.stop("rest", "hinge", lower=LEAN, leak=leak),))
    tip = ocp.Point(name="tip", link="hinge", position=(1, 0, 0))
    tree = ocp.Tree(
        links=(ROD,),
        joints=(ocp.revolute("hinge"),),
        points=(tip,),
        gravity=(0, -9.81, 0),
        stays=rest,
    )
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=14),
        duration=1.0,
        objective=objective or ocp.effort(tree),
        constraints=(ocp.at_start(tree, q=start, qd=0.0), ocp.at_end(tree, q=LEAN, qd=0.0)),
    )


@cache
def lifted(method="spline", taut=0.7):
    """The hoist's optimum, and its certificate."""
    chosen = {"spline": ocp.Spline(), "radau": ocp.Radau(intervals=10)}[method]
    solution = ocp.solve(problem(taut=taut), ocp.Transcription(method=chosen)).require()
    return solution, ocp.verify(solution)


def test_a_pendulum_on_a_stop_shares_its_weight_with_the_drive(share=0.4):
    """The drive takes what is asked of it, the stop the rest of m g l cos q."""
    near = ocp.squares("share", lambda at: at.tau - share * WEIGHT)
    solution = ocp.solve(leaning(objective=near)).require()
    t = solution.times(7)
    np.testing.assert_allclose(solution.q(t)[0], LEAN, atol=1e-6)
    np.testing.assert_allclose(solution.tau(t)[0], share * WEIGHT, atol=1e-4)
    np.testing.assert_allclose(solution.stay_forces(t)[0], (1 - share) * WEIGHT, atol=1e-4)
    ocp.verify(solution).require(1e-5)


def test_what_swings_on_a_cable_pulls_at_it_as_a_pendulum_does():
    """Tension m g cos + m v^2 / L of a mass that falls from the side, on a cable to the ground."""
    tree = ocp.Tree(
        links=(ocp.Link(), ocp.Link(mass=LOAD)),
        joints=(
            ocp.prismatic("across", axis=(1, 0, 0), actuated=False),
            ocp.prismatic("up", "across", axis=(0, 1, 0), actuated=False),
        ),
        points=(ocp.Point(name="eye", link="up"),),
        gravity=(0, -GRAVITY, 0),
        stays=(ocp.cable("rope", (0.0, 2.0, 0.0), "eye", 1.0, closed=((0, 1),)),),
    )
    start = ocp.at_start(tree, q={"across": 0.6}, qd={"across": 0.0})
    below = ocp.path("below", lambda at: at.q[1], upper=1.5)
    statement = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=14),
        duration=0.8,
        objective=ocp.Objective(terms=()),
        constraints=(start, below),
    )
    solution = ocp.solve(
        statement, ocp.Transcription(method=ocp.Radau(intervals=12, order=4))
    ).require()
    t = solution.times(9)
    (x, y), v = solution.q(t), solution.qd(t)
    np.testing.assert_allclose(np.hypot(x, y - 2.0), 1.0, atol=1e-8)
    tension = LOAD * (GRAVITY * (2.0 - y) + (v**2).sum(axis=0))
    np.testing.assert_allclose(solution.stay_forces(t)[0], tension, rtol=1e-5)
    energy = GRAVITY * y + (v**2).sum(axis=0) / 2
    np.testing.assert_allclose(energy, energy[0], atol=1e-6)  # the cable does no work
    assert ocp.verify(solution).drift < 1e-6


@pytest.mark.parametrize(("method", "taut"), [("spline", 0.7), ("radau", 0.7), ("spline", best())])
def test_a_load_is_lifted_with_the_effort_of_the_closed_form(method, taut):
    solution, certificate = lifted(method, taut)
    assert solution.objective == pytest.approx(closed_form(taut), rel=2e-7)
    assert certificate.require(1e-4).kkt < 1e-6  # no row says what another one does
    before, after = solution.stay_forces([0.5 * taut * 2.0, 2.0])[:, 0], solution.stay_forces(1.95)
    assert before == pytest.approx([0.0, LOAD * GRAVITY], abs=1e-6)  # the floor bears it
    fall = solution.qdd(1.95)[1]
    assert after == pytest.approx([LOAD * (GRAVITY + fall), 0.0], rel=1e-6)  # the cable does


def test_forces_of_stays_run_as_accelerations_do_on_splines_of_any_degree(degree=5):
    """Run otherwise they would part from a passive load between the instants of its law."""
    statement, taut = problem(), 0.7
    inner = sorted((*statement.motion.inner, *[taut] * (degree - 3)))
    motion = ocp.BSpline(points=len(inner) + degree + 1, degree=degree, inner=tuple(inner))
    solution = ocp.solve(replace(statement, motion=motion)).require()
    assert solution.objective == pytest.approx(closed_form(taut), rel=1e-8)
    ocp.verify(solution).require(1e-5)


def test_the_best_instant_to_go_taut_is_where_the_effort_is_least():
    taut = best()
    costs = [closed_form(taut + way) for way in (-1e-3, 0.0, 1e-3)]
    assert costs[1] < min(costs[0], costs[2]) and taut == pytest.approx(0.711294, abs=1e-6)


def test_every_formulation_takes_the_forces_of_stays():
    solution, _ = lifted()
    t = solution.times(5)
    for name, formulation in FORMULATIONS.items():
        if name != "book":
            other = replace(solution, transcription=ocp.Transcription(dynamics=formulation))
            np.testing.assert_allclose(other.tau(t), solution.tau(t), atol=1e-9)


def test_joints_pass_what_stays_leave_to_them():
    """The rail of the load passes nothing along it, that of the hand its drive."""
    solution, _ = lifted()
    t = np.array([0.6, 1.8])
    _, force = solution.reactions(t)
    np.testing.assert_allclose(force[1, 0], solution.tau(t)[0], atol=1e-9)
    np.testing.assert_allclose(force[1, 1], 0.0, atol=1e-6)


def test_a_stop_of_its_own_accord_is_leaned_on():
    """Stays that the motion closes: less effort than without a stop, and no force but on it."""
    statement = leaning(start=-0.2, leak=1e-3)
    solution = ocp.tighten(statement, loose=1.0).require()
    assert len(solution.statistics["tightening"]) == 4
    t = solution.times(41)
    products = solution.trace(lambda at: at.stay_gaps * at.stay_forces, t)
    forces = solution.stay_forces(t)[0]
    assert products.max() < 2e-3 and forces.min() > -1e-6
    assert forces[-1] == pytest.approx(WEIGHT, rel=0.05) and forces[0] < 0.01
    assert solution.objective < 0.9 * ocp.solve(leaning(start=-0.2, stays=())).objective


def test_a_file_keeps_stays(tmp_path):
    solution, certificate = lifted()
    ocp.save(solution, tmp_path / "lift.npz")
    again = ocp.load(tmp_path / "lift.npz", problem())
    assert np.array_equal(again.stay_forces(0.5), solution.stay_forces(0.5))
    assert again.output("slack (m)", 0.5) == pytest.approx(solution.output("slack (m)", 0.5))
    assert "stay" in ocp.summary(again) and repr(certificate)
    with pytest.raises(ValueError, match="stay 'cable'"):
        ocp.load(tmp_path / "lift.npz", problem(taut=0.6))


def test_a_tip_is_led_by_a_taut_cable():
    """Two links whose tip hangs on a cable to the ground: it lies on the circle between the nodes
    too, and the pull does no work."""
    link = ocp.Link(mass=0.5, com=(-0.2, 0, 0), inertia=np.diag([0, 0.1, 0.1]))
    arm = ocp.Tree(
        links=(link, link),
        joints=(ocp.dh("shoulder", a=0.4), ocp.dh("elbow", "shoulder", a=0.4)),
        points=(ocp.Point(name="tip", link="elbow"),),
        gravity=(0, -GRAVITY, 0),
        stays=(ocp.cable("rope", (0.0, 0.9, 0.0), "tip", 0.7, closed=((0, 1),)),),
    )
    ends = [_reached(0.7 * np.sin(angle), 0.9 - 0.7 * np.cos(angle)) for angle in (0.9, 0.1)]
    statement = ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=30, degree=5),
        duration=1.0,
        objective=ocp.effort(arm),
        constraints=(ocp.at_start(arm, q=ends[0], qd=0.0), ocp.at_end(arm, q=ends[1], qd=0.0)),
    )
    solution = ocp.solve(statement).require()
    certificate = ocp.verify(solution).require(2e-3)  # its pull grazes zero between nodes, in N
    assert certificate.drift < 1e-6
    assert certificate.objective_error < 1e-5
    assert certificate.energy_error < 1e-9
    t = solution.times(101)
    x, y, _ = solution.trace(lambda at: at.position("tip"), t)
    assert np.abs(np.hypot(x, y - 0.9) - 0.7).max() < 1e-5
    assert solution.stay_forces(0.5)[0] > 3.0
    assert len(stick(solution, t).bars["stay"]) == 1


def _reached(x, y):
    """Angles of the two links, of 0.4 m, whose tip is there."""
    elbow = -np.arccos((x**2 + y**2 - 0.32) / 0.32)
    return np.arctan2(y, x) - np.arctan2(0.4 * np.sin(elbow), 0.4 + 0.4 * np.cos(elbow)), elbow


def test_closed_loops_take_stays():
    statement = turn(points=20)
    tree = replace(statement.tree, stays=(ocp.stop("end", "crank", upper=7.0),))
    transcribed = transcribe_phase(replace(statement, tree=tree))
    names = {row.name for row in transcribed.rows}
    assert {"loops", "stays", "touching", "dynamics"} <= names
    assert len(transcribed.guess) == len(transcribed.nlp.lower)


def test_an_answer_lends_its_forces_to_the_next():
    solution, _ = lifted("radau")
    again = ocp.solve(problem(), solution.transcription, guess=solution).require()
    assert again.statistics["iterations"] <= 5


def test_an_end_at_which_a_closed_stay_gapes_is_refused():
    statement = problem()
    taut = hoist(taut=((0.0, 1.0),), resting=())
    with refused(
        "stay cable: what the constraints prescribe at the start leaves a gap of 0.255 m where it "
        "is to be closed"
    ):
        ocp.solve(replace(statement, tree=taut))


def test_an_end_beyond_the_bound_of_a_stay_is_refused():
    """Also one whose distance is no linear function of the unknowns, and on a mesh without a node
    at its start."""
    short = ocp.cable("rope", (0.0, 2.0, 0.0), "tip", 2.1)
    statement = leaning(stays=(short,))
    for method in (ocp.Spline(), ocp.Radau(intervals=4)):
        with refused(
            "stay rope: what the constraints prescribe at the start leaves a gap of -0.6782 m; "
            "expected at least 0"
        ):
            ocp.solve(statement, ocp.Transcription(method=method))


def test_what_does_not_know_stays_is_refused():
    with refused("torques 'explicit': forces of stays cable, floor are unknowns"):
        ocp.solve(problem(), ocp.Transcription(method=ocp.Spline(torques="explicit")))
    with refused("method 'integrated': forces of stays cable, floor are unknowns"):
        ocp.solve(problem(), ocp.Transcription(method="integrated"))
    with refused("tighten: the tree has no stays that the motion is to close"):
        ocp.tighten(problem())
    with refused("taut: expected a part of the motion"):
        problem(taut=1.0)
    with refused("points: expected at least 6"):
        problem(points=5)
    assert hoist().stays[0].closed is None

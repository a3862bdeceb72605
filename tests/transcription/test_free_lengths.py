"""Intervals of free lengths: the program's values are those on given ones, its derivatives exact,
and bang-bang torques switch where they should."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import crouch
from limited_arm import arm_of_all_rows
from whole_graphs import assert_exact

import ocp
from ocp.motion.free_knots import with_given_knots, with_widths
from ocp.problem.constraint import Span
from ocp.problems.arms.two_link_arcs import FASTEST
from ocp.problems.arms.two_link_time import problem as least_time
from ocp.solving.starts.warm_start import start_phase
from ocp.transcription import transcribe_phase
from ocp.transcription.transcription_methods import on_its_mesh
from ocp.transcription.variables.layout import join_variables

ARCS = ocp.Transcription(
    method=ocp.Radau(intervals=4, order=6, lengths="free", controls="constant")
)


def arm_problem(**changes):
    """Two links with every kind of row and term that free lengths take."""
    return arm_of_all_rows(**{"motion": ocp.BSpline(points=7)} | changes)


CASES = {
    "free torques": (arm_problem(), ocp.Radau(intervals=3, order=3, lengths="free")),
    "constant torques": (
        arm_problem(),
        ocp.Radau(intervals=3, order=4, lengths="free", controls="constant"),
    ),
    "given duration": (arm_problem(duration=0.7), ocp.Radau(intervals=2, order=3, lengths="free")),
    "explicit": (arm_problem(), ocp.Radau(intervals=2, order=3, lengths="free", form="explicit")),
}


def case(name, seed=3):
    """A transcribed problem and variables drawn at random."""
    problem, method = CASES[name]
    transcribed = transcribe_phase(problem, ocp.Transcription(method=method))
    rng = np.random.default_rng(seed)
    motion = transcribed.problem.motion
    layout = transcribed.layout
    points = rng.uniform(-1, 1, (problem.tree.dof, motion.points))
    mesh = with_widths(motion, rng.uniform(0.3, 2.0, motion.segments))
    lifted = rng.uniform(-3, 3, (len(layout.place), motion.intervals))
    lifted = np.repeat(lifted, motion.order, axis=1)
    return transcribed, join_variables(layout, points, problem.duration[0] + 0.7, lifted, mesh)


@pytest.mark.parametrize("name", CASES)
def test_assembled_derivatives_equal_those_of_the_whole_graph(name):
    transcribed, x = case(name)
    assert_exact(transcribed.nlp, x)


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_same_intervals_given(name):
    transcribed, x = case(name)
    plan, same = transcribed.on_given_knots(x)
    assert plan.problem.motion.inner == moved_of(transcribed, x).inner
    assert not plan.problem.motion.moving
    value, expected = transcribed.nlp.objective(x), plan.nlp.objective(same)
    assert abs(float(value - expected)) <= 1e-12 * abs(float(expected))
    rows = np.array(transcribed.nlp.constraints(x)).ravel()
    wanted = np.array(plan.nlp.constraints(same)).ravel()
    for one in np.sort(np.abs(wanted)):
        assert np.abs(np.abs(rows) - one).min() <= 1e-9 * max(1.0, one)


def moved_of(transcribed, x):
    """The mesh of variables x, its lengths given."""
    return with_given_knots(with_widths(transcribed.problem.motion, x[transcribed.layout.widths]))


@pytest.fixture(scope="module")
def fastest():
    return ocp.solve(least_time(), ARCS).require()


def test_four_intervals_find_the_switches_of_the_least_time(fastest):
    assert abs(fastest.duration - FASTEST) < 1e-6
    assert ocp.verify(fastest).require(1e-3)
    motion = fastest.problem.motion
    middles = (motion.breaks[:-1] + motion.breaks[1:]) / 2
    torques = fastest.tau(middles * fastest.duration)
    assert np.allclose(np.abs(torques), 10.0, atol=1e-5)
    assert np.sign(torques).T.astype(int).tolist() == [[1, -1], [1, 1], [-1, 1], [-1, -1]]


def test_torques_of_an_interval_are_one_number(fastest):
    whole = transcribe_phase(
        least_time(), replace(ARCS, method=replace(ARCS.method, controls="free"))
    )
    held = transcribe_phase(least_time(), ARCS)
    assert whole.layout.size - held.layout.size == 2 * 4 * (6 - 1)
    for interval in np.split(fastest.lifted, 4, axis=1):
        assert np.ptp(interval, axis=1).max() == 0.0


def test_a_file_keeps_the_lengths_that_were_found(fastest, tmp_path):
    ocp.save(fastest, tmp_path / "arm.npz")
    again = ocp.load(tmp_path / "arm.npz")
    assert again.problem.motion == fastest.problem.motion
    assert again.transcription.method == ARCS.method
    assert ocp.verify(again).kkt < 1e-6
    assert "intervals of free lengths" in ocp.summary(
        fastest
    ) and "torques constant" in ocp.summary(fastest)


def test_a_solve_begins_at_the_lengths_of_a_solution(fastest):
    begun = transcribe_phase(least_time(), ARCS)
    x = start_phase(begun, fastest).x[begun.layout.widths]
    assert np.allclose(x, fastest.problem.motion.widths)


def test_refined_intervals_stay_free():
    solution = ocp.solve(least_time(), ARCS, refine=1e-3).require()
    method = solution.transcription.method
    assert (method.lengths, method.controls) == ("free", "constant")
    assert abs(solution.duration - FASTEST) < 1e-6
    assert abs(solution.duration - FASTEST) < 1e-6


def test_a_mesh_of_a_statement_keeps_free_lengths_and_constant_torques():
    mesh = replace(ARCS.method.mesh(), inner=(0.1, 0.5, 0.6))
    assert on_its_mesh(ARCS.method, mesh) == replace(ARCS.method, inner=(0.1, 0.5, 0.6))


def refused(problem, method, words):
    with pytest.raises(ValueError, match=words):
        transcribe_phase(problem, ocp.Transcription(method=method))


def test_what_cannot_move_is_refused_by_name():
    method = ARCS.method
    bent = ocp.path("bent", lambda at: at.q, lower=-1.0, upper=1.0, when=Span(start=0.2, end=0.4))
    refused(replace(least_time(), constraints=(bent,)), method, "'bent': its span of the motion")
    jerky = ocp.path("jerky", lambda at: at.rate(at.qdd), lower=-1.0, upper=1.0)
    refused(replace(least_time(), constraints=(jerky,)), method, "'jerky': .* free lengths")
    refused(crouch(), method, "free knots would leave the contact schedule")
    with pytest.raises(ValueError, match="lengths: expected one of given, free, got 'long'"):
        ocp.Radau(lengths="long")
    with pytest.raises(ValueError, match="shortest: expected 1e-05 to 0.25"):
        ocp.Radau(intervals=4, lengths="free", shortest=0.3)
    with pytest.raises(ValueError, match="shortest: expected a number"):
        ocp.Radau(shortest="short")
    with pytest.raises(ValueError, match="controls: expected one of free, constant"):
        ocp.Radau(controls="bang")
    with pytest.raises(TypeError):
        ocp.HermiteSimpson(lengths="free")

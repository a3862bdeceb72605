"""Solving of motions in phases: reasons of failures, finer bases, starts, studies, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from phased_motions import ARM, ENDS, SWEPT, fallen, moved

import ocp
from ocp.certificate import contact_quality, replay
from ocp.diagnosis.elastic_weights import is_stated
from ocp.estimation import fit
from ocp.motion import Part
from ocp.plots import scene, spy
from ocp.solution import dense_instants
from ocp.solving.starts.random_starts import random_guess, random_unknowns
from ocp.transcription.transcribe import transcribe


@pytest.fixture(scope="module")
def smooth():
    return ocp.solve(moved())


def test_an_impulse_that_friction_does_not_give_must_give_way():
    with pytest.raises(ocp.NotSolved) as error:
        fallen(friction=0.1)
    text = str(error.value)
    assert "fall to rise: impulse.end (friction 1): must give way by" in text
    assert "at t = 0.3 s" in text and "or instead fall: at_start.q (turn)" in text
    assert text.count("Infeasible_Problem_Detected: converged") == 1


def test_laws_of_an_impact_are_no_limits_that_may_give_way():
    rows = transcribe(fallen(friction=10.0).problem).rows
    stated = {placed.name for placed in rows if is_stated(placed.constraint, 0)}
    assert stated == {
        *("fall: at_start.q", "fall: at_start.qd", "fall to rise: q", "fall to rise: impulse.end")
    }


def test_an_impulse_without_a_bound_of_friction_only_pushes():
    push = fallen(friction=None).multipliers["fall to rise: impulse.end"]
    assert push.labels == ("push",)
    rough = transcribe(fallen(friction=1.0).problem).link_rows[-1]
    assert rough.labels == ("push", "friction 1", "friction 2")


def test_durations_at_their_bounds_are_told_by_phase():
    phases = tuple(replace(each, duration=(0.05, 0.1)) for each in moved().phases)
    weak = ocp.path("weak", lambda at: at.tau, lower=-10.0, upper=10.0, units="N m")
    hurried = replace(moved(), phases=phases, constraints=(*ENDS, weak))
    text = "\n".join(ocp.solve(hurried, attempts=ocp.PLAIN).explanation)
    assert "part 1 to part 2: q (shoulder): violated by" in text
    for name in ("part 1", "part 2"):
        assert f"{name}: duration stuck at its upper bound 0.1 s" in text


def test_each_phase_has_its_basis_refined():
    coarse = moved(points=5)
    finer = replace(coarse.phases[1], motion=ocp.BSpline(points=12, degree=5))
    problem = replace(coarse, phases=(coarse.phases[0], finer))
    solution = ocp.refine(problem, 1e-3)
    assert solution.success and solution.verification.require(1e-3)
    rounds = solution.statistics["refinement"]
    assert rounds[0]["points"] == 17 and len(rounds) > 1
    one, other = (phase.problem.motion.points for phase in solution.phases.values())
    assert 5 < one < other >= 12


def test_starts_wander_in_every_phase(smooth):
    program = transcribe(moved())
    x = random_unknowns(program, program.guess, (1, 2), 0.5, 1.0)
    first, second = (np.abs((x - program.guess)[columns]).max() for columns in program.columns)
    assert min(first, second) > 0.1
    guess = random_guess(moved(), ocp.Transcription(), 1)
    assert list(guess) == ["part 1", "part 2"]
    assert ocp.solve(moved(), guess=guess).objective == pytest.approx(smooth.objective, rel=1e-6)
    other = random_guess(moved(), ocp.Transcription(), 2)["part 1"]
    assert np.abs(other.q - guess["part 1"].q).max() > 0.1


def test_studies_store_and_restore_motions_of_phases(tmp_path):
    over, how = {"rate": [0.0, 0.1, 0.3]}, {"workers": 0, "file": tmp_path / "rates.sqlite"}
    study = ocp.sweep(SWEPT, over, chain=True, **how)
    again = ocp.sweep(SWEPT, over, chain=True, **how)
    assert again.cells == study.cells and len(study.solved) == 3
    kept = again.solution(again.cells[2])
    assert list(kept.phases) == ["part 1", "part 2"]
    assert ocp.verify(kept).require(1e-3)


@pytest.mark.parametrize(
    "ask",
    [
        lambda solution: spy(solution),
        lambda solution: scene(solution, np.zeros(1), {}),
        lambda solution: replay(solution),
        lambda solution: dense_instants(solution),
        lambda solution: contact_quality(solution),
        lambda solution: solution.trace_ends(lambda start, end: end.q),
        lambda solution: solution.wrenches(),
        lambda solution: ocp.solve(solution.problem.parts["part 1"], guess=solution),
        lambda solution: ocp.track(ocp.prepare(solution.problem), (0, 0), period=0.1, periods=1),
        lambda solution: fit(solution.problem, []),
    ],
)
def test_what_is_not_known_of_phases_is_refused_by_their_names(smooth, ask):
    with pytest.raises(ValueError, match=r"is not known of a motion of several phases \(part 1, "):
        ask(smooth)


def test_parts_of_one_spline_are_not_refined():
    motion = ocp.BSpline(points=8)
    phases = tuple(
        replace(each, motion=Part(whole=motion, start=a, end=b))
        for each, a, b in zip(moved().phases, (0.0, 0.5), (0.5, 1.0))
    )
    problem = ocp.Problem(
        tree=ARM, phases=phases, links=moved().links, constraints=ENDS, objective=ocp.effort()
    )
    with pytest.raises(ValueError, match="refine: phase 'part 1': is part of a spline"):
        ocp.refine(problem, 1e-3)

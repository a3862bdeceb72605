"""The gait of the thesis: its size, its nine families, what it leaves out, and what is active."""

from dataclasses import replace

import pytest
from ocp.problems import two_link_time
from ocp.problems.barman_gait import TASK, problem
from ocp.problems.gait import problem as step_of
from ocp.problems.gait.families import FAMILIES, family_of

from ocp import Radau, Solver, Spline, Transcription
from ocp.cli.run import run
from ocp.studies.content import recipe
from ocp.transcription import transcribe


def families_of(stated):
    """The families of what a problem asks for, without what the ground's feet bring along."""
    return {family_of(constraint.name) for constraint in stated.requirements}


def test_the_only_unknowns_are_55_joints_by_6_control_points():
    stated = problem()
    transcribed = transcribe(stated, TASK.transcription)
    assert stated.tree.dof == 55 and len(transcribed.nlp.lower) == 330
    assert [term.name for _, term in stated.objective.terms] == ["dynamic_effort"]
    assert not stated.symmetry.accelerations
    assert families_of(stated) == {*FAMILIES} - {"places"}  # within the contact's own rows


@pytest.mark.parametrize("of", [problem, step_of])
@pytest.mark.parametrize("name", [*FAMILIES])
def test_each_family_can_be_left_out_and_the_others_stay(name, of):
    every, left = families_of(of()), families_of(of(without=name))
    if name in ("contact", "places"):  # which the same rows ask for where both are
        assert left == (every - {"contact"} | {"places"} if name == "contact" else every)
    else:
        assert left == every - {name}
    assert family_of("dynamics") is None


def test_all_families_can_be_left_out():
    stated = problem(without=", ".join(FAMILIES))
    assert stated.requirements == () and stated.symmetry is None


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="without: unknown families speed; expected some of angl"):
        problem(without="speed,angles")
    with pytest.raises(ValueError, match="hold: expected one of throughout, ends, got 'never'"):
        problem(hold="never")


def test_a_task_runs_with_its_own_transcription_unless_flags_say_otherwise(capsys):
    """On the command line, and in studies and comparisons, which make their recipe of it."""
    seen = []

    def keep(statement, transcription, solver, **settings):
        seen.append(transcription.method)
        raise ValueError("enough")

    task = replace(two_link_time.TASK, method=keep, transcription=TASK.transcription)
    for flags in ([], ["--nodes", "3"], ["--method", "radau"]):
        assert run(task, flags) == 2
    assert seen == [
        Spline(nodes=5, torques="explicit"),
        Spline(nodes=3, torques="explicit"),
        Radau(),
    ]
    assert recipe(TASK, None, Solver()).transcription == TASK.transcription
    assert recipe(problem, None, Solver()).transcription == Transcription()
    with pytest.raises(TypeError, match="task: transcription: expected a Transcription, got dict"):
        replace(task, transcription={"nodes": 3})

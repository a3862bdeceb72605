"""The table of motions of the human: what is in it, and what it refuses."""

from ocp.cli import tasks
from ocp.problems.human.human_motions import MOTIONS
from ocp.problems.human.human_motions.__main__ import run
from ocp.studies import flags_of

ALL = tasks()


def test_every_row_is_a_problem_of_the_gallery_with_arguments_that_it_has():
    for name, arguments in MOTIONS.values():
        assert set(arguments) <= set(flags_of(ALL[name].problem))


def test_every_human_motion_of_the_gallery_has_a_row_with_its_defaults():
    rows = [name for name, arguments in MOTIONS.values() if not arguments]
    assert len(rows) == len(set(rows))
    people = {"gait", "gait_start", "gait_stop", "muscle_gait", "running", "lifting", "lift_aside"}
    people |= {"lift_step", "carry", "cart_push", "sit_to_stand", "jump", "counter_movement"}
    people |= {"somersault", "squat_to_stand", "muscle_walk", "track_walk", "barman_gait"}
    assert set(rows) == people


def test_an_unknown_row_is_refused_by_its_name(capsys):
    assert run(["--only", "walk; hop"]) == 2
    assert "--only: hop: expected some of walk; " in capsys.readouterr().err

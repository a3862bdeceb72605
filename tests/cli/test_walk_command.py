"""The short way to the gait: its help lists usual flags, and every flag of the gait is taken."""

import pytest

from ocp.cli.commands import walk
from ocp.cli.main import command
from ocp.problems import gait


@pytest.fixture
def asked(monkeypatch):
    """The tasks, arguments and programs that are run."""
    runs = []
    monkeypatch.setattr(walk, "run_task", lambda *given: runs.append(given) or 0)
    return runs


def test_a_walk_is_a_run_of_the_gait_with_every_flag(asked):
    line = ["--speed", "1.4", "--mass", "60", "--contact", "0.001", "--verify", "1e-2"]
    assert command(["walk", *line]) == 0
    assert asked == [(gait.TASK, line, "ocp walk")]


def test_its_help_lists_the_usual_flags_and_where_all_are(asked, capsys):
    assert command(["walk", "--help"]) == 0 and not asked
    page = capsys.readouterr().out
    listed = [f"--{name.replace('_', '-')} " for name in walk.USUAL if name != "free_timing"]
    assert all(flag in page for flag in [*listed, "--free-timing", "--converged", "--card"])
    assert "--contact" not in page and "`ocp run gait --help`" in page


def test_an_unknown_flag_is_told_by_the_name_of_the_command(capsys):
    assert command(["walk", "--sped", "1.4"]) == 2
    assert "ocp walk: error: unrecognized arguments: --sped" in capsys.readouterr().err

"""Shells complete commands, names of problems and flags."""

import shutil
import subprocess

import pytest

from ocp.cli.commands import completion
from ocp.cli.main import WORDS, command
from ocp.problems.arms import two_link_lift, two_link_time

TASKS = {"two_link_lift": two_link_lift.TASK, "two_link_time": two_link_time.TASK}
BASH = """
source ./ocp.script
COMP_WORDS=({words}); COMP_CWORD={last}; _ocp; printf "%s\\n" "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit; compinit -u -D
compadd() {{ shift; for each in "$@"; do [[ $each == {begun}* ]] && print -r -- $each; done }}
_files() {{ }}
source ./ocp.script
words=({words}); CURRENT=$#words; _ocp
"""
FISH = "source ./ocp.script; complete -C '{line}'"
LINES = {
    "ocp ver": {"verify"},
    "ocp run two_link_l": {"two_link_lift"},
    "ocp run two_link_time --tor": {"--torque", "--torques"},
    "ocp run ./own.py --verif": {"--verify"},
    "ocp study two_link_t": {"two_link_time"},
    "ocp study two_link_time --lat": {"--latin"},
    "ocp compare two_link_lift two_link_t": {"two_link_time"},
    "ocp verify --tol": {"--tolerance"},
}


@pytest.fixture(params=["bash", "zsh", "fish"])
def completed(request, tmp_path, monkeypatch, capsys):
    """What a shell completes a line to."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"needs the shell {shell}")
    monkeypatch.setattr(completion, "tasks", lambda: TASKS)
    assert command(["completion", shell]) == 0
    (tmp_path / "ocp.script").write_text(capsys.readouterr().out)

    def complete(line):
        words = line.split()
        quoted = " ".join(f"'{word}'" for word in words)
        way = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell]
        code = way.format(line=line, words=quoted, last=len(words) - 1, begun=words[-1])
        plain = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        done = subprocess.run(
            [shell, *plain, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert not done.stderr
        return {found.partition("\t")[0] for found in done.stdout.splitlines()}

    return complete


def test_a_shell_completes_commands_problems_and_flags(completed):
    assert {line: completed(line) for line in LINES} == LINES


def test_every_command_is_completed_and_an_unknown_shell_named(monkeypatch, capsys):
    monkeypatch.setattr(completion, "tasks", lambda: TASKS)
    assert command(["completion", "fish"]) == 0
    script = capsys.readouterr().out
    assert all(f"-a {word} " in script for word in WORDS)
    assert command(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err

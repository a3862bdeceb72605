"""Exit status of commands: closed pipes, full disks, Ctrl-C; no traceback."""

import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ocp.cli.commands.run import run_task
from ocp.cli.exit_status import exit_status
from ocp.cli.main import command
from ocp.problems.arms.two_link_lift import TASK as LIFT
from ocp.problems.arms.two_link_time import TASK as FASTEST

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "list": ["list"],
    "help": ["--help"],
    "run": ["run", "two_link_lift", "--points", "8"],
    "quiet": ["run", "two_link_lift", "--points", "8", "--quiet"],
    "details": ["run", "two_link_lift", "--points", "8", "--details"],
    "study": ["study", "two_link_lift", "--set", "points=7", "--workers", "0", "--quiet"],
    "progress": ["study", "two_link_lift", "--set", "points=7", "--workers", "0"],
}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)


def test_a_motion_on_too_coarse_a_mesh_is_status_one_unless_a_certificate_judges_it(capsys):
    flags = ["--points", "10", "--degree", "4", "--knots", "free", "--quiet"]
    assert run_task(FASTEST, flags) == 1
    assert "too coarse" in capsys.readouterr().err
    assert run_task(FASTEST, [*flags, "--verify", "0.5"]) == 0


def unread():
    """A stream into a pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w")


def full():
    """A stream to a disk that is full."""
    return open("/dev/full", "w")


def status_into(stream, monkeypatch, arguments):
    """The exit status of a command that prints into a stream; closing it raises nothing more."""
    monkeypatch.setattr(sys, "stdout", stream)
    status = command(arguments)
    stream.close()
    return status


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("stream", "status", "words"), [(unread, 141, ""), (full, 1, "No space")])
def test_a_stream_that_takes_nothing_gives_a_status(
    stream, status, words, arguments, monkeypatch, capsys
):
    assert status_into(stream(), monkeypatch, arguments) == status
    errors = capsys.readouterr().err
    assert words in errors and "Traceback" not in errors and (words or not errors)


def test_streams_closed_by_the_shell_are_no_matter(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert command(COMMANDS["progress"]) == 0


def test_a_full_standard_error_leaves_the_status(monkeypatch):
    both = full()
    monkeypatch.setattr(sys, "stderr", both)
    assert status_into(full(), monkeypatch, COMMANDS["list"]) == 1
    both.close()


def test_files_are_written_though_standard_output_is_full(monkeypatch):
    asked = [*COMMANDS["run"], "--save", "a.npz", "--report", "r.json"]
    assert status_into(full(), monkeypatch, asked) == 1
    assert {path.name for path in Path().iterdir()} == {"a.npz", "r.json"}


def test_ctrl_c_before_the_solver_is_status_130(monkeypatch, capsys):
    def interrupted(**arguments):
        raise KeyboardInterrupt

    assert exit_status(interrupted) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_memory_that_ends_is_said(capsys):
    def greedy():
        raise MemoryError

    assert exit_status(greedy) == 1 and capsys.readouterr().err == "error: out of memory\n"


def test_ctrl_c_in_the_solve_tells_what_came_of_it_and_is_status_130(capsys, monkeypatch):
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    iterations = []

    def show(iteration):
        iterations.append(iteration)
        if iteration.number == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("ocp.cli.commands.run.iteration_status", lambda steps: show)
    try:
        assert exit_status(run_task, LIFT, ["--points", "12"]) == 130
    finally:
        signal.signal(signal.SIGINT, heard)
    assert "User_Requested_Stop" in capsys.readouterr().out and len(iterations) < 6


def program(*arguments, **options):
    """A Python program of the house under way, which hears Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


@pytest.mark.commands
@pytest.mark.parametrize(
    "module", ["ocp.mechanics.model.tree", "ocp.dynamics", "ocp.problems.gait"]
)
def test_ctrl_c_while_it_loads_leaves_no_traceback(module):
    with program("-X", "importtime", "-m", "ocp", "run", "gait", "--verify") as running:
        while module not in running.stderr.readline():  # a line for each import
            pass
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert running.returncode in (130, -signal.SIGINT) and not out and "Traceback" not in errors


@pytest.mark.commands
def test_a_pipe_that_closes_early_is_status_141_in_a_program_too():
    with program("-m", "problems.arms.two_link_lift", "--points", "8", cwd=ROOT) as running:
        running.stdout.close()
        lines = running.stderr.read().splitlines()
        status = running.wait(timeout=60)
    errors = [line for line in lines if not line.endswith(" ...")]  # progress
    assert status == 141 and not errors


OWN = """import gc, signal, sys
before = gc.get_threshold()
import ocp
assert gc.get_threshold() == before
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("caught")
finally:
    print("cleaned up")
"""
CALLS = {  # files of a user's own, and how they are run
    "a folder called problems": ("problems/mine.py", ["-m", "problems.mine"]),
    "a folder that is run": ("problems/__main__.py", ["problems"]),
    "a script called ocp": ("bin/ocp", ["bin/ocp"]),
    "words that look like ours": ("mine.py", ["mine.py", "-m", "ocp"]),
}


@pytest.mark.commands
@pytest.mark.parametrize(("file", "call"), CALLS.values(), ids=CALLS)
def test_importing_leaves_ctrl_c_and_garbage_to_a_program_of_the_users_own(file, call):
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).with_name("__init__.py").touch()
    Path(file).write_text(OWN)
    with program(*call) as running:
        assert running.communicate(timeout=60) == ("caught\ncleaned up\n", "")


def test_a_command_collects_garbage_seldom_and_as_before_when_it_has_ended():
    usual, before, during = gc.get_threshold(), (700, 10, 10), []
    gc.set_threshold(*before)  # as in a program of its own
    try:
        assert exit_status(lambda: during.append(gc.get_threshold())) == 0
        assert during[0] > before and gc.get_threshold() == before
    finally:
        gc.set_threshold(*usual)


@pytest.mark.commands
def test_a_study_that_is_interrupted_leaves_no_traceback_of_its_workers():
    cells = ["--set", "points=20,30,40,50", "--workers", "2"]
    with program("-m", "ocp", "study", "two_link_lift", *cells, start_new_session=True) as running:
        time.sleep(1.0)  # its workers load
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGINT)
        errors = running.communicate(timeout=60)[1]
    assert running.returncode in (130, -signal.SIGINT) and "Traceback" not in errors


MISSING = {
    "run --plot": ["run", "two_link_lift", "--plot", "none/p.png"],
    "run --animate": ["run", "two_link_lift", "--animate", "none/a.html"],
    "run --save": ["run", "two_link_lift", "--save", "none/a.npz"],
    "run --report": ["run", "two_link_lift", "--report", "none/r.json"],
    "study --csv": ["study", "two_link_lift", "--set", "points=8", "--csv", "none/s.csv"],
    "study --plot": ["study", "two_link_lift", "--set", "points=8", "--plot", "none/s.png"],
    "study --file": ["study", "two_link_lift", "--set", "points=8", "--file", "none/s.sqlite"],
    "compare --csv": ["compare", "two_link_lift", "--csv", "none/c.csv"],
    "compare --plot": ["compare", "two_link_lift", "--plot", "none/c.png"],
}


@pytest.mark.parametrize("arguments", MISSING.values(), ids=MISSING)
def test_a_missing_folder_is_found_before_anything_is_solved(arguments, monkeypatch, capsys):
    def solved(*_, **__):
        pytest.fail("something was solved")

    monkeypatch.setattr(sys.modules["ocp.solvers.minimize"], "minimize", solved)
    assert command(arguments) == 2
    said = capsys.readouterr()
    assert "none" in said.err and "Traceback" not in said.err and not said.out


def test_a_step_count_that_no_study_can_hold_is_refused(capsys):
    assert command(["study", "two_link_lift", "--set", "torque=1:2:1000000000"]) == 2
    assert "--set: expected at most 100000 values, got 1000000000" in capsys.readouterr().err

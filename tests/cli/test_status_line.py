"""Progress messages of long work, and warnings of sizes that take too long."""

import io
import re
import time
import warnings

import casadi as ca
import pytest

from ocp import BSpline, Link, Problem, Tree, effort, path, revolute
from ocp.cli.commands.run import run_task
from ocp.cli.output.iterations import iteration_status
from ocp.cli.output.status_line import CLEAR, Steps, status_line
from ocp.problems.arms.two_link_lift import TASK as LIFT
from ocp.problems.arms.two_link_time import TASK as FASTEST
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.problems.gait import Accuracy
from ocp.problems.gait import problem as walk
from ocp.solvers import Iteration
from ocp.solvers.progress import listen, say
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription import transcription_settings as sizes
from ocp.transcription.transcribe import transcribe


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


def test_what_lasts_is_said_once_and_what_does_not_last_never():
    """Here time passes by itself: what is said is said by a timer."""
    stream = io.StringIO()
    steps = Steps("arm", stream, 0.4)
    with listen(steps):
        say("counts")
        say("builds graphs")
        steps.timer.join()
        say("draws")
        last = steps.timer
        steps.clear()
        last.join()
    assert stream.getvalue() == "arm: builds graphs ...\n"


def test_many_short_steps_are_said_when_they_last_together():
    stream, clock = io.StringIO(), Clock()
    steps = Steps("arm", stream, 1.0, clock)
    with listen(steps):
        for number in range(12):
            say(f"compiles {number}")
            clock.now += 0.3
    steps.clear()
    assert stream.getvalue() == "arm: compiles 4 ...\narm: compiles 11 ...\n"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def iterated(stream, patience):
    """What is said of 400 iterations of a millisecond each."""
    clock = Clock()
    steps = Steps("arm", stream, patience, clock)
    show = iteration_status(steps)
    for number in range(400):
        show(Iteration(number=number, objective=1.0, violation=0.5, seconds=0.0))
        clock.now += 1e-3
    steps.clear()
    return stream.getvalue()


def test_how_far_a_solve_is_stands_in_ever_rarer_lines():
    """After 20 ms, and after twice as long each time."""
    lines = iterated(io.StringIO(), 0.0195).splitlines()
    told = [int(re.search(r"iteration (\d+)", line).group(1)) for line in lines]
    assert told == [20, 59, 137, 293]
    assert lines[0] == "arm: iteration 20, objective 1, violation 5.0e-01 ..."


def test_on_a_terminal_it_is_one_line_that_vanishes():
    text = iterated(Terminal(), 0.0195)
    assert "\n" not in text and text.count(CLEAR) == 20 and text.endswith(CLEAR)


def test_nobody_listens_by_default(capsys):
    say("builds graphs")
    with status_line("arm", silent=True):
        say("builds graphs")
    assert capsys.readouterr() == ("", "")


def test_a_run_says_what_it_does(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ocp.cli.output.status_line.PATIENCE", {True: 0.0, False: 0.0})
    assert run_task(LIFT, ["--points", "8", "--verify", "1", "--report", "r.json"]) == 0
    errors = capsys.readouterr().err
    for words in ("builds graphs of 2 coordinates on 8 points", "prepares attempt 1 of 3"):
        assert f"two_link_lift: {words} ...\n" in errors
    assert "two_link_lift: certifies: " in errors and "two_link_lift: writes r.json ...\n" in errors
    assert run_task(LIFT, ["--points", "8", "--quiet"]) == 0 and not capsys.readouterr().err


@pytest.mark.parametrize(
    ("points", "settings"),
    [(3000, {}), (22, {"method": "radau", "order": 150})],
    ids=["--points 3000", "--order 150"],
)
def test_sizes_that_take_too_long_warn_before_they_are_built(points, settings):
    begun = time.perf_counter()
    with pytest.raises(sizes.SizeWarning, match=r"unknowns and about \d+ rows take about \d+ s"):
        transcribe_phase(fastest(points=points), transcription_of(settings))
    assert time.perf_counter() - begun < 10  # warnings are errors here: nothing was built


@pytest.mark.parametrize(
    ("points", "settings", "words"),
    [
        (10**9, {}, r"2000000000 unknowns .* expected fewer of points \(1000000000\)"),
        (10, {"nodes": 10**9}, r"20 unknowns .* nodes \(1000000000\)"),
        (10, {"method": "radau", "intervals": 10**8}, r"intervals \(100000000\), order \(3\)"),
    ],
)
def test_sizes_that_no_memory_holds_are_refused_before_anything_is_built(points, settings, words):
    with pytest.raises(ValueError, match=f"size: .*{words}"):
        transcribe_phase(fastest(points=points), transcription_of(settings))


def test_sizes_beyond_the_memory_are_refused_where_rows_are_known(monkeypatch):
    monkeypatch.setattr(sizes, "memory", lambda: 1e4)
    monkeypatch.setattr(sizes, "FAR_BEYOND", 1e9)
    monkeypatch.setattr(sizes, "MOST_BYTES", 0.0)
    with pytest.raises(
        ValueError, match=r"size: \d+ unknowns and about \d+ rows .* there are 1e-05"
    ):
        transcribe_phase(fastest())


def chain(joints):
    """Links one after another, each on the one before."""
    turns = [revolute("j0")]
    turns += [revolute(f"j{k}", f"j{k - 1}", home=(0.1, 0, 0)) for k in range(1, joints)]
    return Tree(links=[Link(mass=1.0, com=(0.05, 0, 0))] * joints, joints=turns)


@pytest.mark.parametrize(
    ("tree", "rows", "words"),
    [
        (chain(400), 1, r"fewer joints in line \(of 400 coordinates\)"),
        (chain(2), 20_000, r"about \d{6} rows .* or rows make it less"),
    ],
    ids=["400 joints", "20000 rows"],
)
def test_many_joints_and_rows_warn_before_they_are_built(tree, rows, words):
    own = path("own", lambda at: ca.vertcat(*[at.q[0] * k for k in range(rows)]), upper=1e9)
    statement = Problem(
        tree=tree, motion=BSpline(points=10), duration=1.0, objective=effort(), constraints=(own,)
    )
    with pytest.raises(sizes.SizeWarning, match=words):
        transcribe_phase(statement)


@pytest.mark.parametrize("settings", [{}, {"method": "radau"}, {"method": "hermite-simpson"}])
def test_rows_are_counted_before_they_are_built(settings, monkeypatch):
    monkeypatch.setattr(sizes, "MOST_SECONDS", 0.0)
    with pytest.warns(sizes.SizeWarning) as given:
        nlp = transcribe(fastest(), transcription_of(settings)).nlp
    unknowns, rows = [int(word) for word in str(given[0].message).split() if word.isdigit()][:2]
    assert unknowns == len(nlp.lower) and 0.9 < rows / len(nlp.g_lower) < 2.0


def test_the_command_says_a_warning_in_a_line(monkeypatch, capsys):
    monkeypatch.setattr(sizes, "MOST_SECONDS", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run_task(FASTEST, ["--points", "8", "--quiet"]) == 0
    assert capsys.readouterr().err.startswith("two_link_time: warning: 17 unknowns and about ")


def test_a_walk_on_twice_the_points_is_built_without_a_warning_of_its_size():
    """By unknowns times rows alone it was told to take 37 s and 2.8 GB."""
    with warnings.catch_warnings(record=True) as given:
        transcribe_phase(walk(accuracy=Accuracy(points=44)))
    assert not given

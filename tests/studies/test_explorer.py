"""`ocp app`: sliders move parameters, motions are solved anew and certified; nothing else is."""

import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from child_processes import children_of, wait_for_end

import ocp
from ocp.cli.main import command
from ocp.models.swing_ups.cart_pole import CART, POLE
from ocp.problems.gait import TASK as GAIT
from ocp.problems.robots.ur5_replan import TASK as REPLANNED
from ocp.problems.swing_ups.acrobot_swing import TASK as WITHOUT
from ocp.problems.swing_ups.cart_pole_mpc import TASK as BALANCED
from ocp.problems.swing_ups.cart_pole_mpc import rates
from ocp.studies.explorer.inbox import Inbox, Superseded
from ocp.studies.explorer.pushes import BRISK, pushes_on
from ocp.studies.explorer.server import LEAVING, Explorer, Server
from ocp.studies.explorer.worker import (
    Explored,
    moving_parameters,
    slider_of,
    switches_of,
    usual_value,
)
from ocp.studies.task import task_at

ARM = '''
"""An arm lifts a payload in a given time."""

from dataclasses import replace
from typing import Literal

import ocp
from ocp.models.arms.two_link import two_link


def problem(
    payload: float = 0.5,
    time: float = 1.0,
    load: float = 0.0,
    limit: float = 20.0,
    end: Literal["still", "moving"] = "still",
    points: int | None = None,
) -> ocp.Problem:
    """`payload`: of the hand (kg); `time`: that it takes (s); `load`: more of it (kg); `limit`: of
    torques (N m); `end`: how it ends; `points`: of its spline."""
    bare = two_link(torque=limit)
    upper, fore = bare.links
    arm = replace(bare, links=(upper, replace(fore, mass=fore.mass + payload + load)))
    return ocp.Problem(
        tree=arm,
        motion=ocp.BSpline(points=points or 14, degree=5),
        duration=time,
        objective=ocp.effort(),
        constraints=(
            ocp.at_start(arm, q=(-1.5, 0.0), qd=0.0),
            ocp.at_end(arm, q=(0.5, 0.5), qd=0.0 if end == "still" else None),
            ocp.torque_limits(arm),
        ),
    )


TASK = ocp.Task(
    problem,
    parameters=(
        ocp.Parameter("payload", 0.5, "kg", lower=0.0, upper=5.0),
        ocp.Parameter("time", 1.0, "s", lower=0.05, upper=3.0),
        ocp.Parameter("load", 1.0, "kg", lower=0.0),
    ),
)
'''


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("app") / "lifting_arm.py"
    path.write_text(ARM)
    server = Server(Explorer(str(path)), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
    server.explorer.close()
    assert not server.explorer.process.is_alive()


def ask(server, path="", body=None, **headers):
    """The status and content of a reply; a body is posted with the page's token."""
    known = {"X-Token": server.token} | headers if body is not None else headers
    try:
        request = urllib.request.Request(f"{server.url}{path}", body, known)
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def post(server, values):
    status, content = ask(server, "solve", json.dumps({"values": values}).encode())
    assert status == 200
    return json.loads(content)["number"]


def told(explorer, count=0, wait=1.0):
    """How many answers there are, and those after the first `count`, as data."""
    count, texts = explorer.after(count, wait)
    return count, [json.loads(text) for text in texts]


def answers_to(server, number):
    """Answers to a request, once its verdict or its failure is there."""
    own, count, end = {}, 0, time.monotonic() + 240
    while time.monotonic() < end:
        count, fresh = told(server.explorer, count)
        own |= {"verdict" in each: each for each in fresh if each["number"] == number}
        if True in own or own.get(False, {"status": "solved"})["status"] != "solved":
            return [own[key] for key in sorted(own)]
    raise AssertionError(f"no answer to {number}: {own}")


@pytest.mark.commands
def test_a_move_is_solved_anew_certified_and_shown(served):
    page = ask(served)[1].decode()
    assert '"payload"' in page and served.token in page and "http" not in page.split("<body>")[1]
    number = post(served, {"payload": 2.0})
    solved, verdict = answers_to(served, number)
    alone = ocp.solve(_problem(payload=2.0))
    assert solved["objective"] == pytest.approx(alone.objective, rel=1e-6)
    assert verdict["certified"] and verdict["verdict"] == "certified to 0.01"
    assert solved["values"] == {"payload": 2.0, "time": 1.0, "load": 0.0} and not solved["switched"]
    names = {each["mesh"] for each in solved["scene"]["solids"]}
    assert all("places" in json.loads(ask(served, f"mesh/{name}")[1]) for name in names)
    assert solved["scene"]["sections"] and b"window.show" in ask(served, "player")[1]
    assert ["certificate", "certified to 0.001"] in verdict["card"] or verdict["card"]
    again = post(served, {"payload": 2.1})
    warm, _ = answers_to(served, again)
    assert warm["iterations"] < alone.statistics["iterations"]


@pytest.mark.commands
def test_the_last_motion_is_saved_as_a_run_saves_it(served, tmp_path):
    answers_to(served, post(served, {"payload": 1.0}))
    content = ask(served, "file/motion.npz")[1]
    (tmp_path / "a.npz").write_bytes(content)
    loaded = ocp.load(tmp_path / "a.npz")
    assert loaded.success and loaded.parameters["payload"] == 1.0
    assert ask(served, "file/page.html")[1].startswith(b"<!DOCTYPE html>")
    assert ask(served, "file/picture.png")[1].startswith(b"\x89PNG")
    assert ask(served, "file/motion.exe")[0] == 404


@pytest.mark.commands
def test_of_many_moves_the_newest_wins(served):
    numbers = [post(served, {"payload": 0.5 + 0.1 * k}) for k in range(8)]
    solved, _ = answers_to(served, numbers[-1])
    known = [json.loads(text) for _, text in served.explorer.answers]
    verdicts = [each["number"] for each in known if "verdict" in each]
    assert solved["status"] == "solved" and numbers[-1] in verdicts
    assert not {*numbers[:-1]} & {*verdicts}


@pytest.mark.commands
def test_what_cannot_be_says_what_must_give_way_and_the_last_motion_stays(served):
    before = served.explorer.shown
    (failed,) = answers_to(served, post(served, {"time": 0.06, "points": 7}))
    assert failed["status"] == "Infeasible_Problem_Detected" and "scene" not in failed
    assert any("must give way" in line for line in failed["lines"])
    assert served.explorer.shown == before


@pytest.mark.commands
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mass": 1.0}, "mass: no parameter; there are payload, time, load, limit, end, points"),
        ({"end": "os.system"}, "end: expected one of 'still', 'moving', got 'os.system'"),
        ({"end": ["still"]}, "end: expected one of"),
        ({"points": 9.5}, "points: expected a whole number, got 9.5"),
        ({"limit": None}, "limit: expected a number, got None"),
        ({"load": "os"}, "load: expected a number, got 'os'"),
        ({"payload": 9.0}, "payload: expected 0 to 5, got 9"),
        ({"payload": "1"}, "payload: expected a number, got '1'"),
        ({"payload": True}, "payload: expected a number, got True"),
        (b'{"values": {"payload": NaN}}', "payload: expected a number, got nan"),
        ([1.0], "expected numbers by the names of parameters"),
        (b"import os", "Expecting value"),
    ],
)
def test_requests_are_numbers_within_their_bounds(served, values, words):
    body = values if isinstance(values, bytes) else json.dumps({"values": values}).encode()
    status, said = ask(served, "solve", body)
    assert status == 400 and words in said.decode()


@pytest.mark.commands
@pytest.mark.parametrize(
    ("push", "words"),
    [
        ({"point": "tip"}, "push: expected a point, one of none"),
        ("os.system", "push: expected a point, one of none"),
    ],
)
def test_a_push_is_on_what_can_be_pushed(served, push, words):
    status, said = ask(served, "solve", json.dumps({"values": {}, "push": push}).encode())
    assert status == 400 and words in said.decode()


def test_a_push_jumps_the_rates_from_which_a_plan_is_made_anew():
    explored = Explored(task=BALANCED, parameters=moving_parameters(BALANCED))
    still = {"place": 0.0, "angle": np.pi, "speed": 0.0, "turning": 0.0}
    explored.solve(still)
    way = np.array([0.1, 0.0, 0.0])
    after = explored.pushed.state(explored.last, 1.0, "tip", way)
    impulse = BRISK * (CART + POLE) * way[0]
    assert [after["speed"], after["turning"]] == pytest.approx(rates(0.0, impulse), rel=1e-9)
    assert [after["place"], after["angle"]] == pytest.approx([0.0, np.pi], abs=1e-6)
    assert explored.solve(after).success
    with pytest.raises(ValueError, match="hat: no point; there are tip"):
        explored.pushed.state(explored.last, 1.0, "hat", way)
    assert pushes_on(GAIT.state({})) is None


@pytest.mark.commands
def test_only_the_page_of_this_machine_may_ask(served):
    assert ask(served, "solve", b"{}", **{"X-Token": "guessed"})[0] == 403
    assert ask(served, "solve", b"{}", Host="elsewhere.example")[0] == 403
    assert ask(served, "open", b"{}")[0] == 403 and ask(served, Host="elsewhere.example")[0] == 403
    for place in ("mesh/999", "file/../../etc/passwd", "../../etc/passwd", "answers/x"):
        assert ask(served, place)[0] == 404


@pytest.mark.commands
@pytest.mark.parametrize("switched", [{"limit": 25.0}, {"end": "moving"}, {"points": 15}], ids=str)
def test_what_is_no_parameter_states_the_problem_anew(served, switched):
    values = {"payload": 1.0, "points": None} | switched
    solved, verdict = answers_to(served, post(served, values))
    assert solved["switched"] == switched and verdict["certified"]
    alone = ocp.solve(_problem(payload=1.0, **switched))
    assert solved["objective"] == pytest.approx(alone.objective, rel=1e-6)


@pytest.mark.commands
def test_what_is_left_out_at_first_is_open_once_it_has_moved(served):
    solved, _ = answers_to(served, post(served, {"payload": 1.0, "load": 0.5}))
    assert solved["values"]["load"] == 0.5 and not solved["switched"]
    alone = ocp.solve(_problem(payload=1.0, load=0.5))
    assert solved["objective"] == pytest.approx(alone.objective, rel=1e-6)
    none, _ = answers_to(served, post(served, {"payload": 1.0, "load": 0.0}))
    assert none["objective"] == pytest.approx(ocp.solve(_problem(payload=1.0)).objective, rel=1e-6)
    assert none["iterations"] < alone.statistics["iterations"]


def test_a_move_begins_at_the_nearest_motion_rather_than_at_the_last(tmp_path):
    path = tmp_path / "lifting_arm.py"
    path.write_text(ARM)
    task = task_at(str(path))
    explored = Explored(task=task, parameters=moving_parameters(task))
    first, far, again = (explored.solve({"payload": mass}) for mass in (0.6, 4.5, 0.6))
    assert again.objective == pytest.approx(first.objective, rel=1e-7)
    assert again.statistics["iterations"] < far.statistics["iterations"]
    stated = explored.state({})
    widths = [each.upper - each.lower for each in explored.sliders]
    near = stated.nearest(np.array([4.4, 1.0, 0.0]) / widths)
    assert near.parameters["payload"] == 4.5 and len(stated.answers) == 3


def test_a_motion_that_is_certified_yields_to_a_move():
    pipe, other = multiprocessing.Pipe()
    before = signal.getsignal(signal.SIGINT)
    try:
        inbox = Inbox(other)
        with pytest.raises(Superseded), inbox.interruptible():
            pipe.send({"number": 2})
            end = time.monotonic() + 20
            while time.monotonic() < end:
                time.sleep(0.001)
        assert inbox.take() == {"number": 2}
        pipe.send({"number": 3})
        while not inbox.waits:
            time.sleep(0.001)
        with pytest.raises(Superseded), inbox.interruptible():
            raise AssertionError("begun although a request waits")
        pipe.close()
        inbox.take()
        assert inbox.take() is None
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.commands
def test_a_server_stays_while_a_page_looks(served):
    server = Server(served.explorer, "127.0.0.1", 0)
    try:
        assert server.is_looked_at()
        server.look("one")
        server.look("two")
        server.leave("one")
        assert server.is_looked_at()
        server.leave("two")
        server.left -= LEAVING
        assert not server.is_looked_at()
        server.look("one")
        assert server.is_looked_at()
    finally:
        server.server_close()


def test_parameters_of_a_task_move_from_where_they_are_by_default():
    known = {each.name: each for each in moving_parameters(GAIT)}
    assert {"speed", "step", "stature", "mass", "knees", "slope", "backpack"} < known.keys()
    (load,) = moving_parameters(GAIT, ["backpack"])
    assert usual_value(GAIT, load) == 0.0 and usual_value(GAIT, known["speed"]) == 1.2
    assert "goal_x" in [each.name for each in moving_parameters(REPLANNED)]
    slider = slider_of(ocp.Parameter("mass", 2.0, "kg", lower=1.5), 2.0)
    assert (slider.lower, slider.upper, slider.least, slider.most) == (1.5, 3.2, 1.5, None)
    slider = slider_of(known["slope"], 0.0)
    assert (slider.lower, slider.value, slider.upper, slider.least) == (-8.0, 0.0, 8.0, -15.0)
    switches = {each.name: each for each in switches_of(GAIT, known.values())}
    assert switches["stride"].words == ("half", "phases", "full")
    assert switches["sex"].words == ("male", "female", None) and switches["sex"].value is None
    assert switches["age"].value is None and not switches["age"].whole and switches["points"].whole
    assert "person" not in switches  # a word of no closed set
    with pytest.raises(ValueError, match=r"gait: no parameter 'sped' \(did you mean 'speed'"):
        moving_parameters(GAIT, ["sped"])
    assert moving_parameters(WITHOUT) == () and switches_of(WITHOUT, ())
    with pytest.raises(ValueError, match="test_explorer: nothing of it can be moved: its Task"):
        moving_parameters(ocp.Task(_problem_without_arguments))


@pytest.mark.commands
def test_a_worker_that_has_ended_is_told(tmp_path):
    path = tmp_path / "lifting_arm.py"
    path.write_text(ARM)
    explorer = Explorer(str(path))
    count, answers = told(explorer, wait=60.0)
    explorer.process.kill()
    explorer.process.join()
    while answers[-1].get("status") != "ended":
        count, fresh = told(explorer, count, wait=10.0)
        answers += fresh
    with pytest.raises(ValueError, match="the process that solves has ended"):
        for _ in range(3):
            explorer.solve({})
    explorer.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gayt"], "gayt"),
        (["gait", "--port", "70000"], "--port: expected 0 to 65535"),
        (["gait", "--move", "sped"], "no parameter 'sped'"),
    ],
)
def test_what_cannot_be_explored_is_refused_in_a_line(capsys, arguments, words):
    assert command(["app", *arguments]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert said[-1].startswith("ocp app: error: ") and words in said[-1]


@pytest.mark.commands
def test_a_port_in_use_is_refused_and_ctrl_c_leaves_no_process(tmp_path):
    path = tmp_path / "lifting_arm.py"
    path.write_text(ARM)
    line = [sys.executable, "-m", "ocp", "app", str(path), "--no-browser"]
    program = subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        url = program.stdout.readline().split()[2].rstrip(",")
        port = url.rstrip("/").rsplit(":", 1)[1]
        other = subprocess.run([*line, "--port", port], capture_output=True, text=True)
        assert other.returncode == 2 and f"port {port} of 127.0.0.1: " in other.stderr
        children = children_of(program)
        assert children
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 0
        wait_for_end(children, 10)
    finally:
        program.kill()
        program.communicate()


@pytest.mark.commands
def test_where_no_browser_is_found_a_line_says_so(tmp_path, monkeypatch, capsys):
    path = tmp_path / "lifting_arm.py"
    path.write_text(ARM)
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url))  # returns nothing
    monkeypatch.setattr(Server, "is_looked_at", lambda self, quiet: False)
    assert command(["app", str(path)]) == 0
    explored, advice = capsys.readouterr().out.splitlines()
    assert opened[0].startswith("http://127.0.0.1:") and opened[0] in explored
    assert advice == "no browser was found: open the address in one"


def _problem_without_arguments() -> ocp.Problem:
    return _problem()


def _problem(**values):
    space = {}
    exec(compile(ARM, "arm", "exec"), space)
    return space["problem"](**values)

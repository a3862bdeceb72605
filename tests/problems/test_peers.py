"""The same problems by peers: what is reached for good, what is missing, every system's rows."""

import importlib.util
import json
import math
import sys

import casadi as ca
import numpy as np
import pytest

from ocp import mass_matrix
from ocp.problems.benchmarks.peers import __main__ as command
from ocp.problems.benchmarks.peers import running
from ocp.problems.benchmarks.peers.check import checked, simulated
from ocp.problems.benchmarks.peers.report.table import best, lines, quickest, reaching
from ocp.problems.benchmarks.peers.running import Row, child, planned
from ocp.problems.benchmarks.peers.tasks import MOTIONS, ROBOTS, SYSTEMS

FASTEST = MOTIONS["two_link_time"].reference
CHECK = {"missed": 0.0, "beyond": 0.0, "effort": 1.0}


def made_up(system, way, size, error, seconds, success=True):
    """A row that took so long and is so far from the fastest motion (both s)."""
    run = {
        "cold": 1.0,
        "seconds": [9.0, seconds],
        "objective": FASTEST + error,
        "success": success,
        "check": CHECK,
    }
    return Row(task="two_link_time", system=system, way=way, size=size, settings={}, runs=[run])


def test_what_a_coarse_mesh_hits_by_chance_is_no_merit():
    rows = [
        made_up("ocp", "mesh", 10, 1e-6, 0.1),
        made_up("ocp", "mesh", 20, 3e-5, 0.2),
        made_up("ocp", "mesh", 30, -9e-6, 0.3),
        made_up("ocp", "mesh", 40, 2e-6, 0.4),
    ]
    assert [row.size for row in reaching(rows)] == [40, 30]
    assert [row.size for row in best(rows)] == [30]
    assert best(rows[:2])[0].size == 10 and quickest(rows[:2], "ocp") is None


def test_a_motion_that_leaves_its_limits_reaches_nothing():
    row = made_up("ocp", "mesh", 10, 1e-6, 0.1)
    row.runs[0]["check"] = CHECK | {"beyond": 0.14}
    assert row.error < 2e-6 and reaching([row]) == []


def test_a_solve_that_failed_reaches_nothing():
    failed = made_up("ocp", "mesh", 10, 0.0, 0.1, success=False)
    assert failed.error == math.inf and reaching([failed]) == []


def test_seconds_leave_out_the_first_run_of_a_process():
    assert made_up("ocp", "mesh", 10, 0.0, 0.1).seconds == 0.1


def test_a_motion_that_ends_elsewhere_has_no_error():
    """However small its effort."""
    reference = MOTIONS["cart_pole"].reference
    for missed, error in ((0.01, 0.0), (0.2, math.inf)):
        check = {"missed": missed, "beyond": 0.0, "effort": reference}
        run = {"success": True, "objective": 2.0, "check": check}
        row = Row(task="cart_pole", system="ocp", way="", size=0, settings={}, runs=[run])
        assert row.error == error


def test_ratios_are_to_our_quickest_row_of_the_same_accuracy():
    rows = [made_up("ocp", "mesh", 10, 1e-6, 0.1), made_up("rockit", "mesh", 10, 1e-6, 0.37)]
    assert "| rockit | mesh | 10 | 1.0e-06 | 0.370 | 3.7 |" in "\n".join(lines(rows))
    rough = made_up("rockit", "mesh", 10, 1e-4, 0.37)
    assert "| rockit | mesh | 10 | 1.0e-04 | 0.370 |  |" in "\n".join(lines([rows[0], rough]))


def test_what_is_not_installed_is_named_and_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(SYSTEMS, "rockit", "no_such_module")
    file = tmp_path / "rows.json"
    flags = ["--only", "two_link_time", "--peers", "rockit", "--json", str(file)]
    assert command.main(flags) == 0
    assert "- rockit is not installed: pip install 'ocp-motion[peers]'" in capsys.readouterr().out


def test_a_system_with_a_python_of_its_own_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(SYSTEMS, "crocoddyl", "no_such_module")
    monkeypatch.delenv("CROCODDYL_PYTHON", raising=False)
    (refusal,) = {row.refusal for row in planned(["cart_pole"], ["crocoddyl"])}
    assert "pip install crocoddyl pin==4.0.0 mim_solvers" in refusal
    assert "$CROCODDYL_PYTHON" in refusal
    monkeypatch.setenv("CROCODDYL_PYTHON", "/its/own/python")
    assert {row.refusal for row in planned(["cart_pole"], ["crocoddyl"])} == {""}
    assert running.system_python("crocoddyl") == "/its/own/python"
    assert running.system_python("drake") == sys.executable


def test_a_run_resumes(monkeypatch, tmp_path):
    counted = []

    def answer(module, task, settings, repeats):
        counted.append(settings["intervals"])
        if settings["intervals"] == 30:
            raise RuntimeError("no luck")
        still = {"t": [0.0, 1.0], "tau": [[0.0, 0.0], [0.0, 0.0]]}
        return made_up("ocp", "mesh", 1, 0.0, 0.1).runs[0] | still

    monkeypatch.setattr(running, "child", answer)
    rows = [row for row in planned(["two_link_time"], ["ocp"]) if row.way == "Hermite-Simpson"][:2]
    file = tmp_path / "rows.json"
    once = running.run(list(rows), 1, file, lambda text: None)
    again = running.run(list(rows), 2, file, lambda text: None)
    assert counted == [20, 30, 20] and [len(row.runs) for row in again] == [2, 0]
    assert once[1].refusal == again[1].refusal == "no luck"
    assert len(json.loads(file.read_text())) == 2


def test_a_check_notices_torques_that_lead_elsewhere_or_too_far():
    t = np.array([0.0, 0.2, 0.2, 0.39185454])
    wrong = checked("two_link_time", t, np.array([[11.0, 11, -11, -11], [0.0, 0, 0, 0]]))
    assert wrong["missed"] > 0.1 and wrong["beyond"] == pytest.approx(0.1)
    assert wrong["effort"] == pytest.approx(121 * t[-1])


def test_a_check_simulates_as_long_as_the_table_lasts():
    """From rest, momentum is the impulse of the torque."""
    arm = MOTIONS["two_link_time"].statement().tree
    t = np.array([0.0, 1e-3])
    states = simulated(arm, np.array([0.0, -2.0]), t, np.array([[0.0, 0.0], [5.0, 5.0]]))
    assert states[2:, -1] @ mass(arm) == pytest.approx([0.0, 5e-3], abs=1e-6)


def mass(arm):
    """The mass matrix at the start (2, 2)."""
    return np.array(ca.DM(mass_matrix(arm, ca.DM([0.0, -2.0]))))


OURS = {
    "two_link_time": {"method": "radau", "intervals": 20, "order": 3},
    "cart_pole": {"method": "hermite-simpson", "intervals": 40},
    "ur5_effort": {"method": "hermite-simpson", "intervals": 20},
}
THEIRS = [
    ("rockit", "two_link_time", {"method": "shooting", "intervals": 4, "free": True, "steps": 10}),
    (
        "moco",
        "two_link_time",
        {"scheme": "legendre-gauss-radau-3", "intervals": 30} | {"straight": False},
    ),
    ("drake", "cart_pole", {"solver": "ipopt", "samples": 41}),
    ("drake", "ur5_effort", {"solver": "snopt", "samples": 41}),
]


def reached(system, task, settings):
    """Error over the goal of one system's answer."""
    result = child(f"by_{system}", task, settings, 1)
    assert result["success"]
    result["check"] = checked(task, np.array(result["t"]), np.array(result["tau"]))
    row = Row(task=task, system=system, way="", size=0, settings=settings, runs=[result])
    return row.error / MOTIONS[task].goal


def needs(system):
    """Skip where a system, or the robots' files, are not installed."""
    for module in (SYSTEMS[system], "cmeel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip("needs the extra `peers`")


@pytest.mark.commands
@pytest.mark.parametrize("task", OURS)
def test_our_rows_reach_their_references(task):
    if task == "ur5_effort":
        needs("ocp")
    assert reached("ocp", task, OURS[task]) < 1.0


@pytest.mark.commands
@pytest.mark.parametrize(("system", "task", "settings"), THEIRS)
def test_rows_of_peers_reach_the_same_references(system, task, settings):
    needs(system)
    assert reached(system, task, settings) < 1.0


@pytest.mark.commands
@pytest.mark.parametrize("robot", ROBOTS)
def test_dynamics_of_all_systems_are_the_same(robot):
    needs("pinocchio")
    needs("drake")
    file, base = ROBOTS[robot]
    settings = {"robot": file, "base": base, "seconds": 0.0}
    theirs, *others = (
        child(f"by_{system}", "dynamics", settings, 1)["values"]
        for system in ("pinocchio", "drake", "ocp")
    )
    for values in others:
        for name, numbers in theirs.items():
            assert values[name] == pytest.approx(
                numbers, rel=1e-9, abs=1e-9 * max(map(abs, numbers))
            )

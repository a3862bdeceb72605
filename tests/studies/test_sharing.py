"""Several processes share a study; workers that die, hang, or never start cost what they must."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from study_cells import counted, endless, objectives, problem

from ocp.studies import open_study, sweep
from ocp.studies.store import cell_leases
from ocp.studies.store.cell_leases import Heartbeat, is_alive, new_owner, retire
from ocp.studies.store.database import Ledger, renew
from ocp.studies.worker_processes import Processes

pytestmark = pytest.mark.commands

ROOT = Path(__file__).parents[2]
SIX = {"torque": [float(torque) for torque in range(8, 14)]}
SHARED = """
from study_cells import counted, problem
from ocp.studies import sweep

how = {"file": "log.txt"}
over = {"torque": [float(torque) for torque in range(8, 14)]}
print(len(sweep(problem, over, file="a.sqlite", workers=0, method=counted, how=how).solved))
"""


def started(text, *arguments):
    """Return the process of a Python text."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "-c", text, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env=environment, **pipes)


def claimed(owner, seconds, key):
    """Enter a claim of somebody else, for so many seconds."""
    with sqlite3.connect("a.sqlite") as connection:
        now = time.time()
        row = (key, owner, now, now + seconds)
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", row)
    connection.close()


def test_two_processes_share_a_study_and_a_killed_one_leaves_the_rest(inside):
    both = [started(SHARED) for _ in range(2)]
    outputs = [process.communicate(timeout=100) for process in both]
    assert [text for text, _ in outputs] == ["6\n", "6\n"], outputs
    lines = [line.split() for line in Path("log.txt").read_text().splitlines()]
    assert sorted(float(torque) for _, torque in lines) == SIX["torque"]
    assert len({pid for pid, _ in lines}) == 2
    whole = objectives(open_study("a.sqlite"))
    assert whole == sorted(whole, reverse=True)


def test_the_claims_of_a_killed_process_are_void_at_once(inside):
    with started(SHARED) as killed:
        while not Path("log.txt").exists():
            time.sleep(0.01)
        killed.kill()
    with sqlite3.connect("a.sqlite") as connection:
        assert connection.execute("SELECT COUNT(*) FROM claims").fetchone() == (1,)
    connection.close()
    begin, how = time.perf_counter(), {"file": "log.txt"}
    done = sweep(problem, SIX, file="a.sqlite", workers=0, method=counted, how=how)
    assert len(done.solved) == 6 and time.perf_counter() - begin < cell_leases.LEASE / 3


def test_a_claim_of_another_computer_holds_until_its_lease_is_over():
    one = {"torque": [10.0]}
    key = sweep(problem, one, workers=0).cells[0].id
    with Ledger("a.sqlite"):
        pass
    begin = time.perf_counter()
    claimed("elsewhere 1 2 3", 1.0, key)
    assert sweep(problem, one, file="a.sqlite", workers=0).solved
    assert time.perf_counter() - begin > 0.9
    claimed("elsewhere 1 2 3", 1e9, key.replace("0", "1"))  # nobody may claim a cell for years
    with Ledger("a.sqlite") as ledger:
        assert ledger.claim(key.replace("0", "1"), "me") is not None


def test_a_claim_is_kept_as_long_as_it_is_renewed_and_its_owner_works(monkeypatch):
    monkeypatch.setattr("ocp.studies.store.database.LEASE", 1.0)
    monkeypatch.setattr(cell_leases, "BEAT", 0.1)
    cell = sweep(problem, {"torque": [3.0]}, workers=0, file="b.sqlite").cells[0]
    owner, other = new_owner(), new_owner()
    with Ledger("a.sqlite") as ledger:
        ledger.plan([cell])
        with Heartbeat(lambda: renew(ledger.path, owner)):
            assert ledger.claim(cell.id, owner) is not None
            time.sleep(1.3)
            assert ledger.claim(cell.id, other) is None
        time.sleep(1.2)
        assert ledger.claim(cell.id, other) is not None and ledger.claim(cell.id, owner) is None
        retire(other)
        assert ledger.claim(cell.id, owner) is not None
        ledger.release(owner)
    retire(owner)
    assert not is_alive(owner) and is_alive("elsewhere 1 2 3") and is_alive("no owner at all")


def test_a_cell_that_takes_too_long_is_stopped_and_has_failed(monkeypatch):
    """By a clock that stands still, whatever else the machine does, but for a cell without end."""
    poll, limits, begun = Connection.poll, set(), Path("begun")

    def wait(pipe, seconds):
        limits.add(seconds)
        while not poll(pipe, 0.01) and not begun.exists():
            pass
        begun.unlink(missing_ok=True)
        return poll(pipe, 0.0)

    monkeypatch.setattr(Connection, "poll", wait)
    over, ways = {"torque": [8.0, 13.0, 10.0]}, {"workers": 1, "method": endless, "seconds": 2.5}
    done = sweep(problem, over, file="a.sqlite", how={"file": "begun"}, **ways)
    assert limits == {2.5}
    assert [cell.status for cell in done.cells] == ["solved", "failed", "solved"]
    assert done.failed[0].reason == "took longer than 2.5 s and was stopped"
    assert done.failed[0].seconds == 2.5
    for wrong in ({"workers": 0, "seconds": 1.0}, {"seconds": 0}, {"seconds": "long"}):
        with pytest.raises(ValueError, match="^seconds: "):
            sweep(problem, over, **wrong)


def test_a_worker_killed_while_it_starts_costs_a_restart():
    killed = []

    def kill():
        while len(killed) < 2:
            for child in multiprocessing.active_children():
                if child.pid not in killed:
                    killed.append(child.pid)
                    os.kill(child.pid, signal.SIGKILL)
            time.sleep(0.005)

    thread, pool = threading.Thread(target=kill), Processes(1)
    thread.start()
    try:
        assert pool.submit(os.getpid).result(timeout=60) not in killed
    finally:
        thread.join()
        pool.shutdown()
    assert len(killed) == 2


def test_a_worker_never_hears_of_ctrl_c_not_even_while_it_starts(capfd):
    pool = Processes(1)
    try:
        future = pool.submit(os.getpid)
        while not (children := multiprocessing.active_children()):
            time.sleep(0.005)
        while not future.done():
            os.kill(children[0].pid, signal.SIGINT)
            time.sleep(0.02)
        assert future.result() == children[0].pid and capfd.readouterr().err == ""
    finally:
        pool.shutdown()


def test_a_script_without_a_guard_is_told_so_and_claims_nothing(inside):
    text = "from study_cells import problem\nfrom ocp.studies import sweep\n"
    Path("bare.py").write_text(text + "sweep(problem, {}, file='a.sqlite', workers=1)\n")
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "bare.py"], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 1 and "EngineError: worker processes cannot start" in done.stderr
    assert "needs the line `if __name__ == '__main__':`" in done.stderr
    assert open_study("a.sqlite").cells[0].status == "pending"

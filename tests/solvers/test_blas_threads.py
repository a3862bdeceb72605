"""Linear algebra has one thread within a search, and after it as many as before."""

import threading

import casadi as ca
import numpy as np
import pytest

from ocp.solvers import NLP, Backend, Solver, minimize
from ocp.solvers.linear_algebra.blas_threads import libraries, one_thread
from ocp.solvers.solver_backend import Answer

BEFORE = 2  # threads that a user has


@pytest.fixture
def two_threads():
    """Every loaded library with two threads, and afterwards as it was."""
    known = [(library, library.threads()) for library in libraries()]
    if not known:
        pytest.skip("numpy calls a library whose number of threads cannot be set")
    for library, _ in known:
        library.set_threads(BEFORE)
    yield
    for library, count in known:
        library.set_threads(count)


def counts():
    return {library.threads() for library in libraries()}


def square():
    """The least square of a number of at least one."""
    x = ca.MX.sym("x")
    return NLP(
        lower=np.array([1.0]),
        upper=np.array([np.inf]),
        g_lower=np.zeros(0),
        g_upper=np.zeros(0),
        objective=ca.Function("f", [x], [x**2]),
        constraints=ca.Function("g", [x], [ca.MX(0, 1)]),
    )


def test_a_backend_prepares_and_searches_with_one_thread(two_threads):
    seen = []

    def prepare(nlp, solver, start, see):
        seen.append(counts())

        def run():
            seen.append(counts())
            return Answer(iterate=None, status="done", success=False, iterations=0)

        return run

    minimize(square(), Solver(plugin=Backend(name="own", prepare=prepare)), np.array([2.0]))
    assert seen == [{1}, {1}] and counts() == {BEFORE}


@pytest.mark.parametrize("plugin", ["ipopt", "structured"])
def test_a_watch_that_raises_gives_the_threads_back(two_threads, plugin):
    seen = []

    def watch(iteration):
        seen.append(counts())
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        minimize(square(), Solver(plugin=plugin), np.array([2.0]), watch=watch)
    assert seen == [{1}] and counts() == {BEFORE}


def test_the_last_of_simultaneous_searches_gives_the_threads_back(two_threads):
    begun, done = threading.Event(), threading.Event()

    def search():
        with one_thread():
            begun.set()
            done.wait(10)

    other = threading.Thread(target=search)
    with one_thread():
        other.start()
        begun.wait(10)
    assert counts() == {1}
    done.set()
    other.join()
    assert counts() == {BEFORE}


def test_what_is_no_library_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "libblas_notes.txt").write_text("no library")
    maps = tmp_path / "maps"
    maps.write_text(f"7f00-7f01 r-xp 00000000 00:00 1 {tmp_path}/libblas_notes.txt\n")
    known = {library.file for library in libraries()}
    monkeypatch.setattr("ocp.solvers.linear_algebra.blas_threads.MAPS", maps)
    assert {library.file for library in libraries()} <= known
    monkeypatch.setattr("ocp.solvers.linear_algebra.blas_threads.MAPS", tmp_path / "absent")
    assert {library.file for library in libraries()} <= known

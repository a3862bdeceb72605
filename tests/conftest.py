"""Settings of all tests: threads, bytecode, order, garbage collection, shared solutions."""

import gc
import os
import sys

import pytest

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy: two workers on two cores, not four threads

os.environ.setdefault("OCP_KEPT", "0")  # what a test makes does not follow from former runs

# Tests start many programs, each of which would compile ocp anew
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

LONGEST = (
    *("problems/test_compare_formulations", "problems/test_flexible_slew", "problems/test_lifting"),
    *("problems/test_problems", "problems/test_walk_ways", "certificate/test_resolution_check"),
    *("transcription/test_flexible_motion", "transcription/test_loop_laws"),
    *("dynamics/test_sensitivity", "interior_point/test_degenerate", "problems/test_heaviest_box"),
    *("diagnosis/test_elastic", "solving/test_refine", "plots/test_plots", "problems/test_gait"),
    *("transcription/test_passive", "transcription/test_contact_handover"),
)  # begun first, so that no worker waits for another at the end


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, so that tests share the solutions that they look at."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_modifyitems(items):
    """Begin with the longest files."""
    rank = {f"tests/{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.split("::")[0], len(rank)))


def pytest_collection_finish():
    """Look for garbage seldom, and not among the thousands of tests that were collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000)


@pytest.fixture(scope="session")
def lifted():
    """The lift of a two-link arm, solved once."""
    import ocp
    from ocp.problems.arms.two_link_lift import problem

    return ocp.solve(problem(points=12))


@pytest.fixture(scope="session")
def hopping():
    """A hop, solved once: stance on one foot, then flight."""
    import ocp
    from ocp.problems.hopping.pogo_hop import problem

    return ocp.solve(problem()).require()


@pytest.fixture(scope="session")
def quick():
    """The fastest motion of a two-link arm, solved once."""
    import ocp
    from ocp.problems.arms.two_link_time import problem

    return ocp.solve(problem(points=12))

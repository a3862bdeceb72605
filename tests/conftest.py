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
    *("problems/test_what_if", "estimation/test_tracking_with_dynamics", "codegen/test_compiled"),
    *("problems/test_tracked_folder", "estimation/test_consistency", "mpc/test_planned_noise"),
    *("interchange/c_code/test_plan_folder", "codegen/test_kept_results"),
    *("solving/test_states_everywhere", "problems/test_walk_ways", "dynamics/test_lie_group"),
    *(
        "problems/test_compare_formulations",
        "problems/test_flexible_slew",
        "codegen/test_assembler",
    ),
    *("transcription/test_loop_laws", "certificate/test_resolution_check", "plots/test_plots"),
    *("problems/test_muscle_walk", "transcription/test_flexible_motion", "problems/test_gait"),
    *("interchange/opensim/test_opensim_out", "solving/test_refine", "problems/test_lifting"),
    *("plots/test_muscle_pictures", "diagnosis/test_minimal_relaxation", "problems/test_problems"),
    *("transcription/test_contact_handover", "problems/test_elastic_walk"),
    *("transcription/test_passive", "codegen/test_program_kernels", "motion/test_collocation"),
    *("interior_point/test_degenerate", "mechanics/muscles/test_wrapping", "models/test_people"),
    *("problems/test_pushed_walk", "cli/test_command_line", "problems/test_heaviest_box"),
    *("plots/test_overview", "dynamics/test_sensitivity", "dynamics/test_dynamics"),
    *("problems/test_strides", "problems/test_replanning", "problems/test_jump", "test_house"),
    *("dynamics/test_book", "dynamics/test_pinocchio"),
    *("problems/test_human_walk", "problems/test_throw", "dynamics/test_formulations"),
)  # begun first, so that no worker waits for another at the end
TOGETHER = (
    ("dynamics/test_lie_group", "dynamics/test_lie_group_slopes", "dynamics/test_lie_group_work"),
    ("transcription/test_loop_laws", "transcription/test_loop_laws_edges"),
    ("codegen/test_assembler", "codegen/test_other_processors"),
    ("test_house", "test_language"),
)  # share what they compute, and so a worker
GROUP = {f"tests/{name}.py": f"tests/{group[0]}.py" for group in TOGETHER for name in group}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker whole files, so that tests share the solutions that they look at."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return GROUP.get(file, file)

    config.option.loadscopereorder = False
    return Together(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_modifyitems(items):
    """Begin with the longest files, those that share a worker one after the other."""
    rank = {f"tests/{name}.py": place for place, name in enumerate(LONGEST)}
    last = len(rank)

    def place(item):
        file = item.nodeid.split("::")[0]
        return rank.get(GROUP.get(file, file), last)

    items.sort(key=place)


def pytest_collection_finish():
    """Look for garbage seldom, and not among the thousands of tests that were collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000)


@pytest.fixture(scope="session", autouse=True)
def patient():
    """Commands say nothing of their progress, however slow the machine, unless a test lets them."""
    from ocp.cli.output import status_line

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(status_line, "PATIENCE", dict.fromkeys(status_line.PATIENCE, 1e9))
        yield


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

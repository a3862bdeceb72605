"""Workers of studies: processes that die, executors of all kinds, a cluster."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from study_cells import FOUR, deadly, objectives, problem

from ocp import solve
from ocp.problems.arms.two_link_time import problem as fastest
from ocp.studies import sweep
from ocp.studies.store.function_addresses import address
from ocp.studies.worker_processes import Processes

CLUSTERED = {"torque": [float(k) for k in range(8, 15)], "points": 6}


def test_functions_must_be_importable_and_engines_executors():
    def local(torque: float = 10.0):
        return problem(torque)

    assert address(problem) == "study_cells:problem"
    for function in (local, lambda: problem(), 5):
        with pytest.raises(ValueError, match="expected a function of a module"):
            sweep(function, {}, workers=2)
    with pytest.raises(ValueError, match="5: expected a function of a module"):
        sweep(5, {}, workers=0)
    with pytest.raises(ValueError, match="workers: expected a whole number"):
        sweep(problem, FOUR, workers=-1)
    with pytest.raises(
        ValueError, match="executor: expected an Executor of concurrent.futures, got str"
    ):
        sweep(problem, FOUR, executor="dask")
    with pytest.raises(TypeError, match="no option 'wrkers'"):
        sweep(problem, FOUR, wrkers=2)


def test_any_executor_will_do_and_one_that_breaks_says_so():
    two = {"torque": [8.0, 10.0]}
    with ThreadPoolExecutor(2) as threads:
        done = sweep(problem, two, executor=threads)
    assert objectives(done) == objectives(sweep(problem, two, workers=0))
    with pytest.raises(RuntimeError, match="shutdown"):
        sweep(problem, two, executor=threads)


@pytest.mark.commands
def test_a_worker_that_dies_costs_its_own_cell_at_most():
    done = sweep(problem, {"torque": [13.0, 8.0, 10.0]}, workers=2, method=deadly, file="a.sqlite")
    assert [cell.status for cell in done.cells] == ["failed", "solved", "solved"]
    assert done.failed[0].reason.startswith("its worker process died twice: WorkerDied: SIGKILL")
    assert done.cells[1].objective == solve(problem(torque=8.0)).objective


@pytest.mark.commands
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_loses_no_cell():
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    killed = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)

        def watch(progress):
            if progress.done == 3:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        done = sweep(
            fastest, CLUSTERED, executor=client.get_executor(), file="a.sqlite", watch=watch
        )
    assert killed and len(done.solved) == 7
    assert objectives(done) == objectives(sweep(fastest, CLUSTERED, workers=0))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs masks of signals")
def test_what_starts_workers_leaves_ctrl_c_to_the_main_thread():
    """A process inherits the mask of the thread that starts it."""
    pool = Processes(1)
    masked = pool.threads.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
    pool.shutdown()
    assert signal.SIGINT in masked

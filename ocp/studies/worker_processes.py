"""Worker processes of our own: each does one job at a time, within a limit of seconds.

A process that dies is known with the job that it had: one that dies while it starts costs a
restart, one that overruns its time is killed, and no other process notices.
"""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BEGINNING = "OCP_STUDY_WORKER_BEGINS"  # set while a worker imports what its script imports
STARTS = 8  # deaths in a row, of a process that starts, after which something must be wrong
GRACE = 2.0  # s: between an end that is asked for and one that is forced


class EngineError(RuntimeError):
    """Raised when an executor breaks down, or processes cannot start; finished cells are kept."""


class WorkerDied(Exception):
    """Raised for a job whose process died; the message says of what."""


class Overran(Exception):
    """Raised for a job that took longer than it may, and was killed."""


class Processes(Executor):
    """So many worker processes, which start when there is work; `seconds` limit each job."""

    def __init__(self, count: int, seconds: float | None = None) -> None:
        self.seconds, self.workers = seconds, [Worker() for _ in range(count)]
        self.threads = ThreadPoolExecutor(count, initializer=_leave_interrupts)
        self.idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)

    def submit(self, function: Callable, /, *arguments: object, **named: object) -> Future:
        """Hand out a job and return its Future."""
        return self.threads.submit(self._do, function, arguments, named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes, whatever they do."""
        for worker in self.workers:
            worker.end()
        self.threads.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _do(self, *job: object) -> object:
        worker = self.idle.get()
        try:
            return worker.do(job, self.seconds)
        finally:
            self.idle.put(worker)


class Worker:
    """One process at a time, started anew when it died."""

    def __init__(self) -> None:
        self.process: Any = None
        self.pipe: Any = None
        self.ended = False
        self.lock = threading.Lock()  # of a start, which no end may overtake

    def do(self, job: tuple, seconds: float | None) -> object:
        """Return the result of a job; raise its error, WorkerDied or Overran."""
        for _ in range(STARTS):  # one that died while it waited costs nothing
            if self.process is None or not self.process.is_alive():
                self._start()
            try:
                self.pipe.send(job)
                break
            except (BrokenPipeError, ConnectionResetError):
                self.process.join()
        good, value = self._answer(seconds)
        if good:
            return value
        raise value

    def end(self) -> None:
        """End the process, at once."""
        with self.lock:
            self.ended = True
            self._stop()

    def _start(self) -> None:
        """Start a process that says that it is ready; raise EngineError if none ever does."""
        import multiprocessing  # loads with the first worker

        spawning = multiprocessing.get_context("spawn")
        for _ in range(STARTS):
            with self.lock:
                if self.ended:
                    raise WorkerDied("the study has ended")
                self.pipe, other = spawning.Pipe()
                self.process = spawning.Process(target=_serve, args=(other,))
                self.process.start()
                other.close()
            try:
                self.pipe.recv()
                return
            except (EOFError, OSError):
                if _exit_code(self.process) > 0:
                    break
        raise EngineError(
            "worker processes cannot start; they say why above. A script that begins a study "
            "needs `if __name__ == '__main__':` before it"
        )

    def _answer(self, seconds: float | None) -> tuple[bool, Any]:
        """Return whether a job went well, and what it returned or raised."""
        try:
            if not self.pipe.poll(seconds):
                with self.lock:
                    self._stop()
                raise Overran(f"took longer than {seconds:g} s and was stopped")
            return self.pipe.recv()
        except (EOFError, OSError):
            code = _exit_code(self.process)
            cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            raise WorkerDied(cause) from None

    def _stop(self) -> None:
        if self.process is None or not self.process.is_alive():
            return
        with suppress(OSError):  # it may have ended meanwhile
            self.process.terminate()
            self.process.join(GRACE)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()


def check_beginning() -> None:
    """Raise EngineError in a worker that still imports the script that began the study."""
    if os.environ.get(BEGINNING) and "--multiprocessing-fork" in sys.orig_argv:
        raise EngineError(
            "a script that begins a study needs the line `if __name__ == '__main__':` before it"
        )


def _exit_code(process: Any) -> int:
    """Return the exit code of a process that has ended; another thread may learn it first."""
    process.join()
    for _ in range(100):
        if process.exitcode is not None:
            return process.exitcode
        time.sleep(0.01)
    return 0


def _serve(pipe: Any) -> None:
    """Do the jobs of a pipe, one after the other, until it is closed."""
    os.environ.pop(BEGINNING, None)
    _begin_worker()
    importlib.import_module("ocp.studies.solve_cell")  # which takes time that is no job's
    pipe.send("ready")
    while True:
        try:
            function, arguments, named = pipe.recv()
            pipe.send((True, function(*arguments, **named)))
        except EOFError:
            return
        except KeyboardInterrupt:
            pipe.send((False, KeyboardInterrupt()))
        except BaseException as error:  # whatever it is, it is told to who asked
            pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the main thread; processes that this thread starts never hear of it."""
    if hasattr(signal, "pthread_sigmask"):
        from multiprocessing import resource_tracker  # loads with the first worker

        resource_tracker.ensure_running()  # it would end the block if it started later
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and end with it, whatever ends it."""
    _leave_interrupts()
    from multiprocessing import parent_process

    threading.Thread(target=_follow, args=(parent_process(),), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)

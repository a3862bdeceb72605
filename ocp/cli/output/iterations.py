"""Iterations of a solver on the command line: a line of each, or a status now and then."""

import signal
from collections.abc import Callable
from typing import TypeAlias

from ocp.cli.output.status_line import Steps
from ocp.solvers import Iteration

Watch: TypeAlias = Callable[[Iteration], None]


def iteration_printer(steps: Steps) -> Watch:
    """Return a callback that prints a line for each iteration.

    It interrupts the solve when nobody reads on, and falls silent when nothing can be written.
    """
    silent = False

    def show(iteration: Iteration) -> None:
        nonlocal silent
        if silent:
            return
        steps.clear()
        try:
            if iteration.number == 0:
                print(f"{iteration.stage}\n" if iteration.stage else "", end="")
                print(f"{'iteration':>9}  {'objective':>14}  {'violation':>10}  {'seconds':>8}")
            print(
                f"{iteration.number:9d}  {iteration.objective:14.8g}  "
                f"{iteration.violation:10.2e}  {iteration.seconds:8.3f}",
                flush=True,
            )
        except BrokenPipeError:
            signal.raise_signal(signal.SIGINT)
        except OSError:
            silent = True

    return show


def iteration_status(steps: Steps) -> Watch:
    """Return a callback that tells the status line how far a solve is."""

    def show(iteration: Iteration) -> None:
        stage = f"{iteration.stage}, " if iteration.stage else ""
        steps.update(
            f"{stage}iteration {iteration.number}, objective {iteration.objective:.6g}, "
            f"violation {iteration.violation:.1e}"
        )

    return show


def watch_both(first: Watch, second: Watch) -> Watch:
    """Combine two iteration callbacks."""

    def show(iteration: Iteration) -> None:
        first(iteration)
        second(iteration)

    return show

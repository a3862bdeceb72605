"""What a run says of its solver's iterations: a line of each, or now and then how far it is."""

import signal
from collections.abc import Callable

from ocp.cli.output.status_line import Steps
from ocp.solvers import Iteration


def printed(steps: Steps) -> Callable[[Iteration], None]:
    """Return what prints a line for each iteration.

    It interrupts the solve when nobody reads on, and falls silent when nothing can be written.
    """
    silent = False

    def show(iteration: Iteration) -> None:
        nonlocal silent
        if silent:
            return
        steps.heard()
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


def mentioned(steps: Steps) -> Callable[[Iteration], None]:
    """Return what says, where a solve lasts, at which iteration it is."""

    def show(iteration: Iteration) -> None:
        stage = f"{iteration.stage}, " if iteration.stage else ""
        steps.update(
            f"{stage}iteration {iteration.number}, objective {iteration.objective:.6g}, "
            f"violation {iteration.violation:.1e}"
        )

    return show


def both(
    first: Callable[[Iteration], None], second: Callable[[Iteration], None]
) -> Callable[[Iteration], None]:
    """Return what hands iterations to two that watch."""

    def show(iteration: Iteration) -> None:
        first(iteration)
        second(iteration)

    return show

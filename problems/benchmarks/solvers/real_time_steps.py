"""Real-time iterations of a UR5 whose goal jumps, and of a pushed cart-pole.

    python -m problems.benchmarks.solvers.real_time_steps [moves] [pushes]

Ten times a second the goal of the arm jumps by up to 0.2 m along each axis, and twenty times a
second the cart is planned anew, by `plan.step`. Printed are the processor's time of one Newton step
where nothing changes, and the reports of `ocp run NAME --newton 30`, with how many pushes of those
that an optimum recovers from are recovered from.
"""

import sys
import time

import numpy as np

from ocp import Problem, Spline, Transcription, prepare
from ocp.problems.robots import ur5_replan
from ocp.problems.swing_ups import cart_pole_mpc

NEWTON = 30  # steps of a plan at most, which few take
KERNELS = "assembled"  # they are evaluated thousands of times
REPEATED = 300  # steps that are timed where nothing changes
ARM = Transcription(method=Spline(torques="variables", nodes=2), kernels=KERNELS)
CART = Transcription(kernels=KERNELS)


def newton_milliseconds(problem: Problem, transcription: Transcription) -> np.ndarray:
    """Return the least and the median processor time (ms) of `plan.step` with one Newton step."""
    plan = prepare(problem, transcription)
    first = plan.solve().require(coarse=True)
    values, seconds = [first.parameters[each.name] for each in plan.parameters], []
    step = plan.step(first, values)
    for _ in range(REPEATED):
        begin = time.process_time()
        step = plan.step(step, values)
        seconds.append(time.process_time() - begin)
    return 1e3 * np.array([np.min(seconds), np.median(seconds)])


def main(moves: int = 100, pushes: int = 50) -> None:
    """Print the figures of both."""
    for name, problem, transcription in (
        ("UR5", ur5_replan.problem(), ARM),
        ("cart-pole", cart_pole_mpc.problem(), CART),
    ):
        least, median = newton_milliseconds(problem, transcription)
        print(f"{name}: a Newton step {least:.2f} ms at least, {median:.2f} ms in the median")
    arm = ur5_replan.replanned(ur5_replan.problem(), ARM, moves=moves, newton=NEWTON)
    print("UR5", *ur5_replan.TASK.views.lines(ur5_replan.TASK.views.report(arm)), sep="\n  ")
    cart = cart_pole_mpc.balanced(cart_pole_mpc.problem(), CART, pushes=pushes, newton=NEWTON)
    print("cart-pole", *cart_pole_mpc.lines(cart_pole_mpc.report(cart)), sep="\n  ")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Variances along plans under noise, by linearised mechanics and by simulations.

    python -m problems.benchmarks.balance.noise_spread [simulations] [noise] [motions]

A two-link arm reaches, a cart swings its pole up, a human lifts a box (0.35 s of a processor each):
each follows its plan by feedback under noise in the torques, a share of their largest. Printed are
the ratios of predicted to simulated variances, summed over the motion, of all coordinates together
and of the one that is farthest off, beside what chance makes of so few simulations; the same ratio
of linear runs under the same noise, which chance hardly touches; both without the runs that are
off by more than three times the median; and the doubts of `spread`.
"""

import sys
from collections.abc import Callable

import numpy as np

from ocp import (
    BSpline,
    Problem,
    Solution,
    Solver,
    Transcription,
    at_end,
    at_start,
    effort,
    feedback,
    follow,
    solve,
    torque_limits,
)
from ocp.models.arms.two_link import two_link
from ocp.models.swing_ups.cart_pole import cart_pole
from ocp.mpc import spread
from ocp.problems.lifting.solve_lifts import lift
from ocp.problems.lifting.statement.lift import problem as lifted

NOISE = 0.005  # of the largest torque of each joint
FAR = 9.0  # times the median of squares: runs beyond it are counted
STILL = 1e-3  # of the largest variance: coordinates that move less are left out


def reach() -> Solution:
    """Return a reach of a two-link arm from rest to rest."""
    arm = two_link(torque=10.0)
    ends = at_start(arm, q=(0.0, -2.0), qd=0.0), at_end(arm, q=(1.0, -1.0), qd=0.0)
    statement = Problem(
        tree=arm,
        motion=BSpline(points=24, degree=5),
        duration=0.8,
        objective=effort(),
        constraints=(*ends, torque_limits(arm)),
    )
    return solve(statement).require()


def swing() -> Solution:
    """Return the swing-up of a pole by its cart."""
    cart = cart_pole(force=20.0)
    ends = at_start(cart, q=0.0, qd=0.0), at_end(cart, q=(0.0, np.pi), qd=0.0)
    statement = Problem(
        tree=cart,
        motion=BSpline(points=44, degree=5),
        duration=2.0,
        objective=effort(cart, ("cart",)),
        constraints=(*ends, torque_limits(cart)),
    )
    return solve(statement).require()


def box() -> Solution:
    """Return the lift of a box."""
    return lift(lifted(), Transcription(), Solver()).require(coarse=True)


MOTIONS: dict[str, Callable[[], Solution]] = {"reach": reach, "swing": swing, "lift": box}


def main(count: int = 1000, noise: float = NOISE, names: tuple[str, ...] = tuple(MOTIONS)) -> None:
    """Print the ratios."""
    print(f"chance alone: {np.sqrt(2 / count):.3f} of a variance, in the mean over {count}")
    for name in names:
        plan = feedback(MOTIONS[name]())
        known = spread(plan, noise=noise)
        n = plan.tree.dof
        told = known.deviations[:n] ** 2
        runs, linear = (
            np.array([follow(plan, noise=noise, seed=k, linear=each).q for k in range(count)])
            for each in (False, True)
        )
        runs, linear = (each - each.mean(axis=0) for each in (runs, linear))  # off the plan
        squares, expected = ((each**2).sum(axis=(1, 2)) for each in (runs, linear))
        near = squares <= FAR * np.median(squares)
        seen = runs.var(axis=0, ddof=1)
        predicted, simulated = told.sum(axis=1), seen.sum(axis=1)
        moved = predicted > STILL * predicted.max()
        each = predicted[moved] / simulated[moved]
        farthest = each[np.argmax(np.abs(np.log(each)))]
        print(
            f"{name}: predicted over simulated {predicted.sum() / simulated.sum():.3f}, "
            f"farthest of {moved.sum()} coordinates {farthest:.3f}; "
            f"under the same noise {expected.sum() / squares.sum():.3f}, "
            f"{expected[near].sum() / squares[near].sum():.3f} but for {(~near).sum()} runs"
        )
        print(f"{name}: {known!r}")


if __name__ == "__main__":
    numbers = [each for each in sys.argv[1:] if each not in MOTIONS]
    chosen = tuple(each for each in sys.argv[1:] if each in MOTIONS) or tuple(MOTIONS)
    main(*map(int, numbers[:1]), *map(float, numbers[1:]), names=chosen)

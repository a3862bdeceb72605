"""A pushed cart keeps its pole upright, planned anew twenty times a second."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np

from ocp import (
    LADDER,
    BSpline,
    Parameter,
    Plan,
    Problem,
    Solution,
    Solver,
    Task,
    Transcription,
    Views,
    at_end,
    at_start,
    effort,
    joint_limits,
    prepare,
    solve,
    torque_limits,
    track,
)
from ocp.cli import main
from ocp.models.swing_ups.cart_pole import CART, LENGTH, POLE, cart_pole
from ocp.mpc import Replan, simulated_plant
from ocp.problems.robots import replan_report
from ocp.problems.robots.replan_report import FIRST_PLAN, KEY, told

UPRIGHT = np.array([0.0, pi, 0.0, 0.0])  # m, rad, m/s, rad/s
BACK = np.array([0.05, 0.05, 0.1, 0.1])  # likewise: so near to that a push is recovered from


def problem(
    cart: float = 1.0,
    tip: float = -0.3,
    horizon: float = 2.0,
    force: float = 20.0,
    points: int = 26,
    degree: int = 5,
) -> Problem:
    """`cart`: a push on the cart that stood still (N s); `tip`: likewise on the pole's tip (N s);
    `horizon`: time in which a plan comes to rest where the cart stood (s); `force`: limit on the
    cart (N); `points`: control points per joint; `degree`: of the spline.
    """
    tree = cart_pole(force=force)
    speed, turning = map(float, rates(cart, tip))
    return Problem(
        tree=tree,
        motion=BSpline(points=points, degree=degree),
        duration=horizon,
        objective=effort(tree, ("cart",)),
        constraints=(
            at_start(
                tree,
                q=(Parameter("place", 0.0, "m"), Parameter("angle", pi, "rad")),
                qd=(Parameter("speed", speed, "m/s"), Parameter("turning", turning, "rad/s")),
            ),
            at_end(tree, q=UPRIGHT[:2], qd=0.0),
            joint_limits(tree),
            torque_limits(tree),
        ),
    )


def rates(cart: float, tip: float) -> np.ndarray:
    """Return the rates (2,), m/s and rad/s, of the upright pole after pushes (N s), from rest.

    M qd = J' p, with the momenta of cart and pole of this model.
    """
    across = -POLE * LENGTH
    mass = np.array([(CART + POLE, across), (across, POLE * LENGTH**2)])
    return np.linalg.solve(mass, (cart + tip, -LENGTH * tip))


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A push on `cart` and `tip` (N s), the `turns` that followed, and whether it `recovered`."""

    cart: float
    tip: float
    turns: tuple[Replan, ...]
    recovered: bool


def balanced(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    pushes: int = 0,
    hardest: float = 3.0,
    blow: float = 0.5,
    seconds: float = 5.0,
    period: float = 0.05,
    deadline: float | None = None,
    newton: int | None = None,
    seed: int = 0,
    **settings: Any,
) -> Solution:
    """Solve, and then recover from random pushes; the statistics say how that went.

    `pushes`: that an optimum on twice the control points recovers from, with the same limits, in
    the same time; `hardest`: push on the cart, either way (N s); `blow`: likewise on the tip (N s);
    `seconds`: that the pole is balanced after each (s); `period`: from one plan to the next (s);
    `deadline`: for planning anew (s; none by default); `newton`: Newton steps of a plan made anew
    at most (solved to the end by default); `seed`: of the pushes.
    """
    if pushes < 0 or not (period > 0 and seconds >= period):
        raise ValueError(
            f"pushes, period, seconds: expected at least 0, above 0 s and no less than that, "
            f"got {pushes}, {period:g} and {seconds:g}"
        )
    first = solve(statement, transcription, solver, **settings)
    if not pushes or not first.success:
        return first
    plan = first.plan or prepare(statement, transcription, solver)
    motion = replace(statement.motion, points=2 * statement.motion.points)
    finer = replace(statement, motion=motion)
    offline = prepare(finer, transcription, solver, attempts=LADDER[:2])
    drawn, made = 0, []
    for push in _drawn(hardest, blow, seed):
        drawn += 1
        speed, turning = rates(*push)
        if offline.solve(speed=speed, turning=turning).success:
            periods = round(seconds / period)
            made.append(_pushed(plan, push, periods, period, deadline=deadline, newton=newton))
        if len(made) == pushes:
            break
    turns = [turn for one in made for turn in one.turns]
    data = {
        "drawn": drawn,
        "recoverable": len(made),
        "recovered": sum(one.recovered for one in made),
        "lost": [(one.cart, one.tip) for one in made if not one.recovered],
    }
    return replace(first, statistics=dict(first.statistics) | {KEY: told(turns), "pushes": data})


def _drawn(hardest: float, blow: float, seed: int) -> Iterator[np.ndarray]:
    """Yield pushes (cart, tip), N s."""
    rng = np.random.default_rng(seed)
    while True:
        yield rng.uniform(-1.0, 1.0, 2) * (hardest, blow)


def _pushed(plan: Plan, push: Sequence[float], periods: int, period: float, **limits: Any) -> Push:
    """Return the motion after a push at the end of the first period, when all stood still; `limits`
    are those of plans made anew."""
    undisturbed, jump = simulated_plant(plan.problem, period), np.append([0.0, 0.0], rates(*push))

    def plant(t: float, state: np.ndarray, torques: np.ndarray) -> np.ndarray:
        states = undisturbed(t, state, torques)
        states[:, -1] += jump if t == 0 else 0.0
        return states

    rest = np.split(UPRIGHT, 2)
    done = track(plan, rest, period=period, periods=periods + 1, plant=plant, **limits)
    end = np.append(done.q[:, -1], done.qd[:, -1])
    return Push(
        cart=float(push[0]),
        tip=float(push[1]),
        turns=done.replans[1:],
        recovered=bool((np.abs(end - UPRIGHT) <= BACK).all()),
    )


def report(solution: Solution) -> Mapping[str, Any]:
    """Return the figures in a solution's statistics on pushes and on plans made on the way."""
    known = solution.statistics
    pushes = {"pushes": known["pushes"]} if "pushes" in known else {}
    return pushes | dict(replan_report.report(solution))


def lines(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the report's text."""
    pushes = data["pushes"]
    words = f"{pushes['recovered']} of {pushes['recoverable']} recovered from"
    lost = tuple(f"  lost after {cart:.3g} and {tip:.3g} N s" for cart, tip in pushes["lost"])
    drawn = f"{'pushes':<22}{pushes['drawn']}: {words}, that an optimum recovers from"
    return drawn, *lost, *replan_report.lines(data)


TASK = Task(problem, method=balanced, views=Views(report=report, lines=lines), certifies=FIRST_PLAN)

if __name__ == "__main__":
    main(TASK)

"""Horizons of plans made again and again, for an arm under gravity: which of them arrive."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

import numpy as np

from ocp import (
    BSpline,
    Objective,
    Parameter,
    Problem,
    Tree,
    at_end,
    at_start,
    dynamic_effort,
    limits,
    prepare,
    smoothness,
    stage_cost,
    track,
)
from ocp.cli import exit_status
from ocp.models.arms.ur5 import ur5
from ocp.mpc import Tracked
from ocp.problems.benchmarks import program_parser
from ocp.problems.robots.ur5_replan import HOME
from ocp.studies import align_columns

GOAL = tuple(map(radians, (60, -40, 60, 10, 40, 30)))  # rad
SECONDS, PERIOD, PLANS = 1.2, 0.05, 40  # s of a plan, s from one to the next, how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A horizon, "receding" or "shrinking", and what is least along it, in words."""

    horizon: str
    words: str


WAYS = (
    Way(horizon="receding", words="effort"),
    Way(horizon="receding", words="smoothness"),
    Way(horizon="receding", words="stage cost and effort"),
    Way(horizon="shrinking", words="effort"),
    Way(horizon="shrinking", words="stage cost and effort"),
)


def objective(words: str, arm: Tree, goal: Sequence[float]) -> Objective:
    """Return an objective by its words; "effort" is of torques over their limits."""
    chosen = {
        "effort": dynamic_effort,
        "smoothness": smoothness,
        "stage cost": lambda tree: stage_cost(tree, q=goal),
    }
    return sum((chosen[word](arm) for word in words.split(" and ")), start=Objective(terms=()))


def problem(way: Way, arm: Tree, home: Sequence[float], goal: Sequence[float]) -> Problem:
    """Return the problem of an arm that comes to rest at a goal, its initial state open."""
    names = [joint.name.replace(" ", "_") for joint in arm.moving]
    places = [Parameter(name, angle, "rad") for name, angle in zip(names, home)]
    rates = [Parameter(f"{name}_rate", 0.0, "rad/s") for name in names]
    shrinks = way.horizon == "shrinking"
    return Problem(
        tree=arm,
        motion=BSpline(points=12, degree=5),
        duration=Parameter("left", SECONDS, "s", lower=PERIOD) if shrinks else SECONDS,
        objective=objective(way.words, arm, goal),
        constraints=(at_start(arm, q=places, qd=rates), at_end(arm, q=goal, qd=0.0), limits(arm)),
    )


def tracked(way: Way, arm: Tree, home: Sequence[float], goal: Sequence[float]) -> Tracked:
    """Return the motion of an arm that plans its way to a goal again and again: PLANS times, or
    until a horizon that shrinks is used up."""
    plan, start = prepare(problem(way, arm, home, goal)), (home, np.zeros(arm.dof))
    plans = round(SECONDS / PERIOD) if way.horizon == "shrinking" else PLANS
    return track(plan, start, period=PERIOD, periods=plans, horizon=way.horizon)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how far from its goal an arm is by each way: when the first plan would have been there,
    and in the end."""
    program_parser("compare_horizons", __doc__).parse_args(arguments)
    rows = [("horizon", "least", "off after", "off in the end (rad)", "processor (ms)")]
    for way in WAYS:
        done = tracked(way, ur5(), HOME, GOAL)
        off = np.max(done.off["at_end.q"], axis=0)
        took = 1e3 * np.median([one.cpu_seconds for one in done.replans[1:]])
        places = np.interp(SECONDS, done.t, off), off[-1]
        first, last = (f"{each:.2g}" for each in places)
        words = (f"{SECONDS:g} s: {first}", f"{done.t[-1]:g} s: {last}", f"{took:.0f}")
        rows.append((way.horizon, way.words, *words))
    print(align_columns(rows))
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))

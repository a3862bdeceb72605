"""Two-link arm, rest to rest in minimum time, its torques bang-bang in arcs of free duration.

Xiang et al. (2009), example 1. By the maximum principle every torque is at a limit at almost any
instant (Geering et al. 1986). Each arc is a phase in which every torque keeps its sign, and across
whose ends torques may jump; that they are at their limits in between is found, not asked. The
optimum has three switches, two of the elbow's torque and one of the shoulder's between them, and so
four arcs; with three a switch lies within one of them, where a spline smears it.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Phase,
    Problem,
    Solution,
    Task,
    Views,
    at_end,
    at_start,
    continuous,
    duration,
    path,
)
from ocp.cli import main
from ocp.models.arms.two_link import two_link

FASTEST, PRINTED = 0.39185454, 0.3934  # s: by shooting on the maximum principle; example 1
SHORTEST, LONGEST = 0.002, 0.5  # s, of an arc at the limit of 10 N m; all of them take 0.39 s
JOINTS = ("shoulder", "elbow")
SIGNS = {"+": 1.0, "-": -1.0}


def problem(
    torque: float = 10.0,
    arcs: tuple[str, ...] = ("+-", "++", "-+", "--"),
    points: int = 12,
    degree: int = 7,
) -> Problem:
    """`torque`: limit at both joints (N m); `arcs`: signs of both torques in each, + or -;
    `points`: control points per joint in each; `degree`: of the splines.
    """
    arm = two_link(torque=torque)
    motion, slower = BSpline(points=points, degree=degree), sqrt(10.0 / torque)
    phases = [
        Phase(
            f"arc {k}",
            motion=motion,
            duration=(SHORTEST * slower, LONGEST * slower),
            constraints=(_signed(signs, torque),),
        )
        for k, signs in enumerate(arcs, start=1)
    ]
    return Problem(
        tree=arm,
        phases=phases,
        links=(continuous(),) * (len(phases) - 1),
        objective=duration(),
        constraints=(at_start(arm, q=(0.0, -2.0), qd=0.0), at_end(arm, q=(1.0, -1.0), qd=0.0)),
    )


def _signed(signs: str, torque: float) -> Constraint:
    """Return the constraint that torques have those signs, and are within the limit."""
    if len(signs) != 2 or set(signs) - set(SIGNS):
        raise ValueError(f"arcs: expected the signs of two torques, as +-, got {signs!r}")
    lower, upper = zip(*(sorted((0.0, SIGNS[sign] * torque)) for sign in signs))
    return path("torques", lambda at: at.tau, lower=lower, upper=upper, labels=JOINTS, units="N m")


def report(solution: Solution) -> dict[str, Any]:
    """Return the time by the maximum principle, that of the print, and ours (s), and the switches
    between arcs (s)."""
    ends = np.cumsum([*solution.durations.values()])[:-1]
    return {
        "bang_bang": {
            "optimum": FASTEST,
            "printed": PRINTED,
            "ours": solution.duration,
            "switches": ends.tolist(),
        }
    }


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["bang_bang"]
    switches = ", ".join(f"{t:.6f}" for t in entry["switches"])
    return [
        f"{'T (s)':<22}{entry['ours']:.8f}, by shooting {entry['optimum']:.8f}, "
        f"printed {entry['printed']:.4f} (Xiang et al. 2009)",
        f"{'switches (s)':<22}{switches}",
    ]


TASK = Task(problem, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)

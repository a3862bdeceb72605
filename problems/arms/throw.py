"""An arm throws a ball as far as possible and comes to rest: the release is the end of a phase.

The ball is a part of the hand in the first phase and has gone in the second. From the place (x, y)
with the velocity (u, w) it flies, without air, to the ground at y = 0

    R = x + u (w + sqrt(w^2 + 2 g y)) / g

which is most at the end of the swing. An arm of one link of length r, whose hand moves at v = r
times the limit of its rate where it lets go, flings it farthest, upward and forward, where the arm
stands at the angle of the ball's velocity to the horizontal, phi:

    A c^2 + 2 r g v^2 c = v^4 + 2 g h v^2,   A = r^2 g^2 + 2 v^2 (v^2 + g h),   c = cos phi

with h the height of the shoulder; that is where dR/d phi = 0 on the circle, the flight's time
t = (v^2 + r g c) / (g v sin phi).
"""

from collections.abc import Mapping
from math import acos, sin, sqrt
from typing import Any, Literal, TypeAlias

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Objective,
    Phase,
    Problem,
    Solution,
    Spline,
    Task,
    Transcription,
    Views,
    at_end,
    at_start,
    continuous,
    effort,
    joint_limits,
    path,
    torque_limits,
    velocity_limits,
)
from ocp.cli import main
from ocp.models.arms.thrower import GRAVITY, SHOULDER, thrower
from ocp.models.human.anthropometry import GRIP, LENGTHS
from ocp.problem import final

Style: TypeAlias = Literal["underarm", "overarm"]
LONGEST = 1.0  # s, of swing and rest: a throw without a run-up of swings [assumed]
REACH = LENGTHS["upper_arm"] + LENGTHS["forearm"] + GRIP  # m, from the shoulder to the ball
# Limits hold at nodes; beyond them in between a motion goes by the square of their distance
OFTEN = Transcription(method=Spline(nodes=8))


def problem(
    links: int = 2,
    style: Style = "underarm",
    ball: float = 0.2,
    speed: float = 20.0,
    u: float = 3e-4,
    points: int = 40,
    degree: int = 5,
) -> Problem:
    """`links`: of the arm that move, 1 to 3; `style`: whether the ball is let go below the shoulder
    or above it; `ball`: its mass (kg); `speed`: limit of the rate of every joint (rad/s); `u`:
    weight of effort beside the range (m/(N2 m2 s)); `points`: control points per joint in each
    phase; `degree`: of the splines.
    """
    arm, loaded = thrower(links, speed=speed), thrower(links, ball, speed)
    motion = BSpline(points=points, degree=degree)
    limits = joint_limits(arm), velocity_limits(arm), torque_limits(arm)
    way = 1.0 if style == "underarm" else -1.0
    styled = path(
        style,
        lambda at: way * (SHOULDER - at.position("grip")[1]),
        lower=0.0,
        when="end",
        units="m",
    )
    return Problem(
        tree=arm,
        phases=(
            Phase(
                "swing",
                tree=loaded,
                motion=motion,
                duration=(0.1, LONGEST),
                objective=farthest(),
                constraints=(at_start(arm, q=0.0, qd=0.0), limits, styled),
            ),
            Phase(
                "rest",
                motion=motion,
                duration=(0.1, LONGEST),
                constraints=(at_end(arm, qd=0.0), limits),
            ),
        ),
        links=(continuous(),),
        objective=u * effort(),
        outputs={"range (m)": lambda at: reach(at.position("grip"), at.velocity("grip"))},
    )


def farthest() -> Objective:
    """Return the negative reach of the ball, let go at the end (m)."""
    return -1 * final("range", lambda at: reach(at.position("grip"), at.velocity("grip")))


def reach(place: Any, velocity: Any) -> Any:
    """Return the reach (m) of a ball that is let go at a place (3, m) with a velocity (3, m/s)."""
    x, y, forward, up = place[0], place[1], velocity[0], velocity[1]
    return x + forward * (up + ca.sqrt(up**2 + 2 * GRAVITY * y)) / GRAVITY


def farthest_of_one(speed: float, height: float = SHOULDER, length: float = REACH) -> float:
    """Return the range (m) of an arm of one link by the closed form.

    `speed`: of its joint (rad/s), `height`: of the shoulder, `length`: to the ball (m).
    """
    g, r, v2 = GRAVITY, length, (speed * length) ** 2
    whole, half = (r * g) ** 2 + 2 * v2 * (v2 + g * height), r * g * v2
    c = (sqrt(half**2 + whole * v2 * (v2 + 2 * g * height)) - half) / whole
    angle, v = acos(c), sqrt(v2)
    place = (r * sin(angle), height - r * c)
    return float(reach(place, (v * c, v * sin(angle))))


def farthest_from(place: np.ndarray, speed: float) -> float:
    """Return the range (m) from a place (3, m) at a speed (m/s), at the best angle of all."""
    x, y = place[:2]
    return float(x + speed / GRAVITY * sqrt(speed**2 + 2 * GRAVITY * y))


def report(solution: Solution) -> dict[str, Any]:
    """Return range, release and bounds of a throw, in m, m/s and rad."""
    swing = solution.phases["swing"]
    T, limit = swing.duration, float(swing.problem.tree.moving[0].velocity[1])
    place = swing.trace(lambda at: at.position("grip"), T)
    velocity = swing.trace(lambda at: at.velocity("grip"), T)
    speed = float(np.linalg.norm(velocity))
    entry = {
        "range": float(reach(place, velocity)),
        "release": T,
        "place": place[:2].tolist(),
        "speed": speed,
        "angle": float(np.arctan2(velocity[1], velocity[0])),
        "best_angle": farthest_from(place, speed),
    }
    if solution.problem.tree.dof == 1:
        entry["closed_form"] = farthest_of_one(limit)
    return {"throw": entry}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["throw"]
    x, y = entry["place"]
    text = [
        f"{'range':<22}{entry['range']:.8f} m, let go after {entry['release']:.4f} s at "
        f"({x:.3f}, {y:.3f}) m with {entry['speed']:.4f} m/s, {np.degrees(entry['angle']):.2f} "
        "degrees up",
        f"{'bound':<22}{entry['best_angle']:.8f} m from there at that speed, at any angle",
    ]
    if "closed_form" in entry:
        text.append(f"{'closed form':<22}{entry['closed_form']:.8f} m")
    return text


TASK = Task(problem, transcription=OFTEN, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)

"""A biped of five links walks in a plane with the least squared torques (Kelly 2017).

One step from heel strike to heel strike, which the other leg repeats. Nothing drives its point
feet; at the strike velocities jump by an impulse at the new stance foot, as Westervelt, Grizzle &
Koditschek (2003) have it.
"""

from math import cos, radians, sin
from typing import Any

import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Guess,
    Phase,
    Problem,
    Published,
    Solution,
    Solver,
    Task,
    Transcription,
    effort,
    impact,
    joint_limits,
    path,
    point_contact,
    solve,
    torque_limits,
    unilateral,
)
from ocp.cli import main
from ocp.mechanics import Tree, Visual, position
from ocp.models.walkers.five_link import five_link
from ocp.problem import INSIDE, mirror_symmetry, off_edges

EXCHANGED = (0, 1, 2, 5, 6, 3, 4)  # x, y, torso; left hip and knee, right ones
DRIVEN = ("left hip", "left knee", "right hip", "right knee")


def problem(
    step: float = 0.5,
    duration: float = 0.7,
    slope: float = 0.0,
    stair: float = 0.0,
    clearance: float = 0.0,
    torque: float = 100.0,
    extension: float = 0.0,
    points: int = 60,
    degree: int = 5,
) -> Problem:
    """`step`: way from foot to foot, along the slope (m); `duration`: of the step (s); `slope`: of
    the ground, up (deg); `stair`: how much higher every step stands (m); `clearance`: how far
    the swinging foot passes the stance foot above the line from foot to foot, at least, and less
    before and after along a parabola (m); `torque`: limit at hips and knees (N m); `extension`: how
    far knees bend forward (rad); `points`: control points per joint; `degree`: of the spline.
    """
    biped, lean = five_link(torque=torque, extension=extension), radians(slope)
    up = (-sin(lean), cos(lean), 0.0)
    way = {"x": step * cos(lean), "y": step * sin(lean) + stair}
    ground = Ground(feet=(point_contact(biped, "left foot", normal=up),), normal=up)
    legs = mirror_symmetry(biped, EXCHANGED, (1.0,) * 7, shift=way, qdd=False)
    phase = Phase(
        "step",
        motion=BSpline(points=points, degree=degree),
        duration=duration,
        ground=ground,
        constraints=(
            unilateral(biped, ground),
            swing("right foot", way["x"], way["y"], clearance),
            *off_stairs("right foot", step, stair),
        ),
    )
    return Problem(
        tree=biped,
        phases=(phase,),
        links=(impact("right foot", normal=up, symmetry=legs),),
        objective=effort(biped, DRIVEN),
        constraints=(joint_limits(biped), torque_limits(biped)),
        scenery=[_tread(k, step, stair) for k in (-1, 0, 1)] if stair else (),
    )


def _tread(k: int, step: float, stair: float) -> Visual:
    """Return a step of the stair as it is drawn, under the k-th foothold."""
    deep, pose = abs(stair), np.eye(4)
    pose[:2, 3] = k * step, k * stair - deep / 2
    return Visual(kind="box", size=(step, deep, step), pose=pose)


def swing(point: str, run: float, rise: float, clearance: float) -> Constraint:
    """Keep a foot above the parabola through its places of lift-off and strike, (-run, -rise) and
    (run, rise), that passes the origin `clearance` (m) above it."""

    def room(at: Any) -> Any:
        place = at.position(point)
        x, y = place[0], place[1]
        return y - rise / run * x - clearance * (1 - (x / run) ** 2)

    return path("swing", room, lower=0.0, when=INSIDE, labels=(point,), units="m")


def off_stairs(point: str, run: float, rise: float) -> tuple[Constraint, ...]:
    """Keep a foot off the edges of stairs, `run` deep and `rise` high (m), in the middle of which
    feet stand; nothing on level ground."""
    if not rise:
        return ()
    edges = ((-run / 2, max(0.0, -rise), 0.0), (run / 2, max(0.0, rise), 0.0))
    way = (1.0 if rise > 0 else -1.0, 0.0, 0.0)
    return (off_edges("edges", edges, [point], up=(0.0, 1.0, 0.0), ahead=way, when=INSIDE),)


FIRST = (-0.3, 0.7, 0.0, -0.5, -0.6)  # rad: Kelly's first guess, links' leans as they start a step


def walk(
    statement: Problem,
    transcription: Transcription = Transcription(),
    solver: Solver = Solver(),
    *,
    guess: Any = None,
    **settings: Any,
) -> Solution:
    """Solve from the step that Kelly starts from, unless there is a guess; `settings` are those of
    `solve`."""
    if guess is None:
        ways = np.linspace(FIRST, FIRST[::-1], 9)
        guess = {"step": Guess(q=np.array([_posture(statement.tree, lean) for lean in ways]).T)}
    return solve(statement, transcription, solver, guess=guess, **settings)


def _posture(biped: Tree, leans: np.ndarray) -> np.ndarray:
    """Return q (7,) of the leans (5,; rad) of stance shank and thigh, torso, swinging thigh and
    shank, with the stance foot at the origin."""
    shank, thigh, torso, other_thigh, other_shank = leans
    left, right = (thigh - torso, shank - thigh), (other_thigh - torso, other_shank - other_thigh)
    q = np.array([0.0, 0.0, torso, *left, *right])
    q[:2] = -np.array(position(biped, q, "left foot")).ravel()[:2]
    return q


PUBLISHED = (
    Published(
        quantity="J (N2 m2 s)",
        value=302.25469438,
        source="Kelly, OptimTraj, fiveLinkBiped: log of GPOPS-II with SNOPT",
        ours=lambda solution: solution.objective,
        arguments={"step": 0.4, "duration": 0.6, "extension": 1.0},
        remark="its step of 0.4 m in 0.6 s, when knees had no limits",
    ),
)

TASK = Task(problem, method=walk, published=PUBLISHED)

if __name__ == "__main__":
    main(TASK)

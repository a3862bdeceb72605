"""A human jumps as high as it can: crouch, push, flight and landing, in a plane.

It stands, its feet flat; pushes off, at last with the balls of the feet; flies; lands on whole feet
and comes to rest where it stood. The schedule is the order of these phases: their durations are
found. From where the feet leave with the velocity v the centre of mass rises by v^2 / 2 g: what is
highest is its place there, by which the jump is judged before it flies. A flight that ends as high
as it began lasts t and rises by g t^2 / 8.
"""

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Ground,
    Phase,
    Problem,
    Solution,
    Task,
    Tree,
    Views,
    at_end,
    at_start,
    continuous,
    effort,
    friction,
    impact,
    joint_limits,
    line_contact,
    path,
    point_contact,
    pressure_inside,
    smoothness,
    torque_limits,
    torque_rate,
    unilateral,
    velocity_limits,
)
from ocp.cli import main
from ocp.mechanics import center_of_mass, momentum
from ocp.models.human.anthropometry import BALL, HIPS
from ocp.models.walkers.five_link import GRAVITY
from ocp.models.walkers.jumper import HEEL, jumper
from ocp.motion import Basis, Mesh
from ocp.problem import Span, final

CURVATURE = 0.25  # k of Hill's hyperbola (Hill 1938)
UP = (0.0, 1.0, 0.0)
STANDING = {
    "x": 0.0,
    "y": HIPS,
    "torso": 0.0,
    "hip": 0.0,
    "knee": 0.0,
    "ankle": 0.0,
    "shoulder": 0.0,
}
# How long phases may last (s) [assumed], and how many times the control points those have that are
# on splines
SPANS = {"push": (0.3, 1.2), "toes": (0.05, 0.3), "flight": (0.2, 1.0), "stand": (0.3, 1.5)}
FINER = {"push": 1.0, "toes": 1.5, "stand": 0.9}
STAGES = 5  # of the flight's mesh: torques change fast after take-off
SAMPLES = 2001  # instants of the flight among which the highest is looked for


def problem(
    speed: float = 20.0,
    grip: float = 0.8,
    u: float = 1e-6,
    steady: float = 2e-8,
    landing: float = 1e-5,
    smooth: float = 1e-4,
    still: bool = False,
    points: int = 16,
    degree: int = 5,
    intervals: int = 15,
) -> Problem:
    """`speed`: limit of the joints' rates, at which their torques fade away (rad/s); `grip`:
    coefficient of friction; `u`: weight of effort beside the height (m/(N2 m2 s)); `steady`: that
    of squared torque rates until the feet leave (m s/(N2 m2)), u T^2 of torques that follow what
    excites them by a lag T; 0 of torques that may jump; `landing`: what is added once they have
    left; `smooth`: weight of squared accelerations then (m/s); `still`: arms hang beside the
    trunk and do not swing; `points`: control points per joint of the push, others on splines in
    proportion; `degree`: of these; `intervals`: of the flight, whose law holds all along on a mesh
    of Radau's alone.
    """
    body = jumper(speed, arms=not still)
    flat = Ground(feet=(line_contact(body, ("heel", "ball"), at=(HEEL, 0.0, 0.0)),), normal=UP)
    toes = Ground(feet=(point_contact(body, "ball", at=(BALL[0], 0.0, 0.0)),), normal=UP)
    joints = [joint.name for joint in body.moving if joint.actuated]
    upright = {joint.name: STANDING[joint.name] for joint in body.moving}
    gentle = landing * effort() + smooth * smoothness(body, joints)
    stated: dict[str, dict[str, Any]] = {
        "push": {"ground": flat},
        "toes": {"ground": toes, "objective": -1 * final("height", apex)},
        "flight": {"objective": gentle},
        "stand": {"ground": flat, "objective": gentle},
    }
    asked: dict[str, tuple[Any, ...]] = {
        "push": (standing(body, flat, grip),),
        "toes": (standing(body, toes, grip), raised("heel")),
        "flight": (raised("heel", "ball"),),
        "stand": (standing(body, flat, grip),),
    }
    if steady:
        rates = steady * torque_rate(body, joints)
        stated["push"]["objective"] = rates
        stated["toes"]["objective"] += rates
    motions: dict[str, Basis] = {
        name: BSpline(points=round(share * points), degree=degree) for name, share in FINER.items()
    }
    motions["flight"] = Mesh(method="radau", intervals=intervals, order=STAGES)
    return Problem(
        tree=body,
        phases=[
            Phase(
                name,
                motion=motions[name],
                duration=SPANS[name],
                **each,
                constraints=(*asked[name], fading(body, speed, between=int(name != "flight"))),
            )
            for name, each in stated.items()
        ],
        links=(continuous(), continuous(), impact("ball", "heel", normal=UP, friction=grip)),
        objective=u * effort(),
        constraints=(
            at_start(body, q=upright, qd=0.0),
            at_end(body, q=upright, qd=0.0),
            joint_limits(body),
            velocity_limits(body),
            torque_limits(body),
        ),
    )


def standing(body: Tree, ground: Ground, grip: float) -> tuple[Any, ...]:
    """Return the constraints of a foot on the ground: it pushes, does not slip, and is pressed
    within."""
    return (
        unilateral(body, ground),
        friction(body, ground, coefficient=grip),
        pressure_inside(body, ground),
    )


def fading(body: Tree, speed: float, between: int) -> Constraint:
    """Let torques fall with the rate w at which muscle shortens, to none at a speed w0 (rad/s), at
    nodes and as many instants `between` each two.

    tau (1 + w / (k w0)) <= tau0 (1 - w / w0), to both sides of a joint (Hill 1938, his hyperbola)
    """
    rows = [row for row, joint in enumerate(body.moving) if joint.actuated]
    lower, upper = np.array([body.moving[row].torque for row in rows]).T

    def share(at: Any) -> Any:
        torque, rate = at.tau[rows], at.qd[rows] / speed
        ahead = torque / upper * (1 + rate / CURVATURE) + rate
        return ca.vertcat(ahead, torque / lower * (1 - rate / CURVATURE) - rate)

    names = [body.moving[row].name for row in rows]
    labels = [f"{name}, {way}" for way in ("forward", "back") for name in names]
    when = Span(start=0.0, end=1.0, between=between)
    return path("fading", share, upper=1.0, labels=labels, when=when)


def raised(*names: str) -> Constraint:
    """Keep named points above the ground."""
    return path(
        "raised",
        lambda at: ca.vertcat(*(at.position(name)[1] for name in names)),
        lower=0.0,
        labels=names,
        units="m",
    )


def rise(at: Any) -> Any:
    """Return the upward speed (m/s) of the centre of mass."""
    return momentum(at.tree, at.q, at.qd)[1][1] / sum(link.mass for link in at.tree.links)


def height(at: Any) -> Any:
    """Return the height (m) of the centre of mass."""
    return center_of_mass(at.tree, at.q)[1]


def apex(at: Any) -> Any:
    """Return the rise (m) of the centre of mass in a flight that begins now."""
    return height(at) + rise(at) ** 2 / (2 * GRAVITY)


def report(solution: Solution) -> dict[str, Any]:
    """Return the jump's height above standing, by take-off, flight and its time (m)."""
    push, toes, flight, _ = solution.phases.values()
    stands, leaves = float(push.trace(height, 0.0)[0]), float(flight.trace(height, 0.0)[0])
    highest = float(toes.trace(apex, toes.duration)[0])
    return {
        "jump": {
            "height": highest - stands,
            "take_off": float(flight.trace(rise, 0.0)[0]),
            "raised": leaves - stands,
            "rises": highest - leaves,
            "flown": float(flight.trace(height, flight.times(SAMPLES)).max()) - leaves,
            "crouches": stands - float(push.trace(height, push.times(SAMPLES)).min()),
            "time": flight.duration,
            "by_time": GRAVITY * flight.duration**2 / 8,
            "lower": leaves - float(flight.trace(height, flight.duration)[0]),
        }
    }


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["jump"]
    return [
        f"{'jump':<22}{entry['height']:.4f} m above standing, from a crouch of "
        f"{entry['crouches']:.3f} m; leaves {entry['raised']:.4f} m above standing with "
        f"{entry['take_off']:.4f} m/s",
        f"{'flight':<22}v^2 / 2 g = {entry['rises']:.6f} m, flown {entry['flown']:.6f} m; "
        f"{entry['time']:.4f} s, landing {entry['lower']:.3f} m lower, g t^2 / 8 = "
        f"{entry['by_time']:.4f} m",
    ]


TASK = Task(problem, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)

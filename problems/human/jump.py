"""A human jumps as high as it can: crouch, push, and flight until the toes touch again.

The human of 55 joints begins upright at rest, its feet flat; pushes off, at last with ball and
toes; flies; and touches with them where it left. How long these phases last is found. From where
the feet leave with the velocity v the centre of mass rises by v^2 / 2 g: what is highest is its
place there, by which the jump is judged before it flies. Beside the height counts what people spare
(`human_cost`), but that trunks are upright and momentum is small, which is known of walking alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Constraint,
    Guess,
    Phase,
    Problem,
    Solution,
    Solver,
    Task,
    Transcription,
    Tree,
    Views,
    at_start,
    continuous,
    friction,
    joint_limits,
    path,
    pressure_inside,
    torque_limits,
    unilateral,
)
from ocp.cli import main
from ocp.mechanics import array, center_of_mass, momentum, positions, positive
from ocp.models.human import NAMES, TOUCHING, Person, mirror, somebody
from ocp.problem import Ground, Span, final, foot_contact, no_penetration
from ocp.problems.gait.statement.objective_terms import STANDING, human_cost, isometric_strength
from ocp.problems.human.sit_to_stand import seated
from ocp.problems.lifting.statement.standing_body import (
    STILL,
    follows,
    lifter,
    right_half,
    sides_alike,
)
from ocp.problems.running.contact_schedule import stance, swinging
from ocp.problems.running.solve import by_smoother_motions, without_multipliers
from ocp.problems.running.statement import ROOT
from ocp.transcription import with_dependent_curves

CURVATURE = 0.25  # k of Hill's hyperbola (Hill 1938)
APART = 0.2  # m: between the feet, as lifts have it
CLOSE = 0.0005, 0.005  # m, m/s: how feet stand
STIFF = "wri_", "elb_pron", "shou_abd", "shou_rot"  # arms swing ahead and back [assumed]
ARMS = ("shou_", "elb_")
UPRIGHT = ("glob_r", "hip_flex", "knee", "spine", "shou_flex", "elb_flex")  # at the start
# As feet touch, at most (rad) [assumed]
LANDING = {"glob_rx": 0.2, "hip_flex_r": 0.5, "knee_flex_r": 0.5}
# How long phases may last (s) [assumed], and shares of control points
SPANS = {"push": (0.3, 1.2), "toes": (0.05, 0.3), "flight": (0.25, 1.0)}
FINER = {"push": 1.2, "toes": 1.5, "flight": 1.5}
# Of the first guess: a crouch by so much (m), trunk and shanks that lean ahead (rad), how long
# phases last (s), heels raised (rad) with the hips above standing (m), and in flight
CROUCH, LEAN, SHANK = 0.3, 0.6, 0.44
AT_FIRST = {"push": 0.8, "toes": 0.15, "flight": 0.44}
RAISED, LEAVING, HIGHEST = 0.6, 0.1, 0.35
SMOOTHER = 2.0, 1.0  # times the smoothness at first: 40 times lead to a hop without a crouch
WAYPOINTS = 17  # of it, in each phase
SAMPLES = 2001  # instants of the flight among which the highest is looked for


def problem(
    effort: float = 0.02,
    speed: float = 20.0,
    grip: float = 0.8,
    still: bool = False,
    points: int = 13,
    degree: int = 5,
    person: str = "",
) -> Problem:
    """`effort`: weight of what people spare beside the height (m); `speed`: of joints, at which
    their torques have faded away (rad/s); `grip`: coefficient of friction; `still`: arms hang and
    do not swing; `points`: control points per joint, of phases in proportion; `degree`: of the
    splines; `person`: f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75 kg."""
    who = somebody(Person(person))
    stiff = (*STIFF, *(ARMS if still else ()))
    fixed = {*STILL, *(name for name in NAMES if name.startswith(stiff))}
    fixed = {name for name in fixed if not name.startswith("toe")}
    body = lifter(who, mirrors=True, passive=True, still=sorted(fixed))
    limits, free = unbounded(right_half(body)), [j.name for j in body.moving if not follows(j.name)]
    grounds = {
        "push": stance(body, "flat", APART, first=False, last=False, both=True),
        "toes": stance(body, "toes", APART, first=False, last=True, both=True),
    }
    alike = sides_alike(body, *(each.tolist() for each in mirror(body)))
    rules: dict[str, tuple[Any, ...]] = {
        name: (*_standing(body, ground, grip), *alike) for name, ground in grounds.items()
    }
    rules["flight"] = (
        *no_penetration(swinging("right"), {"right": TOUCHING["right"]}),
        alike[0],
        landing(body, grounds["toes"]),
    )
    fades = fading(body, positive("speed", speed))
    stated = Problem(
        tree=body,
        phases=[
            Phase(
                name,
                motion=BSpline(points=max(degree + 1, round(share * points)), degree=degree),
                duration=SPANS[name],
                ground=grounds.get(name),
                constraints=(*rules[name], fades),
                objective=-1 * final("height", apex) if name == "toes" else None,
            )
            for name, share in FINER.items()
        ],
        links=(continuous("q", "qd", "qdd"),) * 2,
        objective=positive("effort", effort) * human_cost(body, who, STANDING),
        constraints=(
            at_start(
                body,
                q={name: 0.0 for name in free if name.startswith(UPRIGHT)},
                qd=dict.fromkeys(free, 0.0),
            ),
            joint_limits(limits, hull=True),
            torque_limits(limits),
        ),
    )
    return with_dependent_curves(stated, ROOT * stated.phases[-1].motion.segments)


def unbounded(body: Tree) -> Tree:
    """Return the body without limits of its place: those of walks are too low for a flight."""
    free = (-np.inf, np.inf)
    joints = (
        replace(each, position=free) if each.name.startswith("glob_t") else each
        for each in body.joints
    )
    return replace(body, joints=list(joints))


def _standing(body: Tree, ground: Ground, grip: float) -> tuple[Any, ...]:
    """Return the constraints of the right foot on the ground, whose image is the left one: it
    stands closely, pushes, does not slip, and is pressed within."""
    asked = Ground(feet=(ground.foot("right"),), normal=ground.normal, sharing=ground.sharing)
    position, velocity = CLOSE
    return (
        *foot_contact(asked, position=position, velocity=velocity),
        *no_penetration(asked, {"right": TOUCHING["right"]}),
        pressure_inside(body, asked),
        unilateral(body, asked),
        friction(body, asked, coefficient=grip),
    )


def landing(body: Tree, ground: Ground) -> Constraint:
    """Return the requirement that a flight ends where the ball of the foot touches the ground as it
    left it, legs and trunk nearly straight, as those are told to whose flight is timed."""
    pin = ground.foot("right").supports[0].pins[0]
    most = np.array(list(LANDING.values()))
    rows = [body.coordinate(name) for name in LANDING]
    return path(
        "landing",
        lambda at: ca.vertcat(at.position(pin.point)[1:], at.q[rows]),
        lower=(*pin.target[1:], *-most),
        upper=(*pin.target[1:], *most),
        when="end",
        labels=("height", "place", *LANDING),
        units=("m", "m", *["rad"] * len(LANDING)),
    )


def fading(body: Tree, speed: float) -> Constraint:
    """Let torques of the right side and the middle fall with the rate w at which muscle shortens,
    to none at a speed w0 (rad/s), at nodes and between each two.

    tau (1 + w / (k w0)) <= tau0(q) (1 - w / w0), to both sides of a joint (Hill 1938, his
    hyperbola), tau0 its isometric strength at the angle
    """
    driven = [joint.name for joint in body.moving if joint.actuated and not follows(joint.name)]
    both = [
        (body.coordinate(name), way, isometric_strength(body, name, way))
        for name in driven
        for way in (1, -1)
    ]

    def share(at: Any) -> Any:
        rows = []
        for row, way, able in both:
            rate = way * at.qd[row] / speed
            rows.append(way * at.tau[row] / able(at.q[row]) * (1 + rate / CURVATURE) + rate)
        return ca.vertcat(*rows)

    labels = [f"{name}, {way}" for name in driven for way in ("upwards", "downwards")]
    when = Span(start=0.0, end=1.0, between=1)
    return path("fading", share, upper=1.0, labels=labels, when=when)


def rise(at: Any) -> Any:
    """Return the upward speed (m/s) of the centre of mass."""
    return momentum(at.tree, at.q, at.qd)[1][1] / sum(link.mass for link in at.tree.links)


def height(at: Any) -> Any:
    """Return the height (m) of the centre of mass."""
    return center_of_mass(at.tree, at.q)[1]


def apex(at: Any) -> Any:
    """Return the height (m) of the centre of mass at the top of a flight that begins now."""
    return height(at) - rise(at) ** 2 / (2 * at.tree.gravity[1])


def leap(
    problem: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Any = None,
    watch: Callable[..., Any] | None = None,
    **settings: Any,
) -> Solution:
    """Solve a jump from straight ways between standing, a crouch, raised heels and the top, by way
    of smoother jumps, or from a guess."""
    start = straight(problem.tree)
    way: dict[str, Any] = {"times": SMOOTHER, "onward": without_multipliers}
    given: dict[str, Any] = {"guess": guess, "watch": watch, **settings}
    return by_smoother_motions(problem, transcription, solver, start, **way, **given)


def straight(tree: Tree) -> dict[str, Guess]:
    """Return a guess of each phase: straight ways between postures."""
    (hip,) = positions(tree, np.zeros(tree.dof), ["hip_r"])
    low = float(np.array(array(hip), dtype=float).ravel()[1]) - CROUCH
    crouched = seated(tree, low, SHANK) | {"glob_rx": LEAN}
    raised = {"glob_ty": LEAVING}
    for side in "rl":
        crouched[f"hip_flex_{side}"] += LEAN
        raised[f"ankle_df_{side}"] = -RAISED
    names = [joint.name for joint in tree.moving]
    stands, crouch, leaves, top = (
        np.array([posture.get(name, 0.0) for name in names])
        for posture in ({}, crouched, raised, raised | {"glob_ty": HIGHEST})
    )
    pushes = 0.4 * crouch  # on the way up
    ways = {"push": (stands, crouch, pushes), "toes": (pushes, leaves)}
    ways["flight"] = (leaves, top, leaves)
    t = np.linspace(0.0, 1.0, WAYPOINTS)
    return {
        name: Guess(
            q=np.array(
                [np.interp(t, np.linspace(0, 1, len(way)), row) for row in np.transpose(way)]
            ),
            duration=AT_FIRST[name],
        )
        for name, way in ways.items()
    }


def report(solution: Solution) -> dict[str, Any]:
    """Return the jump's height above standing, by take-off, flight and its time (m)."""
    push, toes, flight = solution.phases.values()
    stands, leaves = float(push.trace(height, 0.0)[0]), float(flight.trace(height, 0.0)[0])
    highest = float(toes.trace(apex, toes.duration)[0])
    gravity = -solution.problem.tree.gravity[1]
    return {
        "jump": {
            "height": highest - stands,
            "take_off": float(flight.trace(rise, 0.0)[0]),
            "raised": leaves - stands,
            "rises": highest - leaves,
            "flown": float(flight.trace(height, flight.times(SAMPLES)).max()) - leaves,
            "crouches": stands - float(push.trace(height, push.times(SAMPLES)).min()),
            "time": flight.duration,
            "by_time": gravity * flight.duration**2 / 8,
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


TASK = Task(problem, method=leap, views=Views(report=report, lines=lines))

if __name__ == "__main__":
    main(TASK)

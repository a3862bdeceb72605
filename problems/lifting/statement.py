"""A box lifted from the floor, predicted for a human of 55 joints from effort and stability.

Both feet stand still, the hands hold the box level, each carries half of it as a point mass (Xiang,
Arora & Abdel-Malek 2010). `--pareto` sweeps the weights of the two objectives; `--maximum` makes
the mass of the box a free parameter and asks for the heaviest one.

Joints have passive tissue and strength over the angle; the shares of both that a lift takes are its
effort (`exertion`). Without these (`passive=False`), and for the heaviest box, effort is that of
torques over constant limits, and ranges are narrower.

Beside measured lifts, with 9 kg: L5/S1 is extended by up to 223 N m here; men and women lifting 10
kg by peaks of about 200 N m (an error of 20 N m being 10 % of them: Faber et al. 2020). The lumbar
joints bend by 47 deg and the knees by 62 deg; those of handlers by 54 (SD 11) and about 72 (30)
deg, of novices by 66 (15) and 53 (33) deg (Plamondon et al. 2010). The back is bent by 95 % of its
range when its moment is largest, measured ones by 78-97 % (Dolan, Mannion & Adams 1994). L5/S1 is
sheared by 552 N without the muscles' forces, which make that 1100-1400 N with 10.5 kg (Kingma et
al. 2004).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from ocp.models.human import BOX_SPHERES, STATURE, carry, mirror, somebody
from ocp.problems.lifting.exertion import exertion
from ocp.problems.lifting.hold import Box, Spot, corners, one_hand, placed, two_hands
from ocp.problems.lifting.niosh import COUPLINGS, Work
from ocp.problems.lifting.stance import (
    follows,
    lifter,
    right_half,
    sides_alike,
    stability,
    stance,
    started,
)

from ocp import (
    BSpline,
    Constraint,
    Objective,
    Parameter,
    Problem,
    Tree,
    at_end,
    at_start,
    dynamic_effort,
    joint_limits,
    smoothness,
    torque_limits,
)
from ocp.mechanics import Open, positions, reference
from ocp.problem import (
    Ground,
    final,
    foot_contact,
    friction,
    off_box,
    pressure_inside,
    unilateral,
    zmp_inside,
)

FAINT = 0.01  # weight of effort that makes the most stable lift a single one, likewise the heaviest
KILOGRAMS = 10.0  # of the box, that count as 1


def problem(
    box: float | Open = 9.0,
    depth: float = 0.37,
    height: float = 0.365,
    width: float = 0.40,
    start_height: float | Open = 0.365,
    start_ahead: float | Open = 0.49,
    end_height: float | Open = 1.37,
    end_ahead: float | Open = 0.46,
    time: float | Open = 1.2,
    weight: float = 1.0,
    symmetric: bool = True,
    turn: float = 0.0,
    maximum: bool = False,
    points: int | None = None,
    person: str = "",
    stature: float | Open | None = None,
    mass: float | Open | None = None,
    sex: str | None = None,
    segments: str = "",
    feet: float | Open = 0.20,
    balance: str = "pressure",
    smooth: float | Open = 0.0025,
    still: bool = True,
    contact: float = 0.002,
    slip: float = 0.02,
    rate: float = 0.2,
    hours: float = 1.0,
    coupling: str = "poor",
    passive: bool | None = None,
    style: str = "",
) -> Problem:
    """`box`: its mass (kg), to begin with where `maximum` seeks it; `depth`: of the box, fore and
    aft (m); `height`: of the box (m); `width`: of the box, between the hands at the upper edge of
    its sides (m); `start_height`: of the hands at the start (m); `start_ahead`: of the hands before
    the ankles at the start (m); `end_height`: and at the end (m); `end_ahead`: likewise (m);
    `time`: of the lift (s); `weight`: of effort against stability, 1 is effort alone; `symmetric`:
    mirror the left side from the right; `turn`: by which the box ends to the left, about the middle
    of the ankles (deg), which frees the sides; `maximum`: find the heaviest box instead; `points`:
    control points per joint, by default 9, and 11 for the heaviest box, whose torques lean on their
    limits; `person`: of a percentile, f5, f50, f95, m5, m50 or m95, or else a man of 1.75 m and 75
    kg; `stature`: in place of that person's (m); `mass`: likewise (kg); `sex`: likewise, male or
    female; `segments`: the person's own, as thigh.length=0.45,shank.mass=3.4, of limbs also com and
    radii (a/b/c); `feet`: distance between the ankles (m); `balance`: pressure, of each foot in its
    polygon, or zmp, of both together in the hull; `smooth`: weight of accelerations beside effort;
    `still`: start and end without accelerations too; `contact`: tolerance of the place of feet and
    hands (m); `slip`: and of the feet's velocity (m/s); `rate`: of such lifts a minute, for what is
    reported beside it; `hours`: up to which that goes on, 1, 2 or 8 (h); `coupling`: of hands and
    box, good, fair or poor, as by table 6 of its manual that of a box higher than 0.30 m is;
    `passive`: joints have tissue and strength over the angle, by which effort counts, by default
    but for the heaviest box; without, narrower ranges; `style`: squat, with knees bent by 90 deg at
    least at the start, or stoop, by 20 at most, or what is best."""
    sought = Parameter("box_mass", box, "kg", lower=0.0, free=True) if maximum else box
    crate = Box(mass=sought, depth=depth, height=height, width=width)
    start = Spot(high=start_height, ahead=start_ahead)
    end = Spot(high=end_height, ahead=end_ahead, angle=np.radians(turn))
    who = somebody(person, stature, mass, sex, segments)
    work = Work(rate=rate, hours=hours, coupling=coupling)
    _check_numbers(*reference((crate, {"time": time, "feet": feet}, weight)))
    tissue = not maximum if passive is None else passive
    scene = _scene(who, (crate, start, end), symmetric and not turn, feet, tissue)
    return Problem(
        tree=scene.body,
        motion=BSpline(points=(11 if maximum else 9) if points is None else points),
        duration=time,
        objective=(1 / time) * _goal(scene, weight, smooth, maximum),
        ground=scene.feet,
        constraints=(
            *_constraints(scene, balance, still, contact, slip),
            *started(scene.limited, style),
        ),
        outputs={
            "box": lambda at: corners(at, crate),
            "box_mass": lambda at: ca.SX(crate.mass),
            "work": lambda at: ca.SX([work.rate, work.hours, list(COUPLINGS).index(coupling)]),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a lift is stated of.

    The `body` with half of the box in each hand; the body whose limits are asked, `limited`, and
    the feet that are asked to stand, `asked`, in a symmetric lift those of one side; the ground of
    both `feet`; the `box`, where it starts and ends; the mirror image (index, sign) of the body,
    None where nothing mirrors; and the `radii` (m) of the spheres kept off the box.
    """

    body: Tree
    limited: Tree
    asked: Ground
    feet: Ground
    box: Box
    start: Spot
    end: Spot
    image: tuple[Any, Any] | None
    radii: Mapping[str, Any]


def _scene(
    who: dict[str, Any],
    lift: tuple[Box, Spot, Spot],
    mirrors: bool,
    apart: float | Open,
    passive: bool,
) -> Scene:
    """Return the Scene of a person {stature, mass, ..} and a lift, ankles `apart` (m).

    The `lift` is the box, and where it starts and ends; `passive` as in `lifter`.
    """
    box, start, end = lift
    person, size = lifter(who, mirrors, passive), who["stature"] / STATURE
    _check_reach(*reference((person, box, start, end, BOX_SPHERES["toe_r"] * size)))
    feet = stance(person, apart)
    body = carry(carry(person, "grip_r", box.mass / 2), "grip_l", box.mass / 2)
    return Scene(
        body=body,
        limited=right_half(body) if mirrors else body,
        asked=replace(feet, feet=feet.feet[:1]) if mirrors else feet,
        feet=feet,
        box=box,
        start=start,
        end=end,
        image=mirror(person) if mirrors else None,
        radii={
            name: radius * size
            for name, radius in BOX_SPHERES.items()
            if not (mirrors and name.endswith("_l"))
        },
    )


def _goal(scene: Scene, weight: float, smooth: float | Open, maximum: bool) -> Objective:
    """Return effort against stability, or the mass of the box (kg) and a little of effort."""
    effort = exertion(scene.body) if scene.body.elements else dynamic_effort(scene.body)
    gentle = smooth * smoothness(scene.body)
    if maximum:
        mass = final("mass", lambda at: -ca.SX(scene.box.mass))
        return (1 / KILOGRAMS) * mass + FAINT * (effort + gentle)
    return weight * effort + (1 - weight) * stability(scene.feet) + gentle


def _constraints(
    scene: Scene, balance: str, still: bool, contact: float, slip: float
) -> tuple[Any, ...]:
    """Return all that is asked of the motion, of feet and body, and of hands and box."""
    return (
        _motion(scene, still),
        _standing(scene, balance, contact, slip),
        _holding(scene, contact),
    )


def _motion(scene: Scene, still: bool) -> tuple[Any, ...]:
    """Return limits, and rest at both ends, with `still` of accelerations too."""
    rest = {
        joint.name: 0.0
        for joint in scene.limited.moving
        if not (scene.image and follows(joint.name))
    }
    return (
        joint_limits(scene.limited, hull=True),
        torque_limits(scene.limited),
        [end(scene.body, qd=rest, qdd=rest if still else None) for end in (at_start, at_end)],
    )


def _standing(scene: Scene, balance: str, contact: float, slip: float) -> tuple[Any, ...]:
    """Return what keeps the feet in place and the body on them."""
    body = scene.body
    known: dict[str, Callable[[], tuple[Constraint, ...]]] = {
        "pressure": lambda: pressure_inside(body, scene.asked),
        "zmp": lambda: zmp_inside(body, scene.feet),
    }
    if balance not in known:
        raise ValueError(f"balance: expected one of {', '.join(known)}, got {balance!r}")
    return (
        foot_contact(scene.asked, position=contact, velocity=slip),
        known[balance](),
        unilateral(body, scene.asked),
        friction(body, scene.asked),
        sides_alike(body, *scene.image) if scene.image else (),
    )


def _holding(scene: Scene, slack: float) -> tuple[Any, ...]:
    """Return what keeps the hands at the box and the body off it."""
    box = scene.box
    hold = one_hand if scene.image else two_hands
    return (
        hold(scene.body, box, scene.start, scene.end, slack),
        off_box(
            "avoidance",
            lambda at: placed(at, box.height),
            (box.height / 2, box.depth / 2),
            scene.radii,
        ),
    )


def _check_numbers(box: Box, others: Mapping[str, float], weight: float) -> None:
    """Raise ValueError for a size or time that is not positive, or a weight outside [0, 1]."""
    sizes = {"box": box.mass, "depth": box.depth, "height": box.height, "width": box.width}
    for what, value in (sizes | dict(others)).items():
        if not (np.isfinite(value) and value > 0):
            raise ValueError(f"{what}: expected a positive number, got {value}")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight: expected a number from 0 to 1, got {weight}")


def _check_reach(body: Tree, box: Box, start: Spot, end: Spot, radius: float) -> None:
    """Raise ValueError for a lift that nobody can do whatever the effort.

    `radius` (m) is that of the toes.
    """
    names = [f"{name}_r" for name in ("shoulder", "grip", "hip", "toe", "ankle")]
    shoulder, grip, hip, toe, ankle = (
        np.array(place).ravel() for place in positions(body, np.zeros(body.dof), names)
    )
    arm, trunk = np.linalg.norm(grip - shoulder), shoulder[1] - hip[1]
    least = toe[2] - ankle[2] + radius + box.depth / 2
    for when, spot in (("start", start), ("end", end)):
        if not 0 < spot.high < shoulder[1] + arm:
            raise ValueError(
                f"{when}_height: {spot.high:g} m is out of reach: "
                f"expected between the floor and {shoulder[1] + arm:.2f} m"
            )
        if not 0 < spot.ahead < arm + trunk:
            raise ValueError(
                f"{when}_ahead: {spot.ahead:g} m is out of reach: "
                f"expected between 0 and {arm + trunk:.2f} m"
            )
        if spot.high - box.height < radius and spot.ahead < least:
            raise ValueError(
                f"{when}_ahead: at {spot.ahead:g} m the box would stand on the toes: "
                f"expected at least {least:.3f} m"
            )

"""Body of a lift within its ranges, on both feet, its sides alike."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ocp import Constraint, Instant, Objective, Tree, path, squares
from ocp.mechanics import Open, Wrench, array, body_weight, matrix, nominal, positions
from ocp.models.human import FEET, MASS, NAMES, SOLES, STATURE, human
from ocp.models.human.strength.tissue import holding_ends
from ocp.problem import Foot, Ground, Pin, Support, in_force, zero_moment_point
from ocp.problems.lifting.statement.box_hold import UP

# Frozen [assumed]: clavicles, neck, head and toes, and where both sides mirror, the spine sideways
STILL = tuple(name for name in NAMES if name.startswith(("clav", "neck", "head", "toe")))
SIDEWAYS = tuple(name for name in NAMES if name.startswith("spine") and not name.endswith("flex"))
# Ranges (deg) narrower than the anatomical ones [assumed]: nobody leans back on his ligaments,
# lifts overhead, or twists the hands that hold
RANGES = {
    "glob_rx": (-10, 90),
    "hip_flex": (-10, 120),
    "shou_flex": (-60, 120),
    "shou_rot": (-30, 30),
    "elb_pron": (-45, 45),
    "wri_flex": (-30, 30),
    "spine1_flex": (-4, 25),
    "spine2_flex": (-4, 25),
    "spine3_flex": (-4, 18),
    "spine4_flex": (-4, 17),
}
STYLE, MIRROR = "style", "mirror"  # names of constraints
# How far knees bend at the start (deg): of a squat at least by a right angle, of a stoop as little
# as somebody told to keep them straight may [assumed]
STYLES = {"squat": (90.0, 140.0), "stoop": (0.0, 20.0)}
MIDDLE = ("glob_tx", "glob_ry", "glob_rz")  # of the pelvis, which a symmetric lift holds there


def lifter(who: dict, mirrors: bool, passive: bool = False, still: Sequence[str] = STILL) -> Tree:
    """Return the body of a person {stature, mass, ..} who lifts.

    `passive`: with tissue, whose moments grow at the ends of all ranges, and with strength over the
    angle; otherwise with the narrower RANGES. `still`: names of joints that do not move.
    """
    frozen = (*still, *(SIDEWAYS if mirrors else ()))
    if passive:
        body = human(**who, frozen=frozen, passive=True, strength="angle")
        size = who["stature"] / STATURE * (who["muscles"] / MASS)
        ends = holding_ends(body.moving, size, who["sex"])
        return replace(body, elements=(*body.elements, *ends))
    body = human(**who, frozen=frozen, ranges="anatomical")
    joints = []
    for joint in body.joints:
        limits = RANGES.get(joint.name.removesuffix("_r").removesuffix("_l"))
        if limits is not None and joint.kind != "fixed":
            joint = replace(joint, position=tuple(np.radians(limits)))
        joints.append(joint)
    return replace(body, joints=joints)


def right_half(body: Tree) -> Tree:
    """Return the body without the limits of its left side, which mirrors the right one."""
    free = (-np.inf, np.inf)
    return replace(
        body,
        joints=[
            replace(joint, position=free, torque=free) if joint.name.endswith("_l") else joint
            for joint in body.joints
        ],
    )


def started(body: Tree, style: str) -> tuple[Constraint, ...]:
    """Return the requirements of a style on the knees of a body with limits, at the start.

    Raises ValueError for an unknown one.
    """
    if style not in ("", *STYLES):
        raise ValueError(f"style: expected one of {', '.join(STYLES)} or none, got {style!r}")
    if not style:
        return ()
    free = [joint for joint in body.moving if joint.name.startswith("knee")]
    names = [joint.name for joint in free if np.isfinite(nominal(joint.position)).all()]
    rows = [body.coordinate(name) for name in names]
    least, most = np.radians(STYLES[style])
    return (
        path(
            STYLE,
            lambda at: at.q[rows],
            lower=least,
            upper=most,
            when="start",
            labels=names,
            units="rad",
        ),
    )


def follows(name: str) -> bool:
    """Tell whether a joint of a symmetric lift has no motion of its own."""
    return name.endswith("_l") or name in MIDDLE


def stance(body: Tree, feet: float | Open) -> Ground:
    """Return the Ground of both feet side by side, ankles `feet` (m) apart above the line Z = 0.

    They bear all along.
    """
    return Ground(normal=UP, feet=[_foot(body, side, feet) for side in FEET])


def _foot(body: Tree, side: str, apart: float | Open) -> Foot:
    """Return a foot that stands flat on its heel and ball."""
    s = side[0]
    sign = {"right": -1, "left": 1}[side]
    names = (*SOLES[side], f"heel_{s}", f"toe_{s}", f"ankle_{s}")
    places = positions(body, np.zeros(body.dof), names)
    spots = {name: array(place).ravel() for name, place in zip(names, places)}
    ankle = spots[f"ankle_{s}"]
    shift = np.array([sign * apart / 2 - ankle[0], 0.0, -ankle[2]])
    spots = {name: spot + shift for name, spot in spots.items()}
    pinned = {f"heel_{s}": "xyz", f"ball_med_{s}": "xy", f"ball_lat_{s}": "y"}
    support = Support(
        link=FEET[side][0],
        when=(0.0, 1.0),
        pins=[Pin(point=name, axes=axes, target=spots[name]) for name, axes in pinned.items()],
        polygon=[spots[name] for name in SOLES[side]],
    )
    center = (spots[f"heel_{s}"] + spots[f"toe_{s}"]) / 2
    return Foot(name=side, center=center, supports=(support,))


def stepped(ground: Ground) -> np.ndarray:
    """Return the way (3, m) of the middle of the feet from the start to the end."""
    start, end = (
        np.mean([nominal(foot.center) for foot in ground.feet if in_force(foot, s)], axis=0)
        for s in (0.0, 1.0)
    )
    return end - start


def stability(ground: Ground) -> Objective:
    """Return the instability: how far the zero moment point is off the middle, squared (s).

    The way from the middle of the support, over half its length, is squared and integrated.
    """
    low, high = outermost(ground)
    names = [foot.name for foot in ground.feet]

    def off(at: Instant) -> ca.SX:
        total = Wrench(
            link="",
            moment=sum(at.reaction.moment(name) for name in names),
            force=sum(at.reaction.force(name) for name in names),
        )
        way = zero_moment_point(ground, total) - matrix((low + high) / 2)
        return (way / ((high - low)[2] / 2))[[0, 2]]

    return squares("stability", off)


def outermost(ground: Ground) -> tuple[Any, Any]:
    """Return the least and the largest coordinates (3, m) of the soles, which may be open."""
    polygons = [support.polygon for foot in ground.feet for support in foot.supports]
    corners = array([corner for polygon in polygons for corner in polygon])
    here, axes = np.array(nominal(corners), dtype=float), range(3)
    return corners[here.argmin(axis=0), axes], corners[here.argmax(axis=0), axes]


def sides_alike(body: Tree, index: Sequence[int], sign: Sequence[float]) -> tuple[Constraint, ...]:
    """Tie the left side to the right one at all times, and hold the pelvis in the middle.

    Both feet bear alike. A coordinate of the mirror image is sign * q[index]. The ground's other
    three components follow from the equations of motion.
    """
    names = [joint.name for joint in body.moving]
    pairs = [(row, int(index[row])) for row, name in enumerate(names) if follows(name)]
    weight = body_weight(body)

    def ties(at: Instant) -> ca.SX:
        return ca.vertcat(
            *(
                at.q[row] - sign[row] * at.q[other] if row != other else at.q[row]
                for row, other in pairs
            )
        )

    def difference(at: Instant) -> ca.SX:
        force, moment = (getattr(at.reaction, what) for what in ("force", "moment"))
        forces = (force("right") - force("left"))[1:]
        return ca.vertcat(forces, moment("right")[0] - moment("left")[0]) / weight

    labels = tuple(names[row] for row, _ in pairs)
    along = ("force y", "force z", "moment x")
    return (
        path(MIRROR, ties, lower=0.0, upper=0.0, when="hull", labels=labels, units="rad"),
        path("evenly", difference, lower=0.0, upper=0.0, labels=along, units="weights"),
    )

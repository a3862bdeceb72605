"""Constraints of a step, in the nine families of the thesis (Barman 2020, eqs. 5.2 to 5.10)."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from ocp import Constraint, Symmetry, Tree, joint_limits, path, torque_limits
from ocp.mechanics import Open
from ocp.models.human import SELF_SPHERES, TOUCHING
from ocp.problem import (
    Ground,
    Pin,
    Span,
    along,
    apart,
    dissipation,
    foot_contact,
    friction,
    in_force,
    in_place,
    linear_split,
    no_penetration,
    off_edges,
    pressure_inside,
    swing_together,
    unilateral,
    zmp_inside,
)
from ocp.problems.gait.statement.contact_schedule import landing, noses
from ocp.problems.gait.statement.walking_task import Accuracy, Rules

FAMILIES = {
    "angles": "5.2",
    "torques": "5.3",
    "contact": "5.4",
    "balance": "5.5",
    "coupling": "5.6",
    "avoidance": "5.7",
    "symmetry": "5.8",
    "clearance": "5.9",
    "places": "5.10",
}  # the equation of each
HOLDS = ("throughout", "ends")
ALWAYS = "standing", "split", "dissipation"  # rules beside the families
EDGES = "edges"  # of stairs, by the name of what keeps the foot in swing off them
THIRDS = 1 / 3, 2 / 3  # of the ways between points of a sole, which must pass edges too
MID_SWING = 0.60  # of the step: when the knee of the leg that swings is bent [assumed]
LEAST = 0.2  # of the weight: vertical force below which the zero moment point is vague [assumed]
UP, LEVEL = "y", "xz"  # global axes
OTHER_SIDE = {"r": "l", "l": "r"}
IMAGE = np.array([-1.0, 1.0, 1.0])  # of a place in the plane X = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Who steps where: the `body` on its `ground`, `size` (stature over 1.75 m), `step` (m).

    `symmetry` is None where that family is left out. The foot of the side `lead` has struck. Stairs
    go up by the `rise` (m), if any. Knees may bend further in swing than in usual walks if `bent`.
    With `switches` feet are slow at the switch to what they hold next, too.
    """

    body: Tree
    ground: Ground
    step: float | Open
    size: float | Open
    symmetry: Symmetry | None
    lead: str = "right"
    rise: float = 0.0
    bent: bool = False
    switches: bool = False

    def side(self, name: str) -> str:
        """Return the name of what of the lead's side would be `name`, as of the right one."""
        return name if self.lead == "right" else name[:-1] + OTHER_SIDE[name[-1]]


def asked(without: str) -> frozenset[str]:
    """Return the families that are left when those in a text, with commas, are left out.

    Raises ValueError naming unknown ones, or for what is no text.
    """
    if not isinstance(without, str):
        raise ValueError(f"without: expected a text, as 'angles,torques', got {without!r}")
    left = {name.strip() for name in without.split(",") if name.strip()}
    unknown = sorted(left - set(FAMILIES))
    if unknown:
        raise ValueError(
            f"without: unknown families {', '.join(unknown)}; "
            f"expected some of {', '.join(FAMILIES)}"
        )
    return frozenset(FAMILIES) - left


def standing(
    one: Step, families: Collection[str], position: Any, velocity: Any, hold: str
) -> tuple[Any, ...]:
    """Return the constraints of the families `contact` and `places` on the feet.

    Contact asks for heights, for no velocity (eq. 5.4), each within its tolerance (m, m/s), and
    that nothing sinks; places are where feet stand, `hold` "throughout" the contact or at both
    "ends" of the step (eq. 5.10). Raises ValueError for another word.
    """
    if hold not in HOLDS:
        raise ValueError(f"hold: expected one of {', '.join(HOLDS)}, got {hold!r}")
    contact, always = "contact" in families, "places" in families and hold == "throughout"
    rules: list[Any] = []
    if contact:
        tolerances = {"position": position, "velocity": velocity, "symmetry": one.symmetry}
        tolerances |= {"switches": one.switches, "between": 1}
        axes = UP + LEVEL if always else UP
        below = landing(one.ground, one.rise)
        exact = any(each.rigid for foot in one.ground.feet for each in foot.supports)
        rules += [] if exact else [foot_contact(one.ground, axes=axes, **tolerances)]
        rules += [no_penetration(below, TOUCHING)]
        rules += [_off_stairs(one)] if one.rise else []
        rules += _off_tread(one) if one.rise < 0 else []
    if "places" in families and not (contact and always):
        rules.append(_ends(one, position, LEVEL if contact else UP + LEVEL))
    return tuple(rules)


def _off_stairs(one: Step) -> Constraint:
    """Return the constraints that keep the sole in swing off the edges of stairs."""
    heel, inner, outer, toe = (
        one.side(f"{name}_l") for name in ("heel", "ball_med", "ball_lat", "toe")
    )
    ways = [(heel, inner), (heel, outer), (inner, toe), (outer, toe)]
    between = [(*way, share) for way in ways for share in THIRDS]
    toe_off = min(foot.bears[1] for foot in one.ground.feet)
    return off_edges(
        EDGES,
        noses(one.ground, one.step, one.rise),
        [heel, inner, outer, toe, *between],
        up=(0.0, 1.0, 0.0),
        ahead=(0.0, 0.0, float(np.sign(one.rise))),
        when=Span(start=toe_off, end=1.0, open_end=True, between=2),
    )


def _off_tread(one: Step) -> Iterator[Constraint]:
    """Yield the constraints that keep the sole above the stair that it leaves on the way down,
    wherever no pin holds its height there."""
    foot = min(one.ground.feet, key=lambda each: each.bears[1])
    ball_off, toe_off = foot.supports[0].when[1], foot.bears[1]
    for point, since in {"heel_l": 0.0, "ball_med_l": ball_off, "ball_lat_l": ball_off}.items():
        name = one.side(point)
        yield path(
            f"penetration.stair.{name}",
            lambda at, name=name: at.position(name)[1] + one.rise,
            lower=0.0,
            when=Span(start=since, end=toe_off, open_start=since > 0),
            labels=(name,),
            units="m",
        )


def _ends(one: Step, position: Any, axes: str) -> tuple[Constraint, ...]:
    """Return the constraints that hold the feet in place at the start, and at the end unless that
    is its image."""
    supports = [in_force(foot, 0.0) for foot in one.ground.feet]
    pins = [pin for support in supports if support is not None for pin in support.pins]
    ends = {"start": pins}
    if one.symmetry is None:
        ends["end"] = [_next(pin, one.step) for pin in pins]
    return tuple(
        in_place(f"places.{when}", along(held, axes), position=position, when=when)
        for when, held in ends.items()
    )


def _next(pin: Pin, step: float | Open) -> Pin:
    """Return the pin where the other foot has it one step (m) later."""
    place = IMAGE * pin.target + (0.0, 0.0, step)
    return replace(pin, point=pin.point[:-1] + OTHER_SIDE[pin.point[-1]], target=place)


def balanced(body: Tree, ground: Ground, kind: str) -> tuple[Any, ...]:
    """Return the constraints that keep the body in balance, by "pressure" of each foot or by the
    "zmp"."""
    known: dict[str, Callable[[], tuple[Any, ...]]] = {
        "pressure": lambda: (
            pressure_inside(body, ground),
            unilateral(body, ground),
            friction(body, ground),
        ),
        "zmp": lambda: (zmp_inside(body, ground), unilateral(body, ground, least=LEAST)),
    }
    if kind not in known:
        raise ValueError(f"balance: expected one of {', '.join(known)}, got {kind!r}")
    return known[kind]()


def limbs(one: Step) -> dict[str, Constraint]:
    """Return {family: what limbs keep to}: arms opposite to legs, hands off hips, a bent knee."""
    radii = {name: radius * one.size for name, radius in SELF_SPHERES.items()}
    pairs = [
        ((f"wrist_{side}", radii[f"wrist_{side}"]), (f"hip_{side}", radii[f"hip_{side}"]))
        for side in "rl"
    ]
    swings = one.side("knee_flex_l")
    knee = one.body.coordinate(swings)
    arm, leg = (
        (one.side("shoulder_l"), one.side("wrist_l")),
        (one.side("hip_r"), one.side("ankle_r")),
    )
    return {
        "coupling": swing_together("coupling", tuple(arm), tuple(leg)),
        "avoidance": apart("avoidance", pairs),
        "clearance": path(
            "clearance",
            lambda at: at.q[knee],
            lower=np.radians(55),
            upper=inf if one.bent else np.radians(65),
            when=(MID_SWING, MID_SWING),
            labels=(swings,),
            units="rad",
        ),
    }


def requirements(
    one: Step, families: Collection[str], accuracy: Accuracy, how: Rules = Rules()
) -> Iterable[Any]:
    """Return the constraints of some families; the symmetry is the Problem's own."""
    tolerances = accuracy.contact, accuracy.slip
    rules: dict[str, Any] = {
        "angles": joint_limits(one.body, hull=True),
        "torques": torque_limits(one.body),
        "standing": standing(one, families, *tolerances, how.hold),
        "balance": balanced(one.body, one.ground, how.balance),
        "split": linear_split(one.body, one.ground) if how.split else (),
        "dissipation": dissipation(one.body, one.ground) if how.dissipative else (),
        **limbs(one),
    }
    return tuple(rules[name] for name in rules if name in {*ALWAYS, *families})


NAMED = {
    "joint_limits": "angles",
    "torque_limits": "torques",
    "slip": "contact",
    "penetration": "contact",
    EDGES: "contact",
    "mirrored": "symmetry",
} | dict.fromkeys(
    ("pressure", "unilateral", "friction", "zmp", "support", "split", "dissipation"), "balance"
)


def family_of(name: str) -> str | None:
    """Return the family of the constraint of that name, None for a law of motion."""
    stem = name.partition(".")[0]
    family = NAMED.get(stem, stem)
    return family if family in FAMILIES else None

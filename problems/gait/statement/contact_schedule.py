"""Contact schedule of normal gait: standing and swinging feet of a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp import Tree
from ocp.mechanics import Open, any_nonzero, array, nominal, positions
from ocp.models.human import FEET, SOLES, TOUCHING
from ocp.problem import Foot, Ground, Pin, Plane, Support

UP = (0.0, 1.0, 0.0)
HEEL = 0.01  # m: half length of what bears of the heel alone [assumed]
LANDING = ("heel", "fore")
BALL, TOE = ("ball_med", "ball_lat"), ("toe_med", "toe_lat")
ON_TOES = {"ball_med": "xyz", "ball_lat": "y", "toe": "xy"}  # what rests of it, and along what
Spots = Mapping[str, Any]  # of named points, each its place (3, m)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When feet change how they stand, of a step: when the leading one is `flat` and its heel goes
    off, `heel_off`, and when ball and toe of the trailing one do. What of a foot `lands` first is
    its "heel" or its "fore" part, ball and toes.

    Raises ValueError where the heel is off not between foot flat and the end, and for another part.
    """

    ball_off: float
    flat: float
    toe_off: float
    heel_off: float
    lands: str = "heel"

    def __post_init__(self) -> None:
        if self.lands not in LANDING:
            raise ValueError(f"lands: expected {' or '.join(LANDING)}, got {self.lands!r}")
        if not self.flat < self.heel_off < 1:
            raise ValueError(
                f"heel_off: expected between foot flat, {self.flat:g}, and the end of the step, 1, "
                f"got {self.heel_off:g}"
            )


# Loading response ends with the other toe's off at 12 % of the cycle, and terminal stance begins
# with the heel's off at 30 % (Perry 1992, in whole tens but the first); the metatarsals go off at
# 95 % of a stance of 62 %, and the foot is flat after an eighth of it [recalled]
NORMAL = Schedule(ball_off=0.18, flat=0.15, toe_off=0.24, heel_off=0.60)
# On stairs people land on the fore part of the foot, up and down (Riener, Rabuffetti & Frigo 2002);
# all else is as on the level [assumed]
STAIRS = replace(NORMAL, lands="fore")
# Of walks of effort alone: double support of 10 % of the cycle, heel off at 37.5 % [assumed]
PLAIN = Schedule(ball_off=0.10, flat=0.15, toe_off=0.20, heel_off=0.75)


DEGREE = 4  # of a walk's spline
# Inner knots beside two at each change of contact, those that lower the default walk's objective
# most first: (number of the span between two changes, where in it). Motions change fastest before
# the heel goes off and before the foot strikes. The third row is of feet that hardly slip.
BETWEEN = (
    *((3, 0.5), (2, 0.4), (0, 1 / 3), (3, 0.75), (2, 0.67), (0, 2 / 3)),
    *((3, 0.875), (2, 0.86), (1, 1 / 3), (1, 2 / 3), (3, 0.25)),
    *((2, 0.2), (3, 0.9375), (1, 5 / 6), (1, 1 / 6), (0, 1 / 6), (3, 0.96875)),
)


def changes_of(when: Schedule) -> tuple[float, ...]:
    """Return when contacts change, in shares of a step: where the leading foot does, and where the
    trailing one leaves."""
    return tuple(sorted({when.flat, when.toe_off, when.heel_off}))


def knots_at_changes(changes: Sequence[float], count: int) -> tuple[float, ...]:
    """Return so many inner knots of a step's spline: two at each change of contact, in shares of
    the step, between which accelerations bend, the first of BETWEEN, and of more such as halve what
    are the longest segments.

    Raises ValueError where there are too few.
    """
    breaks = [0.0, *changes, 1.0]
    rest = count - 2 * len(changes)
    if rest < 0:
        least = 2 * len(changes) + DEGREE + 1
        raise ValueError(
            f"points: of the objective elastic expected at least {least}, two knots at each change "
            f"of contact, got {count + DEGREE + 1}"
        )
    inner = [
        breaks[span] + share * (breaks[span + 1] - breaks[span]) for span, share in BETWEEN[:rest]
    ]
    while len(inner) < rest:
        edges = sorted([*breaks, *inner])
        longest = int(np.diff(edges).argmax())
        inner.append((edges[longest] + edges[longest + 1]) / 2)
    return tuple(sorted([*inner, *changes, *changes]))


def usual_schedule(living: bool, rise: float) -> Schedule:
    """Return the usual Schedule of `living` people, on stairs that go up by a `rise` (m), or of
    walks of effort alone."""
    if not living:
        return PLAIN
    return STAIRS if rise else NORMAL


def stance(
    body: Tree,
    step: float | Open,
    width: float | Open,
    when: Schedule = PLAIN,
    slope: float | Open = 0.0,
    rise: float = 0.0,
    *,
    toe_out: float | Open = 0.0,
) -> Ground:
    """Return the Ground of one step, its length and the distance between the feet in m; feet turn
    outward by `toe_out` (deg).

    The right foot strikes at 0, the left one behind it leaves and strikes at the end, by the
    schedule `when`. The ground goes up by its `slope` (deg), or the right foot stands on a stair
    above the left one by the `rise` (m). Raises ValueError for both at once.
    """
    sloping = any_nonzero((slope,))
    if sloping and rise:
        raise ValueError("slope: the ground is a slope or stairs, got both a slope and a rise")
    right = planted(body, "right", (-width / 2, 0.0, 0.0), -toe_out)
    left = planted(body, "left", (width / 2, -rise, -step), toe_out)
    ahead = turned(-toe_out)[:, 2]
    if not sloping:
        feet = striking(right, when, ahead), leaving(left, when)
        return Ground(normal=UP, feet=_on_stairs(feet, rise) if rise else feet)
    tilt = tilted(slope)
    right, left = ({name: tilt @ spot for name, spot in spots.items()} for spots in (right, left))
    feet = striking(right, when, tilt @ ahead), leaving(left, when)
    return Ground(normal=tilt[:, 1], feet=feet)


def standing_exactly(ground: Ground) -> Ground:
    """Return a ground whose supports hold their pins exactly, as a law of motion."""
    feet = (
        replace(foot, supports=tuple(replace(each, rigid=True) for each in foot.supports))
        for foot in ground.feet
    )
    return replace(ground, feet=tuple(feet))


def along(slope: float | Open) -> tuple[Any, Any]:
    """Return the ways ahead and up on a way of 1 along ground that goes up by a slope (deg)."""
    angle = slope * (np.pi / 180)
    return np.cos(angle), np.sin(angle)


def tilted(slope: float | Open) -> np.ndarray:
    """Return the rotation (3, 3) of level ground to one that goes up by a slope (deg)."""
    cos, sin = along(slope)
    return np.array([(1.0, 0.0, 0.0), (0.0, cos, sin), (0.0, -sin, cos)])


def _on_stairs(feet: tuple[Foot, Foot], rise: float) -> tuple[Foot, Foot]:
    """Return the feet each on a plane of its own, the second a `rise` (m) below the first."""
    lead, trail = feet
    below = Plane(normal=UP, point=(0.0, -rise, 0.0))
    return replace(lead, plane=Plane(normal=UP)), replace(trail, plane=below)


def landing(ground: Ground, rise: float) -> Ground:
    """Return the ground of a step on stairs as the foot in swing finds it: down stairs it comes
    onto the stair a rise (m) below that of the leading foot."""
    if not rise < 0:
        return ground
    lead, trail = ground.feet
    next_stair = Plane(normal=UP, point=(0.0, rise, 0.0))
    return replace(ground, feet=(lead, replace(trail, plane=next_stair)))


def noses(ground: Ground, step: float | Open, rise: float) -> tuple[Any, ...]:
    """Return a place (3, m) on the edge of each stair that the foot in swing passes, of stairs as
    deep as the `step` (m) that go up by the `rise` (m), in the middle of each of which a sole
    stands. Raises ValueError where a sole is longer.

    Stairs that go up have their edges behind the sole, those that go down before it.
    """
    corners = np.array(ground.foot("right").supports[1].polygon)
    rear, fore = corners[:, 2].min(), corners[:, 2].max()
    if not nominal(step) > fore - rear:
        raise ValueError(
            f"rise: a stair is as deep as the step, {nominal(step):.3g} m, and a sole longer, "
            f"{fore - rear:.3g} m"
        )
    margin = (step - (fore - rear)) / 2
    if rise > 0:
        return (0.0, 0.0, rear - margin), (0.0, rise, rear - margin + step)
    return (0.0, -rise, fore + margin - step), (0.0, 0.0, fore + margin)


def striking(spots: Spots, when: Schedule, forward: Any = (0.0, 0.0, 1.0)) -> Foot:
    """Return the right foot: it stands on what of it lands, then flat, then on ball and toes."""
    last = on_toes(spots, "right", (when.heel_off, 1.0))
    heel = on_heel(spots, "right", (0.0, when.flat), forward)
    flat = flat_on(spots, "right", (when.flat, when.heel_off))
    first = heel if when.lands == "heel" else replace(last, when=heel.when)
    return Foot(
        name="right",
        bears=(0.0, np.inf),
        center=(spots["heel_r"] + spots["toe_r"]) / 2,
        supports=(first, flat, last),
    )


def on_heel(
    spots: Spots, side: str, when: tuple[float, float], forward: Any = (0.0, 0.0, 1.0)
) -> Support:
    """Return the support of a foot that points `forward` and stands on its heel."""
    tread = [
        spots[f"heel_{way}_{side[0]}"] + ahead * np.array(forward)
        for way in ("med", "lat")
        for ahead in (0.0, 2 * HEEL)
    ]
    pins = _pins(spots, **{f"heel_{side[0]}": "xyz"})
    return Support(link=FEET[side][0], when=when, pins=pins, polygon=tread)


def flat_on(spots: Spots, side: str, when: tuple[float, float]) -> Support:
    """Return the support of a foot that stands flat on the spots of its sole, over a part `when` of
    the step."""
    names, pins = SOLES[side], {"heel": "xyz", "ball_med": "xy", "ball_lat": "y", "toe": "y"}
    held = {f"{name}_{side[0]}": axes for name, axes in pins.items()}
    return Support(
        link=FEET[side][0],
        when=when,
        pins=_pins(spots, **held),
        polygon=[spots[name] for name in names],
    )


def on_toes(spots: Spots, side: str, when: tuple[float, float]) -> Support:
    """Return the support of a foot that stands on ball and toes, over a part `when` of the step."""
    held = {f"{name}_{side[0]}": axes for name, axes in ON_TOES.items()}
    return Support(
        link=FEET[side][1],
        when=when,
        pins=_pins(spots, **held),
        polygon=[spots[f"{name}_{side[0]}"] for name in BALL + TOE],
    )


def leaving(spots: Spots, when: Schedule) -> Foot:
    """Return the left foot: it stands on ball and toes, then on toes alone."""
    _, fore = FEET["left"]
    tip = Support(
        link=fore,
        when=(when.ball_off, when.toe_off),
        pins=_pins(spots, toe_l="xyz"),
        polygon=[spots[f"{name}_l"] for name in ("ball_med", *TOE)],
    )
    return Foot(
        name="left",
        bears=(-np.inf, when.toe_off),
        center=(spots["ball_med_l"] + spots["ball_lat_l"] + 2 * spots["toe_l"]) / 4,
        supports=(on_toes(spots, "left", (0.0, when.ball_off)), tip),
    )


def turned(angle: Any) -> np.ndarray:
    """Return the rotation (3, 3) about the vertical, to the left (deg)."""
    cos, sin = along(angle)
    return np.array([(cos, 0.0, sin), (0.0, 1.0, 0.0), (-sin, 0.0, cos)])


def planted(body: Tree, side: str, shift: tuple[Any, Any, Any], angle: Any = 0.0) -> Spots:
    """Return {point: place (3, m)} of a foot that stands flat with its heel at `shift` (3, m),
    turned to the left by an `angle` (deg)."""
    names = (*SOLES[side], *TOUCHING[side])
    places = positions(body, np.zeros(body.dof), names)
    spots = {name: array(place).ravel() for name, place in zip(names, places)}
    heel = spots[f"heel_{side[0]}"]
    turn = turned(angle)
    return {name: turn @ (spot - heel) + np.array(shift) for name, spot in spots.items()}


def _pins(spots: Spots, **axes: str) -> tuple[Pin, ...]:
    return tuple(Pin(point=name, axes=which, target=spots[name]) for name, which in axes.items())

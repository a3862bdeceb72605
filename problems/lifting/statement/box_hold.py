"""The box and the hands that hold it: level between the palms, and where it starts and ends."""

import casadi as ca
import numpy as np

from ocp import Constraint, Instant, Tree, path
from ocp.mechanics import Visual
from ocp.problem import INSIDE
from ocp.problems.lifting.statement.lifting_task import Box, Spot

UP = (0.0, 1.0, 0.0)
CARDBOARD = (0.72, 0.53, 0.33, 1.0)  # red, green, blue and opacity
FACING = np.cos(np.radians(30.0))  # of the most between palms and sides of the box [assumed]
SIDES = {"r": "right", "l": "left"}


def one_hand(body: Tree, box: Box, start: Spot, end: Spot, slack: float) -> tuple[Constraint, ...]:
    """Return the constraints on the right hand where the left one mirrors it.

    It stays beside the box, palm on it, from start to end; `slack` (m) is left to it.
    """
    across = path(
        "hands",
        lambda at: at.position("grip_r")[0] + box.width / 2,
        lower=-slack,
        upper=slack,
        labels=("across",),
        units="m",
    )
    ends = (
        path(
            f"hands.{when}",
            lambda at: at.position("grip_r")[1:],
            lower=(spot.high, spot.ahead),
            upper=(spot.high, spot.ahead),
            when=when,
            labels=("up", "ahead"),
            units="m",
        )
        for when, spot in (("start", start), ("end", end))
    )
    return across, _palms(body, "r"), *ends


def two_hands(body: Tree, box: Box, start: Spot, end: Spot, slack: float) -> tuple[Constraint, ...]:
    """Return the constraints on both hands: level and apart by the box, palms on it.

    They lead it from start to end; `slack` (m) is left to them.
    """
    together = path(
        "hands",
        lambda at: _between(at, box.width),
        lower=-slack,
        upper=slack,
        when=INSIDE,
        labels=("level", "apart"),
        units="m",
    )
    ends = (
        path(
            f"hands.{when}",
            lambda at: ca.vertcat(at.position("grip_r"), at.position("grip_l")),
            lower=spot.hands(box.width),
            upper=spot.hands(box.width),
            when=when,
            labels=tuple(f"{side} {axis}" for side in SIDES.values() for axis in "xyz"),
            units="m",
        )
        for when, spot in (("start", start), ("end", end))
    )
    return together, _palms(body, "rl"), *ends


def _between(at: Instant, width: float) -> ca.SX:
    """Return by how much (2, m) the hands are off being level, and off being `width` apart."""
    way = at.position("grip_l") - at.position("grip_r")
    return ca.vertcat(way[1], (ca.sumsqr(way) - width**2) / (2 * width))


def _palms(body: Tree, sides: str) -> Constraint:
    """Return the constraint that the palms face the sides of the box."""

    def facing(at: Instant) -> ca.SX:
        frames = (at.frames[body.link_index(f"wri_rad_{side}")] for side in sides)
        return ca.vertcat(*(-ca.dot(frame[:3, 2], _across(at)) for frame in frames))

    labels = tuple(f"{SIDES[side]} hand" for side in sides)
    return path("palms", facing, lower=FACING, labels=labels)


def placed(at: Instant, height: float) -> tuple[ca.SX, tuple[ca.DM, ca.SX]]:
    """Return the centre (3, m) of the box, level below the hands, its axes up and ahead."""
    middle = (at.position("grip_r") + at.position("grip_l")) / 2
    return middle - height / 2 * ca.DM(UP), (ca.DM(UP), ca.cross(_across(at), ca.DM(UP)))


def crate_between_hands(box: Box) -> Visual:
    """Return the look of the box, whose upper edges are in the hands."""
    below = np.eye(4)
    below[2, 3] = -box.height / 2
    sides, hands = (box.width, box.depth, box.height), ("grip_r", "grip_l")
    return Visual(kind="box", size=sides, pose=below, colour=CARDBOARD, between=hands)


def corners(at: Instant, box: Box) -> ca.SX:
    """Return the eight corners of the box (24, m), one after the other."""
    center, axes = placed(at, box.height)
    halves = (box.width / 2, box.height / 2, box.depth / 2)
    right, up, ahead = (half * axis for half, axis in zip(halves, (_across(at), *axes)))
    return ca.vertcat(
        *(
            center + a * right + b * up + c * ahead
            for a in (-1, 1)
            for b in (-1, 1)
            for c in (-1, 1)
        )
    )


def _across(at: Instant) -> ca.SX:
    """Return the unit vector (3) from the right hand to the left one."""
    way = at.position("grip_l") - at.position("grip_r")
    return way / ca.norm_2(way)

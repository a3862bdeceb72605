"""Arguments of a lift: box, places of the hands, manner, goal and accuracy."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ocp.mechanics import Open
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box by its mass and its sizes.

    `mass`: its mass (kg), to begin with where `maximum` seeks it; `depth`: of the box, fore and aft
    (m); `height`: of the box (m); `width`: of the box, between the hands at the upper edge of its
    sides (m).
    """

    mass: float | Open = field(default=9.0, metadata={"flag": "box"})
    depth: float = 0.37
    height: float = 0.365
    width: float = 0.40


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where hands are: `high` above the floor and `ahead` of the ankles (m).

    They are turned to the left by an `angle` (rad).
    """

    high: float | Open = field(default=0.365, metadata={"flag": "{argument}_height"})
    ahead: float | Open = field(default=0.49, metadata={"flag": "{argument}_ahead"})
    angle: float = field(default=0.0, metadata={"flag": ""})

    def hands(self, width: float) -> np.ndarray:
        """Return the places (6, m) of the right and the left hand, `width` (m) apart."""
        sine, cosine = np.sin(self.angle), np.cos(self.angle)
        middle = np.array([self.ahead * sine, self.high, self.ahead * cosine])
        half = width / 2 * np.array([cosine, 0.0, -sine])
        return np.concatenate([middle - half, middle + half])


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a lift is done, and how one stands.

    `time`: of the lift (s); `symmetric`: mirror the left side from the right; `turn`: by which the
    box ends to the left, about the middle of the ankles (deg), which frees the sides; `style`:
    squat, with knees bent by 90 deg at least at the start, or stoop, by 20 at most, or what is
    best; `still`: start and end without accelerations too; `feet`: distance between the ankles (m);
    `balance`: pressure, of each foot in its polygon, or zmp, of both together in the hull.
    """

    time: float | Open = 1.2
    symmetric: bool = True
    turn: float = 0.0
    style: Literal["", "squat", "stoop"] = ""
    still: bool = True
    feet: float | Open = 0.20
    balance: Literal["pressure", "zmp"] = "pressure"


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Objective of a lift.

    `weight`: of effort against stability, 1 is effort alone; `smooth`: weight of accelerations
    beside effort, by default what people spare of them, or 0.0025 beside plain effort; `maximum`:
    find the heaviest box instead.
    """

    weight: float = 1.0
    smooth: float | Open | None = None
    maximum: bool = False


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Fineness of the motion, and tolerances of contacts.

    `points`: control points per joint, by default 13, of torques over constant limits 9, and 11
    for the heaviest box, whose torques lean on these; `contact`: tolerance of the place of feet and
    hands (m); `slip`: and of the feet's velocity (m/s).
    """

    points: int | None = None
    contact: float = 0.002
    slip: float = 0.02

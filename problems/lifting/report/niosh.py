"""Recommended weight of a box by the revised NIOSH equation.

Waters, Putz-Anderson, Garg & Fine 1993 (Ergonomics 36:749); tables and examples of the applications
manual, DHHS (NIOSH) 94-110, of which the revision of 2021 leaves all formulas as they were. It is
meant for two hands and feet that stand still, and for hands no faster than about 30 in/s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import degrees, prod
from typing import Any

import numpy as np

CONSTANT = 23.0  # kg, what three of four women lift in the best posture
FASTEST = 0.76  # m/s, beyond which a lift counts as fast and the equation is not meant (30 in/s)
COMPRESSION = 3400.0  # N, the limit of L5/S1 that the equation keeps to (Waters et al. 1993)
NEAR, FAR = 0.25, 0.63  # m, horizontal: no nearer counts, and no farther is allowed
HIGHEST, LEAST_TRAVEL, MOST_TRAVEL = 1.75, 0.25, 1.75  # m
KNUCKLE = 0.75  # m, the best height
WIDEST = 135.0  # deg, the most asymmetry
COUPLINGS = {"good": (1.0, 1.0), "fair": (0.95, 1.0), "poor": (0.9, 0.9)}  # below KNUCKLE, above
# Table 5: lifts a minute; of work up to 1, 2 and 8 hours the multipliers below KNUCKLE and above
RATES = (0.2, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
SLOW_HOUR = (1.0, 0.97, 0.94, 0.91, 0.88, 0.84, 0.8, 0.75, 0.7, 0.6, 0.52, 0.45, 0.41, 0.37)
SLOW_TWO = (0.95, 0.92, 0.88, 0.84, 0.79, 0.72, 0.6, 0.5, 0.42, 0.35, 0.3, 0.26)
SLOW_DAY = (0.85, 0.81, 0.75, 0.65, 0.55, 0.45, 0.35, 0.27, 0.22, 0.18)
HOURS = {
    1.0: (SLOW_HOUR, (*SLOW_HOUR, 0.34, 0.31, 0.28)),
    2.0: (SLOW_TWO, (*SLOW_TWO, 0.23, 0.21)),
    8.0: (SLOW_DAY, (*SLOW_DAY, 0.15, 0.13)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How often, how long and by what handles a box is lifted; ValueError names what is none.

    `rate`: of such lifts a minute, for what is reported beside it; `hours`: up to which that goes
    on, 1, 2 or 8 (h); `coupling`: of hands and box, good, fair or poor, as by table 6 of its manual
    that of a box higher than 0.30 m is.
    """

    rate: float = 0.2
    hours: float = 1.0
    coupling: str = "fair"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0):
            raise ValueError(f"rate: expected lifts a minute, at least 0, got {self.rate}")
        if not 0 < self.hours <= max(HOURS):
            raise ValueError(f"hours: expected more than 0, at most 8 h, got {self.hours}")
        if self.coupling not in COUPLINGS:
            known = ", ".join(COUPLINGS)
            raise ValueError(f"coupling: expected one of {known}, got {self.coupling!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grasp:
    """Where the middle of the hands is at one end of a lift.

    `ahead` of the middle of the ankles and `high` above the floor (m), turned to a side by an
    `angle` (rad) from straight ahead.
    """

    ahead: float
    high: float
    angle: float = 0.0


def multipliers(at: Grasp, origin: Grasp, travel: float, work: Work) -> dict[str, float]:
    """Return {H, V, D, A, F, C: multiplier} where hands hold a box, at one end of a lift.

        HM = 25/H   VM = 1 - .003 |V - 75|   DM = .82 + 4.5/D   AM = 1 - .0032 A   (cm, deg)

    FM and CM are of tables 5 and 7, FM by the height at the `origin` and linear between rows; each
    is 0 where nothing should be lifted. `travel`: of the hands, upward or downward (m).
    """
    turned = abs(degrees(at.angle))
    return {
        "H": NEAR / max(at.ahead, NEAR) if at.ahead <= FAR else 0.0,
        "V": 1.0 - 0.3 * abs(at.high - KNUCKLE) if 0 <= at.high <= HIGHEST else 0.0,
        "D": _distance(abs(travel)),
        "A": 1.0 - 0.0032 * turned if turned <= WIDEST else 0.0,
        "F": _frequency(work, origin.high >= KNUCKLE),
        "C": COUPLINGS[work.coupling][at.high >= KNUCKLE],
    }


def recommended(factors: Mapping[str, float]) -> float:
    """Return the recommended weight limit (kg): 23 kg times all multipliers (eq. 1)."""
    return CONSTANT * prod(factors.values())


def judged(
    middle: np.ndarray,
    t: np.ndarray,
    mass: float,
    work: Work,
    forward: float = 0.0,
    stepped: Any = (0.0, 0.0, 0.0),
) -> dict[str, Any]:
    """Return the equation's numbers for a lift, as plain data.

    `middle` (3, N), m, of the hands from the middle of the ankles at the start, at times t (N,), s;
    `mass` (kg) of the box; `forward` (rad): to which side the feet look; `stepped` (3, m): how far
    the middle of the ankles goes. Of `start` and `end` it tells the multipliers and the recommended
    weight (kg); the lower one makes the lifting index.
    """
    origin = _grasp(middle[:, 0], forward)
    there = _grasp(middle[:, -1] - np.array(stepped), forward)
    entries: dict[str, dict[str, Any]] = {}
    for when, at in (("start", origin), ("end", there)):
        factors = multipliers(at, origin, there.high - origin.high, work)
        entries[when] = {"multipliers": factors, "recommended_kg": recommended(factors)}
    least = min(entry["recommended_kg"] for entry in entries.values())
    speed = np.linalg.norm(np.gradient(middle, t, axis=1), axis=0).max()
    return {
        **entries,
        "lifting_index": mass / least if least else None,
        "hand_speed": float(speed),
        "rate_per_minute": work.rate,
        "hours": work.hours,
        "coupling": work.coupling,
    }


def judged_lines(entry: Mapping[str, Any]) -> list[str]:
    """Return in words what the equation says of a lift."""
    ends = (
        f"{entry[when]['recommended_kg']:.1f} kg at the {when} ("
        + " ".join(f"{name} {value:.2f}" for name, value in entry[when]["multipliers"].items())
        + ")"
        for when in ("start", "end")
    )
    index = entry["lifting_index"]
    told = "nothing may be lifted" if index is None else f"lifting index {index:.2f}"
    fast = entry["hand_speed"] > FASTEST
    beyond = f", faster than the {FASTEST:g} m/s it is meant for" if fast else ""
    return [
        f"{told}, of {' and '.join(ends)}",
        f"{entry['rate_per_minute']:g} lifts a minute for {entry['hours']:g} h, "
        f"{entry['coupling']} coupling; hands up to {entry['hand_speed']:.2f} m/s{beyond}",
    ]


def _grasp(middle: np.ndarray, forward: float) -> Grasp:
    turned = np.arctan2(middle[0], middle[2]) - forward
    return Grasp(
        ahead=float(np.hypot(middle[0], middle[2])),
        high=float(middle[1]),
        angle=float((turned + np.pi) % (2 * np.pi) - np.pi),
    )


def _distance(travel: float) -> float:
    return 0.82 + 0.045 / max(travel, LEAST_TRAVEL) if travel <= MOST_TRAVEL else 0.0


def _frequency(work: Work, high: bool) -> float:
    """Return the multiplier of table 5, nothing from the first row on that allows nothing."""
    column = HOURS[min(hours for hours in HOURS if hours >= work.hours)][high]
    allowed = (*column, *(0.0,) * (len(RATES) - len(column)))
    return float(np.interp(work.rate, RATES, allowed, right=0.0))

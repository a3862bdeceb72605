"""Strength reserves: the least room between a drive's effort and its strength, side by side."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraints.strength import strengths
from ocp.problem.instant import Instant
from ocp.solution.sampling import dense_instants
from ocp.solution.solution import Solution, Statistics

Line = tuple[str, str]
SHOWN = 10  # lines
FULL = 0.01  # of its strength: with less left a drive is said to be at it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserve:
    """Least strength that a drive has left: `room` below the `bound` there (N m or N, as the
    `unit`),
    negative where it is exceeded, and the `time` (s).
    """

    room: float
    bound: float
    unit: str
    time: float

    @property
    def share(self) -> float:
        """Of the strength there, what is left; of none at all nothing."""
        return self.room / abs(self.bound) if self.bound else 0.0

    @property
    def full(self) -> bool:
        """Tell whether next to nothing is left."""
        return self.share < FULL


def reserves(solution: Solution) -> dict[str, Reserve]:
    """Return {joint and side: Reserve} on the dense grid, the least over all phases; {} for drives
    without strength over angle and speed.
    """
    known: dict[str, Reserve] = {}
    begin = 0.0
    for motion in solution.parts.values():
        for label, each in _motion_reserves(motion, begin).items():
            if label not in known or each.room < known[label].room:
                known[label] = each
        begin += motion.duration
    return known


def reserves_data(known: Mapping[str, Reserve]) -> dict[str, dict[str, float | str]]:
    """Return reserves as plain data."""
    return {label: asdict(each) for label, each in known.items()}


def reserves_from_data(known: Mapping[str, Statistics]) -> dict[str, Reserve]:
    """Return the reserves of a report's data."""
    return {label: Reserve(**entry) for label, entry in known.items()}


def reserve_lines(known: Mapping[str, Reserve]) -> list[Line]:
    """Return a line for each joint and side that come closest, the closest first, and one for all
    the others."""
    order = sorted(known, key=lambda label: known[label].share)
    lines = [("strength", _reserve_words(label, known[label])) for label in order[:SHOWN]]
    if len(order) > SHOWN:
        least, count = known[order[SHOWN]].share, len(order) - SHOWN
        lines.append(("strength", f"of {count} others at least {least:.0%} of theirs left"))
    return lines


def closest_line(known: Mapping[str, Reserve]) -> list[Line]:
    """Return the line of the joint and side that come closest, and how many are at their
    strength."""
    if not known:
        return []
    count = sum(each.full for each in known.values())
    text = f"{reserve_lines(known)[0][1]}; {count} of {len(known)} within {FULL:.0%} of theirs"
    return [("strength", text)]


def _reserve_words(label: str, each: Reserve) -> str:
    way = "left" if each.room >= 0 else "too much"
    return (
        f"{label}: {abs(each.room):.3g} of {abs(each.bound):.4g} {each.unit} {way} "
        f"at t = {each.time:.4g} s"
    )


def _motion_reserves(motion: Solution, begin: float) -> dict[str, Reserve]:
    """Return the reserves of a motion without phases, whose time begins at `begin` (s)."""
    tree = motion.problem.tree
    if not strengths(tree):
        return {}
    t = dense_instants(motion) * motion.duration
    rooms, bounds = np.split(motion.trace(_rooms_and_bounds, t), 2)
    known: dict[str, Reserve] = {}
    labels = [(each.joint, side) for each in strengths(tree) for side in each.sides]
    for (joint, side), room, bound in zip(labels, rooms, bounds):
        k = int(np.argmin(room))
        entry = Reserve(
            room=float(room[k]),
            bound=float(bound[k]),
            unit=unit_of(tree.moving[tree.coordinate(joint)], "tau"),
            time=begin + float(t[k]),
        )
        label = f"{joint} {side}"
        if label not in known or entry.room < known[label].room:
            known[label] = entry
    return known


def _rooms_and_bounds(at: Instant) -> Matrix:
    """Return the room to every side of every strength, then their bounds."""
    rooms: list[Matrix] = []
    bounds: list[Matrix] = []
    for each in strengths(at.tree):
        row = at.tree.coordinate(each.joint)
        rooms += each.room(at.tau[row], at.q[row], at.qd[row])
        bounds += each.bounds(at.q[row], at.qd[row]).values()
    return ca.vertcat(*rooms, *bounds)

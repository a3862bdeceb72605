"""Axes of a laboratory: which is up and where people walk, and the turn to the human's axes."""

from dataclasses import dataclass, replace

import numpy as np

from ocp import Series
from ocp.problems.lab.marker_sets import MarkerSet

CLEAR = 0.85  # cosine of the angle between the body's long axis and an axis of the laboratory
LEG = (0.45, 1.25)  # m: from ankle to front of the pelvis, of people from 5 years to 2.3 m
FEET = 0.3048  # m
LETTERS = "xyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The turn (3, 3) from a laboratory's axes to those of the human: X to the left, Y up, Z
    forward; and in words which axis is up and which way the person faces."""

    turn: tuple[tuple[float, ...], ...]
    up: str
    ahead: str
    doubts: tuple[str, ...] = ()


def middle(markers: Series, *names: str | None) -> np.ndarray:
    """Return the middle (3, N) of markers, of those of which names are not None."""
    rows = [markers.values[name] for name in names if name is not None]
    return np.mean(rows, axis=0)


def present(markers: Series) -> tuple[Series, tuple[str, ...]]:
    """Return the markers that were ever seen, and the names of the others: those that lie at the
    very origin, where recordings put what they miss, were not."""
    values = {
        name: np.where((rows == 0).all(axis=0), np.nan, rows)
        for name, rows in markers.values.items()
    }
    lost = tuple(name for name, rows in values.items() if np.isnan(rows).any(axis=0).all())
    kept = {name: rows for name, rows in values.items() if name not in lost}
    return replace(markers, values=kept), lost


def recognise_axes(markers: Series, table: MarkerSet, up: str = "") -> Axes:
    """Return the Axes of a recording of somebody who stands or walks upright.

    Args:
        markers: of the recording, m.
        table: their MarkerSet.
        up: "x", "y", "z", or one of them after a minus, where the recording does not tell.

    Raises:
        ValueError: the body is not along one axis, its legs are of no person's length (units), or
            its left is on its right (sides exchanged).
    """
    pelvis = {
        side: table.landmark(f"asis_{side}") or table.landmark(f"hip_{side}") for side in "rl"
    }
    if None in pelvis.values():
        raise ValueError(f"{markers.source}: expected markers of both sides of the pelvis' front")
    ankles = {side: table.landmark(f"ankle_lat_{side}") or table.landmark(f"ankle_{side}")
              or table.landmark(f"heel_{side}") for side in "rl"}  # fmt: skip
    if None in ankles.values():
        raise ValueError(f"{markers.source}: expected markers of both ankles or heels")
    rise = np.nanmean(middle(markers, *pelvis.values()) - middle(markers, *ankles.values()), axis=1)
    _check_size(markers.source, float(np.linalg.norm(rise)))
    k = int(np.argmax(np.abs(rise))) if not up else LETTERS.index(up[-1])
    sign = float(np.sign(rise[k])) if not up else (-1.0 if up[0] == "-" else 1.0)
    share = abs(rise[k]) / np.linalg.norm(rise)
    if share < CLEAR and not up:
        raise ValueError(
            f"{markers.source}: the body is {np.degrees(np.arccos(share)):.0f} deg off the nearest "
            'axis: say which one is up (up="z")'
        )
    upward = sign * np.eye(3)[k]
    left = np.nanmean(markers.values[str(pelvis["l"])] - markers.values[str(pelvis["r"])], axis=1)
    forward = np.cross(left, upward)
    m = int(np.argmax(np.abs(forward)))
    ahead = np.sign(forward[m]) * np.eye(3)[m]
    doubts = []
    if abs(forward[m]) < CLEAR * np.linalg.norm(forward):
        doubts.append("the person faces between two axes of the laboratory")
    _check_sides(markers, table, forward, upward)
    turn = np.array([np.cross(upward, ahead), upward, ahead])
    return Axes(
        turn=tuple(map(tuple, turn.tolist())),
        up=_word(upward),
        ahead=_word(ahead),
        doubts=tuple(doubts),
    )


def _check_size(source: str, leg: float) -> None:
    """Raise ValueError unless a leg (m) is of a person's length, with the unit that it may be."""
    if LEG[0] <= leg <= LEG[1]:
        return
    units = {"feet": FEET, "millimetres": 1e-3, "centimetres": 1e-2, "inches": FEET / 12}
    likely = [name for name, size in units.items() if LEG[0] <= leg * size <= LEG[1]]
    words = f"; are they in {' or '.join(likely)}?" if likely else ""
    raise ValueError(
        f"{source}: expected markers in m, {LEG[0]} to {LEG[1]} m from ankles to the pelvis, got "
        f"{leg:.3g}{words}"
    )


def _check_sides(
    markers: Series, table: MarkerSet, forward: np.ndarray, upward: np.ndarray
) -> None:
    """Raise ValueError where feet point backward, or ankles lie on each other's side, as exchanged
    names of left and right make of anybody."""
    across = table.landmark("ankle_lat_r"), table.landmark("ankle_lat_l")
    if None not in across:
        right, left = (markers.values[str(name)] for name in across)
        apart = np.nanmean(left - right, axis=1) @ np.cross(upward, forward)
        if apart < 0:
            raise ValueError(
                f"{markers.source}: the left ankle is on the right of the right one: left and "
                "right are exchanged, of legs or of the pelvis"
            )
    votes = []
    for side in "rl":
        heel, toe = table.landmark(f"heel_{side}"), table.landmark(f"toe_{side}")
        if heel and toe:
            votes.append(
                float(forward @ np.nanmean(markers.values[toe] - markers.values[heel], axis=1))
            )
    if votes and max(votes) < 0:
        raise ValueError(
            f"{markers.source}: feet point backward of a pelvis whose right and left are as named: "
            "left and right are exchanged"
        )


def _word(axis: np.ndarray) -> str:
    k = int(np.argmax(np.abs(axis)))
    return f"{'-' if axis[k] < 0 else ''}{LETTERS[k]}"

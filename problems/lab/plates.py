"""Plates and feet: who stood on which plate when, and the wrenches of the ground on each foot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ocp import Series

LOADED = 20.0  # N: a plate bears a foot above it
STEP = 100.0  # N: that a step comes to, at least
SHORT = 0.1  # s: of a step, at least
ASIDE = 0.15  # m: a foot whose line from heel to toe is farther from the pressure does not bear
OFTEN = 0.25  # of a step's load: that much is not so far from the foot that bears it
UNSURE = 0.1  # m: by which the other foot is farther, where nobody doubts
LIFTED = 0.03  # m: by which a foot that stands is higher than the other one on stairs alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Tread:
    """A time in which a plate bore a foot.

    Attributes:
        plate: its name.
        foot: "r" or "l".
        start, end: s.
        off: mean distance of the centre of pressure from the foot's line from heel to toe (m).
        other: that from the other foot's (m).
        lifted: by how much the foot, midway from heel to toe, is higher than the other one, on the
            mean of the load (m).
        cut: whether the recording begins or ends meanwhile.
    """

    plate: str
    foot: str
    start: float
    end: float
    off: float
    other: float
    lifted: float
    cut: bool

    def __str__(self) -> str:
        foot = {"r": "right", "l": "left"}[self.foot]
        return (
            f"{self.plate}: {foot} foot from {self.start:.2f} to {self.end:.2f} s, "
            f"{100 * self.off:.0f} cm off its line, {100 * self.other:.0f} cm off the other's"
        )


def treads(forces: Series, lines: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> tuple[Tread, ...]:
    """Return the times in which plates bore feet, each the foot that stood nearer.

    Args:
        forces: {plate: (6, N)} moment about the origin and force of the ground, Y up.
        lines: {"r" and "l": places (3, N) of heel and toe at the forces' times}.

    Raises:
        ValueError: pressure far from both feet, as of exchanged plates or other axes.
    """
    found = []
    for plate, rows in forces.values.items():
        if np.nanmin(rows[4]) < -STEP and np.nanmax(rows[4]) < STEP:
            raise ValueError(
                f"{forces.source}: plate {plate!r} pulls feet down by {-np.nanmin(rows[4]):.0f} N: "
                "forces are those of the feet on the plate, or the axis that is up is another"
            )
        for first, last in _steps(forces.t, np.nan_to_num(rows[4])):
            span = slice(first, last + 1)
            weight = rows[4, span]
            pressure = np.array((rows[2, span], -rows[0, span])) / weight  # X, Z at Y = 0
            far = {
                side: _distance(pressure, heel[:, span], toe[:, span])
                for side, (heel, toe) in lines.items()
            }
            off = {side: float(np.average(each, weights=weight)) for side, each in far.items()}
            foot = min(off, key=off.__getitem__)
            beside = float(np.average(far[foot] > ASIDE, weights=weight))
            if off[foot] > ASIDE or beside > OFTEN:
                raise ValueError(
                    f"{forces.source}: plate {plate!r} bears {weight.max():.0f} N from "
                    f"{forces.t[first]:.2f} to {forces.t[last]:.2f} s, {off[foot]:.2f} m from the "
                    f"nearer foot, of the load {100 * beside:.0f} % beyond {ASIDE} m: plates are "
                    "exchanged, forces are in other axes than markers, or at other times"
                )
            heights = {side: (heel[1] + toe[1])[span] / 2 for side, (heel, toe) in lines.items()}
            others = [row for side, row in heights.items() if side != foot]
            above = heights[foot] - np.min(others, axis=0)
            found.append(
                Tread(
                    plate=plate,
                    foot=foot,
                    start=float(forces.t[first]),
                    end=float(forces.t[last]),
                    off=off[foot],
                    other=max(off.values()),
                    lifted=float(np.average(above, weights=weight)),
                    cut=first == 0 or last == len(forces.t) - 1,
                )
            )
    return tuple(sorted(found, key=lambda tread: tread.start))


def doubts(found: tuple[Tread, ...]) -> Iterator[str]:
    """Yield a sentence for every tread that is not sure or not whole."""
    for tread in found:
        if tread.other - tread.off < UNSURE:
            yield f"{tread}: which foot stands there is not sure"
        if tread.lifted > LIFTED:
            yield (
                f"{tread}: it is {100 * tread.lifted:.0f} cm higher than the other foot: plates "
                "are exchanged, or it stands on a stair"
            )
        if tread.cut:
            yield f"{tread}: the trial is cut in mid-step"
    for one in found:
        for other in found:
            overlap = min(one.end, other.end) - max(one.start, other.start)
            if one.plate < other.plate and one.foot == other.foot and overlap > SHORT:
                yield f"{one.plate} and {other.plate} bear the same foot for {overlap:.2f} s"


def foot_wrenches(forces: Series, found: tuple[Tread, ...]) -> Series:
    """Return the wrenches {"r" and "l": (6, N)} on both feet, nought while no plate bears one."""
    feet = {side: np.zeros((6, len(forces.t))) for side in "rl"}
    for tread in found:
        span = (forces.t >= tread.start) & (forces.t <= tread.end)
        feet[tread.foot][:, span] += forces.values[tread.plate][:, span]
    return replace(forces, values=MappingProxyType(feet))


def _steps(t: np.ndarray, force: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the first and last samples of steps on a plate of a vertical force (N,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], force > LOADED, [0]]).astype(int)))
    for first, end in zip(edges[::2], edges[1::2]):
        if t[end - 1] - t[first] >= SHORT and force[first:end].max() >= STEP:
            yield int(first), int(end - 1)


def _distance(pressure: np.ndarray, heel: np.ndarray, toe: np.ndarray) -> np.ndarray:
    """Return the distances (N,) of places (2, N; X, Z) from lines between places (3, N)."""
    start, way = heel[[0, 2]], toe[[0, 2]] - heel[[0, 2]]
    share = np.sum((pressure - start) * way, axis=0) / np.sum(way**2, axis=0)
    return np.linalg.norm(pressure - start - np.clip(share, 0, 1) * way, axis=0)

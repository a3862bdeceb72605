"""The walk going on as a film: step after step, each the mirror image of the one before it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution
from ocp.plots import (
    ARROW,
    FILMS,
    TEXT,
    Scene,
    Stick,
    animate,
    check_suffix,
    film,
    film_bytes,
    pace,
    scene,
    show,
    style,
)
from ocp.problems.gait.pictures.footprints import soles
from ocp.problems.gait.pictures.human_figure import BODY, FRONT, SIDEWAYS, body_points
from ocp.problems.gait.report.gait_cycle import OTHER, REFLECTED, step_length
from ocp.storage import write

SPOKES = 16  # of a ring that stands for the head


def animate_walk(
    solution: Solution, path: str | Path, steps: int = 4, slower: float = 2.0, rate: float = 25
) -> None:
    """Write the walk going on for `steps` steps, `slower` than it is, at `rate` frames per second.

    As .gif and .mp4 it is seen from the side and the front, as .html in space. Raises ValueError
    naming any other suffix, and for numbers that make no film.
    """
    check_suffix(path, FILMS)
    if solution.phases:  # as they are, once
        animate(solution, path)
        return
    if not (steps >= 1 and 0 < slower < np.inf and 0 < rate < np.inf):
        raise ValueError(
            "animate_walk: expected at least one step and positive numbers, "
            f"got {steps} steps, {slower} slower, rate {rate}"
        )
    frames = max(2, round(solution.duration * slower * rate))  # of a step
    going = going_on(solution, steps, frames)
    kind = Path(path).suffix.lower()
    if kind != ".html":
        acted = partial(_acted, going, slower)
        write(path, film_bytes(acted, len(going.t), rate, (9.0, 3.9), kind))
    else:
        film(path, _in_space(solution, going, steps), steps * solution.duration * slower, rate)


def going_on(solution: Solution, steps: int, frames: int) -> Scene:
    """Return the Scene of so many steps, of `frames` instants each, and of the last instant.

    Each is the mirror image of the one before it and a step further on.
    """
    first = scene(solution, solution.times(frames + 1), body_points())
    way = np.array([[0.0], [0.0], [step_length(solution.problem)]])
    parts = []
    for number in range(steps):
        kept = slice(None) if number == steps - 1 else slice(0, -1)
        part = first if number % 2 == 0 else _image(first)
        parts.append(_moved(part, kept, number * way, number * solution.duration))
    return replace(
        first,
        t=np.concatenate([part.t for part in parts]),
        zmp=np.hstack([part.zmp for part in parts]),
        **{
            what: {
                name: np.hstack([getattr(part, what)[name] for part in parts])
                for name in getattr(first, what)
            }
            for what in ("points", "forces", "pressures")
        },
    )


def _image(part: Scene) -> Scene:
    """Return the mirror image of a Scene."""
    return replace(
        part,
        zmp=REFLECTED * part.zmp,
        points={name: REFLECTED * part.points[_partner(name)] for name in part.points},
        forces={foot: REFLECTED * part.forces[other] for foot, other in OTHER.items()},
        pressures={foot: REFLECTED * part.pressures[other] for foot, other in OTHER.items()},
    )


def _moved(part: Scene, kept: slice, way: np.ndarray, delay: float) -> Scene:
    """Return some instants of a Scene, a way (3, 1; m) further on and a delay (s) later."""
    return replace(
        part,
        t=part.t[kept] + delay,
        zmp=part.zmp[:, kept] + way,
        points={name: values[:, kept] + way for name, values in part.points.items()},
        forces={foot: values[:, kept] for foot, values in part.forces.items()},
        pressures={foot: values[:, kept] + way for foot, values in part.pressures.items()},
    )


def _partner(name: str) -> str:
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def _acted(going: Scene, slower: float, figure: Any) -> Callable[[int], Any]:
    """Set the scene of the film from the side and the front; return act(k)."""
    forward = [values[2] for values in going.points.values()]
    low, high = np.min(forward), np.max(forward)
    side, front = figure.subplots(1, 2, width_ratios=(high - low + 0.3, 1.0))
    for axes, limits, name in (
        (side, (low - 0.15, high + 0.15), "forward, z (m)"),
        (front, (-0.5, 0.5), "to the left, x (m)"),
    ):
        style(axes, name, "")
        axes.axhline(0.0, color="0.5", linewidth=0.8)
        axes.set(xlim=limits, ylim=(-0.08, 1.95), aspect="equal")
    side.set_ylabel("up, y (m)", fontsize=TEXT)

    def act(k: int) -> Any:
        said = [f"t = {going.t[k]:.2f} s", pace(slower, 1.0)]
        figure.suptitle(",  ".join(filter(None, said)), fontsize=TEXT)
        return show(side, going, BODY, k, SIDEWAYS, width=2.4) + show(
            front, going, BODY, k, FRONT, width=2.4
        )

    return act


def _in_space(solution: Solution, going: Scene, steps: int) -> Stick:
    """Return the Stick, axes forward, left and up, of a scene, with soles on the ground."""
    names = list(going.points)
    places = [going.points[name] for name in names]
    bars = {
        part: [(names.index(a), names.index(b)) for a, b in pairs]
        for part, pairs in BODY.bars.items()
    }
    for name, (part, radius) in BODY.balls.items():
        for ring in _rings(going.points[name], radius):
            bars[part] = bars[part] + _ring(len(places), len(ring))
            places += ring
    for foot in OTHER:
        bars[f"force {foot}"] = [(len(places), len(places) + 1)]
        places += _arrow(going.pressures[foot], going.forces[foot])
    bars["sole"] = []
    for sole in soles(solution, steps):
        bars["sole"] += _ring(len(places), len(sole))
        places += [np.repeat(corner[:, None], len(going.t), axis=1) for corner in sole]
    colours = {part: (_hex(BODY.colours[part]), 1.2) for part in BODY.bars}
    colours |= {f"force {foot}": (BODY.force, 0.7) for foot in OTHER} | {"sole": ("#999999", 0.4)}
    return Stick(
        t=going.t,
        places=np.transpose(places, (2, 0, 1))[:, :, [2, 0, 1]],
        axes=["z", "x", "y"],
        up=1,
        bars=bars,
        colours=colours,
    )


def _rings(center: np.ndarray, radius: float) -> list[list[np.ndarray]]:
    """Return two rings, upright and across, of a radius (m) about a centre (3, N)."""
    angle = np.linspace(0, 2 * np.pi, SPOKES, endpoint=False)
    spokes = np.array([np.cos(angle), np.sin(angle), 0 * angle]).T
    return [
        [center + radius * spoke[rows, None] for spoke in spokes] for rows in ([2, 1, 0], [0, 1, 2])
    ]


def _arrow(pressure: np.ndarray, force: np.ndarray) -> list[np.ndarray]:
    """Return the ends (3, N) of a force at a centre of pressure.

    Of no length where the foot does not bear.
    """
    bearing = np.isfinite(pressure)
    start = np.where(bearing, pressure, np.nan_to_num(_last_known(pressure)))
    return [start, start + ARROW * np.where(bearing, force, 0.0)]


def _ring(first: int, count: int) -> list[tuple[int, int]]:
    return [(first + k, first + (k + 1) % count) for k in range(count)]


def _last_known(values: np.ndarray) -> np.ndarray:
    """Return values (3, N), each that is no number replaced by the last known one.

    Before the first known one that is the first.
    """
    known = np.flatnonzero(np.isfinite(values[0]))
    before = np.searchsorted(known, np.arange(values.shape[1]), side="right") - 1
    return values[:, known[np.maximum(before, 0)]]


def _hex(colour: str) -> str:
    return colour if colour.startswith("#") else "#" + 3 * f"{round(255 * float(colour)):02x}"

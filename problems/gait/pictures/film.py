"""The walk going on as a film: step after step, each the mirror image of the one before it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import poses
from ocp.plots import (
    FILMS,
    TEXT,
    Scene,
    Stick,
    animate,
    bodies_of,
    check_suffix,
    film_bytes,
    pace,
    page_of,
    scene,
    show,
    stick,
    style,
)
from ocp.problems.gait.pictures.human_figure import ABOVE, BODY, FRONT, SIDEWAYS, body_points
from ocp.problems.gait.report.gait_cycle import OTHER, REFLECTED, step_length
from ocp.storage import write

SIZE = 9.0, 5.6  # in, of a film
HIGH, ASIDE = (-0.08, 1.95), (-0.5, 0.5)  # m, of its panels


def animate_walk(
    solution: Solution, path: str | Path, steps: int = 4, slower: float = 2.0, rate: float = 25
) -> None:
    """Write the walk going on for `steps` steps, `slower` than it is, at `rate` frames per second.

    As .gif and .mp4 it is seen from the side, the front and above, as .html in space. Raises
    ValueError naming any other suffix, and for numbers that make no film.
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
    kind = Path(path).suffix.lower()
    if kind != ".html":
        going = going_on(solution, steps, frames)
        acted = partial(_acted, going, slower)
        write(path, film_bytes(acted, len(going.t), rate, SIZE, kind))
    else:
        walk = walk_in_space(solution, steps, frames)
        long = steps * solution.duration * slower
        write(path, page_of(walk, long, title=Path(path).stem).text)


def going_on(solution: Solution, steps: int, frames: int) -> Scene:
    """Return the Scene of so many steps, of `frames` instants each, and of the last instant.

    Each is the mirror image of the one before it and a step further on.
    """
    first = scene(solution, solution.times(frames + 1), body_points())
    walk = walk_in_space(solution, steps, frames)
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
        bodies=bodies_of(walk.solids),
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
    """Set the scene of the film from the side, the front and above; return act(k)."""
    forward = [values[2] for values in going.points.values()]
    along = float(np.min(forward)) - 0.15, float(np.max(forward)) + 0.15
    spans = {"width_ratios": (np.ptp(along), np.ptp(ASIDE))}
    spans["height_ratios"] = np.ptp(HIGH), np.ptp(ASIDE)
    (side, front), (above, corner) = figure.subplots(2, 2, **spans)
    corner.set_axis_off()
    ahead, left, up = "forward, z (m)", "to the left, x (m)", "up, y (m)"
    seen = {
        SIDEWAYS: (side, along, HIGH, ahead, up),
        FRONT: (front, ASIDE, HIGH, left, up),
        ABOVE: (above, along, ASIDE, ahead, left),
    }
    for axes, across, upward, below, beside in seen.values():
        style(axes, below, beside)
        axes.set(xlim=across, ylim=upward, aspect="equal")
    for axes in (side, front):
        axes.axhline(0.0, color="0.5", linewidth=0.8)

    def act(k: int) -> Any:
        said = [f"t = {going.t[k]:.2f} s", pace(slower, 1.0)]
        figure.suptitle(",  ".join(filter(None, said)), fontsize=TEXT)
        return [
            artist
            for view, (axes, *_) in seen.items()
            for artist in show(axes, going, BODY, k, view, width=2.4)
        ]

    return act


def walk_in_space(solution: Solution, steps: int, frames: int) -> Stick:
    """Return the scene in space of so many steps, of `frames` instants each, and of the last
    instant: each the mirror image of the one before it and a step further on."""
    first = stick(solution, solution.times(frames + 1))
    image, way = _image_in_space(solution, first), step_length(solution.problem)
    parts = []
    for number in range(steps):
        part, kept = (first, image)[number % 2], slice(0, frames + (number == steps - 1))
        parts.append((part, kept, np.array([0.0, 0.0, number * way])))
    solids = []
    for several in zip(*(part.solids for part, *_ in parts)):
        poses = [_shifted(solid.poses[kept], on) for solid, (_, kept, on) in zip(several, parts)]
        solids.append(replace(several[0], poses=np.concatenate(poses)))
    times = [part.t[kept] + k * solution.duration for k, (part, kept, _) in enumerate(parts)]
    return replace(
        first,
        t=np.concatenate(times),
        places=np.concatenate([part.places[kept] + on for part, kept, on in parts]),
        solids=solids,
    )


def _image_in_space(solution: Solution, first: Stick) -> Stick:
    """Return the mirror image of a scene: each link is where its partner's image is."""
    tree, mirror = solution.problem.tree, np.diag([*REFLECTED.ravel(), 1.0])
    rest, names = [np.array(pose) for pose in poses(tree, np.zeros(tree.dof))], tree.link_names
    known = {solid.solid.link: solid.poses for solid in first.solids}
    solids = []
    for solid in first.solids:
        k = solid.solid.link
        other = names.index(_partner(names[k]))
        seen = np.linalg.inv(rest[other]) @ mirror @ rest[k]  # in the partner's own frame
        solids.append(replace(solid, poses=mirror @ known[other] @ seen))
    places = first.places * REFLECTED.ravel()
    swapped = {place: first.tips[_partner(name)] for name, place in first.tips.items()}
    pairs = list(first.arrows.get("force", ()))
    swapped |= {a: b for pair, other in zip(pairs, pairs[::-1]) for a, b in zip(pair, other)}
    order = [swapped.get(place, place) for place in range(places.shape[1])]
    return replace(first, solids=solids, places=places[:, order])


def _shifted(moved: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Return poses (N, 4, 4) a way (3; m) further on."""
    there = moved.copy()
    there[:, :3, 3] += way
    return there

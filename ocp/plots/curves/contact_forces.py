"""Contact forces and impulses of a motion, in time and in space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ocp.mechanics.values.types import Matrix
from ocp.plots.canvas import COLOURS, SMALL, Look, label_of, style
from ocp.plots.curves.phase_curves import curve, mark_ends, piece_mask, pieces
from ocp.problem.contact.complementarity import Touch
from ocp.problem.contact.compliant import Sphere
from ocp.problem.contact.contact_implicit_loads import force_of, name_of
from ocp.problem.contact.ground import feet_of
from ocp.problem.contact.state_dependent_forces import ForceLaw
from ocp.problem.instant import Instant
from ocp.problem.statement import Problem
from ocp.solution.solution import OfInstant, Solution

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FAINT = 1e-6  # of the largest force: less has no place where it acts
LEAST = 1e-12  # N, N s
SLIGHT = 1e-3  # of the largest impulse: less is not drawn
LONGEST = 0.3  # of a motion's extent: the longest arrow
ROOM = 1.25  # of the largest force: height of the panel, names above
LINE = 0.12  # of this height: what each more line of names takes
HANDLE, LETTER = 0.55, 0.065  # in: what a name takes beside its letters, and each of these
SHOWN = 0.03  # of a motion, before and after an impact: while its impulse is seen
LOOKS = {"force": (COLOURS[2], 0.5), "impulse": (COLOURS[1], 0.6)}  # colour, width of arrows


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactForce:
    """Forces (N, 3; N) at `places` (N, 3; m), zero where nothing bears."""

    places: np.ndarray
    forces: np.ndarray


def contacts_of(solution: Solution) -> tuple[str, ...]:
    """Return the names of all that bears in any phase: feet in their order, then what touches
    whenever it comes to a surface."""
    parts = [each.motion.problem for each in pieces(solution)]
    feet = [name for part in parts for name in feet_of(part.ground)]
    return tuple(
        dict.fromkeys([*feet, *(name for part in parts for name in _unscheduled_loads(part))])
    )


def _unscheduled_loads(problem: Problem) -> dict[str, ForceLaw | Touch]:
    """Return {name: load} of what pushes as the motion has it: contacts, and other laws of force,
    which go by their point."""
    return {name_of(load): load for load in problem.loads if isinstance(load, ForceLaw | Touch)}


def surfaces(problem: Problem) -> dict[str, Sphere | Touch]:
    """Return {contact: the law by which it touches a plane} of those that nobody schedules."""
    laws = [load.law if isinstance(load, ForceLaw) else load for load in problem.loads]
    return {law.name: law for law in laws if isinstance(law, Sphere | Touch)}


def contact_forces(solution: Solution, t: np.ndarray) -> dict[str, ContactForce]:
    """Return {contact: Pushes} at times (N,), s, of the motion."""
    names = contacts_of(solution)
    forces = {name: np.zeros((len(t), 3)) for name in names}
    places = {name: np.full((len(t), 3), np.nan) for name in names}
    for each in pieces(solution):
        chosen = piece_mask(each, solution, t)
        if not chosen.any():
            continue
        own = np.clip(t[chosen] - each.begin, 0.0, each.motion.duration)
        for name, (place, force) in _unscheduled_forces(each.motion, own).items():
            places[name][chosen], forces[name][chosen] = place, force
        feet = feet_of(each.motion.problem.ground)
        traced = each.motion.trace(OfInstant(_pressures, (feet,)), own) if feet else np.empty(0)
        for name, (*rows,) in zip(feet, traced.reshape(len(feet), 7, len(own))):
            force, lever, push = np.array(rows[:3]), np.array(rows[3:6]), rows[6]
            there = push > FAINT * max(float(np.abs(push).max()), LEAST)
            forces[name][chosen] = force.T
            place = np.full(force.shape, np.nan)
            place[:, there] = lever[:, there] / push[there]
            places[name][chosen] = place.T
    return {
        name: ContactForce(places=_fill_gaps(places[name]), forces=forces[name]) for name in names
    }


def _unscheduled_forces(
    motion: Solution, t: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {contact: places (N, 3; m) and forces (N, 3; N)} of those that nobody schedules."""
    known = {}
    for name, load in _unscheduled_loads(motion.problem).items():
        place = motion.trace(OfInstant(_place, (load.point,)), t).T
        known[name] = (place, motion.trace(force_of(load), t).T)
    return known


def contact_strengths(solution: Solution) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return {contact: times (N,), s, and the size (N,), N, of its force}, not a number where it is
    not there."""
    known = {}
    for name in contacts_of(solution):
        t, (values,) = curve(solution, partial(_strength, name))
        known[name] = (t, values)
    return known


def contact_colours(names: Iterable[str]) -> dict[str, str]:
    """Return {contact: colour}: of feet called by their sides those of the sides' joints."""
    sides = {"right": COLOURS[1], "left": COLOURS[0]}
    return {name: sides.get(name, COLOURS[k % len(COLOURS)]) for k, name in enumerate(names)}


def draw_forces(axes: Axes, solution: Solution) -> None:
    """Draw the force of each contact (N), and impulses (N s) as arrows where they act."""
    lines: dict[str, Artist] = {}
    known = contact_strengths(solution)
    colours = contact_colours(known)
    for name, (t, values) in known.items():
        (line,) = axes.plot(t, values, color=colours[name], linewidth=1.3)
        lines[label_of(name)] = line
    style(axes, "", "contact force (N)" if lines else "impulses")
    axes.set_ylim(0, ROOM * axes.get_ylim()[1])
    if not lines:
        axes.set_yticks([])
    _draw_impulses(axes, solution)
    mark_ends(axes, solution)
    if lines:
        figure: Any = axes.figure
        wide = axes.get_window_extent().width / figure.dpi
        columns = max(1, min(2, int(wide / (HANDLE + LETTER * max(map(len, lines))))))
        axes.set_ylim(0, axes.get_ylim()[1] * (1 + LINE * (ceil(len(lines) / columns) - 1)))
        axes.legend(
            [*lines.values()],
            [*lines],
            fontsize=SMALL,
            frameon=False,
            ncols=columns,
            loc="upper left",
        )


def impulses_in_time(solution: Solution) -> list[tuple[float, str, np.ndarray]]:
    """Return (time in s, point, impulse (3,) N s) of all that strikes."""
    ends = {each.name: each.end for each in pieces(solution)}
    stated = {each.name: each for each in solution.problem.transitions}
    return [
        (ends[stated[name].before], point, np.asarray(push))
        for name, known in solution.impulses.items()
        for point, push in known.items()
    ]


def _draw_impulses(axes: Axes, solution: Solution) -> None:
    """Draw impulses as arrows from the axis of time, the longest over two thirds of the height."""
    known = impulses_in_time(solution)
    most = max((float(np.linalg.norm(push)) for *_, push in known), default=0.0)
    lines: list[tuple[float, float]] = []  # of words: when they stand, and how high
    for t, point, push in known:
        size = float(np.linalg.norm(push))
        if size > max(LEAST, SLIGHT * most):
            tip = (t, 0.66 * size / most)
            frame = axes.get_xaxis_transform()
            look: Look = {"arrowstyle": "-|>", "color": COLOURS[1], "linewidth": 1.6, "shrinkA": 0}
            axes.annotate("", tip, (t, 0.0), xycoords=frame, textcoords=frame, arrowprops=look)
            late, high = t > 0.8 * solution.duration, tip[1]
            near = [each for when, each in lines if abs(when - t) < 0.4 * solution.duration]
            while any(abs(high - each) < LINE for each in near):
                high += 0.25 * LINE
            lines.append((t, high))
            axes.annotate(
                f"{point} {size:.3g} N s",
                (t, high),
                (-4 if late else 4, -2),
                xycoords=frame,
                textcoords="offset points",
                ha="right" if late else "left",
                va="top",
                fontsize=SMALL,
                color=COLOURS[1],
            )


def _strength(name: str, motion: Solution, t: np.ndarray) -> np.ndarray:
    """Return the size of a contact's force (1, N), not a number where it is not there."""
    if name in _unscheduled_loads(motion.problem):
        return np.linalg.norm(_unscheduled_forces(motion, t)[name][1], axis=1)[None, :]
    if name not in feet_of(motion.problem.ground):
        return np.full((1, len(t)), np.nan)
    return np.linalg.norm(motion.trace(OfInstant(_force, (name,)), t), axis=0)[None, :]


def _force(name: str, at: Instant) -> Matrix:
    return at.reaction.force(name)


def _pressures(names: Sequence[str], at: Instant) -> Matrix:
    """Return of each foot its force, the centre of pressure times the push, and the push."""
    parts = (
        ca.vertcat(at.reaction.force(name), at.reaction.lever(name), at.reaction.push(name))
        for name in names
    )
    return ca.vertcat(*parts)


def _fill_gaps(places: np.ndarray) -> np.ndarray:
    """Return places (N, 3) with the nearest in time that is known where there is none."""
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    if not len(known):
        return np.zeros_like(places)
    nearest = np.abs(np.arange(len(places))[:, None] - known).argmin(axis=1)
    return places[known[nearest]]


def arrows(solution: Solution, t: np.ndarray, extent: float) -> dict[str, list[np.ndarray]]:
    """Return {kind: [tail and head (N, 2, 3; m)]} of the arrows of a motion at times (N,): of a
    "force" while something bears, of an "impulse" about the time of its impact.

    The largest of each kind is LONGEST of the `extent` (m) of the motion; of nothing an arrow is a
    point.
    """
    known: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"force": [], "impulse": []}
    for each in contact_forces(solution, t).values():
        known["force"].append((each.places, each.forces))
    shown = SHOWN * solution.duration
    for time, point, push in impulses_in_time(solution):
        place = solution.trace(OfInstant(_place, (point,)), np.array([time])).T
        near = np.abs(t - time) <= shown
        nearest = np.arange(len(t)) == np.abs(t - time).argmin()
        forces = np.where((near | nearest)[:, None], push, 0.0)
        known["impulse"].append((np.repeat(place, len(t), axis=0), forces))
    drawn: dict[str, list[np.ndarray]] = {}
    for kind, several in known.items():
        sizes = [float(np.linalg.norm(forces, axis=1).max()) for _, forces in several]
        scale = LONGEST * extent / max([*sizes, LEAST])
        if max(sizes, default=0.0) > LEAST:
            drawn[kind] = [
                np.stack([places, places + scale * forces], axis=1) for places, forces in several
            ]
    return drawn


def _place(point: str, at: Instant) -> Matrix:
    return at.position(point)

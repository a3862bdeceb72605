"""How well a motion stands: what its contacts, pressures and balance are between the nodes, on a
dense grid, with nothing clipped.

Every number is the worst of its kind with the place and the time where it occurs; signs are kept,
so that a margin below zero is a fault.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ocp.mechanics.structure import floating_root
from ocp.mechanics.zero_moment import body_weight, hull
from ocp.problem.ground import bears, in_force
from ocp.problem.statement import Span
from ocp.solution.sampling import dense, traces

FAINT = (
    0.02  # of the body weight: of a fainter force no centre of pressure is told, as on force plates
)
AXES = "xyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """A worst value with its unit, where it is (foot, point or joint) and when (s)."""

    value: float
    unit: str
    where: str
    time: float


def as_data(value: Any) -> Any:
    """Return Extremes, alone or in mappings, as plain data; None stays None."""
    if isinstance(value, Extreme):
        return asdict(value)
    return value if value is None else {key: as_data(entry) for key, entry in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Footing:
    """What was found. Of pinned points.

    The largest error of `height` and of `place` along the ground, the longest way they `slip` while
    held, their largest `slip_speed` after the strike, and the `strike_speed` at its instant. Of
    feet: `margins` {foot: distance of the centre of pressure from the edge of its polygon, negative
    outside}, and likewise `zmp`, of the zero moment point from the edge of the hull of all that
    bear; the least normal force `push` while they bear, and the largest `friction`, tangential over
    normal force. `unbalanced`: what is left for the root's joints, in body weights (N, N m).
    `between`: how far ground wrenches that are straight between the nodes are from balance before
    they are corrected, None if they are no variables.
    """

    height: Extreme
    place: Extreme
    slip: Extreme
    slip_speed: Extreme
    strike_speed: Extreme
    margins: Mapping
    zmp: Extreme
    push: Extreme
    friction: Extreme
    unbalanced: Extreme
    between: Extreme | None


def footing(solution):
    """Return the Footing of a Solution whose problem has a ground.

    Raises ValueError if it has none.
    """
    problem, ground = solution.problem, solution.problem.ground
    if ground is None:
        raise ValueError("footing: this problem has no ground")
    s = dense(solution)
    names = list(
        dict.fromkeys(
            pin.point for foot in ground.feet for support in foot.supports for pin in support.pins
        )
    )
    wanted = {f"place {name}": lambda at, name=name: at.position(name) for name in names}
    wanted |= {f"speed {name}": lambda at, name=name: at.velocity(name) for name in names}
    wanted |= {
        f"force {foot.name}": lambda at, name=foot.name: at.reaction.force(name)
        for foot in ground.feet
    }
    wanted |= {
        f"pressure {foot.name}": lambda at, name=foot.name: at.reaction.pressure(name)
        for foot in ground.feet
    }
    wanted |= {
        "force": lambda at: at.reaction.force(),
        "moment": lambda at: at.reaction.moment(),
        "zmp": lambda at: at.reaction.pressure(),
        "tau": lambda at: at.tau,
    }
    t, found = s * solution.duration, traces(solution, wanted, s * solution.duration)
    return Footing(
        **_pins(ground, s, t, found),
        **_pushes(problem, s, t, found),
        margins=_margins(problem, s, t, found),
        zmp=_zmp(ground, s, t, found),
        unbalanced=_unbalanced(problem, t, found),
        between=_between(solution, s, t, found),
    )


def margin(polygon, points, normal):
    """Return the distances (N,) of points (3, N) on the ground from the edge of the hull of a
    polygon (k, 3), negative outside.
    """
    corners = hull(polygon, normal)
    edges = np.roll(corners, -1, axis=0) - corners
    away = points.T[:, None, :] - corners  # (N, k, 3)
    along = np.clip((away * edges).sum(axis=2) / (edges**2).sum(axis=1), 0.0, 1.0)
    distance = np.linalg.norm(away - along[:, :, None] * edges, axis=2).min(axis=1)
    inside = (np.cross(edges, away) @ np.asarray(normal) >= 0).all(axis=1)
    return np.where(inside, distance, -distance)


def _pins(ground, s, t, found):
    up = int(np.argmax(np.abs(ground.normal)))
    kinds = {"height": [], "place": [], "slip": [], "slip_speed": [], "strike_speed": []}
    for foot in ground.feet:
        for support in foot.supports:
            held = Span(start=support.when[0], end=support.when[1]).holds(s)
            strike = held & np.isclose(s, foot.bears[0])
            for pin in support.pins:
                error = found[f"place {pin.point}"] - np.array(pin.target)[:, None]
                flat = [AXES.index(axis) for axis in pin.axes if AXES.index(axis) != up]
                speed = np.linalg.norm(
                    found[f"speed {pin.point}"][[AXES.index(axis) for axis in pin.axes]], axis=0
                )
                if AXES[up] in pin.axes:
                    kinds["height"].append((pin.point, np.abs(error[up]), held))
                if flat:
                    kinds["place"].append((pin.point, np.linalg.norm(error[flat], axis=0), held))
                    kinds["slip"].append(
                        (
                            pin.point,
                            np.linalg.norm(error[flat] - error[flat][:, held][:, :1], axis=0),
                            held,
                        )
                    )
                    kinds["slip_speed"].append(
                        (
                            pin.point,
                            np.linalg.norm(found[f"speed {pin.point}"][flat], axis=0),
                            held & ~strike,
                        )
                    )
                kinds["strike_speed"].append((pin.point, speed, strike))
    return {
        kind: _extreme(entries, t, "m/s" if "speed" in kind else "m", max)
        for kind, entries in kinds.items()
    }


def _pushes(problem, s, t, found):
    ground, weight = problem.ground, body_weight(problem.tree)
    pushes, rubs = [], []
    for foot in ground.feet:
        force = found[f"force {foot.name}"]
        push = np.array(ground.normal) @ force
        pull = np.linalg.norm(force - np.outer(ground.normal, push), axis=0)
        bearing = (s > foot.bears[0] + 1e-9) & (s < foot.bears[1] - 1e-9)
        pushes.append((foot.name, push / weight, bearing))
        rubs.append(
            (
                foot.name,
                np.divide(pull, push, out=np.full_like(pull, -np.inf), where=push != 0),
                push > FAINT * weight,
            )
        )
    return {
        "push": _extreme(pushes, t, "body weights", min),
        "friction": _extreme(rubs, t, "", max),
    }


def _margins(problem, s, t, found):
    ground, weight, margins = problem.ground, body_weight(problem.tree), {}
    for foot in ground.feet:
        loaded = np.array(ground.normal) @ found[f"force {foot.name}"] > FAINT * weight
        entries = []
        for number, support in enumerate(foot.supports):
            held = loaded & Span(start=support.when[0], end=support.when[1]).holds(s)
            distance = np.full(len(s), np.inf)
            distance[held] = margin(
                support.polygon, found[f"pressure {foot.name}"][:, held], ground.normal
            )
            entries.append((f"{foot.name}, support {number + 1}", distance, held))
        margins[foot.name] = _extreme(entries, t, "m", min)
    return margins


def _zmp(ground, s, t, found):
    supports = {
        (foot.name, support.when): support for foot in ground.feet for support in foot.supports
    }
    standing = [
        tuple((foot.name, in_force(foot, value).when) for foot in ground.feet if bears(foot, value))
        for value in s
    ]
    entries = []
    for stand in dict.fromkeys(standing):
        held = np.array([other == stand for other in standing])
        distance = np.full(len(s), np.inf)
        corners = [corner for key in stand for corner in supports[key].polygon]
        distance[held] = margin(corners, found["zmp"][:, held], ground.normal)
        entries.append((" and ".join(name for name, _ in stand), distance, held))
    return _extreme(entries, t, "m", min)


def _unbalanced(problem, t, found):
    rows, weight = floating_root(problem.tree), body_weight(problem.tree)
    return _extreme(
        [
            (
                problem.tree.moving[row].name,
                np.abs(found["tau"][row]) / weight,
                np.full(len(t), True),
            )
            for row in rows
        ],
        t,
        "body weights",
        max,
    )


def _between(solution, s, t, found):
    if not solution.stands:
        return None
    known = sum(
        np.array([np.interp(s, solution.nodes, line) for line in wrench])
        for wrench in solution.wrenches().values()
    )
    gap = np.abs(known - np.vstack([found["moment"], found["force"]])) / body_weight(
        solution.problem.tree
    )
    rows, within = (
        [f"{what} {axis}" for what in ("moment", "force") for axis in AXES],
        s <= solution.nodes[-1],
    )
    return _extreme([(row, line, within) for row, line in zip(rows, gap)], t, "body weights", max)


def _extreme(entries, t, unit, worst):
    """Return the Extreme over (where, values (N,), mask (N,)).

    Not a number if every mask is empty.
    """
    found = []
    for where, values, mask in entries:
        if mask.any():
            k = np.flatnonzero(mask)[(np.argmax if worst is max else np.argmin)(values[mask])]
            found.append(Extreme(value=float(values[k]), unit=unit, where=where, time=float(t[k])))
    return (
        worst(found, key=lambda extreme: extreme.value)
        if found
        else Extreme(value=np.nan, unit=unit, where="nowhere", time=np.nan)
    )

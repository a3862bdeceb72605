"""Tendons of MuJoCo's models, sums of coordinates and lines between two sites, as elements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ocp.interchange.mjcf.equalities import NOBODY, MjModel, leaders, object_name
from ocp.mechanics.elements import Element, PassiveMoment, Strut
from ocp.mechanics.model.tree import Point
from ocp.mechanics.values.types import Matrix

JOINT, SITE = 1, 3  # what a tendon runs over, of MuJoCo's kinds
TENDON = 3  # what an actuator acts on
ROUGH = ("stiffnesspoly", "dampingpoly", "springyield", "armature", "frictionloss")  # not read


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonLength:
    """Length o + sum of c x of coordinates x (k,): o the `offset`, c the `ratios`."""

    ratios: tuple[float, ...]
    offset: float = 0.0

    def __call__(self, x: Matrix) -> Matrix:
        """Return the length at x (k,), or its rate where x are rates and o is 0."""
        total: Matrix = self.offset
        for k, ratio in enumerate(self.ratios):
            total = total + ratio * x[k]
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonSpring:
    """Energy k (l - l_0)^2 / 2 of a spring along a line: `stiffness` k, `rest` l_0."""

    line: TendonLength
    stiffness: float
    rest: float

    def __call__(self, x: Matrix) -> Matrix:
        """Return the energy (J) at coordinates x (k,)."""
        return self.stiffness * (self.line(x) - self.rest) ** 2 / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonDamper:
    """Moments -d l' c of a damper along a line on its coordinates."""

    line: TendonLength
    damping: float

    def __call__(self, x: Matrix, rate: Matrix) -> list[Matrix]:
        """Return moments and forces (k,) at rates (k,)."""
        force = -self.damping * (self.line(rate) - self.line.offset)
        return [ratio * force for ratio in self.line.ratios]


def tendon_sum(model: MjModel, tendon: int) -> tuple[list[int], TendonLength] | None:
    """Return the joints (by number) that make up a tendon's length, and the length; None for
    others."""
    parts = tendon_parts(model, tendon)
    if any(kind != JOINT for kind, _, _ in parts):
        return None
    return coordinate_sum(model, [(joint, ratio) for _, joint, ratio in parts])


def coordinate_sum(
    model: MjModel, parts: Sequence[tuple[int, float]]
) -> tuple[list[int], TendonLength] | None:
    """Return the sum of joints' coordinates times factors by those that follow none; None where
    a joint follows by a curve."""
    steps, ratios, offset = leaders(model), dict[int, float](), 0.0
    for joint, ratio in parts:
        leader, whole = steps.get(joint, (joint, None))
        start, slope, *bends = (0.0, 1.0) if whole is None else (*whole.coef.tolist(), 0.0)
        if any(bends):
            return None
        offset += ratio * start
        if leader == NOBODY:
            continue
        ratios[leader] = ratios.get(leader, 0.0) + ratio * slope
    return [*ratios], TendonLength(ratios=tuple(ratios.values()), offset=offset)


def tendon_parts(model: MjModel, tendon: int) -> list[tuple[int, int, float]]:
    """Return kind, number and factor of each part that a tendon runs over."""
    first = int(model.tendon_adr[tendon])
    return [
        (int(model.wrap_type[k]), int(model.wrap_objid[k]), float(model.wrap_prm[k]))
        for k in range(first, first + int(model.tendon_num[tendon]))
    ]


def tendons(
    model: MjModel, links: Sequence[str], joints: Mapping[int, str], off: Sequence[str] = ()
) -> tuple[list[Element], list[Point], list[str]]:
    """Return the elements of tendons, the points that they need, and the names of tendons left out.

    Args:
        model: compiled by MuJoCo.
        links, joints: names by MuJoCo's numbers.
        off: of "stiffness" and "damping" what the file switches off.
    """
    elements, points, lost = list[Element](), list[Point](), list[str]()
    for k in range(model.ntendon):
        name = object_name(model, "TENDON", k) or f"tendon {k + 1}"
        acts = {
            what: 0.0 if what in off else float(getattr(model, f"tendon_{what}")[k])
            for what in ("stiffness", "damping")
        }
        rough = any(np.any(getattr(model, f"tendon_{what}", [0.0] * (k + 1))[k]) for what in ROUGH)
        if not rough and not any(acts.values()):
            continue
        made = (
            None
            if rough or _has_play(model, k, acts)
            else _tendon_element(model, k, name, links, joints, acts)
        )
        if made is None:
            lost.append(name)
        else:
            elements.append(made[0])
            points += made[1]
    return elements, points, lost


def _has_play(model: MjModel, tendon: int, acts: Mapping[str, float]) -> bool:
    """Tell whether a tendon's spring gives way freely between two lengths."""
    lower, upper = model.tendon_lengthspring[tendon]
    return bool(acts["stiffness"] and lower != upper)


def _tendon_element(
    model: MjModel,
    tendon: int,
    name: str,
    links: Sequence[str],
    joints: Mapping[int, str],
    acts: Mapping[str, float],
) -> tuple[Element, list[Point]] | None:
    """Return a tendon's element and its points, None where there is none of its kind."""
    rest, parts = float(model.tendon_lengthspring[tendon][0]), tendon_parts(model, tendon)
    known = tendon_sum(model, tendon)
    if known is not None and not known[0]:
        return None
    if known is not None:
        return _element(name, [joints[k] for k in known[0]], known[1], rest, acts), []
    sites = [number for _, number, _ in parts]
    if [kind for kind, _, _ in parts] != [SITE, SITE] or len({*_bodies(model, sites)}) < 2:
        return None
    ends: list[Any] = []
    for which, site, body in zip(("start", "end"), sites, _bodies(model, sites)):
        place = model.site_pos[site]
        point = Point(name=f"{name} {which}", link=links[body], position=place) if body else None
        ends.append(place if point is None else point)
    points = [end for end in ends if isinstance(end, Point)]
    start, end = (end.name if isinstance(end, Point) else end for end in ends)
    return Strut(name=f"{name} tendon", start=start, end=end, rest=rest, **acts), points


def _bodies(model: MjModel, sites: Sequence[int]) -> Iterator[int]:
    """Yield the bodies of sites."""
    return (int(model.site_bodyid[site]) for site in sites)


def _element(
    name: str, joints: Sequence[str], line: TendonLength, rest: float, acts: Mapping[str, float]
) -> Element:
    """Return the spring and the damper of a sum of coordinates."""
    energy = TendonSpring(line=line, stiffness=acts["stiffness"], rest=rest)
    return PassiveMoment(
        name=f"{name} tendon",
        joints=joints,
        moment=TendonDamper(line=line, damping=acts["damping"]) if acts["damping"] else None,
        energy=energy if acts["stiffness"] else None,
    )

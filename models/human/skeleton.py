"""The human skeleton: 55 degrees of freedom in five branches, of any stature, mass and sex.

Global axes: X to the body's left, Y up, Z forward. At q = 0 the body stands upright on Y = 0 with
straight legs, feet flat, arms hanging and palms facing the thighs. Joint for joint it is the tree
of Barman (2020, chapter V): six global coordinates of the pelvis, 7 per leg, 12 in the spine, 9 per
arm, 5 in neck and head. The numbers of that work are not published; those of `tables` and
`anthropometry` replace them.

Simplifications: all joints lie in one frontal plane, with straight spine and no fore-aft offset of
a centre of mass except in the feet.
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from math import radians
from typing import Any

import numpy as np

from ocp import Link, Point, Strength, Tree, dh, fixed
from ocp.mechanics import Open, any_nonzero, dh_pose, nominal, numbers, poses
from ocp.models.human.anthropometry import MASS, STATURE, usual_mass
from ocp.models.human.body_surface import with_surface
from ocp.models.human.segments import Segment, physique
from ocp.models.human.strength.strengths import over_speed, strengths, torque_range
from ocp.models.human.strength.tissue import passive as tissue
from ocp.models.human.tables import (
    GAIT_FROZEN,
    GAIT_SHARE,
    GROWING,
    JOINTS,
    LEG,
    MOVEMENTS,
    NAMES,
    POINTS,
    ROOT,
)

Row = tuple[float, float, float, float]  # theta, d, a, alpha
RANGES = ("anatomical", "gait")
# The tallest person measured had 2.72 m, the heaviest 635 kg (Guinness World Records)
LARGEST = {"m": 2.8, "kg": 700.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Arguments of a function, `given` and `named`, which are compared by their `key` alone."""

    key: Hashable
    given: tuple = field(compare=False)
    named: Mapping[str, object] = field(compare=False)


def _keep_known(build: Callable[..., Tree]) -> Callable[..., Tree]:
    """Return the function, whose last trees are kept by their arguments, open numbers among them by
    their graphs."""
    known = lru_cache(maxsize=32)(lambda call: build(*call.given, **call.named))

    @wraps(build)
    def recall(*given: object, **named: object) -> Tree:
        try:
            call = Call(key=_key_of((given, named)), given=given, named=named)
        except TypeError:  # of something that may change
            return build(*given, **named)
        return known(call)

    return recall


def _key_of(value: object) -> Hashable:
    """Return the key of an argument: values with their types, mappings by their entries.

    Raises TypeError for one that may change, as an array.
    """
    if isinstance(value, Mapping):
        return Mapping, tuple((name, _key_of(entry)) for name, entry in value.items())
    if isinstance(value, tuple | list):
        return type(value), tuple(map(_key_of, value))
    return type(value), value, hash(value)


@_keep_known
def human(
    stature: float | Open = STATURE,
    mass: float | Open = MASS,
    *,
    sex: str = "male",
    segments: Mapping[str, Segment | Mapping[str, Any]] | None = None,
    frozen: Collection[str] = GAIT_FROZEN,
    ranges: str = "anatomical",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    passive: bool = False,
    strength: str = "constant",
    age: float | None = None,
    percentile: float | Open | None = None,
    toes: float | Open = 0.0,
    muscles: float | Open | None = None,
) -> Tree:
    """Return the skeleton of a person of `stature` (m) and `mass` (kg), which may be open.

    Its 49 joints and the 6 of the pelvis, less the `frozen` ones, by default 17, are coordinates.
    Lengths grow with stature, masses with mass, inertias with mass stature^2; torque limits and
    tissue with stature and a mass (kg) of `muscles`, which is that of the tables' body-mass index
    at the stature, so that fat makes nobody stronger, see `usual_mass`; women have the bodies and
    the strength of women. `segments`: {name: Segment, or a mapping of its fields} that are the
    person's own; see `physique` for what the others do. The global joints are not actuated.
    `ranges`: position limits, "anatomical" or "gait"; the latter gives joints that do not move in
    gait a quarter of their anatomical range. `gravity`: (3,), m/s2, global axes. `passive`: with
    the elements of its tissue (`ocp.models.human.strength.tissue`), and toes of a stiffness (N
    m/rad, of the man of 75 kg and 1.75 m), 25 in Sasaki et al. (2009) [recalled]. `strength`:
    torque limits are "constant", or fall with the "angle", or with that and the "speed", by
    elements; `age` (years) and `percentile`, which may be open, of strength, without which it is
    that of the tables, see `ocp.models.human.strength.strengths`. Raises ValueError naming what is
    wrong.
    """
    length = _positive("stature", stature, "m") / STATURE
    _positive("mass", mass, "kg")
    lengths, links = physique(stature, mass, sex, segments)
    if muscles is None:
        muscles = usual_mass(stature, sex)
    size = length * (_positive("mass of muscles", muscles, "kg") / MASS)
    if ranges not in RANGES:
        raise ValueError(f"human: ranges: expected 'anatomical' or 'gait', got {ranges!r}")
    if any_nonzero((toes,)) and not passive:
        raise ValueError("human: toes: their stiffness is of tissue: set passive=True")
    stiff = _known_names(frozen)
    sizes = _sizes(length, lengths)
    moving = [name for name in NAMES if name not in stiff]
    who: dict[str, Any] = {"age": age, "percentile": percentile}
    able = strengths(moving, size, sex, strength, **who)
    longer = sum(height * (lengths[segment] - length) for segment, height in LEG.items())
    joints = []
    for name, parent, row, *before in JOINTS:
        base = dh_pose(*_dh_row(before[0], sizes[parent])) if before else np.eye(4)
        theta, d, a, alpha = _dh_row(row, sizes[name])
        if name == "glob_ty":  # on legs of the person's own
            d += longer
        if name in stiff:
            joints.append(fixed(name, parent, home=base @ dh_pose(theta, d, a, alpha)))
            continue
        options = _range(name, ranges, length) | _drive(name, able, size, sex, **who)
        joints.append(dh(name, parent, theta=theta, d=d, a=a, alpha=alpha, before=base, **options))
    tree = Tree(
        links=[links.get(_movement(name), Link()) for name in NAMES],
        joints=joints,
        points=_points(sizes),
        gravity=gravity,
        elements=(*(tissue(moving, stature, muscles, toes=toes) if passive else ()), *able),
    )
    return with_surface(tree)


def carry(
    tree: Tree, point: str, mass: float | Open, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Tree:
    """Return the tree with a point mass (kg), which may be open, fixed to the link of `point`.

    It stands away from the point by `shift` (3, m, global axes at q = 0). Raises ValueError for a
    mass that is not positive.
    """
    spot = tree.point(point)
    k, extra = tree.link_index(spot.link), _positive("carried mass", mass, "kg")
    link, upright = tree.links[k], poses(nominal(tree), np.zeros(tree.dof))[k]
    rotation = np.array(upright)[:3, :3]
    where = np.array(spot.position) + rotation.T @ numbers("shift", shift, (3,))
    arm, share = where - np.array(link.com), extra / (link.mass + extra)
    spread = arm @ arm * np.eye(3) - np.outer(arm, arm)
    loaded = replace(
        link,
        mass=link.mass + extra,
        com=np.array(link.com) + share * arm,
        inertia=np.array(link.inertia) + (1 - share) * extra * spread,
    )
    return replace(tree, links=(*tree.links[:k], loaded, *tree.links[k + 1 :]))


def mirror(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return (index, sign), each (n,), of a human's mirror image in the plane X = 0.

    Its coordinates are sign * q[index]. Rates, accelerations and torques of the reflected motion
    follow likewise. Raises ValueError if a joint moves whose partner is frozen, and for a tree that
    is not a human's.
    """
    names = [joint.name for joint in tree.moving]
    for name in names:
        if name not in NAMES:
            raise ValueError(
                f"mirror: joint {name!r} is not of the human; the joints are {', '.join(NAMES)}"
            )
        if _partner(name) not in names:
            raise ValueError(
                f"mirror: joint {name!r} moves, but its partner {_partner(name)!r} is frozen; "
                "freeze both or neither"
            )
    index = np.array([names.index(_partner(name)) for name in names], dtype=int)
    return index, np.array([MOVEMENTS[_movement(name)][3] for name in names], dtype=float)


def torque_scale(tree: Tree) -> dict[str, float]:
    """Return {name: max(|lower|, |upper|)} (N m) of the torque limits of all drives, as in q.

    These divide the torques in the dynamic effort   (Barman 2020, eq. 5.1).
    """
    return {joint.name: max(map(abs, joint.torque)) for joint in tree.moving if joint.actuated}


def positive_motion(name: str) -> str:
    """Return the motion of a positive coordinate of the joint, in words.

    Raises ValueError if the human has no such joint.
    """
    return MOVEMENTS[_movement(*_known_names((name,)))][4]


def _sizes(length: Any, lengths: Mapping[str, Any]) -> dict[str, Any]:
    """Return {joint: what its DH row is multiplied by}: its segment's size, or the stature's."""
    sizes = dict.fromkeys(NAMES, length)
    for segment, starts in GROWING.items():
        sizes |= {name: lengths[segment] for name in NAMES if name.startswith(starts)}
    return sizes


def _movement(name: str) -> str:
    """Name of the movement of a joint: the joint's without its side."""
    return name[:-2] if name.endswith(("_r", "_l")) else name


def _partner(name: str) -> str:
    """Name of the joint or point on the other side; of one in the middle its own."""
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def _dh_row(row: Row, length: Any) -> tuple[Any, ...]:
    theta, d, a, alpha = row
    return radians(theta), length * d, length * a, radians(alpha)


def _range(name: str, ranges: str, length: Any) -> dict[str, Any]:
    """Options of a joint: whether it slides or turns, and its position limits."""
    anatomical, gait, *_ = MOVEMENTS[_movement(name)]
    if ranges == "gait":
        lower, upper = gait or (GAIT_SHARE * bound for bound in anatomical)
    else:
        lower, upper = anatomical
    if name in ROOT[:3]:
        return {"kind": "prismatic", "position": (length * lower, length * upper)}
    return {"kind": "revolute", "position": (radians(1.0) * lower, radians(1.0) * upper)}


def _drive(
    name: str, able: Collection[Strength], size: Any, sex: str, **who: Any
) -> dict[str, Any]:
    """Options of a joint: its torque limits for a `size`, or none where no muscle acts."""
    if name in ROOT:
        return {"actuated": False}
    if able:
        return {"torque": over_speed(name, able, size, sex, **who)}
    return {"torque": torque_range(_movement(name), size, sex, **who)}


def _points(sizes: Mapping[str, Any]) -> list[Point]:
    points = []
    for name, link, position in POINTS:
        place = sizes[link] * np.array(position)
        points.append(Point(name=name, link=link, position=place))
        if name.endswith("_r"):
            other, mirrored = _partner(link), place * (1, 1, -1)
            points.append(Point(name=_partner(name), link=other, position=mirrored))
    return points


def _positive(what: str, value: Any, unit: str) -> Any:
    number = numbers(f"human: {what} ({unit})", value, (), unit).item()
    here = nominal(number)
    if here <= 0:
        raise ValueError(f"human: {what}: expected more than 0 {unit}, got {here:g} {unit}")
    if here > LARGEST[unit]:
        smaller = {"m": "cm", "kg": "g"}[unit]
        raise ValueError(
            f"human: {what}: expected at most {LARGEST[unit]:g} {unit}, got {here:g} {unit}; "
            f"is it in {smaller}?"
        )
    return number


def _known_names(names: Collection[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise ValueError(
            f"human: frozen: expected a collection of joint names, got the string {names!r}"
        )
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValueError(
            f"human: unknown joints {', '.join(map(repr, unknown))}; "
            f"the joints are {', '.join(NAMES)}"
        )
    return tuple(names)

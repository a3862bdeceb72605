"""Scene of a lift: the person, the feet, and the box from start to end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocp import Tree
from ocp.mechanics import nominal, positions
from ocp.models.human import BOX_SPHERES, STATURE, carry, mirror
from ocp.problem import Ground
from ocp.problems.lifting.statement.lifting_task import Box, Spot
from ocp.problems.lifting.statement.standing_body import right_half, stepped


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a lift is stated of.

    `who` lifts, as `somebody` tells; the `body` with half of the box in each hand; the body whose
    limits are asked, `limited`, and the feet that are asked to stand, `asked`, in a symmetric lift
    those of one side; the ground of both `feet`; the `box`, where it starts and ends; the mirror
    image (index, sign) of the body, None where nothing mirrors; and the `radii` (m) of the spheres
    kept off the box.
    """

    who: Mapping[str, Any]
    body: Tree
    limited: Tree
    asked: Ground
    feet: Ground
    box: Box
    start: Spot
    end: Spot
    image: tuple[Any, Any] | None
    radii: Mapping[str, Any]


def scened(
    who: Mapping[str, Any],
    person: Tree,
    feet: Ground,
    lift: tuple[Box, Spot, Spot],
    *,
    mirrors: bool = False,
) -> Scene:
    """Return the Scene of a person {stature, mass, ..}, whose body is that of `lifter`, on `feet`.

    The `lift` is the box, and where it starts and ends, each before the feet as they stand then.
    Raises ValueError for what nobody can reach.
    """
    box, start, end = lift
    size = who["stature"] / STATURE
    _check_reach(*nominal((person, box, start, end, BOX_SPHERES["toe_r"] * size)))
    body = carry(carry(person, "grip_r", box.mass / 2), "grip_l", box.mass / 2)
    way = float(stepped(feet)[2])
    return Scene(
        who=who,
        body=body,
        limited=right_half(body) if mirrors else body,
        asked=replace(feet, feet=feet.feet[:1]) if mirrors else feet,
        feet=feet,
        box=box,
        start=start,
        end=replace(end, ahead=end.ahead + way) if way else end,
        image=mirror(person) if mirrors else None,
        radii={
            name: radius * size
            for name, radius in BOX_SPHERES.items()
            if not (mirrors and name.endswith("_l"))
        },
    )


def _check_reach(body: Tree, box: Box, start: Spot, end: Spot, radius: float) -> None:
    """Raise ValueError for a lift that nobody can do whatever the effort.

    `radius` (m) is that of the toes.
    """
    names = [f"{name}_r" for name in ("shoulder", "grip", "hip", "toe", "ankle")]
    shoulder, grip, hip, toe, ankle = (
        np.array(place).ravel() for place in positions(body, np.zeros(body.dof), names)
    )
    arm, trunk = np.linalg.norm(grip - shoulder), shoulder[1] - hip[1]
    least = toe[2] - ankle[2] + radius + box.depth / 2
    for when, spot in (("start", start), ("end", end)):
        if not 0 < spot.high < shoulder[1] + arm:
            raise ValueError(
                f"{when}_height: {spot.high:g} m is out of reach: "
                f"expected between the floor and {shoulder[1] + arm:.2f} m"
            )
        if not 0 < spot.ahead < arm + trunk:
            raise ValueError(
                f"{when}_ahead: {spot.ahead:g} m is out of reach: "
                f"expected between 0 and {arm + trunk:.2f} m"
            )
        if spot.high - box.height < radius and spot.ahead < least:
            raise ValueError(
                f"{when}_ahead: at {spot.ahead:g} m the box would stand on the toes: "
                f"expected at least {least:.3f} m"
            )

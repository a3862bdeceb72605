"""Contact schedules of the first step and of the last one.

As in a step of walking the right foot stands while the left one swings; `strides.facing` makes the
image of a ground.
"""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ocp import Tree
from ocp.mechanics import array, positions
from ocp.problem import Foot, Ground
from ocp.problems.gait.statement.contact_schedule import (
    UP,
    Schedule,
    flat_on,
    leaving,
    planted,
    striking,
)

ALWAYS = -inf, inf  # when a foot bears that stands all along


def apart(body: Tree) -> float:
    """Return the distance (m) of the heels of one who stands with the feet under the hips."""
    places = positions(body, np.zeros(body.dof), ("heel_r", "heel_l"))
    right, left = (np.array(array(place), dtype=float).ravel() for place in places)
    return float(left[0] - right[0])


def releasing(body: Tree, width: Any, when: Schedule, lift: float) -> Ground:
    """Return the Ground of the first step: both feet stand side by side until the left heel goes
    off at `lift`, and the foot by a schedule; the right heel goes off by it too."""
    right, left = _side_by_side(body, width)
    lead, trail = striking(right, when), leaving(left, when)
    ball, tip = trail.supports
    stands = (flat_on(right, "right", (0.0, when.heel_off)), lead.supports[2])
    leaves = (flat_on(left, "left", (0.0, lift)), replace(ball, when=(lift, when.ball_off)), tip)
    return Ground(
        normal=UP,
        feet=(replace(lead, supports=stands, bears=ALWAYS), replace(trail, supports=leaves)),
    )


def closing(body: Tree, step: Any, width: Any, when: Schedule) -> Ground:
    """Return the Ground of the last step: the right foot has struck a `step` (m) before the left
    one, and stays; the left one leaves by a schedule."""
    right = planted(body, "right", (-width / 2, 0.0, 0.0))
    left = planted(body, "left", (width / 2, 0.0, -step))
    lead = striking(right, when)
    stays = (lead.supports[0], flat_on(right, "right", (when.flat, 1.0)))
    return Ground(normal=UP, feet=(replace(lead, supports=stays), leaving(left, when)))


def standing(body: Tree, width: Any) -> Ground:
    """Return the Ground of both feet side by side, the right one where it walks."""
    spots = dict(zip(("right", "left"), _side_by_side(body, width)))
    feet = (
        Foot(
            name=side,
            center=(places[f"heel_{side[0]}"] + places[f"toe_{side[0]}"]) / 2,
            supports=(flat_on(places, side, (0.0, 1.0)),),
        )
        for side, places in spots.items()
    )
    return Ground(normal=UP, feet=tuple(feet))


def _side_by_side(body: Tree, width: Any) -> tuple[Any, Any]:
    right = planted(body, "right", (-width / 2, 0.0, 0.0))
    return right, planted(body, "left", (-width / 2 + apart(body), 0.0, 0.0))

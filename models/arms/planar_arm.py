"""A horizontal arm of four links that turn about vertical axes, so that gravity does no work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ocp import Parameter, Point, Tree, revolute
from ocp.mechanics import GROUND
from ocp.models.flat import flat

NAMES = ("shoulder", "elbow", "wrist", "tool")
LENGTHS = (0.40, 0.35, 0.25, 0.15)  # m, axis to axis, and to the tip [assumed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A flat body: mass (kg), centre of mass along the link from its axis and to the left of it
    (m), inertia about the centre of mass (kg m2). Each a number or a parameter."""

    mass: Any
    ahead: Any
    left: Any
    inertia: Any


# Slender links whose motors stand at the next axis, some of them beside it [assumed]
BODIES = (
    Body(mass=6.0, ahead=0.25, left=0.01, inertia=0.12),
    Body(mass=4.0, ahead=0.20, left=-0.02, inertia=0.06),
    Body(mass=2.5, ahead=0.12, left=0.015, inertia=0.02),
    Body(mass=1.0, ahead=0.06, left=0.01, inertia=0.004),
)


def planar_arm(bodies: Sequence[Body] = BODIES) -> Tree:
    """Return the arm of these bodies in the x-y plane, each angle from the link before."""
    return Tree(
        links=[flat(each.mass, (each.ahead, each.left), each.inertia) for each in bodies],
        joints=[
            revolute(name, parent, home=(before, 0, 0))
            for name, parent, before in zip(NAMES, (GROUND, *NAMES), (0.0, *LENGTHS))
        ],
        points=(Point(name="tip", link=NAMES[-1], position=(LENGTHS[-1], 0, 0)),),
    )


def base_parameters(bodies: Sequence[Body]) -> dict[str, Any]:
    """Return {name: number or expression} of the ten numbers on which torques depend.

    With the mass M that later links hang on its end, link k of length l has about its axis
        J = I + m (x^2 + y^2) + M l^2 (kg m2),   H = m (x, y) + M (l, 0) (kg m)
    and the first one, whose axis rests, J alone. (Khalil & Dombre 2002, section 9.4)
    """
    base: dict[str, Any] = {}
    for k, (name, body, length) in enumerate(zip(NAMES, bodies, LENGTHS)):
        later = sum((each.mass for each in bodies[k + 1 :]), 0.0)
        square = body.ahead**2 + body.left**2
        base[f"{name}.J"] = body.inertia + body.mass * square + later * length**2
        if k:
            base[f"{name}.Hx"] = body.mass * body.ahead + later * length
            base[f"{name}.Hy"] = body.mass * body.left
    return base


def open_bodies(guess: float = 1.0) -> tuple[Body, ...]:
    """Return the bodies with parameters in the place of their sixteen numbers.

    Their values are `guess` times those of BODIES.
    """
    return tuple(
        Body(
            mass=Parameter(f"{name}_mass", guess * body.mass, "kg", lower=0.0),
            ahead=Parameter(f"{name}_ahead", guess * body.ahead, "m"),
            left=Parameter(f"{name}_left", guess * body.left, "m"),
            inertia=Parameter(f"{name}_inertia", guess * body.inertia, "kg m2", lower=0.0),
        )
        for name, body in zip(NAMES, BODIES)
    )

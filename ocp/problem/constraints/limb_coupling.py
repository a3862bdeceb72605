"""Coupling of limbs that swing, such as an arm with the other side's leg."""

from collections.abc import Sequence
from math import inf

import casadi as ca

from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Constraint
from ocp.problem.instant import Instant


def swing_together(
    name: str,
    first: tuple[str, str],
    second: tuple[str, str],
    *,
    along: Sequence[float] = (0.0, 0.0, 1.0),
    slack: Number = 0.02,
) -> Constraint:
    """Let two limbs swing to the same side of where they hang.

    Each limb, the `first` and the `second`, is (fixed point, moving point); the product of both
    reaches along an axis (3) is at least -slack^2 (m2). A product that must not be negative would
    send both limbs through zero at once, where it has no slope and its multiplier no value; `slack`
    (m) tells how near to hanging limbs count as doing so [assumed].
    """
    axis = ca.DM(along)

    def reach(at: Instant, limb: tuple[str, str]) -> Matrix:
        fixed, moving = limb
        return ca.dot(axis, at.position(moving) - at.position(fixed))

    return Constraint(
        name=name,
        function=lambda at: reach(at, first) * reach(at, second),
        lower=-(slack**2),
        upper=inf,
        labels=(f"{first[1]} with {second[1]}",),
        units="m2",
    )

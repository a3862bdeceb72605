"""Contact that nobody schedules: points that touch planes when the motion says so."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ocp.mechanics.checks import frozen, instance, numbers
from ocp.mechanics.tree import Tree
from ocp.problem.compliant import Compliant, Sphere
from ocp.problem.force_law import Acting, ForceLaw
from ocp.problem.instant import Instant

UP = (0.0, 0.0, 1.0)


def contacts(
    tree: Tree,
    points: Iterable[str],
    *,
    model: Compliant = Compliant(),
    normal: Any = UP,
    place: Any = (0.0, 0.0, 0.0),
) -> tuple[Acting, ...]:
    """Return the loads that keep the named points above a plane, whenever they come there.

    The plane goes through `place` (3, m) and has the upward unit `normal` (3). By a `Compliant`
    model a sphere about each point sinks into it. Give them as `loads` of a Problem, or of
    `simulate`. Raises ValueError for a point that the tree does not have, for one named twice, and
    for a normal that is not of unit length.
    """
    named = (points,) if isinstance(points, str) else tuple(points)
    for name in named:
        tree.point(instance("contacts: point", name, str))
        if named.count(name) > 1:
            raise ValueError(f"contacts: point {name!r} is named twice")
    upward = numbers("contacts: normal", normal, (3,))
    if abs(np.linalg.norm(upward) - 1) > 1e-9:
        raise ValueError(
            f"contacts: normal: expected unit length, got {np.linalg.norm(upward):.9g}"
        )
    plane = {
        "normal": frozen(upward),
        "place": frozen(numbers("contacts: place", place, (3,), "m")),
    }
    instance("contacts: model", model, Compliant)
    return tuple(
        ForceLaw(point=name, law=Sphere(point=name, material=model, **plane)) for name in named
    )


def contact_outputs(loads: Iterable[Acting]) -> Mapping[str, Callable[[Instant], Any]]:
    """Return the forces (3, N) of contacts as `outputs` of a Problem, by "force on" their point."""
    touching = [load for load in loads if isinstance(load, ForceLaw)]
    return {f"force on {load.point}": _force_of(load) for load in touching}


def _force_of(load: ForceLaw) -> Callable[[Instant], Any]:
    return lambda at: load.given(at).force

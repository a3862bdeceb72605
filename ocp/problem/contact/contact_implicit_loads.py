"""Contact that nobody schedules: points that touch planes when the motion says so."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import any_nonzero
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_type, freeze, numbers
from ocp.problem.contact.complementarity import Complementarity, Touch, felt_ways
from ocp.problem.contact.compliant import Compliant, Sphere
from ocp.problem.contact.state_dependent_forces import Acting, ForceLaw
from ocp.problem.instant import Instant

UP = (0.0, 0.0, 1.0)


def contacts(
    tree: Tree,
    points: Iterable[str],
    *,
    model: Compliant | Complementarity = Compliant(),
    normal: Numbers = UP,
    place: Numbers = (0.0, 0.0, 0.0),
    surface: str = "",
) -> tuple[Acting, ...]:
    """Return the loads that keep the named points above a plane, whenever they come there.

    The plane goes through `place` (3, m) and has the upward unit `normal` (3). By a `Compliant`
    model a sphere about each point sinks into it; by `Complementarity` the points themselves touch
    it, by forces that are sought with the motion. Give them as `loads` of a Problem, or of
    `simulate`; where a point may meet several planes, each has a `surface` of its own to its name.
    Raises ValueError for a point that the tree does not have, for one named twice, and
    for a normal that is not of unit length.
    """
    named = (points,) if isinstance(points, str) else tuple(points)
    for name in named:
        tree.point(check_type("contacts: point", name, str))
        if named.count(name) > 1:
            raise ValueError(f"contacts: point {name!r} is named twice")
    upward = numbers("contacts: normal", normal, (3,))
    if abs(np.linalg.norm(upward) - 1) > 1e-9:
        raise ValueError(
            f"contacts: normal: expected unit length, got {np.linalg.norm(upward):.9g}"
        )
    plane = {
        "normal": freeze(upward),
        "place": freeze(numbers("contacts: place", place, (3,), "m")),
    }
    if isinstance(model, Compliant):
        spheres = (
            Sphere(name=_on(name, surface), point=name, material=model, **plane) for name in named
        )
        return tuple(ForceLaw(point=sphere.point, law=sphere) for sphere in spheres)
    rigid = check_type("contacts: model", model, Compliant, Complementarity)
    smooth, up = not any_nonzero([rigid.friction]), tuple(upward)
    ways = {name: () if smooth else felt_ways(tree, name, up) for name in named}
    return tuple(
        Touch(name=_on(name, surface), point=name, model=rigid, ways=freeze(ways[name]), **plane)
        for name in named
    )


def contact_outputs(loads: Iterable[Acting]) -> Mapping[str, Callable[[Instant], Matrix]]:
    """Return the forces (3, N) of contacts as `outputs` of a Problem, as "force on" their name."""
    touching = {name_of(load): load for load in loads if isinstance(load, ForceLaw | Touch)}
    return {f"force on {name}": force_of(load) for name, load in touching.items()}


def name_of(load: ForceLaw | Touch) -> str:
    """Return the name of a contact, or of a law of force the point at which it acts."""
    if isinstance(load, Touch):
        return load.name
    return load.law.name if isinstance(load.law, Sphere) else load.point


def _on(point: str, surface: str) -> str:
    return f"{point} on {surface}" if surface else point


def force_of(load: ForceLaw | Touch) -> Callable[[Instant], Matrix]:
    """Return the function of an Instant that is the force (3, N) of a contact."""
    return lambda at: load.load_at(at).force

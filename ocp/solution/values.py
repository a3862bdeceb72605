"""Values of parameters by name, as users give them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ocp.mechanics.parameters import Parameter


def values_of(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[Parameter, float]:
    """Return the value of every parameter: of those `given` by name that, of others their own.

    Raises ValueError for an unknown name, listing the known ones, and for a value that is no number
    within the parameter's bounds.
    """
    known = {each.name: each for each in parameters}
    for name in given:
        if name not in known:
            raise ValueError(
                f"parameter {name!r}: the problem has no such parameter; "
                f"it has {', '.join(known) or 'none'}"
            )
    return {
        each: each.check(given[name]) if name in given else each.value
        for name, each in known.items()
    }

"""Types shared by the functions of all formulations."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.values.types import Matrix

# Loads go with a point of a link; wrenches stay where they are in the ground.
Loads: TypeAlias = Sequence[Load]
AnyLoads: TypeAlias = Sequence[Load | Wrench]

# inverse(tree, q, qd, qdd, loads=()) -> joint torques or forces (n,)
Inverse: TypeAlias = Callable[..., Matrix]

# dtau/dq, dtau/dqd, dtau/dqdd, (n, n) each
Slopes: TypeAlias = tuple[Matrix, Matrix, Matrix]

# Moment and force of every joint on its link, (3, links) each.
Reactions: TypeAlias = tuple[Matrix, Matrix]

# Scalar graphs of a provider, or the derivatives that it joins from them.
Parts: TypeAlias = tuple[Matrix, ...]

"""Protocol of a basis of motions over the normalised time.

A motion is q(s) = B(s) c over the normalised time s in [0, 1], with `points` numbers c per joint
and constant matrices B; its time derivatives follow from t = s T.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

Array = np.ndarray
Curve = Callable[[Array, int], Array]  # (s (N,), order) -> d^order q / ds^order (n, N)


@runtime_checkable
class Basis(Protocol):
    """A basis of motions, as BSpline and Mesh are.

    `collocated` tells whether q, q', q'' and the torques are polynomials of their own, tied
    together at `nodes` (N,) only; `hull` whether the curve lies in the hull of its points. `curves`
    are those of the coordinates where they have their own, `breaks` (segments + 1,) the ends of the
    polynomial pieces in s, `degree` theirs.
    """

    @property
    def points(self) -> int: ...
    @property
    def degree(self) -> int: ...
    @property
    def segments(self) -> int: ...
    @property
    def breaks(self) -> Array: ...
    @property
    def nodes(self) -> Array: ...
    @property
    def collocated(self) -> bool: ...
    @property
    def hull(self) -> bool: ...
    @property
    def curves(self) -> tuple["Basis", ...]: ...

    def values(self, s: Array, order: int = 0) -> Array:
        """Return B (N, points) with d^order q / ds^order (s) = B c, order 0 to 3 at least."""
        ...

    def interpolation(self, s: Array, nodes: Array) -> Array:
        """Return the matrix (N, nodes) that takes numbers known at the nodes to the instants s."""
        ...

    def abscissae(self, order: int = 0) -> Array:
        """Return the instants at which an equality on d^order q / ds^order, of order 0, 2 or 3, is
        well posed."""
        ...

    def grid(self, per_segment: int) -> Array:
        """Return the instants at which inequalities hold, both ends included."""
        ...

    def closing(self, level: int, implied: tuple[frozenset, frozenset]) -> Array:
        """Return the instants at which a holonomic equality g(q) = 0 (level 0), its rate (1) and
        its acceleration (2) together keep it well posed, without the levels `implied` at the start
        and at the end."""
        ...

    def through(self, curve: Curve, *, rough: bool = False) -> Array:
        """Return points (n, points) of the motion on this basis that follows a curve.

        A `rough` one, whose derivatives are no slopes of it between its nodes, is followed in the
        least-squares sense.
        """
        ...


def transfer(motion: Basis, points: Array, target: Basis) -> Array:
    """Return points (n, ..) on the basis `target` for the same motion.

    It is exact where the target contains the motion.
    """
    if motion == target:
        return points
    return target.through(
        lambda s, order: points @ motion.values(s, order).T, rough=motion.collocated
    )

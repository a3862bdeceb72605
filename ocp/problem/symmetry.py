"""Symmetries between the end of a motion and its start: mirror images and periodic motions.

The reflection of a step makes the other leg's step, so that half a gait cycle states the whole; a
motion that is its own image is periodic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ocp.dynamics.mirror_symmetry import ASIDE, mirror_image
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.degrees import warn_outside
from ocp.mechanics.values.parameters import Number, nominal
from ocp.mechanics.values.types import Numbers
from ocp.mechanics.values.validation import check_type, freeze, numbers, set_fields
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Symmetry:
    """The end of a motion as the image of its start.

    q(T) = sign * q(0)[index] + shift; rates and accelerations likewise without shift. `index` (n,)
    says whose coordinate becomes whose, `sign` (n,) is 1 or -1, `shift` (n,; rad or m) the way
    gained, by default none; it may be open. With `accelerations` the end is the image of the start
    in everything, torques and what the ground gives included: loads must then act alike at both.
    Without, accelerations and forces may jump where the motion goes on. Raises ValueError naming
    the field.
    """

    index: tuple[int, ...]
    sign: tuple[float, ...]
    shift: tuple[Number, ...] = ()
    accelerations: bool = True

    def __post_init__(self) -> None:
        count = len(np.ravel(self.index))
        index = numbers("symmetry: index", self.index, (count,))
        if sorted(index.tolist()) != list(range(count)):
            raise ValueError(
                f"symmetry: index: expected each of 0 to {count - 1} once, got {self.index}"
            )
        sign = numbers("symmetry: sign", self.sign, (count,))
        if not (np.abs(sign) == 1).all():
            raise ValueError(f"symmetry: sign: expected 1 or -1 each, got {self.sign}")
        shift = 0.0 * sign
        if len(self.shift):
            shift = numbers("symmetry: shift", self.shift, (count,), "")
        set_fields(
            self,
            index=tuple(int(row) for row in index),
            sign=freeze(sign),
            shift=freeze(shift),
            accelerations=check_type("symmetry: accelerations", self.accelerations, bool, np.bool_),
        )

    def image(self, values: np.ndarray) -> np.ndarray:
        """Return the image of values (n,) or (n, N) of all joints, without shift.

        They are coordinates, rates, accelerations or torques.
        """
        values = np.asarray(values, dtype=float)
        sign = np.reshape(self.sign, (-1, *[1] * (values.ndim - 1)))
        return sign * values[list(self.index)]

    def __repr__(self) -> str:
        exchanged = sum(row != other for row, other in enumerate(self.index))
        return (
            f"Symmetry({len(self.index)} coordinates, {exchanged} of them exchanged, "
            f"accelerations={self.accelerations})"
        )


def mirror_symmetry(
    tree: Tree,
    index: Sequence[int] | np.ndarray | None = None,
    sign: Sequence[float] | np.ndarray | None = None,
    *,
    normal: Numbers = ASIDE,
    shift: Mapping[str, Number] | None = None,
    qdd: bool = True,
) -> Symmetry:
    """Return the Symmetry of a motion whose end is the mirror image of its start.

    Its reflection continues it. `index, sign` (n,) make the image of a coordinate; without them
    they are those of `mirror_image`, of the tree's own reflection across the unit `normal` (3);
    `shift` is {joint name: way gained in one step, rad or m}; `qdd` says whether accelerations are
    mirrored too. Legs that lie on each other, as a planar biped's, change places. Raises ValueError
    for an unknown joint, a wrong count, or a tree that is not its own mirror image for sure.
    """
    if index is None or sign is None:
        index, sign = mirror_image(tree, normal)
    shapes = np.shape(index), np.shape(sign)
    if shapes != ((tree.dof,), (tree.dof,)):
        raise ValueError(
            f"mirror_symmetry: expected index and sign for {tree.dof} coordinates, "
            f"got {shapes[0]} and {shapes[1]}"
        )
    _warn_of_other_limits(tree, index, sign)
    gained: list[Number] = [0.0] * tree.dof
    for name, way in (shift or {}).items():
        gained[tree.coordinate(name)] = way
    return Symmetry(index=tuple(index), sign=tuple(sign), shift=tuple(gained), accelerations=qdd)


def _warn_of_other_limits(
    tree: Tree, index: Sequence[int] | np.ndarray, sign: Sequence[float] | np.ndarray
) -> None:
    """Warn of the first coordinate whose image may go elsewhere, which likely is no image of it."""
    bounds = [np.array(nominal(joint.position)) for joint in tree.moving]
    for joint, own, other, way in zip(tree.moving, bounds, index, sign):
        image = np.sort(way * bounds[other])
        if not np.allclose(image, own, rtol=0.0, atol=1e-9):
            warn_outside(
                f"mirror_symmetry: joint {joint.name!r}, within {tuple(own.tolist())}, has the "
                f"image of {tree.moving[other].name!r}, within {tuple(image.tolist())}: are index "
                "and sign in the order of the tree's coordinates?"
            )
            return


def periodic(
    tree: Tree, *, shift: Mapping[str, Number] | None = None, qdd: bool = True
) -> Symmetry:
    """Return the Symmetry of a motion that ends as it began.

    The `shift` {joint name: rad or m} is the way gained in one period. Without `qdd` accelerations
    may jump there. Raises ValueError for an unknown joint.
    """
    return mirror_symmetry(tree, range(tree.dof), [1.0] * tree.dof, shift=shift, qdd=qdd)

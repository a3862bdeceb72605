"""Passive forces along lengths of paths, and of bushings, between two frames."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements.joint_elements import MotionState, gradient_at
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.tree_validation import Mechanism, known_names
from ocp.mechanics.muscles.muscle_paths import Path
from ocp.mechanics.values.callback_checks import as_column, check_callback
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix, Numbers
from ocp.mechanics.values.validation import check_callable, freeze, rigid_pose, set_fields
from ocp.pickling import portable
from ocp.spelling import suggest_fields

Law: TypeAlias = Callable[[Matrix, Matrix], Matrix]
Energy: TypeAlias = Callable[[Matrix], Matrix]
Frame: TypeAlias = tuple[Matrix, Matrix]  # rotation (3, 3) and origin (3, m)
STILL = tuple(map(tuple, np.eye(4).tolist()))


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Deflections:
    """How a frame on one link stands in a frame on another.

    Six numbers: angles (rad) about x, y and z, each axis turned by the angles before, and the place
    of its origin (m). At 90 degrees about y the angles are not defined.

    Args:
        start: name of the link with the first frame, or "ground".
        end: name of the link whose frame stands in it, or "ground".
        home: pose (4, 4) of the first frame on its link.
        pose: pose (4, 4) of the other frame on its link.

    Raises:
        ValueError: naming the links, for a pose that is none, or one link alone.
    """

    start: str
    end: str
    home: Numbers = STILL
    pose: Numbers = STILL

    def __post_init__(self) -> None:
        label = f"deflections of {self.end!r} in {self.start!r}"
        if self.start == self.end:
            raise ValueError(f"{label}: expected two links, got one")
        for what in ("home", "pose"):
            placed = rigid_pose(f"{label}: {what}", getattr(self, what))
            set_fields(self, **{what: freeze(placed)})

    def check(self, label: str, tree: Mechanism) -> None:
        """Check that a tree has both links, which do not bend; raise ValueError that begins with
        `label`."""
        for link in (self.start, self.end):
            if link != GROUND and link not in tree.link_names:
                raise ValueError(
                    f"{label}: unknown link {link!r}{known_names('links', tree.link_names, link)}"
                )
        if tree.flexible:
            raise ValueError(f"{label}: links that bend ({', '.join(tree.flexible)}) take none")

    def values(self, state: MotionState) -> Matrix:
        """Return the six deflections in a posture."""
        (first, origin), (second, place) = self._frames(state)
        turn = first.T @ second
        flat = ca.sqrt(turn[0, 0] ** 2 + turn[0, 1] ** 2)
        return ca.vertcat(
            ca.atan2(-turn[1, 2], turn[2, 2]),
            ca.atan2(turn[0, 2], flat),
            ca.atan2(-turn[0, 1], turn[0, 0]),
            first.T @ (place - origin),
        )

    def slopes(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: slope (6,) of the deflections by it}."""
        (first, _), (_, place) = self._frames(state)
        slopes: dict[int, Matrix] = {}
        for link, sign in ((self.end, 1), (self.start, -1)):
            for row, column in {} if link == GROUND else state.link_screws(link, place).items():
                slopes[row] = slopes.get(row, 0.0) + sign * column
        rates = self._rates(self.values(state))
        return {
            row: ca.vertcat(rates @ (first.T @ column[:3]), first.T @ column[3:])
            for row, column in slopes.items()
        }

    def wrench(self, state: MotionState, force: Matrix) -> tuple[Matrix, Matrix]:
        """Return the moment (3, N m) about the global origin and the force (3, N) on the end, in
        global axes, of generalized forces (6,) by the deflections; the start gets the opposite."""
        (first, _), (_, place) = self._frames(state)
        pull = first @ force[3:]
        moment = first @ (self._rates(self.values(state)).T @ force[:3])
        return moment + ca.cross(place, pull), pull

    def _frames(self, state: MotionState) -> tuple[Frame, Frame]:
        """Return both frames in global axes."""
        placed = []
        for link, pose in ((self.start, self.home), (self.end, self.pose)):
            rotation, origin = state.link_frame(link)
            own = matrix(pose)
            placed.append((rotation @ own[:3, :3], rotation @ own[:3, 3] + origin))
        return placed[0], placed[1]

    @staticmethod
    def _rates(x: Matrix) -> Matrix:
        """Return the matrix (3, 3) by which an angular velocity, in the axes of the first frame,
        gives the rates of the angles."""
        sa, ca_, sb, cb = ca.sin(x[0]), ca.cos(x[0]), ca.sin(x[1]), ca.cos(x[1])
        last = ca.horzcat(0, -sa / cb, ca_ / cb)
        return ca.vertcat(ca.horzcat(1, 0, 0) - sb * last, ca.horzcat(0, ca_, sa), last)


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveForce:
    """What acts along the length of a path, or along deflections, k numbers x of the posture.

        f = -dV/dx + g(x, x'),   tau = (dx/dq)^T f

    A tension is a negative f by the length.

    Args:
        name: of the element.
        over: a path, with k = 1, or `Deflections`, with k = 6.
        force: g(x, x') (k, N or N m) of expressions (k,), counted as lost; None for none.
        energy: V(x) (J) that it stores; None for none.

    Raises:
        ValueError: naming it, for neither of both, or functions of other sizes.
    """

    name: str
    over: Path | Deflections
    force: Law | None = None
    energy: Energy | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"passive force: name: expected a word, got {self.name!r}")
        label, k = f"passive force {self.name!r}", self.size
        if not isinstance(self.over, Path | Deflections):
            raise ValueError(f"{label}: over: expected a path or Deflections, got {self.over!r}")
        if self.force is None and self.energy is None:
            raise ValueError(f"{label}: expected a force or an energy, got neither")
        for what, sizes, count in (("force", (k, k), k), ("energy", (k,), 1)):
            function = getattr(self, what)
            if function is not None:
                check_callback(
                    f"{label}: {what}", check_callable(f"{label}: {what}", function), sizes, count
                )

    @property
    def size(self) -> int:
        """How many numbers of the posture it acts by."""
        return 6 if isinstance(self.over, Deflections) else 1

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has what it acts over."""
        self.over.check(f"passive force {self.name!r}", tree)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        force = self.forces(state)
        return {row: ca.dot(slope, force) for row, slope in self._slopes(state).items()}

    def forces(self, state: MotionState) -> Matrix:
        """Return the forces f (k,) by the numbers that it acts by."""
        x = self._values(state)
        total = -gradient_at(self._energy_at, x)
        return total if self.force is None else total + self._force_at(state, x)

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J)."""
        return self._energy_at(self._values(state))

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes: -g . x'."""
        if self.force is None:
            return 0.0
        return -ca.dot(self._force_at(state, self._values(state)), self._rates(state))

    def _energy_at(self, x: Matrix) -> Matrix:
        if self.energy is None:
            return ca.DM(0)
        return as_column(f"passive force {self.name!r}: energy", self.energy(x))

    def _force_at(self, state: MotionState, x: Matrix) -> Matrix:
        assert self.force is not None
        given = self.force(x, self._rates(state))
        return as_column(f"passive force {self.name!r}: force", given)

    def _values(self, state: MotionState) -> Matrix:
        over = self.over
        return over.values(state) if isinstance(over, Deflections) else over.length(state)

    def _slopes(self, state: MotionState) -> Mapping[int, Matrix]:
        over = self.over
        return over.slopes(state) if isinstance(over, Deflections) else over.slope(state)

    def _rates(self, state: MotionState) -> Matrix:
        still = ca.DM.zeros(self.size)
        return sum((s * state.qd[row] for row, s in self._slopes(state).items()), still)

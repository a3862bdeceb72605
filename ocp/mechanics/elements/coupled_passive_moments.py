"""Passive moments of several joints: tissue and springs whose law is a function of one's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca

from ocp.mechanics.elements.joint_elements import MotionState, gradient_at, row_of
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.values.callback_checks import as_column, check_callback
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_callable, check_records, set_fields
from ocp.pickling import portable
from ocp.spelling import suggest_fields

Law: TypeAlias = Callable[[Matrix, Matrix], Matrix]
Energy: TypeAlias = Callable[[Matrix], Matrix]


@portable
@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveMoment:
    """What the named `joints` get by their coordinates and rates, k of them, together.

        tau = -dV/dx + f(x, x')

    `energy` V(x) (J) is what it stores, `moment` f(x, x') (k, N m or N) gives the rest, as all that
    is lost; one of them may be missing. Both are functions of expressions (k,) in the order of the
    joints, of at least one. Raises ValueError naming it.
    """

    name: str
    joints: Sequence[str]
    moment: Law | None = None
    energy: Energy | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"passive moment: name: expected a word, got {self.name!r}")
        label = f"passive moment {self.name!r}"
        set_fields(self, joints=check_records(f"{label}: joints", self.joints, str))
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise ValueError(
                f"{label}: joints: expected different names, at least one, got {self.joints}"
            )
        if self.moment is None and self.energy is None:
            raise ValueError(f"{label}: expected a moment or an energy, got neither")
        k = len(self.joints)
        if self.moment is not None:
            check_callback(
                f"{label}: moment", check_callable(f"{label}: moment", self.moment), (k, k), k
            )
        if self.energy is not None:
            check_callback(
                f"{label}: energy", check_callable(f"{label}: energy", self.energy), (k,), 1
            )

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its joints."""
        for joint in self.joints:
            row_of(f"passive moment {self.name!r}", tree, joint)

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        rows = [state.row(joint) for joint in self.joints]
        total = -gradient_at(lambda x: _energy(self, x), state.q[rows])
        if self.moment is not None:
            given = self.moment(state.q[rows], state.qd[rows])
            total = total + as_column(f"passive moment {self.name!r}: moment", given)
        return {row: total[k] for k, row in enumerate(rows)}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J)."""
        return _energy(self, state.q[[state.row(joint) for joint in self.joints]])

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes: -f . x'."""
        if self.moment is None:
            return 0.0
        rows = [state.row(joint) for joint in self.joints]
        given = self.moment(state.q[rows], state.qd[rows])
        return -ca.dot(as_column(f"passive moment {self.name!r}: moment", given), state.qd[rows])


def _energy(record: PassiveMoment, x: Matrix) -> Matrix:
    """Return V (J) of the joints' coordinates x (k,)."""
    if record.energy is None:
        return ca.DM(0)
    return as_column(f"passive moment {record.name!r}: energy", record.energy(x))

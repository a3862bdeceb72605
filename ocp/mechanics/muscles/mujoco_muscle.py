"""Muscle of MuJoCo: a force by length, speed and activation along a path, its tendon rigid.

Lengths l are over the optimal one, L_0, found from a range of lengths in m and the same range over
L_0; speeds v over v_max L_0:

    f = F (a f_L(l) f_V(v) + f_P(l)),   l = r_0 + (L - R_0) / L_0,   L_0 = (R_1 - R_0) / (r_1 - r_0)

with parabolas f_L, f_V, f_P (MuJoCo's documentation, "Muscles").
"""

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ocp.mechanics.elements.element_states import StateVariable
from ocp.mechanics.elements.joint_elements import MotionState
from ocp.mechanics.model.tree_validation import Mechanism
from ocp.mechanics.muscles.muscle_paths import Path, PointPath
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import limits, positive, set_fields
from ocp.spelling import suggest_fields


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class MujocoMuscle:
    """A muscle along a path, by MuJoCo's laws, whose activation is a state.

    Args:
        name: of the muscle.
        path: a PointPath, PolynomialPath or GivenPath.
        force: largest isometric force F (N).
        lengths: (R_0, R_1), range of the path's length (m).
        reach: (r_0, r_1), the same range over the optimal length.
        shortest: length over the optimal one at which f_L begins.
        longest: that at which it ends.
        fastest: largest shortening velocity v_max (optimal lengths a second).
        passive: f_P at `longest`.
        lengthening: f_V at the fastest lengthening.
        rise: time of coming on (s), at an activation of 1/3.
        fall: time of going off (s).
        excitation: (lower, upper) bounds of the excitation, within 0 and 1.

    Raises:
        ValueError: naming the muscle, for numbers that are not positive or ranges upside down.
    """

    name: str
    path: Path
    force: float
    lengths: tuple[float, float]
    reach: tuple[float, float] = (0.75, 1.05)
    shortest: float = 0.5
    longest: float = 1.6
    fastest: float = 1.5
    passive: float = 1.3
    lengthening: float = 1.2
    rise: float = 0.01
    fall: float = 0.04
    excitation: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        label = f"muscle {self.name!r}"
        if not isinstance(self.path, Path):
            raise ValueError(f"{label}: path: expected a path, got {self.path!r}")
        for what in ("force", "longest", "fastest", "lengthening", "rise", "fall"):
            set_fields(self, **{what: positive(f"{label}: {what}", getattr(self, what))})
        for what in ("shortest", "passive"):
            set_fields(self, **{what: positive(f"{label}: {what}", getattr(self, what), True)})
        for what in ("lengths", "reach", "excitation"):
            ends = limits(f"{label}: {what}", getattr(self, what))
            if not ends[0] < ends[1]:
                raise ValueError(
                    f"{label}: {what}: expected a lower end below the upper, got {ends}"
                )
            set_fields(self, **{what: ends})
        if not self.shortest < 1 < self.longest or self.lengthening <= 1:
            raise ValueError(
                f"{label}: expected shortest < 1 < longest and lengthening above 1, got "
                f"{self.shortest:g}, {self.longest:g} and {self.lengthening:g}"
            )

    @property
    def optimal(self) -> float:
        """Optimal length L_0 (m)."""
        return (self.lengths[1] - self.lengths[0]) / (self.reach[1] - self.reach[0])

    @property
    def states(self) -> tuple[StateVariable, ...]:
        """Its activation."""
        return (
            StateVariable(
                name=f"{self.name}.activation",
                bounds=(0.0, 1.0),
                control=self.excitation,
                rest=self.excitation[0],
            ),
        )

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has what its path runs over."""
        self.path.check(f"muscle {self.name!r}", tree)

    def tension_force(self, state: MotionState) -> Matrix:
        """Return with what it pulls (N)."""
        activation = state.q[state.row(f"{self.name}.activation")]
        length, velocity = self._length(state), self._rate(state) / (self.fastest * self.optimal)
        return self.force * (
            activation * self._active(length) * self._by_velocity(velocity)
            + self._passive_parabola(length)
        )

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        pull = self.tension_force(state)
        return {row: -pull * slope for row, slope in self.path.slope(state).items()}

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the energy (J) that its passive part stores."""
        energy = passive_energy(self._length(state), self.longest, self.passive)
        return self.force * self.optimal * energy

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that its active part takes out of the motion."""
        pull = self.tension_force(state) - self.force * self._passive_parabola(self._length(state))
        return pull * self._rate(state)

    def state_needs(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: excitation} that the rate of its activation needs."""
        row = state.row(f"{self.name}.activation")
        rate, activation = state.qd[row], state.q[row]
        return {row: activation + rate * self._time(rate, activation)}

    def state_rates(self, state: MotionState, controls: Matrix) -> dict[int, Matrix]:
        """Return {row of q: rate (1/s)} of its activation under `controls` (n,)."""
        row = state.row(f"{self.name}.activation")
        gap = controls[row] - state.q[row]
        return {row: gap / self._time(gap, state.q[row])}

    def states_at_rest(self, tree: Mechanism, state: MotionState) -> Mapping[int, float]:
        """Return {row of q: value} of its activation at rest."""
        return {state.row(f"{self.name}.activation"): self.excitation[0]}

    @property
    def line(self) -> PointPath | None:
        """Its course in space, None where its length alone is known."""
        return self.path if isinstance(self.path, PointPath) else None

    def _length(self, state: MotionState) -> Matrix:
        """Return its length over the optimal one."""
        return self.reach[0] + (self.path.length(state) - self.lengths[0]) / self.optimal

    def _rate(self, state: MotionState) -> Matrix:
        """Return the rate (m/s) of its path's length."""
        slope = self.path.slope(state)
        return sum((each * state.qd[row] for row, each in slope.items()), 0.0)

    def _active(self, x: Matrix) -> Matrix:
        """Return f_L: parabolas from 0 at its ends to 1 at x = 1, that meet halfway at 1/2."""
        side = ca.if_else(x <= 1, (1 - x) / (1 - self.shortest), (x - 1) / (self.longest - 1))
        outer = 2 * ca.fmax(1 - side, 0) ** 2
        return ca.if_else(side <= 0.5, 1 - 2 * side**2, outer)

    def _by_velocity(self, v: Matrix) -> Matrix:
        """Return f_V: (v + 1)^2 in shortening, then a parabola that ends level."""
        rise = self.lengthening - 1
        above = self.lengthening - ca.fmax(rise - v, 0) ** 2 / rise
        return ca.if_else(v <= 0, ca.fmax(v + 1, 0) ** 2, above)

    def _passive_parabola(self, x: Matrix) -> Matrix:
        """Return f_P: a parabola beyond x = 1 to halfway, then a straight line."""
        x = ca.fmax((x - 1) / ((self.longest - 1) / 2), 0)
        return self.passive * ca.if_else(x <= 1, x**2 / 2, x - 0.5)

    def _time(self, gap: Matrix, activation: Matrix) -> Matrix:
        """Return the time constant (s) of coming on or going off."""
        height = 0.5 + 1.5 * activation
        return ca.if_else(gap > 0, self.rise * height, self.fall / height)


def passive_energy(x: Matrix, longest: float, passive: float) -> Matrix:
    """Return the integral of f_P up to a length.

    Args:
        x: length over the optimal one.
        longest: at which f_P is `passive`.
        passive: f_P there.
    """
    width = (longest - 1) / 2
    x = ca.fmax((x - 1) / width, 0)
    beyond = ca.fmax(x - 1, 0)
    return width * passive * (ca.fmin(x, 1) ** 3 / 6 + beyond / 2 + beyond**2 / 2)

"""Force elements along paths over points: struts that push and pull, tendons that only pull.

A path runs straight from point to point, each the name of a point of the tree or a place (3, m,
global axes) of the ground. A tension F along it gives the generalized forces -F dl/dq, l being its
length: the principle of virtual work.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ocp.mechanics.elements.joint_elements import (
    MotionState,
    check_joint_units,
    graph_number,
    push_force,
    push_loss,
)
from ocp.mechanics.elements.smooth_curves import ramp_area
from ocp.mechanics.model.tree_validation import Mechanism, check_path
from ocp.mechanics.model.unilateral_joints import End, path_of
from ocp.mechanics.values.parameters import Number, is_open, nominal
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import check_units, freeze, numbers, positive, set_fields
from ocp.spelling import suggest_fields


def _checked_name(kind: str, name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{kind}: name: expected a word, got {name!r}")
    return f"{kind} {name!r}"


def _along(state: MotionState, path: Sequence[End], tension: Matrix) -> dict[int, Matrix]:
    """Return {row of q: its share of a tension (N)}, -F dl/dq."""
    return {row: -tension * slope for row, slope in state.length_slope(path).items()}


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Strut:
    """A spring and a damper between `start` and `end`, that pushes and pulls along their line.

    Its tension (N) is k (l - l_0) + d l' at the length l: `stiffness` k (N/m) and `damping` d
    (N s/m), one of them above 0, and the length at `rest` l_0 (m). The ends are points, or places
    (3, m) of the ground, that never meet. Raises ValueError naming it.
    """

    name: str
    start: End
    end: End
    stiffness: Number = 0.0
    rest: Number = 0.0
    damping: Number = 0.0

    def __post_init__(self) -> None:
        label = _checked_name("strut", self.name)
        start, end = path_of(label, (self.start, self.end))
        set_fields(self, start=start, end=end)
        for what in ("stiffness", "rest", "damping"):
            number = positive(f"{label}: {what}", getattr(self, what), True, unit="")
            set_fields(self, **{what: number})
        if not any(is_open(each) or each for each in (self.stiffness, self.damping)):
            raise ValueError(f"{label}: expected a stiffness or a damping above 0, got neither")

    @property
    def path(self) -> tuple[End, ...]:
        """Its two ends."""
        return self.start, self.end

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its points, on two links."""
        label = f"strut {self.name!r}"
        check_path(label, tree, self.path)
        _check_path_units(label, self)

    def tension(self, state: MotionState) -> Matrix:
        """Return with what it pulls its ends together (N)."""
        total: Matrix = 0.0
        if is_open(self.stiffness) or self.stiffness:
            stretch = state.length(self.path) - graph_number(self.rest)
            total = graph_number(self.stiffness) * stretch
        if is_open(self.damping) or self.damping:
            total = total + graph_number(self.damping) * state.length_rate(self.path)
        return total

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        return _along(state, self.path, self.tension(state))

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J): k (l - l_0)^2 / 2."""
        if not is_open(self.stiffness) and not self.stiffness:
            return 0.0
        stretch = state.length(self.path) - graph_number(self.rest)
        return graph_number(self.stiffness) * stretch**2 / 2

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes: d l'^2."""
        if not is_open(self.damping) and not self.damping:
            return 0.0
        return graph_number(self.damping) * state.length_rate(self.path) ** 2


@suggest_fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Tendon:
    """An elastic cable over the points of a `path`, that pulls by its stretch and never pushes.

    With the stretch e = l - l_0 beyond its `slack` length l_0 (m) its tension (N) is

        r(k e + d s(e) e'),   r(f) = (f + sqrt(f^2 + (k w)^2)) / 2,   s = dr(e)/de at width w

    of `stiffness` k (N/m), `damping` d (N s/m), and `rounding` w (m), over which it tightens; what
    is left of it where it hangs slack is k w^2 / (4 |e|) (after Chen & Harker 1993). It runs
    without friction over two points or more, or places (3, m) of the ground, no two of which meet
    along it. A `Stay` (`cable`) is one that does not stretch.

    A `winch` drives it: the named joint, which winds it up by `radius` r (m, or a number where the
    joint slides) times its coordinate, so that e = l + r x - l_0, and gets the moment -r F. Raises
    ValueError naming it.
    """

    name: str
    path: Sequence[End]
    stiffness: Number
    slack: Number
    damping: Number = 0.0
    rounding: Number = 1e-3
    winch: str = ""
    radius: Number = 0.0

    def __post_init__(self) -> None:
        label = _checked_name("tendon", self.name)
        set_fields(self, path=path_of(label, self.path))
        for what, zero in (("stiffness", False), ("slack", True), ("damping", True)):
            number = positive(f"{label}: {what}", getattr(self, what), zero, unit="")
            set_fields(self, **{what: number})
        set_fields(self, rounding=positive(f"{label}: rounding", self.rounding, unit=""))
        radius = numbers(f"{label}: radius", self.radius, (), "")
        set_fields(self, radius=freeze(radius[()]))
        if bool(self.winch) != bool(nominal(self.radius)):
            raise ValueError(
                f"{label}: expected a winch and its radius, or none, got {self.winch!r} and "
                f"{nominal(self.radius):g}"
            )

    def check(self, tree: Mechanism) -> None:
        """Raise ValueError unless the tree has its points, on two links or more, and its winch."""
        label = f"tendon {self.name!r}"
        check_path(label, tree, self.path)
        _check_path_units(label, self)
        if self.winch:
            check_joint_units(f"{label}: winch", tree, self.winch, {"radius": (self.radius, WOUND)})

    def tension(self, state: MotionState) -> Matrix:
        """Return with what it pulls (N)."""
        return push_force(self, self.stretch(state), self._rate(state))

    def stretch(self, state: MotionState) -> Matrix:
        """Return by what it is longer than slack (m)."""
        wound = graph_number(self.radius) * state.q[state.row(self.winch)] if self.winch else 0.0
        return state.length(self.path) + wound - graph_number(self.slack)

    def _rate(self, state: MotionState) -> Matrix | None:
        """Return at what rate it is stretched (m/s); None where that does not matter."""
        if not is_open(self.damping) and not self.damping:
            return None
        wound = graph_number(self.radius) * state.qd[state.row(self.winch)] if self.winch else 0.0
        return state.length_rate(self.path) + wound

    def torques(self, state: MotionState) -> dict[int, Matrix]:
        """Return {row of q: what it gives there} (N m or N)."""
        tension = self.tension(state)
        given = _along(state, self.path, tension)
        if self.winch:
            row = state.row(self.winch)
            given[row] = given.get(row, 0.0) - graph_number(self.radius) * tension
        return given

    def stored_energy(self, state: MotionState) -> Matrix:
        """Return the stored energy (J), zero where the tendon tightens."""
        area = ramp_area(self.stretch(state), graph_number(self.rounding))
        return graph_number(self.stiffness) * area

    def loss(self, state: MotionState) -> Matrix:
        """Return the power (W) that it takes."""
        rate = self._rate(state)
        return 0.0 if rate is None else push_loss(self, self.stretch(state), rate)


WOUND = "m", ""  # of a winch that turns, and of one that slides
UNITS = {"stiffness": "N/m", "damping": "N s/m", "rest": "m", "slack": "m", "rounding": "m"}


def _check_path_units(label: str, record: "Strut | Tendon") -> None:
    for what, unit in UNITS.items():
        if hasattr(record, what):
            check_units(f"{label}: {what}", getattr(record, what), unit)

"""An instant that records: it answers with symbols while a function is written as data."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

import casadi as ca

from ocp.mechanics.elements.generalized_forces import element_torques, state_needs
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.types import Matrix
from ocp.problem.contact.complementarity import Touch, rows_of, touch_size
from ocp.problem.contact.ground import slots
from ocp.problem.contact.reactions import Reaction
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.problem.instant import Instant, link_motions, loads_at
from ocp.problem.statement import Problem

QUANTITIES = (  # one per coordinate
    *("q", "qd", "qdd", "qddd", "tau", "tau_rate"),
    *("inertial", "unsupported", "supported", "needed", "elements"),
)
RATE = "rate"  # of what the rest of a question asks for
SCALARS = ("s", "T", "t")
CLOSINGS = (
    *("looped", "grounded", "loop_forces"),
    *("stayed", "stay_gaps", "stay_forces", "contact_forces"),
)
ATTRIBUTES = {  # of an Instant, where files have another name for the question
    "unsupported": "torques_without_ground",
    "supported": "torques_beside_ground",
    "grounded": "ground_torques",
    "needed": "required_torques",
    "looped": "loop_torques",
    "stayed": "stay_torques",
}
QUESTIONS = {attribute: question for question, attribute in ATTRIBUTES.items()}
WHOLE = ("center_of_mass", "angular_momentum")  # of the tree, (3,)
PLACES = ("position", "velocity", "angular_velocity", "acceleration")
Question = tuple[Any, ...]  # (which instant, what, names..)


class NotRecordable(ValueError):
    """Raised for a function that cannot be written as data; the message says why."""


@cache
def _answer(size: int, which: int, *question: str | int) -> ca.SX:
    """Return the symbol of an answer, one for all functions: what all sweep is swept once."""
    return ca.SX.sym("_".join(map(str, question)), size)


@dataclass(kw_only=True)
class RecordingInstant:
    """Stands for an Instant: answers what a function asks with symbols, and keeps what was asked.

    `which` is 0, or 1 for the end of a motion whose both ends are asked; `asked` {question: symbol}
    is shared by both.
    """

    problem: Problem
    which: int = 0
    asked: dict[Question, Matrix] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        tree, name = self.problem.tree, QUESTIONS.get(name, name)
        if name in QUANTITIES:
            return self._symbol(tree.dof, name)
        if name in SCALARS:
            return self._symbol(1, name)
        if name in WHOLE:
            return self._symbol(3, name)
        if name in ("tree", "ground", "loads"):
            return getattr(self.problem, name)
        raise NotRecordable(f"it asks an instant for {name!r}")

    def rate(self, expression: Matrix) -> Matrix:
        """Return the rate of an expression of recorded quantities."""
        expression = ca.SX(expression)
        total = ca.SX(*expression.shape)
        for (which, *question), symbol in list(self.asked.items()):
            if which == self.which and ca.depends_on(expression, symbol):
                rate = self._symbol(symbol.numel(), RATE, *question)
                total += ca.jtimes(expression, symbol, rate)
        return total

    def _symbol(self, size: int, *question: str | int) -> Matrix:
        question = self.which, *question
        return self.asked.setdefault(question, _answer(size, *question))

    @property
    def current_loads(self) -> tuple[Load, ...]:
        """The loads as they are at this instant."""
        return loads_at(self.problem.loads, cast(Instant, self))

    @property
    def contact_forces(self) -> Matrix:
        """Components (N) of the forces of contacts that are sought."""
        return self._symbol(touch_size(self.problem.loads), "contact_forces")

    def contact(self, touch: Touch) -> Matrix:
        """Those of one contact."""
        return self.contact_forces[rows_of(self.problem.loads, touch)]

    @property
    def loop_torques(self) -> Matrix:
        """Generalized forces (n,) of cut joints."""
        tree = self.problem.tree
        return self._symbol(tree.dof, "looped") if structure(tree).closed else 0.0

    @property
    def ground_torques(self) -> Matrix:
        """Generalized forces (n,) of the ground."""
        return (
            0.0 if self.problem.ground is None else self._symbol(self.problem.tree.dof, "grounded")
        )

    @property
    def passive(self) -> tuple[int, ...]:
        """Rows of q that nothing drives and no ground bears all along."""
        return passive_rows(self.problem.tree, self.problem.ground)

    def elements_named(self, *names: str) -> Matrix:
        """Generalized forces (n,) of the force elements of these names."""
        return element_torques(self.problem.tree, self.q, self.qd, self.moves, names)

    @property
    def state_needs(self) -> Matrix:
        """Controls, or residuals, (n,) that the rates of elements' states need."""
        return state_needs(self.problem.tree, self.q, self.qd, self.moves)

    @property
    def loop_forces(self) -> Matrix:
        """What the cut joints pass (m,)."""
        return self._symbol(len(structure(self.problem.tree).cut_labels), "loop_forces")

    @property
    def stay_torques(self) -> Matrix:
        """Generalized forces (n,) of stays."""
        tree = self.problem.tree
        return self._symbol(tree.dof, "stayed") if tree.stays else 0.0

    @property
    def stay_gaps(self) -> Matrix:
        """What the stays' sides have left to closed (sides,)."""
        return self._symbol(len(structure(self.problem.tree).stay_labels), "stay_gaps")

    @property
    def stay_forces(self) -> Matrix:
        """How strongly they push or pull (sides,)."""
        return self._symbol(len(structure(self.problem.tree).stay_labels), "stay_forces")

    @property
    def reaction(self) -> Reaction:
        """What the ground gives."""
        ground = self.problem.ground
        if ground is None:
            raise NotRecordable("it asks for a reaction, and there is no ground")
        wrenches = {}
        for slot in slots(ground):
            both = self._symbol(6, "wrench", *slot)
            wrenches[slot] = Wrench(link=slot[1], moment=both[:3], force=both[3:])
        return Reaction(ground=ground, wrenches=wrenches)

    def contact_power(self, foot: str | None = None) -> Matrix:
        """Power (W) that the ground gives a foot, or all."""
        return Instant.contact_power(cast(Instant, self), foot)

    @property
    def reactions(self) -> tuple[Matrix, Matrix]:
        """Moment and force (3, links) that joints pass."""
        links = len(self.problem.tree.joints)
        both = self._symbol(6 * links, "reactions")
        return ca.reshape(both[: 3 * links], 3, links), ca.reshape(both[3 * links :], 3, links)

    @property
    def frames(self) -> list[Matrix]:
        """Poses (4x4) of all links."""
        last = ca.DM([[0, 0, 0, 1]])
        links = range(len(self.problem.tree.joints))
        return [
            ca.vertcat(ca.reshape(self._symbol(12, "frame", link), 3, 4), last) for link in links
        ]

    @property
    def moves(self) -> list[Motion]:
        """Motions of all links, without accelerations."""
        return link_motions(self.problem.tree, self.q, self.qd)

    def position(self, point: str) -> Matrix:
        """Position (3, m) of a named point."""
        return self._place("position", point)

    def velocity(self, point: str) -> Matrix:
        """Velocity (3, m/s) of a named point."""
        return self._place("velocity", point)

    def angular_velocity(self, point: str) -> Matrix:
        """Angular velocity (3, rad/s) of the link at a named point."""
        return self._place("angular_velocity", point)

    def acceleration(self, point: str) -> Matrix:
        """Acceleration (3, m/s2) of a named point."""
        return self._place("acceleration", point)

    def offset(self, start: str, end: str) -> Matrix:
        """Vector (3, m) between two named points."""
        return self._place("offset", start, end)

    def pose(self, point: str) -> Matrix:
        """Pose (4x4) of a named point, or of a link."""
        kinematics.point_named(self.problem.tree, point)
        above = ca.reshape(self._symbol(12, "pose", point), 3, 4)
        return ca.vertcat(above, ca.DM([[0, 0, 0, 1]]))

    def orientation(self, point: str) -> Matrix:
        """Unit quaternion (4,) of the axes at a named point, or of a link."""
        kinematics.point_named(self.problem.tree, point)
        return self._symbol(4, "orientation", point)

    def _place(self, what: str, *points: str) -> Matrix:
        for point in points:
            self.problem.tree.point(point)  # which raises ValueError for an unknown one
        return self._symbol(3, what, *points)

"""One instant of the motion as expressions: the argument of constraints and objectives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from ocp.dynamics import FORMULATIONS
from ocp.dynamics.closed_loops import passive_loop_forces
from ocp.dynamics.derivatives.muscle_derivatives import polynomial_muscles
from ocp.mechanics.elements.generalized_forces import (
    element_loads,
    element_torques,
    forces_of,
    state_needs,
    with_rotors,
)
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.kinematics.loop_closure import loop_loads, loop_wrenches
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.kinematics.unilateral_forces import stay_gaps, stay_torques, stay_wrenches
from ocp.mechanics.model.loads import Load, Wrench, attach_wrenches
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.types import Matrix
from ocp.pickling import portable
from ocp.problem.contact.complementarity import Touch, rows_of, touch_labels, touches
from ocp.problem.contact.ground import Ground
from ocp.problem.contact.reactions import Reaction
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.spelling import suggestion


class NoRate(ValueError):
    """Raised where it is not known how something changes in time; the message says why."""


@portable
@dataclass(frozen=True, kw_only=True)
class Forces:
    """How the forces of an instant are known: `inverse`(tree, q, qd, qdd, loads) gives the
    generalized forces (n,) of the open tree; the others are functions of the Instant, None where
    they follow.

    `torques`: the joint torques (n,), where they are variables; `needed`: the generalized forces
    (n,) beside the ground's wrenches, where inverse dynamics knows of these, both of bodies alone,
    without the tree's force elements; `ground`: the wrenches
    of the feet; `cuts`: the forces of cut joints (m,), where passive joints do not determine them;
    `stays`: those of the stays (sides,); `touches`: those of contacts that are sought, in
    components; `spin`: the angular momentum about the centre of mass (3,), and `muscles`: torques
    at joints and needs at states (n,) of muscles over polynomial paths, if something stands for
    them.
    """

    inverse: Any
    torques: Callable | None = None
    needed: Callable | None = None
    ground: Any = None
    cuts: Callable | None = None
    stays: Callable | None = None
    touches: Callable | None = None
    spin: Callable | None = None
    muscles: Callable | None = None


@portable
@dataclass(frozen=True, kw_only=True)
class Instant:
    """What a constraint or an objective sees: one instant of the motion, as expressions.

    `s` in [0, 1], duration `T` (s), `q, qd, qdd` (n,), and on demand the time `t` (s), the joint
    torques `tau` (n,), the pose (4x4), position, velocity and acceleration (3,) of named points,
    the `center_of_mass` and the `angular_momentum` about it (3,), what the ground gives, a
    `reaction`, what cut joints pass, the `loop_forces`, and how stays hold, their `stay_gaps` and
    `stay_forces`. `forces` says how all of these are known, and `flow`, a function of an
    expression, how that changes in time (1/s), None where this is not known.
    """

    tree: Tree
    s: Matrix
    T: Matrix
    q: Matrix
    qd: Matrix
    qdd: Matrix
    loads: tuple = ()
    ground: Ground | None = None
    forces: Forces = field(repr=False)
    flow: Callable[[Matrix], Matrix] | None = field(default=None, repr=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in dir(type(self)):  # a property of the instant lacks it: told from inside
                return object.__getattribute__(self, name)
            words = [word for word in (*vars(self), *dir(type(self))) if not word.startswith("_")]
            raise AttributeError(f"an instant has no {name!r}{suggestion(name, words)}")

    @property
    def t(self) -> Matrix:
        """Time (s)."""
        return self.s * self.T

    @cached_property
    def qddd(self) -> Matrix:
        """Jerk: the rates (n,) of accelerations, rad/s3 or m/s3."""
        return self.rate(self.qdd)

    @cached_property
    def tau_rate(self) -> Matrix:
        """Rates (n,) of joint torques (N m/s) or forces (N/s)."""
        return self.rate(self.tau)

    def rate(self, expression: Matrix) -> Matrix:
        """Return the rate of an expression of this instant, its derivative along the motion (1/s),
        as `at.rate(at.acceleration("hand"))` (3, m/s3).

        Raises NoRate where that is not known.
        """
        if self.flow is None:
            raise NoRate("how things change in time is not known here")
        return self.flow(expression)

    @cached_property
    def current_loads(self) -> tuple[Load, ...]:
        """The loads as they are at this instant."""
        return loads_at(self.loads, self) if self.loads else ()

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Rows of q that nothing drives and no ground bears all along."""
        if self.ground is None:
            return structure(self.tree).passive
        return passive_rows(self.tree, self.ground)

    @cached_property
    def contact_forces(self) -> Matrix:
        """The forces (N) of contacts that are sought, in components along their normals and ways,
        one contact after the other.

        Raises ValueError where they are not known.
        """
        if not touches(self.loads):
            return ca.DM(0, 1)
        if self.forces.touches is None:
            raise ValueError(
                f"contacts {', '.join(touch_labels(self.loads))}: their forces are not known of a "
                "motion alone; expected them as variables"
            )
        return self.forces.touches(self)

    def contact(self, touch: Touch) -> Matrix:
        """The components (N) of the force of one of these contacts."""
        return self.contact_forces[rows_of(self.loads, touch)]

    @cached_property
    def tau(self) -> Matrix:
        """Joint torques (N m) or forces (N), (n,), by the chosen formulation, or as variables of
        their own; zero at passive joints."""
        if self.forces.torques is not None:
            return self.forces.torques(self)
        free, needed = self.passive, self.required_torques
        if not free:
            return needed
        return ca.vertcat(*(0 if row in free else needed[row] for row in range(self.tree.dof)))

    @cached_property
    def inertial(self) -> Matrix:
        """The generalized forces (n,) that the bodies alone would need without the ground: inverse
        dynamics by the formulation, pass 1."""
        return _body_forces(
            self.forces.inverse, self.tree, self.q, self.qd, self.qdd, self.current_loads
        )

    @cached_property
    def torques_without_ground(self) -> Matrix:
        """The generalized forces (n,) that the motion would need without the ground, beside the
        tree's force elements, its rotors turned too."""
        return self._with_elements(self.inertial)

    @cached_property
    def elements(self) -> Matrix:
        """The generalized forces (n,) that the tree's force elements give, rotors left out; zero
        without any."""
        if not forces_of(self.tree):
            return ca.DM.zeros(self.tree.dof)
        if self.forces.muscles is None:
            return _elements(self.tree, self.q, self.qd)
        others = element_torques(self.tree, self.q, self.qd, self.moves, _others(self.tree))
        return others + _split_states(self.tree, self.forces.muscles(self))[0]

    @cached_property
    def state_needs(self) -> Matrix:
        """The controls (n,) of elements' states, or residuals, which their rates need; zero in
        other rows."""
        if self.forces.muscles is None:
            return state_needs(self.tree, self.q, self.qd, self.moves)
        others = state_needs(self.tree, self.q, self.qd, self.moves, _others(self.tree))
        return others + _split_states(self.tree, self.forces.muscles(self))[1]

    def elements_named(self, *names: str) -> Matrix:
        """Return the generalized forces (n,) that the force elements of these names give together,
        as at.elements_named("tissue of leg r")[row]; raise ValueError for one that there is not."""
        return element_torques(self.tree, self.q, self.qd, self.moves, names)

    def _with_elements(self, needed: Matrix) -> Matrix:
        """Return the torques of drives (n,), from those that bodies need."""
        if not self.tree.elements:
            return needed
        driven = with_rotors(self.tree, needed, self.qdd) - self.elements
        return driven + self.state_needs if self.tree.states else driven

    @cached_property
    def torques_beside_ground(self) -> Matrix:
        """The generalized forces (n,) that the motion needs beside the ground's wrenches, its loops
        open: inverse dynamics, pass 2."""
        if self.forces.needed is not None:
            return self._with_elements(self.forces.needed(self))
        return self.torques_without_ground - self.ground_torques

    @cached_property
    def ground_torques(self) -> Matrix:
        """The generalized forces (n,) that the ground gives; zero without one."""
        return 0.0 if self.ground is None else self._wrench_forces(self.reaction.wrenches)

    @cached_property
    def required_torques(self) -> Matrix:
        """The generalized forces (n,) that the motion needs beside the ground's wrenches and the
        forces of cut joints and stays."""
        return self.torques_beside_ground - self.loop_torques - self.stay_torques

    @cached_property
    def loop_torques(self) -> Matrix:
        """The generalized forces (n,) that cut joints give; zero without loops."""
        if not structure(self.tree).closed:
            return 0.0
        return self._wrench_forces(loop_wrenches(self.tree, self.frames, self.loop_forces))

    @cached_property
    def loop_forces(self) -> Matrix:
        """What the cut joints pass (m,), N and N m, row by row as `structure(tree).cut_labels`.

        Redundant rows pass nothing.
        """
        if self.forces.cuts is not None:
            return self.forces.cuts(self)
        supported = self.torques_beside_ground - self.stay_torques
        return passive_loop_forces(self.tree, self.moves, supported, structure(self.tree).looped)

    @cached_property
    def stay_gaps(self) -> Matrix:
        """What the stays' sides have left to closed (sides,), m or rad, by row as
        `structure(tree).stay_labels`."""
        return stay_gaps(self.tree, self.q)

    @cached_property
    def stay_forces(self) -> Matrix:
        """How strongly the stays' sides push or pull (sides,), N or N m.

        Raises ValueError where they are not known.
        """
        if not self.tree.stays:
            return ca.DM(0, 1)
        if self.forces.stays is None:
            raise ValueError(
                f"stays {', '.join(stay.name for stay in self.tree.stays)}: their forces are not "
                "known of a motion alone; expected them as variables"
            )
        return self.forces.stays(self)

    @cached_property
    def stay_torques(self) -> Matrix:
        """The generalized forces (n,) that stays give; zero without any."""
        if not self.tree.stays:
            return 0.0
        return stay_torques(self.tree, self.moves, self.stay_forces)

    def _wrench_forces(self, wrenches: Mapping[tuple[str, str], Wrench]) -> Matrix:
        """Return the generalized forces of wrenches {(name, link): Wrench}."""
        return sum(
            (
                kinematics.wrench_torques(self.tree, self.moves, wrench)
                for wrench in wrenches.values()
            ),
            0.0,
        )

    @cached_property
    def reaction(self) -> Reaction:
        """What the ground gives; raises ValueError if the problem has no ground."""
        if self.ground is None:
            raise ValueError("reaction: this problem has no ground")
        return Reaction(ground=self.ground, wrenches=self.forces.ground(self))

    def contact_power(self, foot: str | None = None) -> Matrix:
        """The power (W) that the ground gives a foot, or all: of each wrench on the motion of its
        link; raises ValueError if the problem has no ground."""
        chosen = {each.name for each in self.reaction.feet_named(foot)}
        return sum(
            (
                kinematics.wrench_power(self.tree, self.moves, wrench)
                for (name, _), wrench in self.reaction.wrenches.items()
                if name in chosen
            ),
            ca.SX(0),
        )

    @cached_property
    def reactions(self) -> tuple[Matrix, Matrix]:
        """Moment (3, links) N m about the anchor, and force (3, links) N, that each joint passes to
        its link, in the link's axes.

        They are the Newton-Euler ones whatever the formulation (Barman 2020, step 9), of flexible
        links those of Book (1984); the loads, the ground's wrenches, the forces of cut joints and
        stays, and what struts, tendons and muscles do along their lines are all taken up; muscles
        whose length alone is known (`Muscle.line` is None) are not.
        """
        name = "book" if structure(self.tree).flexible else "newton_euler"
        passed: Any = FORMULATIONS[name].reactions
        pulls, along = element_loads(self.tree, self.q, self.qd, self.moves)
        loads = self.current_loads + pulls
        if structure(self.tree).closed:
            loads += loop_loads(self.tree, self.q, self.loop_forces)
        ground = () if self.ground is None else tuple(self.reaction.wrenches.values())
        wrenches = (*along, *ground)
        if self.tree.stays:
            wrenches += stay_wrenches(self.tree, self.frames, self.stay_forces)
        tree, pushes = attach_wrenches(self.tree, self.frames, wrenches)
        return passed(tree, self.q, self.qd, self.qdd, (*loads, *pushes))

    @cached_property
    def frames(self) -> list[Matrix]:
        """Poses (4x4) of all links."""
        return [move.pose for move in self.moves]

    @cached_property
    def moves(self) -> list[Motion]:
        """Motions of all links, without accelerations."""
        return link_motions(self.tree, self.q, self.qd)

    @cached_property
    def center_of_mass(self) -> Matrix:
        """The centre of mass (3, m) of the whole tree, in global axes; raises ValueError if it has
        no mass."""
        return kinematics.center_of_mass(self.tree, self.q)

    @cached_property
    def angular_momentum(self) -> Matrix:
        """The angular momentum (3, kg m2/s) of the whole tree about its centre of mass, in global
        axes (`ocp.mechanics.angular_momentum`); raises ValueError if it has no mass."""
        if self.forces.spin is not None:
            return self.forces.spin(self)
        return kinematics.angular_momentum(self.tree, self.q, self.qd)

    def position(self, point: str) -> Matrix:
        """Position (3, m) of a named point in global axes."""
        return kinematics.point_position(self.tree, self.moves, point)

    def pose(self, point: str) -> Matrix:
        """Pose (4x4) of a named point, with the axes of its link, or of a link by its name."""
        place = kinematics.point_named(self.tree, point)
        return kinematics.point_motion(self.tree, self.moves, place).pose

    def orientation(self, point: str) -> Matrix:
        """Unit quaternion (4,) of the axes at a named point or of a link, smooth in q; see
        `ocp.mechanics.orientation`."""
        return kinematics.orientation(self.tree, self.q, point)

    def offset(self, start: str, end: str) -> Matrix:
        """Vector (3, m) between two named points, in the axes of the last link that carries
        both."""
        return kinematics.offset(self.tree, self.q, start, end)

    def velocity(self, point: str) -> Matrix:
        """Velocity (3, m/s) of a named point in global axes."""
        return kinematics.point_motion(self.tree, self.moves, point).linear

    def angular_velocity(self, point: str) -> Matrix:
        """Angular velocity (3, rad/s) of the link at a named point, in global axes."""
        return kinematics.point_motion(self.tree, self.moves, point).angular

    def acceleration(self, point: str) -> Matrix:
        """Acceleration (3, m/s2) of a named point in global axes."""
        return kinematics.acceleration(self.tree, self.q, self.qd, self.qdd, point)


@memoize(4)
def link_motions(tree: Tree, q: Matrix, qd: Matrix) -> list[Motion]:
    """Return the motions of all links, which Instants share that are one but for their forces."""
    return kinematics.motions(tree, q, qd)


@memoize(4)
def _body_forces(
    inverse: Callable, tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix, acting: tuple[Load, ...]
) -> Matrix:
    """Return the torques that bodies need (n,), which Instants without loads share likewise."""
    return inverse(tree, q, qd, qdd, acting)


@memoize(4)
def _elements(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the torques of force elements (n,), which Instants share likewise."""
    return element_torques(tree, q, qd, link_motions(tree, q, qd))


@memoize(4)
def _others(tree: Tree) -> tuple[str, ...]:
    """Return the names of the force elements that are no muscles over polynomial paths."""
    known = {each.name for each in polynomial_muscles(tree)}
    return tuple(each.name for each in forces_of(tree) if each.name not in known)


def _split_states(tree: Tree, column: Matrix) -> tuple[Matrix, Matrix]:
    """Return a column (n,) with zeros at states, and with zeros at all else."""
    count = tree.dof - len(tree.states)
    joints, states = ca.vertsplit(column, [0, count, tree.dof])
    empty = type(column)
    return ca.vertcat(joints, empty(tree.dof - count, 1)), ca.vertcat(empty(count, 1), states)


def loads_at(loads: Sequence[Acting], at: "Instant") -> tuple[Load, ...]:
    """Return the loads as they are at an instant."""
    return tuple(load.at(at.t) if isinstance(load, Load) else load.load_at(at) for load in loads)

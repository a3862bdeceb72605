"""Generalized forces, energies and power of the force elements of a tree.

Beside the drives' torques tau the law of a tree with elements is

    tau = ID(q, qd, qdd) + A qdd - e(q, qd)

with inverse dynamics ID of its bodies by any formulation, the rotors' reflected inertias A, and
what the elements give, e.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import TypeAlias

import casadi as ca
import numpy as np

from ocp.mechanics.elements import (
    FORCE_KINDS,
    Armature,
    Deflections,
    Force,
    MujocoMuscle,
    Muscle,
    PassiveForce,
    Strut,
    Tendon,
)
from ocp.mechanics.elements.element_states import Stateful, is_stateful
from ocp.mechanics.elements.joint_elements import graph_number
from ocp.mechanics.flexible import flexible_kinematics
from ocp.mechanics.kinematics import rigid_kinematics
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.model.joints import GROUND
from ocp.mechanics.model.loads import Load, Wrench
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.unilateral_joints import End
from ocp.mechanics.muscles.muscle_paths import PointPath
from ocp.mechanics.muscles.path_segments import Route, between_anchors, end_anchor
from ocp.mechanics.values.memoize import memoize
from ocp.mechanics.values.parameters import matrix
from ocp.mechanics.values.types import Matrix

Motions: TypeAlias = Sequence[Motion] | None  # of all links, where they are known


def kinematics_of(tree: Tree) -> ModuleType:
    """Return the file that knows how links of the tree move: both have the same functions."""
    return flexible_kinematics if tree.flexible else rigid_kinematics


def forces_of(tree: Tree) -> tuple[Force, ...]:
    """Return the elements that act by forces of their own, as those of drives do not."""
    return tuple(each for each in tree.elements if isinstance(each, FORCE_KINDS))


@memoize(64)
def bodies_of(tree: Tree) -> Tree:
    """Return a tree without the states of its elements: its bodies and rotors, and no forces."""
    others = [each for each in tree.elements if not isinstance(each, FORCE_KINDS)]
    rotors = [each for each in tree.elements if isinstance(each, Armature)]
    return replace(tree, elements=(*others, *rotors))


@dataclass(frozen=True, kw_only=True)
class State:
    """A state of motion as elements see it: coordinates `q` (n,) and, if known, rates `qd` (n,).

    `known`: the motions of all links, where somebody has them already.
    """

    tree: Tree
    q: Matrix
    qd: Matrix = None
    known: Motions = None

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of q of every coordinate."""
        return _rows(self.tree)

    def row(self, joint: str) -> int:
        """Return the row of q of a joint."""
        return self.rows[joint]

    @cached_property
    def moves(self) -> Sequence[Motion]:
        """Motions of all links, at least their places."""
        if self.known is not None:
            return self.known
        return kinematics_of(self.tree).motions(self.tree, self.q)

    def place(self, end: End) -> Matrix:
        """Return the place (3, m) of a point, or of the ground."""
        if not isinstance(end, str):
            return matrix(end)
        return kinematics_of(self.tree).point_position(self.tree, self.moves, self.tree.point(end))

    def route(self, path: Sequence[End]) -> Route:
        """Return the course of a path over points, or places of the ground."""
        anchors = [end_anchor(self, end) for end in path]
        return Route(segments=between_anchors(anchors), stops=anchors)

    def length(self, path: Sequence[End]) -> Matrix:
        """Return the length (m) of a path."""
        return self.route(path).length

    def length_slope(self, path: Sequence[End]) -> dict[int, Matrix]:
        """Return {row of q: dl/dq} of a path's length."""
        return self.route(path).slope(self)

    def length_rate(self, path: Sequence[End]) -> Matrix:
        """Return dl/dt (m/s) of a path's length."""
        return sum((slope * self.qd[row] for row, slope in self.length_slope(path).items()), 0.0)

    def point_slides(self, end: str) -> dict[int, Matrix]:
        """Return {row of q: d place / dq (3)} of a point."""
        point, tree = self.tree.point(end), self.tree
        if not tree.flexible:
            return self.link_slides(point.link, self.place(end))
        columns = ca.horzsplit(flexible_kinematics.jacobian(tree, self.q, point)[3:, :])
        return {row: column for row, column in enumerate(columns) if column.nnz()}

    def link_slides(self, link: str, place: Matrix) -> dict[int, Matrix]:
        """Return {row of q: d place / dq (3)} of a place (3, m) on a link, all links rigid."""
        return {row: column[3:] for row, column in self.link_screws(link, place).items()}

    def link_screws(self, link: str, place: Matrix) -> dict[int, Matrix]:
        """Return {row of q: turn (3) and slide (3)} of a place (3, m) on a link, all links
        rigid."""
        return rigid_kinematics.jacobian_columns(self.tree, self.moves, link, place)

    def link_frame(self, link: str) -> tuple[Matrix, Matrix]:
        """Return the rotation (3x3) and the origin (3, m) of a link that does not bend, or of the
        ground."""
        if link == GROUND:
            return ca.DM.eye(3), ca.DM.zeros(3)
        move = self.moves[self.tree.link_index(link)]
        return move.rotation, move.origin


def rotors(tree: Tree) -> dict[int, Matrix]:
    """Return {row of q: what rotors add to the diagonal of the mass matrix there}, kg m2 or kg."""
    total: dict[int, Matrix] = {}
    rows = _rows(tree) if has_rotors(tree) else {}
    for each in tree.elements:
        if isinstance(each, Armature):
            row, inertia = rows[each.joint], graph_number(each.reflected)
            total[row] = total[row] + inertia if row in total else inertia
    return total


def armatures(tree: Tree) -> Matrix:
    """Return the share of rotors in the diagonal of the mass matrix (n,), kg m2 or kg."""
    return _column(tree, rotors(tree))


def has_rotors(tree: Tree) -> bool:
    """Tell whether any element is a rotor."""
    return any(isinstance(each, Armature) for each in tree.elements)


def element_torques(
    tree: Tree, q: Matrix, qd: Matrix, moves: Motions = None, names: Sequence[str] | None = None
) -> Matrix:
    """Return the generalized forces (n,), N m or N, that the elements give in a state of motion.

    `moves` are the motions of all links where they are known already, `names` those of the elements
    that count, all without them. Rotors give none: they ask for accelerations, as `armatures` says.
    Raises ValueError for a name that no element has which acts by a force.
    """
    chosen = forces_of(tree)
    if names is not None:
        known = [each.name for each in chosen]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"element {name!r}: none acts by that name; expected one of "
                    f"{', '.join(known) or 'none'}"
                )
        chosen = tuple(each for each in chosen if each.name in names)
    return _summed(tree, chosen, State(tree=tree, q=q, qd=qd, known=moves))


def torques_by_element(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix) -> dict[str, Matrix]:
    """Return {name: the generalized forces (n,) that an element gives}, N m or N; rotors give
    -A qdd."""
    state, given = State(tree=tree, q=q, qd=qd), {}
    for each in forces_of(tree):
        if isinstance(each, Armature):
            row = state.row(each.joint)
            given[each.name] = _column(tree, {row: -graph_number(each.reflected) * qdd[row]})
        else:
            given[each.name] = _summed(tree, (each,), state)
    return given


def powers_by_element(tree: Tree, q: Matrix, qd: Matrix, qdd: Matrix) -> dict[str, Matrix]:
    """Return {name: the power (W) that an element feeds into the motion of the bodies}."""
    given = torques_by_element(tree, q, qd, qdd)
    return {name: ca.dot(torques, qd) for name, torques in given.items()}


def elastic_energy(tree: Tree, q: Matrix) -> Matrix:
    """Return the energy (J) that the elements store."""
    state = State(tree=tree, q=q)
    return sum((each.stored_energy(state) for each in forces_of(tree)), 0.0)


def rotor_energy(tree: Tree, qd: Matrix) -> Matrix:
    """Return the kinetic energy (J) that rotors have beside that of their links: A qd^2 / 2."""
    return sum((inertia * qd[row] ** 2 / 2 for row, inertia in rotors(tree).items()), 0.0)


def element_loss(tree: Tree, q: Matrix, qd: Matrix) -> Matrix:
    """Return the power (W) that the elements take out of the motion and do not store."""
    state = State(tree=tree, q=q, qd=qd)
    return sum((each.loss(state) for each in forces_of(tree)), 0.0)


def element_loads(
    tree: Tree, q: Matrix, qd: Matrix, moves: Motions = None
) -> tuple[tuple[Load, ...], tuple[Wrench, ...]]:
    """Return the forces of struts, tendons, muscles and passive forces along their lines: on named
    points, as loads, and on other places of links, as wrenches, those of bushings with them. What
    acts by a length alone is not among them."""
    state = State(tree=tree, q=q, qd=qd, known=moves)
    loads: list[Load] = []
    wrenches: list[Wrench] = []
    for each in tree.elements:
        if isinstance(each, Muscle | MujocoMuscle):
            if each.line is None:
                continue
            tension, route = each.tension_force(state), each.line.route(state)
        elif isinstance(each, PassiveForce) and isinstance(each.over, Deflections):
            moment, force = each.over.wrench(state, each.forces(state))
            for link, sign in ((each.over.end, 1), (each.over.start, -1)):
                if link != GROUND:
                    wrenches.append(Wrench(link=link, moment=sign * moment, force=sign * force))
            continue
        elif isinstance(each, PassiveForce):
            if not isinstance(each.over, PointPath):
                continue
            tension, route = -each.forces(state), each.over.route(state)
        elif isinstance(each, Strut | Tendon):
            tension, route = each.tension(state), state.route(each.path)
        else:
            continue
        for anchor, pull in route.pulls:
            force = -tension * pull
            if anchor.point:
                loads.append(Load(point=anchor.point, force=force))
            elif anchor.link != GROUND:
                moment = ca.cross(anchor.place, force)
                wrenches.append(Wrench(link=anchor.link, moment=moment, force=force))
    return tuple(loads), tuple(wrenches)


def drive_torques(
    tree: Tree, needed: Matrix, q: Matrix, qd: Matrix, qdd: Matrix, moves: Motions = None
) -> Matrix:
    """Return the torques of drives (n,) where bodies need `needed`: ID + A qdd - e; at states of
    elements their controls, or residuals."""
    if not forces_of(tree):
        return needed
    driven = with_rotors(tree, needed, qdd) - element_torques(tree, q, qd, moves)
    return driven + state_needs(tree, q, qd, moves) if tree.states else driven


def with_rotors(tree: Tree, needed: Matrix, qdd: Matrix) -> Matrix:
    """Return the torques that move bodies and rotors (n,) where bodies alone need `needed`: ID + A
    qdd."""
    return needed + armatures(tree) * qdd if has_rotors(tree) else needed


def with_elements(tree: Tree, tau: Matrix, q: Matrix, qd: Matrix) -> Matrix:
    """Return the generalized forces (n,) that drives give as tau, and elements beside them."""
    return tau + element_torques(tree, q, qd) if forces_of(tree) else tau


def state_needs(
    tree: Tree, q: Matrix, qd: Matrix, moves: Motions = None, names: Sequence[str] | None = None
) -> Matrix:
    """Return the controls, or residuals, (n,) that the rates of elements' states need; zero in all
    other rows.

    Args:
        q, qd: the state of motion, states and their rates with it, (n,) each.
        moves: motions of all links where they are known already.
        names: those of the elements that count; all without them.
    """
    state = State(tree=tree, q=q, qd=qd, known=moves)
    needs: dict[int, Matrix] = {}
    for each in _stateful(tree):
        if names is None or each.name in names:
            needs |= each.state_needs(state)
    return _column(tree, needs)


def state_rates(tree: Tree, q: Matrix, qd: Matrix, controls: Matrix) -> Matrix:
    """Return the rates (1/s) of elements' states, in the order of `tree.states`.

    Args:
        q: coordinates (n,), states with them.
        qd: rates (n,); those of states do not count.
        controls: what drives coordinates (n,), of which those of states count.
    """
    state = State(tree=tree, q=q, qd=qd)
    rates: dict[int, Matrix] = {}
    for each in _stateful(tree):
        rates |= each.state_rates(state, controls)
    return ca.vertcat(*(rates[row] for row in tree.states))


def states_at_rest(tree: Tree, q: np.ndarray) -> np.ndarray:
    """Return the states of elements at rest (states, N) in postures q (n, N), of which the states
    do not count; raise ValueError naming an element that cannot be there."""
    known = np.zeros((len(tree.states), q.shape[1]))
    for k, posture in enumerate(q.T):
        state = State(tree=tree, q=ca.DM(posture), qd=ca.DM.zeros(tree.dof))
        for each in _stateful(tree):
            for row, value in each.states_at_rest(tree, state).items():
                known[row - tree.states[0], k] = value
    return known


def _stateful(tree: Tree) -> tuple[Stateful, ...]:
    return tuple(each for each in tree.elements if is_stateful(each))


def _rows(tree: Tree) -> dict[str, int]:
    return {joint.name: row for row, joint in enumerate(tree.moving)}


def _summed(tree: Tree, elements: Sequence[Force], state: State) -> Matrix:
    total: dict[int, Matrix] = {}
    for each in elements:
        for row, value in each.torques(state).items():
            total[row] = total[row] + value if row in total else value
    return _column(tree, total)


def _column(tree: Tree, entries: dict[int, Matrix]) -> Matrix:
    return ca.vertcat(*(entries.get(row, 0.0) for row in range(tree.dof)))

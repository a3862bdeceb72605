"""Impacts between two phases: impulses as variables, and the jump of velocities.

Before and after an impact at the coordinates q (Hurmuzlu & Marghitu 1994; Westervelt, Grizzle &
Koditschek 2003)

    M(q) (v+ - v-) = sum of J' L over the points that strike

of which the left side and the right are what inverse dynamics makes of accelerations v+ - v- at
rest, without gravity, under the impulses L as loads, beside what holds links bent; rotors jump with
their joints, and what other force elements give is finite. Energy is lost by

    sum of L' J (v+ + v-) / 2

What slips has after it the velocity v_t across, which Coulomb's law relates to the impulse,

    L_t |v_t| + mu L_n v_t = 0,   |L_t| <= mu L_n           (Moreau 1988)

so that it rests where the impulse is within the cone, and goes on where it is on its edge.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import casadi as ca
import numpy as np

from ocp.mechanics.elements.generalized_forces import with_rotors
from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.loads import Load
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import is_open, nominal
from ocp.mechanics.values.types import Matrix
from ocp.problem.constraint import Constraint
from ocp.problem.contact.point_mass import PointMass
from ocp.problem.instant import Instant
from ocp.problem.phases.phases import Strike, Transition

STILL = 1e-12  # m/s: a slip of nothing has a slope with it
FELT = 1e-9  # m/rad: below which a motion of the tree does not move a point along an axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Impulse:
    """A strike, its `impulse` (3, N s) as an expression of the `variables`, which count in
    `measure`s (N s), and the directions across its normal that its point feels."""

    strike: Strike
    impulse: Matrix
    variables: Matrix
    measure: float
    across: tuple[np.ndarray, ...]

    @property
    def ways(self) -> tuple[np.ndarray, ...]:
        """The directions across in which its point sticks."""
        return self.across if self.strike.sticks else ()

    @property
    def push(self) -> Matrix:
        """The impulse along the normal (N s)."""
        return ca.dot(ca.DM(self.strike.normal), self.impulse)

    @property
    def pull(self) -> Matrix:
        """The impulse along the directions across (N s)."""
        return ca.vertcat(*(ca.dot(ca.DM(way), self.impulse) for way in self.across))


def mass_of(tree: Tree) -> float:
    """Return the tree's mass (kg) at the parameters' own values, in which impulses are counted."""
    return sum(nominal([link.mass for link in tree.links])) or 1.0


def movable_axes(tree: Tree, point: str) -> np.ndarray:
    """Tell along which global axes (3,) any motion of the tree moves a named point."""
    return np.abs(kinematics.point_slopes(tree, point)).max(axis=1) > FELT


def impact_impulses(tree: Tree, transition: Transition) -> tuple[Impulse, ...]:
    """Return the impulses of a transition's strikes, in variables of their own.

    An axis along which nothing of the tree can move has none.
    """
    made, measure = [], mass_of(tree)
    for strike in transition.strikes:
        felt = np.flatnonzero(movable_axes(tree, strike.point))
        symbol = ca.SX.sym(f"impulse_{strike.point}", len(felt))
        impulse = ca.SX(3, 1)
        impulse[felt.tolist()] = measure * symbol
        made.append(
            Impulse(
                strike=strike,
                impulse=impulse,
                variables=symbol,
                measure=measure,
                across=_tangents(strike, felt),
            )
        )
    return tuple(made)


def _tangents(strike: Strike, felt: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the unit directions across a strike's normal, in the space of the axes it feels."""
    plane = np.eye(3)[felt]
    normal = np.array(strike.normal) @ plane.T
    if np.linalg.norm(normal) < FELT:
        raise ValueError(
            f"impact of {strike.point!r}: no motion of the tree moves it along {strike.normal}"
        )
    _, _, rows = np.linalg.svd(normal[None, :] / np.linalg.norm(normal))
    return tuple(row @ plane for row in rows[1:])


def impact_constraints(
    tree: Tree,
    transition: Transition,
    strikes: tuple[Impulse, ...],
    resting: frozenset[str] = frozenset(),
) -> Iterator[Constraint]:
    """Yield the constraints of an impact: momentum, how points leave, and what impulses may be.

    Those that are `resting` the phase after it holds. Raises ValueError for one of these that
    bounces. They are functions of both ends, whose values contain the impulses' variables.
    """
    mass = strikes[0].measure
    yield Constraint(
        name="momentum",
        function=lambda end, start: (
            _imbalance(end, rates_after(end, start, transition), strikes) / mass
        ),
        lower=0.0,
        upper=0.0,
        when="joined",
        labels=tuple(joint.name for joint in tree.moving),
        units=f"({mass:.4g} N s)",
    )
    for each in strikes:
        point = each.strike.point
        if point in resting:
            _check_rests(each.strike)
        else:
            yield _leaving_law(transition, each)
        if each.strike.slips and each.across:
            yield _slip_law(transition, each)
        yield Constraint(
            name=f"impulse.{point}",
            function=lambda end, start, each=each: _impulse_margins(each),
            lower=0.0,
            upper=inf,
            when="joined",
            labels=_faces(each),
            units=f"({mass:.4g} N s)",
        )


def _faces(each: Impulse) -> tuple[str, ...]:
    """Return the names of the faces of what an impulse may be."""
    if each.strike.slips:
        return ("push", "friction") if each.across else ("push",)
    count = 0 if each.strike.friction is None else 2 * len(each.across)
    return "push", *(f"friction {k + 1}" for k in range(count))


def _leaving_law(transition: Transition, each: Impulse) -> Constraint:
    """Return the constraint that says how a point leaves."""
    return Constraint(
        name=f"leaving.{each.strike.point}",
        function=lambda end, start: _leaving_speed(end, rates_after(end, start, transition), each),
        lower=0.0,
        upper=0.0,
        when="joined",
        labels=("normal", "across", "across, second")[: 1 + len(each.ways)],
        units="m/s",
    )


def _slip_law(transition: Transition, each: Impulse) -> Constraint:
    """Return the constraint that says how a point slides on against friction."""
    return Constraint(
        name=f"slipping.{each.strike.point}",
        function=lambda end, start: _slip_residual(end, rates_after(end, start, transition), each),
        lower=0.0,
        upper=0.0,
        when="joined",
        labels=("across", "across, second")[: len(each.across)],
        units=f"({each.measure:.4g} J)",
    )


def _check_rests(strike: Strike) -> None:
    """Raise ValueError if a point bounces or slides that the next phase holds."""
    bounces = is_open(strike.restitution) or strike.restitution != 0
    if bounces or not strike.sticks:
        raise ValueError(
            f"impact of {strike.point!r}: it {'bounces' if bounces else 'slides on'}, but the next "
            "phase holds it at rest"
        )


def rates_after(end: Instant, start: Instant, transition: Transition) -> Matrix:
    """Return the rates (n,) after an impact in the coordinates before it."""
    if transition.symmetry is None:
        return start.qd
    sign, index = ca.DM(transition.symmetry.sign), list(transition.symmetry.index)
    return sign * start.qd[index]


def _imbalance(end: Instant, rates: Matrix, strikes: tuple[Impulse, ...]) -> Matrix:
    """Return the difference of M (v+ - v-) from the impulses' share (n,; N s or N m s)."""
    tree = replace(end.tree, gravity=(0.0, 0.0, 0.0))
    jump = replace(end, qd=rates - end.qd)
    loads = [Load(point=each.strike.point, force=each.impulse) for each in strikes]
    for load in end.loads:
        if isinstance(load, PointMass):  # which pulls against its own jump
            loads.append(Load(point=load.point, force=-(load.mass * jump.velocity(load.point))))
    still = ca.SX(tree.dof, 1)
    lacking = with_rotors(
        tree, end.forces.inverse(tree, end.q, still, jump.qd, tuple(loads)), jump.qd
    )
    if not tree.flexible:
        return lacking
    return lacking - end.forces.inverse(tree, end.q, still, still, ())  # what holds links bent


def _leaving_speed(end: Instant, rates: Matrix, each: Impulse) -> Matrix:
    """Return the speed (m/s) at which a point leaves less that of its restitution."""
    strike = each.strike
    before = end.velocity(strike.point)
    left = replace(end, qd=rates).velocity(strike.point)
    normal = ca.DM(strike.normal)
    bounce = ca.dot(normal, left) + strike.restitution * ca.dot(normal, before)
    return ca.vertcat(bounce, *(ca.dot(ca.DM(way), left) for way in each.ways))


def _slip_residual(end: Instant, rates: Matrix, each: Impulse) -> Matrix:
    """Return L_t |v_t| + mu L_n v_t over the measure of impulses (ways,; J)."""
    left = replace(end, qd=rates).velocity(each.strike.point)
    slip = ca.vertcat(*(ca.dot(ca.DM(way), left) for way in each.across))
    speed = ca.sqrt(ca.sumsqr(slip) + STILL**2)
    return (each.pull * speed + each.strike.friction * each.push * slip) / each.measure


def _impulse_margins(each: Impulse) -> Matrix:
    """Return the distances of an impulse from each face of its cone, positive inside."""
    push, strike = each.push, each.strike
    rows: list[Any] = [push]
    if strike.slips and each.across:
        rows.append(((strike.friction * push) ** 2 - ca.dot(each.pull, each.pull)) / each.measure)
    elif strike.friction is not None:
        grip = strike.friction * push / sqrt(len(each.across) or 1)
        for way in each.across:
            pull = ca.dot(ca.DM(way), each.impulse)
            rows += [grip - pull, grip + pull]
    return ca.vertcat(*rows) / each.measure


def energy_lost(
    tree: Tree, q: np.ndarray, before: np.ndarray, left: np.ndarray, impulses: dict[str, np.ndarray]
) -> float:
    """Return the energy (J) lost in an impact at q, by the impulses {point: (3,)} N s.

    It is positive where energy is lost: - sum of L' (J v- + J v+) / 2.
    """
    work = 0.0
    for point, impulse in impulses.items():
        symbol = ca.SX.sym("q", tree.dof)
        slope = ca.jacobian(kinematics.position(tree, symbol, point), symbol)
        jacobian = np.array(ca.Function("J", [symbol], [slope])(q))
        work += float(np.asarray(impulse) @ jacobian @ (np.asarray(before) + np.asarray(left))) / 2
    return -work

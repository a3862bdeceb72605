"""Equations of motion and other laws that a tree's own mechanics imply, and the torques, wrenches
and forces of cut joints that are variables for them."""

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from ocp.dynamics import Formulation, accelerations
from ocp.mechanics.kinematics.zero_moment import body_weight
from ocp.mechanics.model.quaternions_and_couplings import length_acceleration, quaternion_moments
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import choose_bearing_rows, structure
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.motion.spline import coarsest_curve
from ocp.problem.constraint import Constraint
from ocp.problem.contact.complementarity import touch_labels, touches
from ocp.problem.contact.transmitted_wrenches import passive_rows
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import CONTROLS, DYNAMICS, LENGTHS, PASSIVE, REACH, STATES
from ocp.problem.statement import Problem
from ocp.transcription.laws.complementarity_laws import complementarity_laws
from ocp.transcription.laws.loop_laws import loop_laws
from ocp.transcription.laws.unilateral_laws import nodes_beside_jumps, unilateral_laws
from ocp.transcription.shooting import passive_of
from ocp.transcription.variables import interpolation
from ocp.transcription.variables.layout import Layout, free_knots, lifted_layout

FORMS = ("implicit", "explicit")
TORQUES = ("auto", "explicit", "variables")


def laws(
    problem: Problem,
    lifted: bool,
    *,
    explicit: bool = False,
    integrated: bool = False,
    formulation: Formulation | str = "auto",
) -> tuple:
    """Return the constraints that a tree's own mechanics make, each with the instants at which it
    holds, those of every row, or None for all nodes: ((Constraint, s), ..).

    Where torques are variables (`lifted`), the motion's need is what drives, cut joints and ground
    give, by inverse dynamics or `explicit`ly by forward dynamics, that of the `formulation`.
    Torques of passive joints are zero, which a spline can only meet at as many instants as it has
    freedom; unless their motion is `integrated` from the others'. Quaternions of balls that are
    driven or borne keep the rates of their lengths. States of elements keep their laws, loops are
    closed, and stays hold.
    """
    tree = problem.tree
    free = tuple(row for row in _free_rows(problem, lifted) if row not in tree.states)
    stated: list[tuple[Constraint, Sequence[Sequence[float]] | None]] = []
    driven = tuple(row for row in range(tree.dof) if row not in (*free, *tree.states))
    if lifted and driven:
        borne = () if problem.motion.collocated else _unborne_balls(tree, driven)
        law = (
            _forward_dynamics_law(tree, driven, formulation)
            if explicit
            else _inverse_dynamics_law(tree, driven, borne)
        )
        stated.append((law, None))
    if free and not integrated:
        every = [_law_instants(problem, lifted, row) for row in free]
        stated.append((_passive_law(tree, free), every))
    balls = [rows for rows in tree.balls if rows[0] in _lengths(problem, driven)]
    if balls:
        every = [_law_instants(problem, lifted, rows[0]) for rows in balls]
        stated.append((_length_law(tree, balls), None if problem.motion.collocated else every))
    if tree.states:
        stated += _state_laws(problem, lifted)
    if tree.stays:
        stated += unilateral_laws(problem)
    if problem.loads and touches(problem.loads):
        stated += complementarity_laws(problem)
    if tree.loops:
        stated += loop_laws(problem, integrated)
    return tuple(stated)


def formulation_range(tree: Tree, formulation: Formulation) -> tuple[Constraint, ...]:
    """Return the constraint that keeps a motion where an approximate formulation, as a table, knows
    its torques; none for others, and for tables without ends."""
    known = formulation.approximation
    ranges = () if known is None else known.reach(tree)
    if not ranges:
        return ()
    joints = [tree.moving[each.row] for each in ranges]
    return (
        Constraint(
            name=REACH,
            function=lambda at: ca.vertcat(*(getattr(at, one.quantity)[one.row] for one in ranges)),
            lower=tuple(each.lower for each in ranges),
            upper=tuple(each.upper for each in ranges),
            labels=tuple(f"{one.quantity} of {joint.name}" for one, joint in zip(ranges, joints)),
            units=tuple(unit_of(joint, one.quantity) for one, joint in zip(ranges, joints)),
        ),
    )


def _unborne_balls(tree: Tree, rows: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the quaternions (rows each) of balls that nothing drives, among these rows."""
    passive = structure(tree).passive
    return tuple(ball for ball in tree.balls if ball[0] in rows and ball[0] in passive)


def _lengths(problem: Problem, driven: tuple[int, ...]) -> tuple[int, ...]:
    """Return the rows of balls whose lengths no law of passive joints keeps."""
    if problem.motion.collocated:
        return structure(problem.tree).drives
    return driven


def _length_law(tree: Tree, balls: Sequence[Sequence[int]]) -> Constraint:
    """d2|p|/dt2 = 0."""

    def rates(at: Instant) -> Matrix:
        parts = ((at.q[rows], at.qd[rows], at.qdd[rows]) for rows in map(list, balls))
        return ca.vertcat(*(length_acceleration(*part) for part in parts))

    labels = tuple(tree.moving[rows[0]].parent for rows in balls)
    return Constraint(
        name=LENGTHS, function=rates, lower=0.0, upper=0.0, labels=labels, units="1/s2"
    )


def _inverse_dynamics_law(
    tree: Tree, rows: Sequence[int], borne: Sequence[Sequence[int]]
) -> Constraint:
    """tau = inverse dynamics, in body weights; of balls that are `borne` the moments, since no
    ground holds a quaternion's length."""
    weight = body_weight(tree)
    units = f"({weight:.4g} N m)", f"({weight:.4g} N)"
    lengths = {ball[0] for ball in borne}
    kept = [row for row in rows if row not in lengths]
    chosen = {row: place for place, row in enumerate(kept)}

    def gap(at: Instant) -> Matrix:
        left = at.required_torques - at.tau
        values = left[kept]
        for ball in map(list, borne):
            values[[chosen[row] for row in ball[1:]]] = quaternion_moments(at.q[ball], left[ball])
        return values / weight

    return _law(DYNAMICS, gap, tree, kept, units)


def _forward_dynamics_law(
    tree: Tree, rows: Sequence[int], formulation: Formulation | str
) -> Constraint:
    """qdd = forward dynamics."""

    def gap(at: Instant) -> Matrix:
        drive = at.tau + at.loop_torques + at.stay_torques + at.ground_torques
        qdd = accelerations(formulation, at.tree, at.q, at.qd, drive, at.current_loads)
        return (at.qdd - qdd)[: -len(tree.states)] if tree.states else at.qdd - qdd

    return _law(DYNAMICS, gap, tree, rows, ("rad/s2", "m/s2"))


def _state_laws(
    problem: Problem, lifted: bool
) -> list[tuple[Constraint, Sequence[Sequence[float]] | None]]:
    """Return the laws of elements' states: their controls, where these are variables, are what
    rates need; of an implicit law the residual is zero, on a spline at as many instants as the
    state's has freedom beside the value at the start, of a cyclic one but for the end, whose rate
    is given."""
    tree, shape = problem.tree, structure(problem.tree)
    driven = [row for row in tree.states if row in shape.drives]
    free = [row for row in tree.states if row not in driven]
    stated: list[tuple[Constraint, Sequence[Sequence[float]] | None]] = []
    if driven and lifted:
        stated.append((_state_law(tree, CONTROLS, driven), None))
    if free and problem.motion.collocated:
        stated.append((_state_law(tree, STATES, free), None))
    elif free:
        every = [_law_instants(problem, False, row, 1) for row in free]
        stated.append((_state_law(tree, STATES, free), every))
    return stated


def _state_law(tree: Tree, name: str, rows: Sequence[int]) -> Constraint:
    """Controls, or residuals, = what the rates of elements' states need."""
    chosen, joints = list(rows), [tree.moving[row] for row in rows]
    return Constraint(
        name=name,
        function=lambda at: at.state_needs[chosen] - at.tau[chosen],
        lower=0.0,
        upper=0.0,
        labels=tuple(joint.name for joint in joints),
        units=tuple(unit_of(joint, "tau") for joint in joints),
    )


def _passive_law(tree: Tree, rows: Sequence[int]) -> Constraint:
    measure, chosen = passive_measure(tree), list(rows)
    units = ("N m", "N") if measure == 1.0 else (f"({measure:.4g} N m)", f"({measure:.4g} N)")
    return _law(PASSIVE, lambda at: at.required_torques[chosen] / measure, tree, rows, units)


def passive_measure(tree: Tree) -> float:
    """Return in what the lack of torque at passive joints counts (N or N m): in body weights where
    nothing else holds the tree."""
    return body_weight(tree) if structure(tree).adrift else 1.0


def _free_rows(problem: Problem, lifted: bool) -> tuple[int, ...]:
    """Return the passive rows of q whose lack of torque restricts the motion.

    Where loops are closed it first gives the forces of cut joints, at all nodes if these are
    variables.
    """
    shape = structure(problem.tree)
    if problem.motion.collocated:
        return ()
    rows = shape.passive if problem.ground is None else passive_rows(problem.tree, problem.ground)
    if not shape.closed:
        return rows
    bears = choose_bearing_rows(problem.tree, tuple(row for row in rows if row in shape.looped))
    return () if lifted or bears is None else tuple(row for row in rows if row not in bears)


def _law_instants(problem: Problem, lifted: bool, row: int, order: int = 2) -> tuple[float, ...]:
    """Return the instants of a law of accelerations, or of rates (order 1), at a row of q: as many
    as these have freedom there."""
    motion = problem.motion
    own = motion.curves[row] if motion.curves else motion
    instants = tuple(own.abscissae(order).tolist())
    if problem.cyclic and not lifted:  # the end is the start's image
        return tuple(s for s in instants if s < 1.0)
    return instants


def _law(
    name: str, function: Callable, tree: Tree, rows: Sequence[int], units: tuple[str, str]
) -> Constraint:
    joints = [tree.moving[row] for row in rows]
    return Constraint(
        name=name,
        function=function,
        lower=0.0,
        upper=0.0,
        labels=tuple(joint.name for joint in joints),
        units=tuple(units[joint.kind == "prismatic"] for joint in joints),
    )


def torque_layout(problem: Problem, torques: str, nodes: np.ndarray) -> Layout:
    """Return the Layout, with torques, forces of cut joints and ground wrenches as variables at the
    `nodes` (N,) if `torques` of TORQUES asks for it; raise ValueError naming loops that do not let
    them."""
    shape = structure(problem.tree)
    lifts = torques == "variables"
    stays, found = bool(problem.tree.stays), touch_labels(problem.loads) if problem.loads else ()
    sought = problem.ground is not None or stays or bool(found) or not shape.determined
    lifts |= torques == "auto" and sought
    if not lifts and found:
        raise ValueError(
            f"torques 'explicit': forces of contacts {', '.join(found)} are unknowns; "
            "take 'variables'"
        )
    if not lifts and stays:
        raise ValueError(
            f"torques 'explicit': forces of stays {', '.join(shape.stay_labels)} are unknowns; "
            "take 'variables'"
        )
    if not lifts and not shape.determined:
        raise ValueError(
            f"torques 'explicit': around loops {shape.loop_names} the drives can work against each "
            "other; take 'variables'"
        )
    free = 0
    if shape.closed:
        passive = passive_of(problem)
        free = len(passive) - len(shape.cuts)
    if lifts and free > 0:
        raise ValueError(
            f"torques 'variables': loops {shape.loop_names} leave {free} passive joints free; "
            "take 'explicit'"
        )
    if not lifts:
        return Layout(problem=problem, moving=free_knots(problem))
    if interpolation.follows_accelerations(problem):
        # Where passive joints are asked for lack of torque
        nodes = coarsest_curve(problem.motion).abscissae(2)
    elif stays:
        nodes = nodes_beside_jumps(problem, nodes)
    return lifted_layout(problem, nodes)

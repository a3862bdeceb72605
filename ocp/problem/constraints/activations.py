"""Activation of drives: the rate at which they come on, as constraints, and their states."""

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca

from ocp.mechanics.elements import Activation
from ocp.mechanics.elements.drive_strength import SIDES
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.values.parameters import Number
from ocp.mechanics.values.types import Matrix
from ocp.mechanics.values.validation import unit_of
from ocp.problem.constraint import Constraint
from ocp.problem.constraints.strength import strength_limits
from ocp.problem.contact.ground import Ground, bearing_slots
from ocp.problem.phases.phases import Statement
from ocp.problem.phases.shared_spline import IMAGE
from ocp.problem.symmetry import Symmetry

if TYPE_CHECKING:
    from ocp.problem.instant import Instant
    from ocp.problem.phases.phases import Transition

ACTIVATION, AT_FIRST = "activation", "activation_at_start"
MIRRORED = "mirrored.activation"


def drive_limits(tree: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that keep the torques of drives within their strength over angle and
    speed, and the signals of those that come on by a law between none and full, from states on that
    are so; none of a tree without such drives."""
    return (*strength_limits(tree), *_activation(tree))


def _activation(tree: Tree) -> tuple[Constraint, ...]:
    known = _coming_on(tree)
    if not known:
        return ()
    along: list[Row] = []
    first: list[Row] = []
    for each, row in known:
        joint = tree.moving[row]
        limited = Row(joint.name, joint.torque[0], joint.torque[1], unit_of(joint, "tau"))
        if each.plain(tree):
            along.append(limited)
            first.append(limited)
        else:
            along += [Row(f"{joint.name} {side}", 0.0, inf, "") for side in SIDES.values()]
            first.append(Row(joint.name, *each.ways(tree), ""))
    return (
        _drive_constraint(ACTIVATION, _signal_rows, along),
        _drive_constraint(AT_FIRST, _activation_states, first, when="start"),
    )


class Row(NamedTuple):
    """A row of a constraint: its label, bounds and unit."""

    label: str
    lower: Number
    upper: Number
    unit: str


def _drive_constraint(
    name: str, function: "Callable[[Instant], Matrix]", rows: Sequence[Row], when: str = "path"
) -> Constraint:
    labels, lower, upper, units = zip(*rows)
    return Constraint(
        name=name,
        function=function,
        lower=list(lower),
        upper=list(upper),
        labels=labels,
        units=units,
        when=when,
    )


def states_of_drives(link: "Transition", before: Statement, after: Statement) -> tuple[int, ...]:
    """Return the rows of `drive_states` that belong to drives which come on by a law, and that
    nothing else of a link between two phases makes the same on both sides; these are problems."""
    moves = {"q", "qd"} <= set(link.quantities)
    free = before.ground is None and after.ground is None and before.tree is after.tree
    alike = free and [id(each) for each in before.loads] == [id(each) for each in after.loads]
    if alike and moves and "qdd" in link.quantities:
        return ()
    if before.end == IMAGE and not (
        _several_bear(before.ground, 1.0) or _several_bear(after.ground, 0.0)
    ):
        return ()
    known = _coming_on(after.tree)
    if "tau" in link.quantities:
        known = [pair for pair in known if not (moves or pair[0].plain(after.tree))]
    return tuple(row for _, row in known)


def mirrored_drives(
    tree: Tree, symmetry: Symmetry | None, ground: Ground | None, follows: bool
) -> tuple[Constraint, ...]:
    """Return the constraints that make the states of drives that come on by a law at the end of a
    motion the image of those at its start; none where torques are that by themselves, as those that
    follow from accelerations (`follows`), unless several supports share their load."""
    known = _coming_on(tree)
    if symmetry is None or not known:
        return ()
    shared = _several_bear(ground, 0.0) or _several_bear(ground, 1.0)
    if symmetry.accelerations and follows and not (shared or tree.loops or tree.stays):
        return ()
    rows, index, sign = [row for _, row in known], list(symmetry.index), ca.DM(symmetry.sign)
    return (
        Constraint(
            name=MIRRORED,
            function=lambda start, end: (
                drive_states(end)[rows] - (sign * drive_states(start)[index])[rows]
            ),
            lower=0.0,
            upper=0.0,
            when="joined",
            labels=tuple(tree.moving[row].name for row in rows),
            units=state_units(tree, rows),
        ),
    )


def _several_bear(ground: Ground | None, s: float) -> bool:
    """Tell whether several supports share at s what they bear."""
    return ground is not None and len(bearing_slots(ground, s)) > 1


def drive_states(at: "Instant") -> Matrix:
    """Return the states of drives (n,): torques (N m or N), or the shares within -1 and 1 of what
    they can of those that come on by a law of their strength."""
    states = ca.vertsplit(at.tau)
    for each, row in _coming_on(at.tree):
        if not each.plain(at.tree):
            up, down = _shares(at, each, row)
            states[row] = _share(up, down)
    return ca.vertcat(*states)


def state_units(tree: Tree, rows: Sequence[int]) -> tuple[str, ...]:
    """Return the units of some rows of `drive_states`."""
    shares = {row for each, row in _coming_on(tree) if not each.plain(tree)}
    return tuple("" if row in shares else unit_of(tree.moving[row], "tau") for row in rows)


def _signal_rows(at: "Instant") -> Matrix:
    """Return the signals of drives that come on by a law, or what is left of them on either
    side."""
    rows: list[Matrix] = []
    for each, row in _coming_on(at.tree):
        if each.plain(at.tree):
            rows.append(each.command_signal(at.tau[row], at.tau_rate[row]))
        else:
            sides = _shares(at, each, row)
            rows += each.room(sides, at.rate(_share(*sides)))
    return ca.vertcat(*rows)


def _shares(at: "Instant", each: Activation, row: int) -> tuple[Matrix, Matrix]:
    return each.shares(at.tree, at.tau[row], at.q[row], at.qd[row])


def _share(up: Matrix, down: Matrix) -> Matrix:
    """Return the state of both sides."""
    return -down if up is None else up if down is None else up - down


def _activation_states(at: "Instant") -> Matrix:
    """Return their states."""
    states = drive_states(at)
    return ca.vertcat(*(states[row] for _, row in _coming_on(at.tree)))


def _coming_on(tree: Tree) -> list[tuple[Activation, int]]:
    """Return the drives that come on by a law, and their rows of q."""
    known = (each for each in tree.elements if isinstance(each, Activation))
    return [(each, tree.coordinate(each.joint)) for each in known]

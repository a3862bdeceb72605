"""Inverse, forward and hybrid dynamics of closed loops.

The open tree needs the generalized forces h = M qdd + ... of inverse dynamics. Of these the drives
give u, at the actuated joints alone, and the cut joints J' lambda (Xiang, Arora & Abdel-Malek 2009,
eq. 38, in the form of Lagrange's multipliers of Haug 1989, section 11.1).
"""

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ocp.dynamics.formulations.lie_group import bias, mass_matrix
from ocp.dynamics.formulations.lie_group import inverse as open_inverse
from ocp.dynamics.forward_from_inverse import add_rotors, linear_in_accelerations
from ocp.dynamics.signatures import Inverse, Loads
from ocp.mechanics.elements.generalized_forces import drive_torques, with_elements
from ocp.mechanics.kinematics.loop_assembly import independent_rows
from ocp.mechanics.kinematics.loop_closure import (
    gap,
    gap_acceleration,
    gap_jacobian,
    gap_labels,
    gap_rate,
    gap_slope,
    loop_torques,
)
from ocp.mechanics.kinematics.rigid_kinematics import Motion
from ocp.mechanics.model.tree import Tree
from ocp.mechanics.model.tree_structure import choose_bearing_rows, structure
from ocp.mechanics.values.parameters import nominal
from ocp.mechanics.values.types import Matrix

# m, rad and their rates: gap beyond which numbers are not a motion of the mechanism
CONSISTENT = 1e-6
SINGULAR = 1e-12  # least over greatest singular value of a system that can be solved


def inverse(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    qdd: Matrix,
    actuated: Sequence[str] | None = None,
    loads: Loads = (),
    *,
    dynamics: Inverse = open_inverse,
    near: Matrix | None = None,
) -> tuple[Matrix, Matrix]:
    """Return torques (n,), zero at joints that are not actuated, and multipliers (m,) of a motion
    that keeps the loops closed.

        J_p' lambda = h_p,   u = h_a - J_a' lambda       (p: passive joints, a: actuated ones)

    Args:
        actuated: names of the driven joints, by default those that the tree says.
        dynamics: inverse function of any Formulation.
        near: a configuration (n,) by which redundant rows are judged, by default q if it is numbers
            and otherwise anywhere; these rows get multiplier zero.

    Raises ValueError if drives are too many or too few to be determined, and for numbers also if
    they are no closed motion, or if the drives do not hold the mechanism there.
    """
    q, qd, qdd = expression(q), expression(qd), expression(qdd)
    independence = independent_rows(tree, q if near is None and isinstance(q, ca.DM) else near)
    rows, driven = list(independence.rows), _driven_rows(tree, actuated, independence.freedom)
    passive = [row for row in range(tree.dof) if row not in driven]
    _check_closed(tree, "q", gap(tree, q))
    _check_closed(tree, "qd", gap_rate(tree, q, qd))
    _check_closed(tree, "qdd", gap_acceleration(tree, q, qd, qdd))
    needed = drive_torques(tree, dynamics(tree, q, qd, qdd, loads), q, qd, qdd)
    pull = gap_jacobian(tree, q)[rows, passive].T
    names = ", ".join(tree.moving[row].name for row in driven)
    _check_regular(pull, f"the drives at {names} do not hold the mechanism here (singular)")
    held = ca.solve(pull, needed[passive]) if rows else ca.DM(0, 1)
    multipliers = scatter_gap_rows(tree, held, rows)
    torques = needed - loop_torques(tree, q, multipliers)
    entries = (torques[row] if row in driven else 0.0 for row in range(tree.dof))
    return ca.vertcat(*entries), multipliers


def forward(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Loads = (),
    *,
    decay: float = 0.0,
    near: Matrix | None = None,
    dynamics: Inverse | None = None,
) -> tuple[Matrix, Matrix]:
    """Return accelerations (n,) and multipliers (m,) of a mechanism whose loops are closed.

    Under joint torques tau (n,) they follow from

        [M  J'] [  qdd   ]   [tau - h                       ]
        [J  0 ] [-lambda ] = [-dJ/dt qd - 2 c J qd - c^2 gap]

    with c = `decay` (1/s), with which gaps fade (Baumgarte 1972). Redundant rows, judged as by
    `inverse`, are left out and get multiplier zero. M and h come from the Lie-group recursion, or
    from `dynamics`, the inverse function of any Formulation, by its slope. Raises ValueError for
    numbers in a singular configuration.
    """
    q, qd, tau = expression(q), expression(qd), expression(tau)
    system, right, rows = saddle_system(
        tree, q, qd, tau, loads, decay=decay, near=near, dynamics=dynamics
    )
    _check_regular(
        system,
        "the accelerations are not determined here (singular configuration, or joints that move no "
        "mass)",
    )
    solution = ca.solve(system, right)
    return solution[: tree.dof], scatter_gap_rows(tree, -solution[tree.dof :], rows)


def saddle_system(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    tau: Matrix,
    loads: Loads = (),
    *,
    decay: float = 0.0,
    near: Matrix | None = None,
    dynamics: Inverse | None = None,
) -> tuple[Matrix, Matrix, list[int]]:
    """Return the matrix and the right side of the system that `forward` solves, and its rows of the
    gap; of an open tree M and tau - h."""
    rows = list(independent_rows(tree, q if near is None and isinstance(q, ca.DM) else near).rows)
    slope = gap_jacobian(tree, q)[rows, :]
    goal = -gap_acceleration(tree, q, qd)
    if decay:
        goal = goal - 2 * decay * gap_rate(tree, q, qd) - decay**2 * gap(tree, q)
    if dynamics is None:
        mass = add_rotors(tree, mass_matrix(tree, q))
        pull, tau = bias(tree, q, qd, loads), with_elements(tree, tau, q, qd)
    else:
        mass, pull = linear_in_accelerations(dynamics, tree, q, qd, loads)
    return _saddle_matrix(mass, slope), ca.vertcat(tau - pull, goal[rows]), rows


def hybrid(
    tree: Tree,
    q: Matrix,
    qd: Matrix,
    qdd: Matrix,
    passive: Sequence[int],
    loads: Loads = (),
    *,
    dynamics: Inverse | None = None,
) -> Matrix:
    """Return accelerations (n,) whose `passive` rows follow from the others, by the loops and their
    own lack of torque.

        [M_pp  J_p'] [ qdd_p  ]   [-h_p                 ]
        [J_p   0   ] [-lambda ] = [-J_a qdd_a - dJ/dt qd]     h: with qdd_a, and qdd_p = 0

    M and h come from where `forward` has them.
    """
    rows, passive = list(independent_rows(tree).rows), list(passive)
    driven = ca.SX(qdd)
    driven[passive] = 0
    slope = gap_jacobian(tree, q)[rows, passive]
    goal = -gap_acceleration(tree, q, qd, driven)
    if dynamics is None:
        mass = add_rotors(tree, mass_matrix(tree, q))
        pull = drive_torques(tree, open_inverse(tree, q, qd, driven, loads), q, qd, driven)
    else:
        mass, pull = linear_in_accelerations(dynamics, tree, q, qd, loads)
        pull = pull + mass @ driven
    system = _saddle_matrix(mass[passive, passive], slope)
    driven[passive] = ca.solve(system, ca.vertcat(-pull[passive], goal[rows]))[: len(passive)]
    return driven


def _saddle_matrix(mass: Matrix, slope: Matrix) -> Matrix:
    """Return [M J'; J 0]."""
    rows = slope.shape[0]
    return ca.vertcat(ca.horzcat(mass, slope.T), ca.horzcat(slope, ca.DM(rows, rows)))


def handedness(tree: Tree, q: Matrix, passive: Sequence[int]) -> int:
    """Return the sign of the determinant of J' at the `passive` rows that bear the loops.

    It is +-1, which a motion can only change by passing a configuration (n,) where the drives do
    not hold the mechanism; 0 where nothing is determined.
    """
    rows, chosen = structure(tree).cuts, choose_bearing_rows(tree, tuple(passive))
    if not rows or chosen is None:
        return 0
    slope = np.array(gap_jacobian(nominal(tree), ca.DM(q)))
    return int(np.sign(np.linalg.det(slope[np.ix_(rows, chosen)])))


def passive_loop_forces(
    tree: Tree, moves: Sequence[Motion], needed: Matrix, passive: Sequence[int]
) -> Matrix:
    """Return the cut joints' forces (m,) that spare the `passive` rows of q all torque.

    They follow from the motions of all links and the generalized forces (n,) that the open tree
    needs. Raises ValueError if these do not determine them.
    """
    rows, chosen = structure(tree).cuts, choose_bearing_rows(tree, tuple(passive))
    if chosen is None:
        raise ValueError(
            f"loops {', '.join(loop.name for loop in tree.loops)}: their forces do not follow from "
            "the joints that nothing drives"
        )
    pull = gap_slope(tree, moves)[list(rows), list(chosen)].T
    return scatter_gap_rows(tree, ca.solve(pull, needed[list(chosen)]), rows)


def scatter_gap_rows(tree: Tree, values: Matrix, rows: Sequence[int]) -> Matrix:
    """Return a vector (m,) with the values at these rows of the gap and zeros elsewhere."""
    count = len(gap_labels(tree))
    entries = (values[rows.index(row)] if row in rows else 0.0 for row in range(count))
    return ca.vertcat(ca.DM(0, 1), *entries)


def expression(value: Matrix) -> Matrix:
    """Return numbers as DM, expressions as they are."""
    if isinstance(value, (ca.SX, ca.MX, ca.DM)):
        return value
    return ca.DM(np.array(value, dtype=float))


def _driven_rows(tree: Tree, actuated: Sequence[str] | None, freedom: int) -> list[int]:
    """Return the rows of q of the driven joints.

    Raises ValueError unless they are as many as the mechanism's degrees of freedom.
    """
    names = actuated
    if names is None:
        names = [joint.name for joint in tree.moving if joint.actuated]
    driven = sorted({tree.coordinate(name) for name in names})
    if len(driven) != freedom:
        why = (
            "drives could work against each other"
            if len(driven) > freedom
            else "it would not follow any motion"
        )
        raise ValueError(
            f"inverse: the mechanism has {freedom} degrees of freedom and {len(driven)} actuated "
            f"joints ({', '.join(names) or 'none'}): {why}; expected as many of one as of the other"
        )
    return driven


def _check_closed(tree: Tree, what: str, value: Matrix) -> None:
    if isinstance(value, ca.DM) and value.shape[0]:
        row = int(np.argmax(np.abs(np.array(value))))
        if not abs(float(value[row])) <= CONSISTENT:
            raise ValueError(
                f"inverse: {what} does not keep the loops closed: {gap_labels(tree)[row]} is off "
                f"by {float(value[row]):.3g}"
            )


def _check_regular(matrix: Matrix, message: str) -> None:
    if isinstance(matrix, ca.DM) and matrix.shape[0]:
        values = np.linalg.svd(np.array(matrix), compute_uv=False)
        if values[-1] <= SINGULAR * values[0]:
            raise ValueError(message)

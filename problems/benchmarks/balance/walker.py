"""A walking body on a ground that gives way: places, forces and slopes of its mechanics.

The corners of both soles meet the ground by springs and dampers that push alone, with Coulomb's
friction; nobody says when they touch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ocp import Link, Solution, Tree, inverse_dynamics, mass_matrix
from ocp.mechanics import positions, structure

SOLE = ("heel_med", "heel_lat", "ball_med", "ball_lat", "toe_med", "toe_lat")
SIDES = "rl"
CORNERS = tuple(f"{name}_{side}" for side in SIDES for name in SOLE)
HALF = len(SOLE)
PUSHED = "T6"  # point of the trunk that is pushed
STEP = 1e-3  # s, of the simulation
STIFFNESS, LOSS = 3e5, 2e3  # N/m and N s/m of a corner: 1 mm under a third of the weight [assumed]
GRIP, FRICTION = 5e4, 0.9  # N s/m of a corner that does not slide yet, and Coulomb's coefficient
SWEEPS, TINY = 8, 1e-9  # over what bears, slides and is limited; m/s


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """The body of a step whose image continues it, as CasADi functions.

    Attributes:
        solution: the step.
        tree: its body, of n coordinates.
        mechanics: (q, qd) -> mass matrix (n, n), torques (n,) that the body lacks at rest of its
            accelerations, slopes (n, n) of its elements' torques by q and by qd, corners (3, 12),
            their Jacobian (36, n), and that of what is pushed (3, n).
        residual: (q, qd, torques, qdd, forces (3, 12), places, rates, bearing (12,)) -> (n,).
        root: rows that nothing drives.
        image: (n, n), of the mirror.
        ahead, aside: rows of the pelvis' way.
    """

    solution: Solution
    tree: Tree
    mechanics: ca.Function
    residual: ca.Function
    root: tuple[int, ...]
    image: np.ndarray
    ahead: int
    aside: int


def walker(solution: Solution) -> Walker:
    """Return the Walker of a step."""
    tree = solution.problem.tree
    n, symmetry = tree.dof, solution.problem.symmetry
    image = np.zeros((n, n))
    image[np.arange(n), list(symmetry.index)] = symmetry.sign
    return Walker(
        solution=solution,
        tree=tree,
        mechanics=_mechanics(tree),
        residual=_residual(tree),
        root=structure(tree).root,
        image=image,
        ahead=tree.coordinate("glob_tz"),
        aside=tree.coordinate("glob_tx"),
    )


def _places(tree: Tree, q: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the corners (3, 12), m, and their Jacobian (36, n)."""
    corners = ca.horzcat(*positions(tree, q, CORNERS))
    return corners, ca.jacobian(ca.vec(corners), q)


def _mechanics(tree: Tree) -> ca.Function:
    """Return the Function `mechanics` of a Walker."""
    n = tree.dof
    q, qd, still = ca.SX.sym("q", n), ca.SX.sym("qd", n), ca.SX.zeros(n)
    corners, slope = _places(tree, q)
    # Of a body without masses inverse dynamics has what elements give, with the other sign
    light = replace(tree, links=tuple(Link() for _ in tree.links), gravity=(0.0, 0.0, 0.0))
    elements = -inverse_dynamics(light, q, qd, still)
    pushed = ca.jacobian(positions(tree, q, (PUSHED,))[0], q)
    outputs = (
        mass_matrix(tree, q),
        -inverse_dynamics(tree, q, qd, still),
        *(ca.jacobian(elements, each) for each in (q, qd)),
        *(corners, slope, pushed),
    )
    return ca.Function("mechanics", [q, qd], [ca.densify(each) for each in outputs], {"cse": True})


def _residual(tree: Tree) -> ca.Function:
    """Return the Function `residual` of a Walker: of corners that bear forces as planned, and more
    as they are deeper, and less as they rise, than planned."""
    n, count = tree.dof, len(CORNERS)
    q, qd, torques, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "tau", "qdd"))
    forces, places, rates = (ca.SX.sym(name, 3, count) for name in ("f", "p", "v"))
    bearing = ca.SX.sym("bearing", count)
    corners, slope = _places(tree, q)
    moved = ca.reshape(slope @ qd, 3, count) - rates
    pull = forces - ca.diag(ca.DM([GRIP, LOSS, GRIP])) @ moved
    pull[1, :] -= STIFFNESS * (corners - places)[1, :]
    given = slope.T @ ca.vec(pull @ ca.diag(bearing))
    lacking = torques + given - inverse_dynamics(tree, q, qd, qdd)
    inputs = [q, qd, torques, qdd, forces, places, rates, bearing]
    return ca.Function("residual", inputs, [ca.densify(lacking)], {"cse": True})


def ground_step(
    body: Walker,
    state: tuple[np.ndarray, np.ndarray],
    control: tuple[np.ndarray, np.ndarray, np.ndarray],
    push: Sequence[float] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, rates and the corners' upward forces (12,), N, a STEP later.

    Contact, elements and control, torques = c + G qd within limits, are implicit, the rest of the
    mechanics is explicit (Stewart & Trinkle 1996, of a ground that gives way).

    Args:
        body: a Walker.
        state: q and qd (n,).
        control: c (n,), G (n, n), and the limits (2, n) of torques.
        push: force (3,) N at what is pushed.
    """
    q, qd = state
    constant, gain, (lower, upper) = control
    mass, lack, stiff, loss, corners, slope, pushed = (
        np.array(each) for each in body.mechanics(q, qd)
    )
    slope = slope.reshape(len(CORNERS), 3, -1)
    lack = lack.ravel() + pushed.T @ np.asarray(push)
    base = mass - STEP * loss - STEP**2 * stiff
    known = (mass - STEP * loss) @ qd + STEP * lack
    depth, along = -corners[1], STIFFNESS * STEP + LOSS
    bearing, grip = depth > 0, np.full(len(CORNERS), GRIP)
    bound = np.zeros(len(q))  # -1 and 1: torques that stand at a limit
    for _ in range(SWEEPS):
        system, right, free = base.copy(), known.copy(), bound == 0
        system[free] -= STEP * gain[free]
        right += STEP * np.where(free, constant, np.where(bound > 0, upper, lower))
        on = slope[bearing]
        weights = np.stack([grip, np.full(len(grip), along), grip], axis=1)[bearing]
        system += STEP * np.einsum("kai,ka,kaj->ij", on, weights, on)
        right += STEP * STIFFNESS * depth[bearing] @ on[:, 1]
        rates = np.linalg.solve(system, right)
        forces = STIFFNESS * depth - along * (slope[:, 1] @ rates)
        sliding = np.hypot(slope[:, 0] @ rates, slope[:, 2] @ rates)
        most = FRICTION * np.maximum(forces, 0.0)
        gripped = np.minimum(GRIP, most / np.maximum(sliding, TINY))
        torques = constant + gain @ rates
        limited = np.where(torques > upper, 1.0, np.where(torques < lower, -1.0, 0.0))
        pressing = (depth > 0) & (forces > 0)
        settled = (pressing == bearing).all() and (limited == bound).all()
        if settled and np.allclose(gripped[bearing], grip[bearing], rtol=0.05):
            break
        bearing, grip, bound = pressing, gripped, limited
    return q + STEP * rates, rates, np.where(bearing, forces, 0.0)

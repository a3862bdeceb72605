"""Mechanics of a body as its plan has them: state slopes, with feet that stand held by their pins.

A pin is a cut joint between the body and the floor (Haug 1989), and returns to where it holds by
Baumgarte's decay (1972).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ocp.certificate.checks.simulation import Integrator, cvodes_integrator, state_slope
from ocp.certificate.contact_violations import polygon_margin
from ocp.dynamics.closed_loops import saddle_system, scatter_gap_rows
from ocp.mechanics.kinematics.kinematics import positions
from ocp.mechanics.model.cut_joints import Loop
from ocp.mechanics.model.joints import fixed
from ocp.mechanics.model.tree import Link, Point, Tree
from ocp.mechanics.model.tree_structure import structure
from ocp.pickling import portable
from ocp.problem.contact.ground import Foot, Ground, Pin
from ocp.problem.contact.state_dependent_forces import Acting
from ocp.problem.load_evaluation import loads_in_state
from ocp.problem.statement import Problem
from ocp.transcription.kernels.kernels import function

AXES = "xyz"
FLOOR = "floor"  # link that pins hold on to
DECAY = 20.0  # 1/s: with which pins return
TOLERANCE = 1e-7  # of the simulation, absolute and relative


def hold_feet(problem: Problem, q: np.ndarray) -> Tree:
    """Return a problem's tree with the pins of its feet, which stand all along, as loops that hold
    where they are at q (n,); without a ground the tree itself.

    Raises ValueError naming a foot that stands but for a time.
    """
    if problem.ground is None:
        return problem.tree
    pins: dict[str, Pin] = {}
    for foot in problem.ground.feet:
        supports = foot.supports
        if len(supports) != 1 or supports[0].when != (0.0, 1.0) or not supports[0].pins:
            raise ValueError(
                f"feedback: foot {foot.name!r}: expected one support with pins that stands from "
                "start to end; of contacts that switch none is known"
            )
        pins |= {f"{foot.name}.{pin.point}": pin for pin in supports[0].pins}
    places = positions(problem.tree, q, [pin.point for pin in pins.values()])
    spots = [
        Point(name=f"{name}.{FLOOR}", link=FLOOR, position=np.array(place).ravel())
        for name, place in zip(pins, places)
    ]
    loops = [
        Loop(name=name, start=spot.name, end=pin.point, position=pin.axes)
        for (name, pin), spot in zip(pins.items(), spots)
    ]
    tree = problem.tree
    return replace(
        tree,
        links=(*tree.links, Link()),
        joints=(*tree.joints, fixed(FLOOR)),
        points=(*tree.points, *spots),
        loops=(*tree.loops, *loops),
    )


@portable
@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the ground gives a foot that is held, as periods begin.

    Attributes:
        force: (3, N) N.
        push: the part of it along the ground's normal (N,) N; a foot that pulls would leave it.
        margin: distance of the centre of pressure from the edge of the foot's polygon (N,) m,
            negative outside, where it would tip; of points and lines none, NaN.
        friction: tangential over normal force (N,).
    """

    force: np.ndarray
    push: np.ndarray
    margin: np.ndarray
    friction: np.ndarray


def standings(tree: Tree, ground: Ground | None, held: np.ndarray) -> dict[str, Standing]:
    """Return {foot: Standing} of the forces (m, N) of loops that hold feet as `hold_feet` does."""
    if ground is None:
        return {}
    rows = dict(zip(structure(tree).cut_labels, held))
    return {foot.name: _standing(tree, ground, foot, rows) for foot in ground.feet}


def _standing(tree: Tree, ground: Ground, foot: Foot, rows: Mapping[str, np.ndarray]) -> Standing:
    """Return the Standing of a foot, from forces in the rows {label: (N,)} of the gap."""
    (support,) = foot.supports
    force = moment = np.zeros((3, len(next(iter(rows.values())))))
    for pin in support.pins:
        name = f"{foot.name}.{pin.point}"
        labels = (f"{name}: position {axis}" for axis in AXES)
        pull = np.array([rows.get(label, np.zeros(force.shape[1])) for label in labels])
        spot = np.array(tree.point(f"{name}.{FLOOR}").position, dtype=float)
        force, moment = force + pull, moment + np.cross(spot, pull.T).T
    plane = ground.plane(foot)
    normal = np.array(plane.normal, dtype=float)
    push = normal @ force
    margin = np.full(len(push), np.nan)
    if support.kind == "area":
        pressure = np.cross(normal, moment.T) / push[:, None] + float(plane.height) * normal
        margin = polygon_margin(support.polygon, pressure.T, normal.tolist())
    along = np.linalg.norm(force - np.outer(normal, push), axis=0)
    return Standing(force=force, push=push, margin=margin, friction=along / push)


@lru_cache(maxsize=16)
def plant_slope(tree: Tree, loads: tuple[Acting, ...]) -> ca.Function:
    """Return the Function (state (2 n,), torques (n,), t) -> slope (2 n,), and the forces (m,) of
    loops in the rows of the gap, zero in redundant ones.

    Accelerations under loops are solved for in numbers: as scalar expressions they take four times
    as long for the 36 coordinates and 12 rows of a body on its feet.
    """
    n = tree.dof
    names = ["state", "torques", "t"]
    inputs = [ca.SX.sym(name, size) for name, size in zip(names, (2 * n, n, 1))]
    state, torques, t = inputs
    acting = loads_in_state(tree, loads, t, state[:n], state[n:])
    if not tree.loops:
        slope = ca.cse(state_slope(tree, None, state, torques, acting))
        return function("slope", inputs, [slope, ca.SX(0, 1)], names, ["slope", "held"])
    system, right, rows = saddle_system(tree, state[:n], state[n:], torques, acting, decay=DECAY)
    parts = ca.cse([ca.densify(system), right])
    saddle = function("saddle", inputs, parts, names, ["system", "right"])
    given = [ca.MX.sym(name, size) for name, size in zip(names, (2 * n, n, 1))]
    matrix, side = saddle.call(given)
    solution = ca.solve(matrix, side, "lapacklu")
    held = scatter_gap_rows(tree, -solution[n:], rows)
    outputs = [ca.vertcat(given[0][n:], solution[:n]), held]
    return function("slope", given, outputs, names, ["slope", "held"])


@lru_cache(maxsize=16)
def period_integrator(
    tree: Tree, loads: tuple[Acting, ...], period: float, answered: bool = False
) -> Integrator:
    """Return the Integrator over a period, whose parameters are its start (s), and the torques (n,)
    at its start and at its end, straight in between.

    Where deviations are `answered` at each instant, gains (n, 2 n) follow, and the planned states
    at both ends and their slopes (2 n, 4), between which the plan is cubic; limits of torques cut.
    """
    n = tree.dof
    clock, state = ca.MX.sym("clock"), ca.MX.sym("state", 2 * n)
    begin, ends = ca.MX.sym("begin"), ca.MX.sym("ends", n, 2)
    torques = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * clock / period
    parameters = [begin, ca.vec(ends)]
    if answered:
        gain, course = ca.MX.sym("gain", n, 2 * n), ca.MX.sym("course", 2 * n, 4)
        s = clock / period
        bump = s * (1 - s)  # cubics of Hermite: ends, and slopes by the period
        ahead = s + bump * (2 * s - 1)
        weights = ca.vertcat(1 - ahead, ahead, period * bump * (1 - s), -period * bump * s)
        lower, upper = np.transpose([joint.torque for joint in tree.moving])
        torques = ca.fmin(ca.fmax(torques + gain @ (state - course @ weights), lower), upper)
        parameters += [ca.vec(gain), ca.vec(course)]
    slope = plant_slope(tree, loads)(state, torques, begin + clock)[0]
    return cvodes_integrator(clock, state, ca.vertcat(*parameters), slope, period, TOLERANCE)

"""Momentum in flight: without contact, gravity alone changes the motion of the whole body.

The centre of mass c follows a parabola, and the angular momentum H about it is constant:

    m c'' = m g,   H' = 0
"""

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ocp.mechanics.kinematics import kinematics
from ocp.mechanics.model.tree import Tree
from ocp.problem.instant import Instant
from ocp.problem.reserved_names import DYNAMICS, PASSIVE
from ocp.solution.sampling import dense_instants, traces
from ocp.solution.solution import Solution
from ocp.transcription.kernels.row_values import row_values

SEED = 11
RANK = 1e-9  # relative: below which a direction is none
LEAST = 1e-12
WHOLE = "motion"  # name of one without phases
SLIDES = ["prismatic"] * 3
ROOTS = (SLIDES + ["revolute"] * 3, ["ball", *SLIDES], [*SLIDES[:2], "revolute"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """Distance of a phase without contact from free flight.

    Attributes:
        phase: its name.
        force, moment: largest force beside gravity, relative to the weight, and moment, relative to
            weight times size, at the instants where the law of motion holds.
        force_between, moment_between: the same on a dense grid.
        parabola: distance of the centre of mass from its parabola, relative to its way.
        angular: change of the angular momentum about it, relative to weight times size times
            duration.
    """

    phase: str
    force: float
    moment: float
    force_between: float
    moment_between: float
    parabola: float
    angular: float


def flights(solution: Solution) -> tuple[Flight, ...]:
    """Return the Flights of a motion, or of its phases: those without ground and loads, whose tree
    has a passive root.
    """
    return tuple(_iterate_flights(solution))


def _iterate_flights(solution: Solution) -> Iterator[Flight]:
    for name, phase in solution.parts.items():
        axes = (
            None if phase.problem.ground or phase.problem.loads else free_axes(phase.problem.tree)
        )
        if axes is not None:
            yield _flight(name or WHOLE, phase, *axes)


def free_axes(tree: Tree) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the unit directions in which a tree's root can move, and about which it can turn, (3,
    k) each; None unless the root floats, planar or spatial, and is passive.
    """
    moving, spans = [k for k, span in enumerate(tree.spans) if span], tree.spans
    for kinds in ROOTS:
        chain = moving[: len(kinds)]
        joints = [tree.joints[k] for k in chain]
        inline = all(tree.parents[k] == last for k, last in zip(chain, [-1, *chain[:-1]]))
        light = not any(float(tree.links[k].mass) for k in chain[:-1])
        alike = sorted(joint.kind for joint in joints) == kinds
        if alike and inline and light and not any(joint.actuated for joint in joints):
            axes = _directions(tree, [row for k in chain for row in spans[k]])
            return axes if axes[0].shape[1] == kinds.count("prismatic") else None
    return None


def _directions(tree: Tree, rows: list) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions of a root's motion, and the axes of its turns: all of space, or those
    of a plane and its normal."""
    symbol = ca.SX.sym("q", tree.dof)
    slope = ca.jacobian(kinematics.center_of_mass(tree, symbol), symbol)
    draws = np.random.default_rng(SEED).uniform(-1.0, 1.0, (3, tree.dof))
    looks = (ca.evalf(ca.substitute(slope, symbol, ca.SX(draw))) for draw in draws)
    columns = np.hstack([np.array(look)[:, rows] for look in looks])
    axes, sizes, _ = np.linalg.svd(columns)
    rank = int((sizes > RANK * max(sizes[0], LEAST)).sum())
    return axes[:, :rank], (np.eye(3) if rank == 3 else axes[:, rank:])


def _flight(name: str, phase: Solution, ways: np.ndarray, turns: np.ndarray) -> Flight:
    problem, T = phase.problem, phase.duration
    tree, settings = problem.tree, phase.transcription
    gravity = np.array(tree.gravity, dtype=float)[:, None]
    mass = float(sum(link.mass for link in tree.links))
    rows = row_values(problem, settings, phase.points, T, phase.lifted)
    law = DYNAMICS if problem.motion.collocated else PASSIVE  # on a mesh of all joints at once
    lawful = np.unique([s for row in rows if row.constraint.name == law for s in row.s])
    s = dense_instants(phase)
    wanted = {"center": _center, "linear": _linear, "angular": _angular}
    rated = {"force": lambda at: at.rate(_linear(at)), "moment": lambda at: at.rate(_angular(at))}
    at_nodes, along = traces(phase, rated, lawful * T), traces(phase, wanted | rated, s * T)
    weight = mass * float(np.linalg.norm(gravity)) or float(np.abs(along["force"]).max()) or 1.0
    size = _size(tree, phase.q(0.0))

    def beyond(known: dict[str, np.ndarray]) -> tuple[float, float]:
        force = ways.T @ (known["force"] - mass * gravity)
        moment = turns.T @ known["moment"]
        return float(np.abs(force).max() / weight), float(np.abs(moment).max() / (weight * size))

    t, start = s * T, along["linear"][:, :1] / mass
    path = along["center"] - along["center"][:, :1]
    off = ways.T @ (path - start * t - gravity * t**2 / 2)
    turned = turns.T @ (along["angular"] - along["angular"][:, :1])
    nodes, between = beyond(at_nodes), beyond(along)
    return Flight(
        phase=name,
        force=nodes[0],
        moment=nodes[1],
        force_between=between[0],
        moment_between=between[1],
        parabola=float(np.abs(off).max() / max(np.abs(path).max(), LEAST)),
        angular=float(np.abs(turned).max() / (weight * size * T)),
    )


def _center(at: Instant) -> ca.SX:
    return at.center_of_mass


def _linear(at: Instant) -> ca.SX:
    return kinematics.momentum(at.tree, at.q, at.qd)[1]


def _angular(at: Instant) -> ca.SX:
    """Return the angular momentum about the centre of mass."""
    return at.angular_momentum


def _size(tree: Tree, q: np.ndarray) -> float:
    """Return the largest distance (m) of a joint or point of a tree from its centre of mass; 1
    where that is nothing."""
    center = np.array(ca.DM(kinematics.center_of_mass(tree, ca.DM(q)))).ravel()
    heavy = [k for k, link in enumerate(tree.links) if float(link.mass)]
    places = [kinematics.poses(tree, ca.DM(q))[k][:3, 3] for k in heavy]
    places += [kinematics.position(tree, ca.DM(q), point.name) for point in tree.points]
    far = [float(np.linalg.norm(np.array(ca.DM(place)).ravel() - center)) for place in places]
    return max(far, default=0.0) or 1.0

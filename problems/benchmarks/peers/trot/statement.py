"""Crocoddyl's trot of ANYmal, stated here: its robot, its phases, its costs.

Its example gives each foot in the air, and the centre of mass, a path to follow by large weights;
it spares torques, rates and the tilt of the base, and punishes forces beyond a friction cone. Feet
strike and stand. Beside it: feet that stand hold exactly and land exactly on their targets (there
by a weight of 1e7), all four take part in a blow and only push there, and the motion ends with a
thousandth of a second on four feet.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import casadi as ca
import numpy as np

from ocp import (
    BSpline,
    Ground,
    Phase,
    Problem,
    Tree,
    at_start,
    continuous,
    final,
    impact,
    point_contact,
    squares,
    unit_length,
)
from ocp.models.public import public_robot
from ocp.problem import Instant

FILE = "anymal_b_simple_description/robots/anymal.urdf"
SWINGS = (("RF_FOOT", "LH_FOOT"), ("LF_FOOT", "RH_FOOT"))  # in the order of steps
GRIP = 0.7  # coefficient of friction, of its example
TRACK, STATE, CONTROL, CONE = 1e6, 1e1, 1e-1, 1e1  # its weights, each of half a square
# Its factors of differences from the posture at rest: base, tilt, joints, rates of both
RUNNING = {"base": 0.0, "tilt": 500.0, "joints": 0.01, "base rates": 10.0, "rates": 1.0}
LANDING = {"base": 1.0, "tilt": 1.0, "joints": 10.0, "base rates": 10.0, "rates": 10.0}
END = 1e-3  # s
UP = (0.0, 0.0, 1.0)
Answer = Mapping[str, Any]


def trot(answer: Answer, points: int, degree: int = 5) -> Problem:
    """Return the trot on splines.

    Args:
        answer: of the other program: posture, feet, lengths and durations.
        points: control points of a swing.
        degree: of the splines.
    """
    tree = public_robot(FILE, base="free", repair="balance")
    feet = {name: np.array(place) for name, place in answer["feet"].items()}
    middle = np.array([*np.mean(list(feet.values()), axis=0)[:2], answer["height"]])
    costs = _Costs(tree=tree, posture=standing(answer))
    phases, links = [], []
    for number, swing in enumerate(SWINGS):
        way = answer["length"] * (0.5 if number == 0 else 1.0)
        paths = _Paths(
            feet={name: feet[name] for name in swing},
            middle=middle + [0.0, 0.0, 0.0],
            way=way,
            lift=answer["lift"],
        )
        stance = {name: place for name, place in feet.items() if name not in swing}
        stand = BSpline(points=degree + 3, degree=degree)
        phases += [
            costs.phase(f"stand {number + 1}", stand, answer["support"], feet),
            costs.phase(
                f"step {number + 1}",
                BSpline(points=points, degree=degree),
                answer["swing"],
                stance,
                paths,
            ),
        ]
        links += [continuous(), impact(*feet)]
        feet = {name: feet[name] + [way * (name in swing), 0.0, 0.0] for name in feet}
        middle[0] += 0.5 * way
    ends = costs.phase("end", BSpline(points=degree + 1, degree=degree), END, feet)
    last = final("end", lambda at: ca.sumsqr(costs.state(at, RUNNING)))
    return Problem(
        tree=tree,
        phases=(*phases, ends),
        links=links,
        objective=last,
        constraints=(at_start(tree, q=costs.posture, qd=0.0), unit_length(tree, "base")),
    )


def standing(answer: Answer) -> dict[str, float]:
    """Return the posture at the start, by the names of coordinates."""
    x, y, z, qx, qy, qz, w, *angles = answer["standing"]
    base = {"base_x": x, "base_y": y, "base_z": z, "base.w": w}
    return base | {"base.x": qx, "base.y": qy, "base.z": qz} | dict(zip(answer["joints"], angles))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paths:
    """Paths of feet in the air and of the centre of mass, in a swing."""

    feet: Mapping[str, np.ndarray]
    middle: np.ndarray
    way: float
    lift: float

    def misses(self, at: Instant) -> ca.SX:
        """Return the distances of feet and centre of mass from their paths (m)."""
        height = self.lift * ca.fmin(2 * at.s, 2 * (1 - at.s))
        foot = ca.vertcat(self.way * at.s, 0.0, height)
        body = ca.vertcat(0.5 * self.way * at.s, 0.0, 0.0)
        ways = [at.position(name) - (place + foot) for name, place in self.feet.items()]
        return ca.vertcat(*ways, at.center_of_mass - (self.middle + body))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    """Costs of a phase, as residuals."""

    tree: Tree
    posture: Mapping[str, float]

    def phase(
        self,
        name: str,
        motion: BSpline,
        duration: float,
        stance: Mapping[str, np.ndarray],
        paths: _Paths | None = None,
    ) -> Phase:
        """Return a phase on some feet, in which others may follow paths."""
        rows = [k for k, joint in enumerate(self.tree.moving) if joint.actuated]
        objective = (
            squares("state", lambda at: self.state(at, RUNNING))
            + squares("torques", lambda at: sqrt(0.5 * CONTROL) * at.tau[rows])
            + squares("cones", lambda at: _beyond_cones(at, list(stance)))
        )
        if paths is not None:
            objective = (
                objective
                + squares("paths", lambda at: sqrt(0.5 * TRACK) * paths.misses(at))
                + final("landing", lambda at: ca.sumsqr(self.state(at, LANDING)))
            )
        feet = [
            point_contact(self.tree, each, at=place, normal=UP) for each, place in stance.items()
        ]
        return Phase(
            name, motion=motion, duration=duration, ground=Ground(feet=feet), objective=objective
        )

    def state(self, at: Instant, factors: Mapping[str, float]) -> ca.SX:
        """Return the weighed difference of the state from the posture at rest."""
        rows = [k for k, joint in enumerate(self.tree.moving) if joint.actuated]
        names = [joint.name for joint in self.tree.moving]
        rest = np.array([self.posture[name] for name in names])
        turn = at.pose("base")
        sine = 0.5 * ca.vertcat(
            turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
        )
        square = ca.sumsqr(sine)
        # The angle over its sine, to 1e-7 at 20 degrees
        tilt = sine * (1 + square / 6 + 3 * square**2 / 40 + 15 * square**3 / 336)
        return sqrt(0.5 * STATE) * ca.vertcat(
            factors["base"] * (at.q[:3] - rest[:3]),
            factors["tilt"] * tilt,
            factors["joints"] * (at.q[rows] - rest[rows]),
            factors["base rates"] * at.velocity("base"),
            factors["base rates"] * at.angular_velocity("base"),
            factors["rates"] * at.qd[rows],
        )


def _beyond_cones(at: Instant, feet: list[str]) -> ca.SX:
    parts = []
    for each in feet:
        force = at.reaction.force(each)
        parts += [sign * force[k] - GRIP * force[2] for k in (0, 1) for sign in (-1, 1)]
        parts.append(-force[2])
    return sqrt(0.5 * CONE) * ca.fmax(ca.vertcat(*parts), 0.0)

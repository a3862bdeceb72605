"""A small body on a floating root with two telescopic legs, and the ground it steps on."""

from dataclasses import replace
from functools import cache
from math import inf

import casadi as ca
import numpy as np

import ocp
from ocp.dynamics.formulations.newton_euler import inverse
from ocp.mechanics import Wrench
from ocp.problem import linear_split, unilateral
from ocp.problem.instant import Forces
from ocp.transcription import transcription_of

SIDES = {"right": -0.1, "left": 0.1}  # m along y
SOLE = {
    "heel": (-0.05, -0.03, 0.0),
    "out": (0.1, -0.04, 0.0),
    "toe": (0.12, 0.0, 0.0),
    "in": (0.1, 0.04, 0.0),
}
ROOT = ("x", "y", "z", "yaw", "pitch", "roll")
SUMS = {"nodes": 4, "quadrature": "trapezoid", "panels": 4}
TIGHT = ocp.Solver(options={"tol": 1e-11})
STRIKE, LEAVE = 0.25, 0.625  # on nodes of SUMS with five control points


def biped(ankles=False):
    """Return the tree: x forward, y left, z up.

    It has six global joints, and per leg a hip, a telescopic knee and, if asked, an ankle.
    """
    axes = dict(zip("xyz", np.eye(3)))
    joints = [
        ocp.prismatic(name, parent, axis=axes[name], actuated=False)
        for name, parent in (("x", "ground"), ("y", "x"), ("z", "y"))
    ]
    joints += [
        ocp.revolute(name, parent, axis=axes[axis], actuated=False, position=1.0)
        for name, parent, axis in (("yaw", "z", "z"), ("pitch", "yaw", "y"), ("roll", "pitch", "x"))
    ]
    links = [ocp.Link()] * 5 + [
        ocp.Link(mass=20.0, com=(0.01, 0.0, 0.2), inertia=np.diag((0.9, 0.8, 0.3)))
    ]
    points = [ocp.Point(name="head", link="roll", position=(0.0, 0.0, 0.6))]
    for side, way in SIDES.items():
        joints += [
            ocp.revolute(
                f"hip_{side}",
                "roll",
                axis=axes["y"],
                home=(0.0, way, -0.1),
                position=(-1.2, 0.9),
                torque=120.0,
            ),
            ocp.prismatic(
                f"knee_{side}",
                f"hip_{side}",
                axis=axes["z"],
                home=(0.0, 0.0, -0.6),
                position=(-0.1, 0.2),
                torque=400.0,
            ),
        ]
        links += [
            ocp.Link(mass=4.0, com=(0.0, 0.0, -0.15), inertia=np.diag((0.05, 0.05, 0.01))),
            ocp.Link(mass=2.0, com=(0.02, 0.0, 0.1), inertia=np.diag((0.02, 0.03, 0.01))),
        ]
        if ankles:
            joints.append(
                ocp.revolute(
                    f"ankle_{side}", f"knee_{side}", axis=axes["y"], position=0.8, torque=60.0
                )
            )
            links.append(
                ocp.Link(mass=0.5, com=(0.03, 0.0, 0.0), inertia=np.diag((0.001, 0.002, 0.002)))
            )
        points += [
            ocp.Point(name=f"{name}_{side}", link=joints[-1].name, position=place)
            for name, place in SOLE.items()
        ]
    return ocp.Tree(links=links, joints=joints, points=points, gravity=(0.0, 0.0, -9.81))


def steps(ankles=False, strike=0.25, leave=0.6, way=0.0):
    """Return the Ground: the left foot stands until `leave`, the right one strikes at `strike`.

    It does so `way` (m) ahead.
    """
    link = "ankle" if ankles else "knee"
    places = {
        side: {
            name: np.array(place) + (way * (side == "right"), shift, 0.0)
            for name, place in SOLE.items()
        }
        for side, shift in SIDES.items()
    }
    whens = {"right": (strike, 1.0), "left": (0.0, leave)}
    bears = {"right": (strike, inf), "left": (-inf, leave)}
    return ocp.Ground(
        feet=[
            ocp.Foot(
                name=side,
                bears=bears[side],
                center=(way * (side == "right"), SIDES[side], 0.0),
                supports=[
                    ocp.Support(
                        link=f"{link}_{side}",
                        when=whens[side],
                        polygon=list(places[side].values()),
                        pins=[
                            ocp.Pin(point=f"heel_{side}", axes="xyz", target=places[side]["heel"])
                        ],
                    )
                ],
            )
            for side in SIDES
        ]
    )


def posture(tree, rng, rate=0.5, bend=0.2):
    """Return q, qd, qdd (n,) of a body that stands roughly on its feet and moves a little."""
    q, qd, qdd = rng.uniform(-1, 1, (3, tree.dof)) * np.array([bend, rate, 2 * rate])[:, None]
    q[tree.coordinate("z")] += 0.7
    return q, qd, qdd


def crouch(shared_by_distance=True, ankles=False, strike=STRIKE, leave=LEAVE, **changes):
    """A small body goes down while its right foot takes over from its left one."""
    tree, ground = biped(ankles), steps(ankles, strike=strike, leave=leave, way=0.1)
    start = dict.fromkeys(ROOT, 0.0) | {"z": 0.7}
    stated = ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=5),
        duration=0.8,
        ground=ground,
        objective=ocp.dynamic_effort(tree) + 0.01 * ocp.squares("smooth", lambda at: at.qdd),
        constraints=(
            ocp.joint_limits(tree, hull=True),
            ocp.torque_limits(tree),
            unilateral(tree, ground),
            ocp.at_start(tree, q=start, qd=0.0),
            ocp.at_end(tree, q=start | {"z": 0.65, "x": 0.03}, qd=0.0),
            linear_split(tree, ground) if shared_by_distance else (),
        ),
    )
    return replace(stated, **changes)


@cache
def crouched():
    """Its solution with everything as variables."""
    return ocp.solve(crouch(), transcription_of(SUMS), TIGHT).require(coarse=True)


def wrench_of(moment, force):
    """A Wrench of no link, about the origin."""
    return Wrench(link="", moment=ca.DM(moment), force=ca.DM(force))


def stacked(wrench):
    """Moment about the origin and force of a Wrench, (6,)."""
    return ca.vertcat(wrench.about_origin, wrench.force)


def wrenches_on(tree, *values):
    """An Instant whose ground gives what is asked: {(foot, link): Wrench}."""
    ground, wrenches = values
    zero = ca.DM.zeros(tree.dof)
    return ocp.Instant(
        tree=tree,
        s=0.5,
        T=1.0,
        q=zero,
        qd=zero,
        qdd=zero,
        ground=ground,
        forces=Forces(inverse=inverse, ground=lambda at: wrenches),
    )


def rows(constraint, at):
    """The numbers that a constraint's function gives at an instant."""
    return np.array(ca.DM(ca.SX(constraint.function(at)))).ravel()

"""Motions of phases that several tests look at: of an arm, and of a rod that strikes."""

from dataclasses import replace

import numpy as np

import ocp
from ocp.mechanics import GROUND, Link, Tree
from ocp.models.arms.two_link import two_link

ARM = two_link()
ENDS = (ocp.at_start(ARM, q=(0.0, -2.0), qd=0.0), ocp.at_end(ARM, q=(1.0, -1.0), qd=0.0))


def moved(count=2, points=6):
    """Return a rest-to-rest motion of an arm in 0.8 s, in so many phases."""
    same = ("q", "qd", "qdd")
    phases = tuple(
        ocp.Phase(f"part {k + 1}", motion=ocp.BSpline(points=points), duration=0.8 / count)
        for k in range(count)
    )
    stated = {"tree": ARM, "phases": phases, "links": (ocp.continuous(*same),) * (count - 1)}
    return ocp.Problem(**stated, constraints=ENDS, objective=ocp.effort())


AXES = np.eye(3)
REACH, TILT, MASS, INERTIA = 0.4, 0.7, 2.0, 0.05  # m, rad, kg, kg m2


def rod():
    """Return a rod in the vertical plane x-z that nothing holds, its end below on one side."""
    return Tree(
        links=(Link(), Link(), Link(mass=MASS, inertia=np.diag((0.01, INERTIA, 0.05)))),
        joints=(
            ocp.prismatic("x", GROUND, axis=AXES[0], actuated=False),
            ocp.prismatic("z", "x", axis=AXES[2], actuated=False),
            ocp.revolute("turn", "z", axis=AXES[1], actuated=False),
        ),
        points=(ocp.Point(name="end", link="turn", position=(REACH, 0, 0)),),
        gravity=(0.0, 0.0, -9.81),
    )


def fallen(loads=(), **strike):
    """Return a solved fall of 0.3 s that ends in a strike, and 0.2 s after it."""
    tree = rod()
    start = ocp.at_start(tree, q=(0.0, 1.0, TILT), qd=(0.2, 0.0, 0.0))
    phases = (
        ocp.Phase("fall", motion=ocp.BSpline(points=5), duration=0.3),
        ocp.Phase("rise", motion=ocp.BSpline(points=5), duration=0.2),
    )
    still = ocp.integral("nothing", lambda at: 0 * at.q[0])
    links = (ocp.impact("end", **strike),)
    stated = {"links": links, "constraints": start, "objective": still, "loads": loads}
    problem = ocp.Problem(tree=tree, phases=phases, **stated)
    return ocp.solve(problem, solver=ocp.Solver(options={"tol": 1e-11})).require(coarse=True)


def swept(rate: float = 0.0):
    """An arm in two phases that begins at a `rate` (rad/s) of its shoulder."""
    start = ocp.at_start(ARM, q=(0.0, -2.0), qd=(rate, 0.0))
    return replace(moved(), constraints=(start, ENDS[1]))


SWEPT = ocp.Task(swept, parameters=[ocp.Parameter("rate", 0.0, "rad/s", -1.0, 1.0)])

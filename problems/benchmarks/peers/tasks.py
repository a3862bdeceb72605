"""Tasks of all systems, with their references."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi

from ocp import Problem
from ocp.problems.arms.two_link_time import problem as two_link_time
from ocp.problems.benchmarks.peers.reach import GOAL, START, reach
from ocp.problems.swing_ups.cart_pole_swing import problem as cart_pole

SYSTEMS = {
    "ocp": "ocp",
    "pinocchio": "pinocchio",
    "drake": "pydrake",
    "moco": "opensim",
    "rockit": "rockit",
    "crocoddyl": "crocoddyl",
}  # and the module that each brings


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An optimal motion: our `statement` of it, places at both `ends` (rad or m), the `reference`
    of its objective and its `source`, the error that is the `goal`, and what errors are counted in
    (`unit`, which is `scale`). The error is that of what the `check` finds of the motion, unless
    that is empty, and its simulated end may then miss by `near` at most."""

    statement: Callable[[], Problem]
    ends: tuple[tuple[float, ...], tuple[float, ...]]
    reference: float
    source: str
    goal: float
    scale: float
    unit: str
    check: str = ""
    near: float = inf  # rad or m, and per s


MOTIONS = {
    "two_link_time": Task(
        statement=two_link_time,
        ends=((0.0, -2.0), (1.0, -1.0)),
        reference=0.39185454,
        source="shooting on the maximum principle",
        goal=1e-5,
        scale=1.0,
        unit="s",
    ),
    "cart_pole": Task(
        statement=cart_pole,
        ends=((0.0, 0.0), (1.0, pi)),
        reference=58.8077,
        source="refined until it settles",
        goal=1e-3,
        scale=58.8077,
        unit="of J",
        check="effort",
        near=0.05,
    ),
    "ur5_effort": Task(
        statement=reach,
        ends=(START, GOAL),
        reference=961.2237,
        source="Radau's method, 40 intervals of order 5",
        goal=1e-3,
        scale=961.2237,
        unit="of J",
        check="effort",
        near=0.05,
    ),
}
ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", ""),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "base"),
    "humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", "base_link"),
}  # of 6, 12 and 29 joints: file, and the link that is held


TASKS = (*MOTIONS, *ROBOTS)

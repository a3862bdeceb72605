"""The heaviest box: its mass as a coordinate, and hands that take its load.

A slide that is hardly a body itself gives the nonlinear program the mass as a variable, and hands
that count among what stands on the ground give it the wrenches that the box passes to them.
`with_known_mass` makes an ordinary lift of it.
"""

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from ocp.models.human import carry

from ocp import Constraint, Instant, Link, Solution, Tree, path, prismatic
from ocp.mechanics import body_weight, structure
from ocp.problem import Foot, Ground, Span, Support

HANDS = ("right hand", "left hand")
LOADED, KILOGRAMS = "box_mass", 10.0  # the coordinate that is the mass of the box, and its unit
HEAVIEST = 20.0  # KILOGRAMS: no box is heavier [assumed]


def with_mass(body: Tree) -> Tree:
    """Return the body and beside it a slide whose coordinate is the mass of the box (KILOGRAMS)."""
    slide = prismatic(LOADED, axis=(1.0, 0.0, 0.0), position=(0.0, HEAVIEST))
    return replace(body, links=(*body.links, Link(mass=1e-3)), joints=(*body.joints, slide))


def with_hands(ground: Ground, center: Sequence[float]) -> Ground:
    """Return the ground and the hands as feet, about a centre (3, m), on which the box acts."""
    hands = (
        Foot(
            name=name,
            center=center,
            supports=(Support(link=f"wri_rad_{name[0]}", when=(0.0, 1.0)),),
        )
        for name in HANDS
    )
    return replace(ground, feet=(*ground.feet, *hands))


def loaded(body: Tree) -> tuple[Constraint, ...]:
    """Return the constraints that the box pulls at the hands, and its mass stays what it is.

    The pull at each hand is that of half the mass m, (m / 2) (g - a) at the grip.
    """
    row = body.coordinate(LOADED)
    axes = tuple(f"{what} {axis}" for what in ("force", "moment") for axis in "xyz")
    pull = path(
        "load",
        lambda at: _excess(at, at.q[row]) / body_weight(body),
        lower=0.0,
        upper=0.0,
        labels=tuple(f"{name} {axis}" for name in HANDS for axis in axes),
        units="weights",
    )
    still = path(
        "mass",
        lambda at: at.qd[row],
        lower=0.0,
        upper=0.0,
        when=Span(start=0.0, end=1.0, open_end=True),
        labels=("rate",),
        units=f"{KILOGRAMS:g} kg/s",
    )
    return pull, still


def _excess(at: Instant, mass: ca.SX) -> ca.SX:
    """Return what the hands' wrenches (12.

    N, N m) have beyond the pull of a box of a `mass` (KILOGRAMS).
    """
    half, gravity = KILOGRAMS * mass / 2, ca.DM(at.tree.gravity)
    rows = []
    for name in HANDS:
        grip = f"grip_{name[0]}"
        force = at.reaction.force(name)
        rows += [
            force - half * (gravity - at.acceleration(grip)),
            at.reaction.moment(name) - ca.cross(at.position(grip), force),
        ]
    return ca.vertcat(*rows)


def box_mass(solution: Solution) -> float:
    """Return the mass of the box (kg), found or carried."""
    if LOADED in solution.problem.tree.names:
        row = solution.problem.tree.coordinate(LOADED)
        return float(KILOGRAMS * solution.points[row].mean())
    return float(solution.output("box_mass", 0.0)[0])


def with_known_mass(solution: Solution) -> Solution:
    """Return the same lift with the mass of the box in the hands instead of a variable.

    The ground alone gives wrenches then. Of what was a variable at the nodes, torques and the
    wrenches of feet are kept.
    """
    problem, tree = solution.problem, solution.problem.tree
    if LOADED not in tree.names:
        return solution
    mass = box_mass(solution)
    feet = tuple(foot for foot in problem.ground.feet if foot.name not in HANDS)
    body = replace(tree, links=tree.links[:-1], joints=tree.joints[:-1])
    for side in "rl":
        body = carry(body, f"grip_{side}", mass / 2)
    drives = len(structure(tree).drives)
    kept = np.r_[0 : drives - 1, drives : drives + 6 * len(feet)]
    lift = replace(
        problem,
        tree=body,
        ground=replace(problem.ground, feet=feet),
        constraints=[each for each in problem.constraints if each.name == "avoidance"],
        outputs=dict(problem.outputs) | {"box_mass": lambda at: ca.DM(mass)},
    )
    return replace(
        solution, problem=lift, points=solution.points[:-1], lifted=solution.lifted[kept]
    )

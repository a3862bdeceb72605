"""The heaviest box: its mass as a coordinate, half of it a point mass in each hand.

A slide that is hardly a body itself gives the nonlinear program the mass as a variable.
`with_known_mass` makes an ordinary lift of it.
"""

from dataclasses import replace

import casadi as ca
import numpy as np
from ocp.models.human import carry

from ocp import Constraint, Instant, Link, Solution, Tree, path, prismatic
from ocp.mechanics import structure
from ocp.problem import PointMass, Span

HANDS = ("right hand", "left hand")
LOADED, KILOGRAMS = "box_mass", 10.0  # the coordinate that is the mass of the box, and its unit
HEAVIEST = 20.0  # KILOGRAMS: no box is heavier [assumed]


def with_mass(body: Tree) -> Tree:
    """Return the body and beside it a slide whose coordinate is the mass of the box (KILOGRAMS)."""
    slide = prismatic(LOADED, axis=(1.0, 0.0, 0.0), position=(0.0, HEAVIEST))
    return replace(body, links=(*body.links, Link(mass=1e-3)), joints=(*body.joints, slide))


def burden(body: Tree) -> tuple[PointMass, ...]:
    """Return the halves of the box, point masses at the grips, each of half the mass sought."""
    row = body.coordinate(LOADED)

    def half(at: Instant) -> ca.SX:
        return KILOGRAMS * at.q[row] / 2

    return tuple(PointMass(point=f"grip_{side}", mass=half) for side in "rl")


def lasting(body: Tree) -> Constraint:
    """Return the constraint that the mass of the box stays what it is."""
    row = body.coordinate(LOADED)
    return path(
        "mass",
        lambda at: at.qd[row],
        lower=0.0,
        upper=0.0,
        when=Span(start=0.0, end=1.0, open_end=True),
        labels=("rate",),
        units=f"{KILOGRAMS:g} kg/s",
    )


def box_mass(solution: Solution) -> float:
    """Return the mass of the box (kg), found or carried."""
    if LOADED in solution.problem.tree.names:
        row = solution.problem.tree.coordinate(LOADED)
        return float(KILOGRAMS * solution.points[row].mean())
    return float(solution.output("box_mass", 0.0)[0])


def with_known_mass(solution: Solution) -> Solution:
    """Return the same lift with the mass of the box in the hands instead of a variable.

    Of what was a variable at the nodes all is kept but the force on the slide.
    """
    problem, tree = solution.problem, solution.problem.tree
    if LOADED not in tree.names:
        return solution
    mass = box_mass(solution)
    body = replace(tree, links=tree.links[:-1], joints=tree.joints[:-1])
    for side in "rl":
        body = carry(body, f"grip_{side}", mass / 2)
    slide = structure(tree).drives.index(tree.coordinate(LOADED))
    lift = replace(
        problem,
        tree=body,
        loads=(),
        constraints=[each for each in problem.constraints if each.name == "avoidance"],
        outputs=dict(problem.outputs) | {"box_mass": lambda at: ca.DM(mass)},
    )
    return replace(
        solution,
        problem=lift,
        points=solution.points[:-1],
        lifted=np.delete(solution.lifted, slide, axis=0),
    )

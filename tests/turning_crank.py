"""A four-bar mechanism turned by its crank, by every transcription, and what to measure of it."""

from functools import cache

import casadi as ca
import numpy as np

import ocp
from ocp.mechanics.kinematics import loop_assembly, loop_closure
from ocp.models.mechanisms.four_bar import four_bar
from ocp.transcription import transcribe_phase, transcription_of
from ocp.transcription.variables.layout import join_variables

TREE = four_bar()
CRANK = np.linspace(0.0, 2.0, 9)
WAY = loop_assembly.close_coordinates(
    TREE, np.vstack([CRANK, np.ones(9), 2 * np.ones(9)]), ["crank"]
)
FAST = loop_assembly.close_rates(TREE, WAY[:, 0], (5.0, 0.0, 0.0), ["crank"])
WAYS = {
    "explicit": {},
    "variables": {"torques": "variables", "nodes": 8},
    "hermite-simpson": {"method": "hermite-simpson", "intervals": 25},
    "radau": {"method": "radau", "intervals": 10, "order": 4},
    "explicit radau": {"method": "radau", "intervals": 10, "form": "explicit"},
}
CASES = [*((way, "all") for way in WAYS), ("explicit", "crank"), ("radau", "crank")]


def turning(ends="all", points=26, tree=TREE):
    """The crank turns by 2 rad from rest to rest in half a second; ends prescribed for all joints
    or for the crank alone."""
    at = {
        "all": (WAY[:, 0], WAY[:, -1], 0.0),
        "crank": ({"crank": 0.0}, {"crank": 2.0}, {"crank": 0.0}),
    }[ends]
    return ocp.Problem(
        tree=tree,
        motion=ocp.BSpline(points=points, degree=5),
        duration=0.5,
        objective=ocp.effort(tree, ("crank",)),
        constraints=(ocp.at_start(tree, q=at[0], qd=at[2]), ocp.at_end(tree, q=at[1], qd=at[2])),
    )


@cache
def solved(way, ends="all", points=26):
    guess = ocp.Guess(q=WAY) if ends == "crank" else None
    return ocp.solve(turning(ends, points), transcription_of(WAYS[way]), guess=guess).require(
        coarse=True
    )


def equalities(problem, transcription, solution):
    """The slopes of all equalities by the free variables at a solution, each of length one."""
    plan = transcribe_phase(problem, transcription)
    nlp = plan.nlp
    x = join_variables(plan.layout, solution.points, solution.duration, solution.lifted)
    slopes = np.array(ca.DM(nlp.jacobian(x, [])[1]))[nlp.g_lower == nlp.g_upper][
        :, nlp.lower < nlp.upper
    ]
    return slopes / np.linalg.norm(slopes, axis=1)[:, None]


def gap_of(solution, count=2001):
    """Largest gap of a motion (m or rad)."""
    t = np.linspace(0.0, solution.duration, count)
    return np.abs(solution.trace(lambda at: loop_closure.gap(at.tree, at.q), t)).max()

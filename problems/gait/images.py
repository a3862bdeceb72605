"""Both steps of a stride from one: the step itself, and its mirror image, as a first guess."""

from dataclasses import replace

import numpy as np
from ocp.models.human import mirror
from ocp.problems.gait.families import OTHER_SIDE
from ocp.problems.gait.strides import OTHER

from ocp import Problem, Solution, Symmetry
from ocp.mechanics.structure import structure
from ocp.problem import mirrored, slots
from ocp.solution.shares import shared_solution

NEAR = 1e-9  # of the step: instants so close are one

FORCE = np.array([[-1.0], [1.0], [1.0]])  # reflected in the plane X = 0
MOMENT = -FORCE  # which turns about what is reflected


def both_steps(step: Solution, stride: Problem) -> dict[str, Solution]:
    """Return a guess of every phase of a stride whose steps are a solved one, in one phase, and its
    mirror image."""
    tree = stride.tree
    symmetry = mirrored(tree, *mirror(tree))
    way = float(step.problem.symmetry.shift[tree.coordinate("glob_tz")])
    right = stride.parts[: len(stride.parts) // 2]
    lengths = [float(np.sqrt(np.prod(part.duration))) for part in right]
    edges = np.cumsum([0.0, *lengths]) / sum(lengths)
    guesses = {}
    for k, (phase, a, b) in enumerate(zip(stride.phases, edges, edges[1:])):
        inside = step.nodes[(step.nodes > a - NEAR) & (step.nodes < b + NEAR)]
        nodes = np.clip((inside - a) / (b - a), 0.0, 1.0)
        guesses[phase.name] = shared_solution(stride.parts[k], nodes, step, a, b)
        other = k + len(right)
        guesses[stride.phases[other].name] = image(
            guesses[phase.name], stride.parts[other], symmetry, way
        )
    return guesses


def image(phase: Solution, other: Problem, symmetry: Symmetry, way: float) -> Solution:
    """Return the mirror image of a phase, a `way` (m) ahead, with what is lifted as in the `other`
    problem."""
    tree = phase.problem.tree
    points = symmetry.image(phase.points)
    points[tree.coordinate("glob_tz")] += way
    return replace(phase, points=points, lifted=_lifted(phase, other, symmetry), multipliers={})


def _lifted(phase: Solution, other: Problem, symmetry: Symmetry) -> np.ndarray:
    drives, internal = list(structure(other.tree).drives), structure(other.tree).internal
    torques = np.zeros((other.tree.dof, phase.lifted.shape[1]))
    torques[drives] = phase.lifted[: len(drives)]
    known, wanted = slots(phase.problem.ground), slots(other.ground)
    lifted = np.zeros((internal + 6 * len(wanted), phase.lifted.shape[1]))
    lifted[: len(drives)] = symmetry.image(torques)[drives]
    for k, (foot, link) in enumerate(wanted):
        first = internal + 6 * known.index((OTHER[foot], link[:-1] + OTHER_SIDE[link[-1]]))
        moment, force = phase.lifted[first : first + 3], phase.lifted[first + 3 : first + 6]
        row = internal + 6 * k
        lifted[row : row + 3], lifted[row + 3 : row + 6] = MOMENT * moment, FORCE * force
    return lifted

"""All steps of a walk from one: the step itself and its mirror image, in turn, as a first guess.

So a stride of a body that is alike on both sides may begin, and a walk of several: what is least of
one step that its image continues meets all that the others are asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from typing import Any

import numpy as np

from ocp import Constraint, Parameter, Problem, Solution, Symmetry, Tree, continuous
from ocp.mechanics import matrix, nominal, parameters_of, structure
from ocp.models.human import mirror
from ocp.problem import mirror_symmetry, slots
from ocp.problems.gait.statement.constraint_families import OTHER_SIDE
from ocp.problems.gait.statement.strides import OTHER, SMOOTH
from ocp.solving import phase_solution
from ocp.transcription import mirrors_torques

NEAR = 1e-9  # of the step: instants so close are one
LENGTH = "_step"  # with which names of lengths of steps end

FORCE = np.array([[-1.0], [1.0], [1.0]])  # reflected in the plane X = 0
MOMENT = -FORCE  # which turns about what is reflected


def both_steps(step: Solution, stride: Problem) -> dict[str, Solution]:
    """Return a guess of every phase of a stride whose steps are a solved one, in one phase, and its
    mirror image."""
    tree = stride.tree
    symmetry = mirror_symmetry(tree, *mirror(tree))
    way = float(step.problem.symmetry.shift[tree.coordinate("glob_tz")])
    names, parts = list(stride.parts), list(stride.parts.values())
    right = parts[: len(parts) // 2]
    lengths = [float(np.sqrt(np.prod(part.duration))) for part in right]
    edges = np.cumsum([0.0, *lengths]) / sum(lengths)
    guesses = {}
    for k, (name, a, b) in enumerate(zip(names, edges, edges[1:])):
        inside = step.nodes[(step.nodes > a - NEAR) & (step.nodes < b + NEAR)]
        nodes = np.clip((inside - a) / (b - a), 0.0, 1.0)
        guesses[name] = phase_solution(parts[k], nodes, step, a, b)
        other = k + len(right)
        guesses[names[other]] = image(guesses[name], parts[other], symmetry, way)
    return guesses


def image(phase: Solution, other: Problem, symmetry: Symmetry, way: float) -> Solution:
    """Return the mirror image of a phase, a `way` (m) ahead, with what is lifted as in the `other`
    problem."""
    tree = phase.problem.tree
    points = symmetry.image(phase.points)
    points[tree.coordinate("glob_tz")] += way
    lifted = _lifted(phase, other, symmetry)
    return replace(phase, problem=other, points=points, lifted=lifted, multipliers={})


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


def one_step(stride: Problem) -> Problem | None:
    """Return the first step alone of a stride, or of a walk of several, which its image continues,
    its objective of the same size; None of any other walk, and of a body that is not alike on both
    sides.

    Where times and lengths of steps are sought, those of the other steps are the same. Strides of a
    walk are alike, each in coordinates that begin anew.
    """
    steps = 2 * (1 + sum(link.symmetry is not None for link in stride.links))
    count = len(stride.phases) // steps
    symmetry = stride.symmetry
    if symmetry is None or symmetry.index != tuple(range(stride.tree.dof)) or count < 1:
        return None
    if any(each.when != "durations" for each in stride.constraints) or not alike(stride.tree):
        return None
    names = [phase.name for phase in stride.phases]
    others = dict(zip(names, names[:count] * steps))
    halves = [way / 2 for way in symmetry.shift]
    ahead = dict(zip((joint.name for joint in stride.tree.moving), halves))
    lengths = [each for each in parameters_of(stride) if each.name.endswith(LENGTH)]
    return replace(
        stride,
        phases=stride.phases[:count],
        links=stride.links[: count - 1],
        symmetry=mirror_symmetry(stride.tree, *mirror(stride.tree), shift=ahead),
        objective=None if stride.objective is None else steps * stride.objective,
        constraints=(*(_of_both(each, others) for each in stride.constraints), *_even(lengths)),
    )


def _of_both(whole: Constraint, others: Mapping[str, str]) -> Constraint:
    """Return the constraints on the durations of a stride for one step alone: phases last as long
    as those among the `others` of which they are images."""

    def asked(durations: Mapping[str, Any]) -> Any:
        images = {name: durations[of] for name, of in others.items()}
        return whole.function({**durations, **images})

    return replace(whole, function=asked)


def _even(lengths: Sequence[Parameter]) -> Iterator[Constraint]:
    """Yield the constraints that make lengths of steps (m) the same."""
    for first, second in pairwise(lengths):
        yield Constraint(
            name=f"{first.name} as {second.name}",
            function=lambda durations, gap=first - second: matrix([gap]),
            lower=0.0,
            upper=0.0,
            when="durations",
            units="m",
        )


def alike(tree: Tree) -> bool:
    """Tell whether a body is alike on both sides: in its masses, and in what its drives give."""
    symmetry = mirror_symmetry(tree, *mirror(tree))
    limits = np.array([joint.torque for joint in tree.moving], dtype=float)
    images = np.sort(np.array(symmetry.sign)[:, None] * limits[list(symmetry.index)])
    return np.array_equal(limits, images) and mirrors_torques(nominal(tree), symmetry)


def strides(stride: Problem, count: int) -> Problem:
    """Return a walk of so many strides, of the mean objective; one of them is the stride itself."""
    named = [
        replace(phase, name=numbered(phase.name, k))
        for k in range(count)
        for phase in stride.phases
    ]
    onward = continuous(*SMOOTH, symmetry=stride.symmetry)
    assert stride.objective is not None
    mean = (1.0 / count) * stride.objective
    links = (*stride.links, onward) * count
    return replace(stride, phases=tuple(named), links=links[:-1], objective=mean)


def numbered(phase: str, k: int) -> str:
    """Return the name of a phase in the k-th of several strides or steps, counted from 0."""
    return phase if k == 0 else f"{phase} {k + 1}"


def repeated(step: Solution, stride: Problem) -> Solution:
    """Return a guess of a stride, or of several, from a solution of their `one_step`, and its
    image."""
    symmetry = step.problem.symmetry
    assert symmetry is not None
    tree, first, parts = stride.tree, list(step.phases.values()), list(stride.parts.values())
    way = float(symmetry.shift[tree.coordinate("glob_tz")])
    others = [image(*pair, symmetry, way) for pair in zip(first, parts[len(first) :])]
    bare = [replace(each, multipliers={}) for each in (*first, *others)]
    again = cycle(bare)
    return replace(step, phases={name: next(again) for name in stride.parts}, multipliers={})

"""Walks of any number of steps, each with contacts of its own, of a human and of a planar biped."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ocp import Problem, Solution
from ocp.problems.gait import effort_step
from ocp.problems.gait.solve_step import TUNED, standing
from ocp.problems.gait.statement.mirrored_stride import numbered, one_step, strides
from ocp.problems.hopping.biped_walk import problem as planar_step
from ocp.problems.hopping.biped_walk import walk as planar_walk

Stated = tuple[Problem, Any, Mapping[str, Any]]  # with a first guess and IPOPT's options


def steps(count: int) -> Stated:
    """Return so many steps of a human of 38 joints, of effort alone, from standing.

    Every two steps are a stride in coordinates that begin anew: across the link to the next the
    root goes back by the way of a stride. The walk ends as it began, one step as its mirror image.
    Raises ValueError for a number that is neither 1 nor even.
    """
    if count != 1 and (count < 2 or count % 2):
        raise ValueError(f"count: expected 1 or an even number, got {count!r}")
    stride = effort_step(stride="full")
    step = one_step(stride)
    assert step is not None
    walk = step if count == 1 else strides(stride, count // 2)
    return walk, standing(walk), TUNED


def _again(solution: Solution, walk: Problem) -> dict[str, Solution]:
    """Return the phases of a solution as guesses of those of a walk, over and over."""
    known = [replace(phase, multipliers={}) for phase in solution.phases.values()]
    return {phase.name: known[k % len(known)] for k, phase in enumerate(walk.phases)}


def planar_steps(count: int) -> Stated:
    """Return so many steps of the planar biped of five links, each from strike to strike.

    They begin with a step that was solved, again and again; every step is the mirror image of the
    one before in what it may do, since legs exchange across each strike.
    """
    step = planar_step()
    (phase,), (strike,) = step.phases, step.links
    phases = [replace(phase, name=numbered(phase.name, k)) for k in range(count)]
    assert step.objective is not None
    mean = (1.0 / count) * step.objective
    walk = replace(step, phases=tuple(phases), links=(strike,) * count, objective=mean)
    first = planar_walk(step).require(coarse=True)
    return walk, _again(first, walk), {}

"""Continuity of a mirrored step: the largest jumps where it joins its image."""

from typing import Any

import numpy as np

from ocp import Solution
from ocp.certificate import Extreme
from ocp.mechanics import body_weight
from ocp.problems.gait.report.gait_cycle import OTHER, REFLECTED, reflection
from ocp.solution import traces

UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "qdd": ("rad/s2", "m/s2")}


def continuity(solution: Solution, step: float) -> dict[str, Extreme]:
    """Return {quantity: Extreme} of the largest jump where the mirrored step joins its image.

    `step` is its length (m). Quantities are coordinates, rates and accelerations of turns and
    slides, torques, and the ground's forces.
    """
    tree, T = solution.problem.tree, solution.duration
    wanted: dict[str, Any] = {
        "q": lambda at: at.q,
        "qd": lambda at: at.qd,
        "qdd": lambda at: at.qdd,
        "tau": lambda at: at.tau,
    }
    wanted |= {foot: lambda at, foot=foot: at.reaction.force(foot) for foot in OTHER}
    ends = traces(solution, wanted, np.array([0.0, T]))
    image = reflection(solution.problem).image
    count = tree.dof - len(tree.states)  # states of muscles are of first order
    gaps = {what: ends[what][:, 1] - image(ends[what][:, 0]) for what in (*UNITS, "tau")}
    symmetry = solution.problem.symmetry
    if symmetry is None:
        gaps["q"][tree.coordinate("glob_tz")] -= step
    else:
        gaps["q"] -= np.array(symmetry.shift)
    gaps = {what: values[:count] for what, values in gaps.items()}
    names = np.array([joint.name for joint in tree.moving[:count]])
    slides = np.array([joint.kind == "prismatic" for joint in tree.moving[:count]])
    jumps = {}
    for what, (turn, slide) in UNITS.items():
        jumps[f"{what}_turn"] = _largest(gaps[what][~slides], turn, names[~slides], T)
        jumps[f"{what}_slide"] = _largest(gaps[what][slides], slide, names[slides], T)
    jumps["torque"] = _largest(gaps["tau"][~slides], "N m", names[~slides], T)
    return jumps | {"ground_force": _force_jump(ends, body_weight(tree), T)}


def _largest(gaps: np.ndarray, unit: str, names: np.ndarray, time: float) -> Extreme:
    k = np.abs(gaps).argmax()
    return Extreme(value=float(abs(gaps[k])), unit=unit, where=str(names[k]), time=time)


def _force_jump(ends: dict[str, np.ndarray], weight: float, time: float) -> Extreme:
    """Return the largest jump of a foot's force to the other foot's, over the weight (N)."""
    gaps = {
        foot: np.abs(ends[foot][:, 1] - REFLECTED[:, 0] * ends[other][:, 0]) / weight
        for foot, other in OTHER.items()
    }
    worst = max(gaps, key=lambda foot: gaps[foot].max())
    return Extreme(value=float(gaps[worst].max()), unit="BW", where=f"{worst} foot", time=time)

"""Answers to "what if": the walk of a measured person predicted, as they are and with a change.

The body is that of the static trial, speed and steps are those of a trial, and a change is said in
the records of the walking problem (`ocp.problems.gait`), whose objective decides the rest. So the
change is judged between two predictions; how far the first of them is from the measured walk is
told beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from ocp import Objective, Problem, Solution, Solver, Transcription
from ocp.models.human import Person
from ocp.problems.gait import (
    Accuracy,
    Carried,
    Gait,
    Muscles,
    Terrain,
    problem,
    walk,
    walk_from,
)
from ocp.problems.gait.card import report_card
from ocp.problems.lab.measured_person import places_of
from ocp.problems.lab.trial_analysis import Analysis

# Curves of the report card, and of a trial's strides
CARD = {
    **{name: f"{name}_deg" for name in ("hip_flex", "hip_abd", "knee_flex", "ankle_df")},
    **{f"moment_{name}": f"{name}_Nm_kg" for name in ("hip_flex", "knee_flex", "ankle_df")},
    "power_ankle": "ankle_df_W_kg",
}
MEASURES: Mapping[str, tuple[str, Callable[[np.ndarray], float]]] = MappingProxyType(
    {
        "hip flexion, range (deg)": ("hip_flex", np.ptp),
        "knee flexion, most (deg)": ("knee_flex", np.max),
        "ankle, range (deg)": ("ankle_df", np.ptp),
        "hip extension moment (N m/kg)": ("moment_hip_flex", lambda row: -np.min(row)),
        "knee extension moment (N m/kg)": ("moment_knee_flex", lambda row: -np.min(row)),
        "plantarflexion moment (N m/kg)": ("moment_ankle_df", lambda row: -np.min(row)),
        "ankle power, most (W/kg)": ("power_ankle", np.max),
    }
)
SLOWEST = 0.1  # m/s: of somebody who walks
FLAT = 0.2, 0.5  # of a stance: the foot stands flat


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a person or of the task, in the walking problem's own records.

    Attributes:
        gait: of its speed and step None are the trial's; at another speed a step has the length
            that keeps the trial's step over cadence (Sekiya & Nagasaki 1998), unless it is given.
        mass: kg, None as measured.
        muscles, carried, terrain: strength, burdens and springs, and the ground.
    """

    gait: Gait = field(default_factory=Gait)
    mass: float | None = None
    muscles: Muscles = field(default_factory=Muscles)
    carried: Carried = field(default_factory=Carried)
    terrain: Terrain = field(default_factory=Terrain)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhatIf:
    """A measured walk beside its prediction, and that with a change.

    Attributes:
        tracked: {measure: number} of the trial, nan where no plate tells.
        unchanged, changed: the predicted steps.
        likeness: {curve: (correlation, root mean square difference)} of the unchanged prediction
            with the trial's mean stride.
    """

    tracked: Mapping[str, float]
    unchanged: Solution
    changed: Solution
    likeness: Mapping[str, tuple[float, float]]

    def __str__(self) -> str:
        both = [predicted_measures(each) for each in (self.unchanged, self.changed)]
        rows = [f"{'':34s} {'measured':>9s} {'predicted':>9s} {'changed':>9s}"]
        for name, number in both[1].items():
            three = (self.tracked.get(name, np.nan), both[0].get(name, np.nan), number)
            cells = (f"{each:9.3g}" if np.isfinite(each) else f"{'':9s}" for each in three)
            rows.append(f"{name:34s} {' '.join(cells)}")
        far = (f"{name} r {r:.2f}, {off:.2g} rms" for name, (r, off) in self.likeness.items())
        return "\n".join([*rows, f"predicted beside measured: {'; '.join(far)}"])


def predicted_walk(
    trial: Analysis,
    change: Change = Change(),
    weights: Mapping[str, float] | None = None,
    accuracy: Accuracy = Accuracy(),
) -> Problem:
    """Return the walking problem of a trial's person, at the trial's speed and step, with a change.

    Args:
        trial: of a person scaled to a static trial, with a whole stride.
        change: in place of what the trial says.
        weights: {term: weight} of the objective, as `identify_objective` finds them for the
            unchanged problem; by default those of the walking problem.
        accuracy: control points of the step, and how closely feet stand.

    Raises:
        ValueError: the person is somebody's own model, or the trial has no whole stride; an unknown
            term.
    """
    who, gait = _person(trial), change.gait
    if gait.speed is None or gait.step is None:
        speed, step = speed_and_step(trial)
        if gait.speed is not None:
            step *= float(np.sqrt(gait.speed / speed))
        gait = replace(
            gait,
            speed=speed if gait.speed is None else gait.speed,
            step=step if gait.step is None else gait.step,
        )
    own = who if change.mass is None else replace(who, mass=change.mass)
    stated = problem(gait, own, change.muscles, change.terrain, change.carried, accuracy=accuracy)
    if not weights:
        return stated
    usual = predicted_walk(trial, accuracy=accuracy).objective
    return replace(stated, objective=_weighed(stated.objective, usual, weights))


def what_if(
    trial: Analysis,
    change: Change,
    weights: Mapping[str, float] | None = None,
    *,
    accuracy: Accuracy = Accuracy(),
    solver: Solver = Solver(),
) -> WhatIf:
    """Return a trial's walk predicted as the person is, and with a change.

    Args:
        trial, change, weights, accuracy: as of `predicted_walk`.
        solver: of both predictions.

    Raises:
        ValueError: as of `predicted_walk`.
        NotSolved: no walk is found.
    """
    stated, changed = (
        predicted_walk(trial, each, weights, accuracy) for each in (Change(), change)
    )
    before = walk(stated, Transcription(), solver).require(coarse=True)
    alike = changed.motion == stated.motion and changed.parts.keys() == stated.parts.keys()
    way = partial(walk_from, before) if alike else walk  # another kind of step is from standing
    after = way(changed, Transcription(), solver).require(coarse=True)
    mean, predicted = mean_stride(trial), report_card(before)["curves"]
    likeness = {}
    for name, row in mean.items():
        other = np.array(predicted[name])
        off = float(np.sqrt(np.mean((row - other) ** 2)))
        likeness[name] = (float(np.corrcoef(row, other)[0, 1]), off)
    speed, step = speed_and_step(trial)
    return WhatIf(
        tracked=MappingProxyType({"speed (m/s)": speed, "step (m)": step, **measures(mean)}),
        unchanged=before,
        changed=after,
        likeness=MappingProxyType(likeness),
    )


def speed_and_step(trial: Analysis) -> tuple[float, float]:
    """Return the mean speed over whole strides (m/s), and half a stride (m): of the pelvis, less
    that of the foot while it stands flat, which a treadmill's belt carries back.

    Args:
        trial: with a whole stride.

    Raises:
        ValueError: there is none, or nobody walks.
    """
    if not trial.cycles:
        raise ValueError("what_if: the trial has no whole stride")
    tree, fit, table = trial.person.tree, trial.fit, trial.person.table
    pelvis, speeds = fit.q[tree.coordinate("glob_tz")], []
    for cycle in trial.cycles:
        heel = str(table.landmark(f"heel_{cycle.foot}"))
        flat = [cycle.start + share * (cycle.off - cycle.start) for share in FLAT]
        postures = [np.array([np.interp(at, fit.t, row) for row in fit.q]) for at in flat]
        belt = np.diff([places_of(tree, q)[heel][2] for q in postures])[0] / np.ptp(flat)
        body = np.diff(np.interp((cycle.start, cycle.end), fit.t, pelvis))[0]
        speeds.append(body / (cycle.end - cycle.start) - belt)
    speed = float(np.mean(speeds))
    if speed < SLOWEST:
        raise ValueError(f"what_if: expected somebody who walks, got {speed:.2f} m/s")
    times = [cycle.end - cycle.start for cycle in trial.cycles]
    return speed, speed * float(np.mean(times)) / 2


def mean_stride(trial: Analysis) -> dict[str, np.ndarray]:
    """Return {curve of the report card: (101,)} of a trial's mean stride, both sides alike."""
    found = {}
    for name, own in CARD.items():
        rows = [cycle.curves[own] for cycle in trial.cycles if own in cycle.curves]
        rows = [row for row in rows if np.isfinite(row).all()]
        if rows:
            found[name] = np.mean(rows, axis=0)
    return found


def measures(curves: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return {measure: number} of the curves {name: (101,)} that there are."""
    return {
        name: float(of(np.array(curves[curve])))
        for name, (curve, of) in MEASURES.items()
        if curve in curves
    }


def predicted_measures(walked: Solution) -> dict[str, float]:
    """Return {measure: number} of a predicted walk, its estimated cost and what it has found."""
    card = report_card(walked)
    numbers = card["numbers"]
    return {
        "speed (m/s)": numbers["speed_m_s"],
        "step (m)": numbers["stride_m"] / 2,
        **measures(card["curves"]),
        "metabolic cost, estimate (J/kg/m)": numbers["metabolic"]["net_J_kg_m"],
        "objective": float(walked.objective),
        **{name: walked.parameters[name] for name in sorted(walked.found_parameters)},
    }


def _person(trial: Analysis) -> Person:
    if trial.person.who is None:
        raise ValueError(
            "what_if: the person is somebody's own model: walks are predicted for the human "
            "scaled to a static trial"
        )
    return trial.person.who


def _weighed(stated: Objective, usual: Objective, weights: Mapping[str, float]) -> Objective:
    """Return an objective whose weights are given ones, changed as the stated ones are changed
    from the usual ones, those of the unchanged problem: by strength and by a step's duration."""
    before = {term.name: weight for weight, term in usual.terms}
    unknown = [name for name in weights if name not in before]
    if unknown:
        raise ValueError(
            f"weights: the objective has no term {unknown[0]!r}; it has {', '.join(before)}"
        )
    terms = (
        (weight * weights[term.name] / before[term.name] if term.name in weights else weight, term)
        for weight, term in stated.terms
    )
    return Objective(terms=tuple(terms))

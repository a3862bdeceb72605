"""Weights found at one speed, judged by walks at others: how far these are from the true walks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ocp import Guess, Objective, Problem, Solution, Solver, Transcription
from ocp.problems.gait.card import report_card
from ocp.problems.gait.kept_trials import KeptTrials
from ocp.problems.gait.solve_step import closely, walk
from ocp.problems.gait.statement.step import problem as step
from ocp.problems.gait.statement.walking_task import Gait
from ocp.studies import markdown

KINDS = {"deg": "angles (deg)", "N m/kg": "moments (N m/kg)", "BW": "forces (BW)"}
STATED, TRUE = "stated", "true"


def distances(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[float]:
    """Return the root mean squares of differences between two cards' curves, of every kind.

    Args:
        one, other: report cards of walks.
    """
    found = []
    for unit in KINDS:
        names = [name for name, own in one["units"].items() if own == unit]
        off = [np.subtract(one["curves"][name], other["curves"][name]) for name in names]
        found.append(float(np.sqrt(np.mean(np.square(off)))))
    return found


def judge_speeds(
    kept: KeptTrials,
    factors: Mapping[str, float],
    sought: Sequence[str],
    speeds: Sequence[float],
    trials: Sequence[int],
) -> None:
    """Keep the distances of walks at other speeds from the true ones, by the statement's weights
    and by those that trials found.

    Args:
        kept: in which trials are, and the distances come.
        factors: {term: true weight over the statement's}.
        sought: terms whose weights were found, in the order of the trials'.
        speeds: m/s.
        trials: seeds.
    """
    for speed in speeds:
        wanted = {f"{speed:g} {STATED}": np.zeros(len(sought))}
        wanted |= {f"{speed:g} {seed}": kept.trials[seed].off for seed in trials}
        if all(name in kept.speeds for name in wanted):
            continue
        stated = step(Gait(speed=speed))
        first = _walked(stated, {}, None)
        true = report_card(_walked(stated, factors, first))
        kept.speeds[f"{speed:g} {STATED}"] = distances(report_card(first), true)
        for name, off in wanted.items():
            if name not in kept.speeds and np.isfinite(off).all():
                found = {term: factors[term] * float(np.exp(x)) for term, x in zip(sought, off)}
                by_found = _walked(stated, {**factors, **found}, first)
                kept.speeds[name] = distances(report_card(by_found), true)
            kept.save()


def _walked(stated: Problem, factors: Mapping[str, float], begin: Solution | None) -> Solution:
    """Return the walk by weights that are factors times the statement's."""
    terms = tuple((factors.get(term.name, 1.0) * w, term) for w, term in stated.objective.terms)
    own = replace(stated, objective=Objective(terms=terms))
    guess: Guess | Solution | None = begin
    found = walk(own, closely(own, Transcription()), Solver(plugin="structured"), guess=guess)
    return found.require(coarse=True)


def speeds_table(kept: KeptTrials, speeds: Sequence[float], trials: Sequence[int]) -> str:
    """Return the table of distances at speeds: by the statement's weights, and by those of trials,
    their mean and their largest."""
    rows = []
    for speed in speeds:
        before = kept.speeds[f"{speed:g} {STATED}"]
        names = [f"{speed:g} {seed}" for seed in trials]
        after = np.array([kept.speeds[name] for name in names if name in kept.speeds])
        for k, kind in enumerate(KINDS.values()):
            numbers = before[k], after[:, k].mean(), after[:, k].max()
            rows.append((f"{speed:g}", kind, *(f"{x:.3g}" for x in numbers), str(len(after))))
    header = ("speed (m/s)", "curves", "by stated weights", "by those found", "worst", "trials")
    return markdown("", header, rows).strip()

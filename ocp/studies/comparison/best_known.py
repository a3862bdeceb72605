"""Runs beside one another: which of them have found the best optimum that is known of a problem."""

from collections.abc import Iterable
from dataclasses import replace

from ocp.studies.comparison.limited_run import ANOTHER, Run
from ocp.studies.comparison.verdict import FINE, SOLVED, UNSAID

HIGHER = FINE  # relative: as far as objectives of two transcriptions that pass may be apart
TINY = 1e-12  # objectives below are compared in absolute terms


def with_best_known(runs: Iterable[Run]) -> list[Run]:
    """Return runs, each with its verdict beside those of the same problem."""
    every = [own_verdict(one) for one in runs]
    least: dict[tuple[str, str], float] = {}
    for one in every:
        if one.good and one.objective is not None:
            key = one.problem, one.stated
            least[key] = min(one.objective, least.get(key, one.objective))
    return [_beside(one, least.get((one.problem, one.stated))) for one in every]


def own_verdict(one: Run) -> Run:
    """Return a run with the verdict that it has without others."""
    if one.verdict != ANOTHER:
        return one
    _, _, reason = one.reason.partition("; ")
    return replace(one, verdict=UNSAID if reason else SOLVED, reason=reason)


def _beside(one: Run, least: float | None) -> Run:
    if not one.good or one.objective is None or least is None:
        return one
    above = (one.objective - least) / max(abs(least), TINY)
    if above <= HIGHER:
        return one
    words = f"its objective is {100 * above:.3g} % above the best, {least:.7g}"
    return replace(one, verdict=ANOTHER, reason="; ".join(filter(None, (words, one.reason))))

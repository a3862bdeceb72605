"""Report of motions that were planned again and again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ocp import NotVerified, Solution, Verification, Views, verify
from ocp.mpc import Replan

KEY = "replans"  # of a solution's statistics
FIRST_PLAN = "the first plan"  # of which a certificate is, where plans are made anew on the way


def told(turns: Sequence[Replan], tolerance: float | None = None) -> dict[str, Any]:
    """Return the figures of planning anew, in plain numbers; certified afterwards with a
    `tolerance`."""
    seconds = [turn.seconds for turn in turns]
    iterations = [turn.solution.statistics["iterations"] for turn in turns]
    data = {
        "count": len(turns),
        "median_ms": 1e3 * float(np.median(seconds)),
        "slowest_ms": 1e3 * float(np.max(seconds)),
        "median_cpu_ms": 1e3 * float(np.median([turn.cpu_seconds for turn in turns])),
        "median_iterations": float(np.median(iterations)),
        "most_iterations": int(np.max(iterations)),
        "solved": sum(turn.solved for turn in turns),
        "dropped": sum(not turn.followed for turn in turns),
    }
    if tolerance is None:
        return data
    certificates = [verify(turn.solution) for turn in turns]
    doubts = [words for words in (_doubts(each, tolerance) for each in certificates) if words]
    worst = [one.relative for each in certificates for one in each.violations.values()]
    return data | {
        "tolerance": tolerance,
        "certified": len(turns) - len(doubts),
        "violation": float(np.max(worst)),
        "doubts": doubts,
    }


def _doubts(certificate: Verification, tolerance: float) -> str:
    """Return the objections of a certificate, nothing if it holds to a tolerance."""
    try:
        certificate.require(tolerance)
    except NotVerified as doubts:
        return str(doubts)
    return ""


def report(solution: Solution) -> Mapping[str, Any]:
    """Return the figures in a solution's statistics on plans made on the way."""
    return {KEY: solution.statistics[KEY]} if KEY in solution.statistics else {}


def lines(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the report's text; what is typical is a median."""
    turns = data[KEY]
    text = [
        f"{'planned anew':<22}{turns['count']} times, {turns['solved']} solved, "
        f"{turns['dropped']} not followed",
        f"{'each in':<22}{turns['median_ms']:.1f} ms ({turns['median_cpu_ms']:.1f} of the "
        f"processor), {turns['slowest_ms']:.1f} at most; "
        f"{turns['median_iterations']:g} iterations, {turns['most_iterations']} at most",
    ]
    if "certified" in turns:
        text.append(
            f"{'certified':<22}{turns['certified']} to {turns['tolerance']:g}; "
            f"worst violation {turns['violation']:.1e} of its bound"
        )
        text += turns["doubts"][:3]
    return tuple(text)


VIEWS = Views(report=report, lines=lines)

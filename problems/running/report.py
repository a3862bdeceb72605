"""A run in numbers: its rhythm and forces beside people's, and its report card's eleven lines."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ocp import Solution
from ocp.mechanics import body_weight, center_of_mass
from ocp.problems.gait.card import card_lines, report_card
from ocp.problems.running.contact_schedule import FLIGHT

SAMPLES = 201  # instants of each phase
MINUTE = 60.0  # s


def report(solution: Solution) -> dict[str, Any]:
    """Return speed, rhythm, duty factor, peaks of the ground's force (body weights), how far the
    centre of mass rises and falls (m), and what share of the objective each term has; and the
    `card`, its report card."""
    tree, T = solution.problem.tree, solution.duration
    image: Any = solution.problem.symmetry
    step = float(np.max(image.shift)) or solution.parameters["step"]
    flown = solution.durations[FLIGHT]
    times, forces, heights = traced(solution)
    weight = body_weight(tree)
    lateral, vertical, ahead = forces / weight
    k = int(vertical.argmax())
    return {
        "run": {
            "speed_m_s": step / T,
            "step_m": step,
            "steps_min": MINUTE / T,
            "contact_s": T - flown,
            "flight_s": flown,
            "duty_factor": (T - flown) / (2 * T),
            "vertical_BW": float(vertical[k]),
            "peak_percent": 100.0 * float(times[k]) / (T - flown),
            "braking_BW": float(ahead.min()),
            "propulsion_BW": float(ahead.max()),
            "lateral_BW": float(np.ptp(lateral)),
            "rises_m": float(np.ptp(heights)),
            "phases_s": dict(solution.durations),
            "shares": shares(solution),
        },
        "card": report_card(solution),
    }


def shares(solution: Solution) -> dict[str, float]:
    """Return {term: its share of the objective} over all phases, the largest first."""
    parts: dict[str, float] = {}
    for name, weight, value in solution.terms:
        term = name.partition(": ")[2]
        parts[term] = parts.get(term, 0.0) + weight * value
    whole = sum(parts.values())
    return {term: parts[term] / whole for term in sorted(parts, key=lambda each: -parts[each])}


def traced(solution: Solution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return instants (N,) of a step, the ground's force (3, N) and heights of the centre of mass
    (N,)."""
    begins, parts = 0.0, []
    for name, phase in solution.phases.items():
        t = phase.times(SAMPLES)
        force = np.zeros((3, SAMPLES))
        if name != FLIGHT:
            force = phase.trace(lambda at: at.reaction.force("right"), t)
        height = phase.trace(lambda at: center_of_mass(at.tree, at.q)[1], t)
        parts.append((begins + t, force, height.ravel()))
        begins += phase.duration
    times, forces, heights = (np.concatenate(each, axis=-1) for each in zip(*parts))
    return times, forces, heights


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    now = data["run"]
    costs = ", ".join(f"{name} {100 * share:.0f} %" for name, share in now["shares"].items())
    return [
        f"{'run':<22}{now['speed_m_s']:.3f} m/s, {now['steps_min']:.1f} steps/min of "
        f"{now['step_m']:.3f} m",
        f"{'contact':<22}{now['contact_s']:.4f} s, flight {now['flight_s']:.4f} s, duty factor "
        f"{now['duty_factor']:.3f}",
        f"{'force':<22}{now['vertical_BW']:.2f} BW at {now['peak_percent']:.0f} % of stance, "
        f"fore-aft {now['braking_BW']:+.2f} to {now['propulsion_BW']:+.2f} BW",
        f"{'centre of mass':<22}rises {now['rises_m']:.3f} m",
        f"{'what it costs':<22}{costs}; the work is that of muscles behind their tendons",
        *card_lines(data["card"]),
    ]

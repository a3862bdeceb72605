"""Lifts under noise of all torques, with feedback and without, and how their feet stand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ocp import Solution, feedback, follow
from ocp.mechanics import positions
from ocp.mpc import Followed
from ocp.plots import COLOURS, TEXT, WIDTH, picture, style

GRIPS = ("grip_r", "grip_l")
ALONE = 5  # runs without feedback, whose hands end decimetres off
NEAR = 0.01  # m: of the planned places of both hands, within which a lift has ended well


def disturbed(solution: Solution, runs: int, noise: float) -> dict[str, Any]:
    """Return, as plain data, how a lift goes under noise, a share of each joint's largest torque.

    Of `runs` with feedback and of ALONE without: how far the hands are `off` the plan (m) at all
    times, by the worst run, and at the `ends` of all; and the least push (N) and pressure margin
    (m) and the most friction of the feet, with feedback.
    """
    plan = feedback(solution)
    held = [follow(plan, noise=noise, seed=seed) for seed in range(runs)]
    lost = [follow(plan, noise=noise, seed=seed, open_loop=True) for seed in range(ALONE)]
    planned = _places(solution, plan.states[: solution.problem.tree.dof])
    feet = [foot for run in held for foot in run.feet.values()]
    return {
        "noise": noise,
        "t": plan.t.tolist(),
        "feedback": _off(solution, held, planned),
        "alone": _off(solution, lost, planned),
        "push_N": float(min(foot.push.min() for foot in feet)),
        "margin_m": float(min(foot.margin.min() for foot in feet)),
        "friction": float(max(foot.friction.max() for foot in feet)),
    }


def _places(solution: Solution, q: np.ndarray) -> np.ndarray:
    """Return the places (hands, 3, N), m, of both hands at q (n, N)."""
    one = ca.SX.sym("q", len(q))
    grips = ca.vertcat(*positions(solution.problem.tree, one, GRIPS))
    places = np.array(ca.Function("places", [one], [grips])(q))
    return places.reshape(len(GRIPS), 3, -1)


def _off(solution: Solution, runs: list[Followed], planned: np.ndarray) -> dict[str, list[float]]:
    """Return distances (m) of the farther hand from its planned way, as `disturbed` says."""
    ways = np.array(
        [np.linalg.norm(_places(solution, run.q) - planned, axis=1).max(axis=0) for run in runs]
    )
    return {"off": ways.max(axis=0).tolist(), "ends": ways[:, -1].tolist()}


def disturbed_line(data: Mapping[str, Any]) -> str:
    """Return the line of a report on runs under noise."""
    ends, alone = (np.array(data[how]["ends"]) for how in ("feedback", "alone"))
    return (
        f"{(ends < NEAR).sum()} of {len(ends)} end within 10 mm under noise of "
        f"{100 * data['noise']:g} % of the largest torques, the worst {1e3 * ends.max():.2g} mm "
        f"off; without feedback {100 * alone.min():.0f} to {100 * alone.max():.0f} cm; feet press "
        f"by {data['push_N']:.0f} N at least, {1e3 * data['margin_m']:.0f} mm inside their soles, "
        f"friction {data['friction']:.2f}"
    )


def draw_disturbed(data: Mapping[str, Any], path: str | Path) -> None:
    """Draw the distance of hands from their way over time, of the worst runs, to `path`."""
    with picture(path, WIDTH, 3.2) as figure:
        axes = figure.subplots()
        kinds = ("feedback", "with feedback", COLOURS[0]), ("alone", "without", COLOURS[1])
        for how, label, colour in kinds:
            runs = len(data[how]["ends"])
            off = 1e3 * np.array(data[how]["off"])
            axes.semilogy(data["t"][1:], off[1:], color=colour, label=f"{label}: {runs} runs")
        axes.axhline(1e3 * NEAR, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)))
        style(axes, "time (s)", "hand off its planned way, worst run (mm)")
        noise = f"noise of {100 * data['noise']:g} % of the largest torques at all joints"
        axes.set_title(noise, fontsize=TEXT)
        axes.legend(fontsize=TEXT)

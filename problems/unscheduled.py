"""Ground that touches when the motion says so: how robots on it are stated, solved and reported."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ocp import Guess, Problem, Radau, Solution, Solver, Transcription, plot, solve, tighten
from ocp.mechanics.zero_moment import body_weight
from ocp.plots import plot_outputs
from ocp.problem import Complementarity, Compliant, touches

Contact: TypeAlias = Literal["compliant", "complementarity"]

UP = (0.0, 1.0, 0.0)
FRICTION = 0.8  # that of the feet of Falisse et al. (2019), by both models
STEEP = 0.8  # m/s: with which friction is as steep at rest as min(v / 0.2 m/s, 1) of simulators
SOLE = Compliant(radius=0.03, dissipation=1.0, static=FRICTION, dynamic=FRICTION, transition=STEEP)
GROUNDS = {
    "compliant": SOLE,
    "complementarity": Complementarity(friction=FRICTION, leak=1e-2),
}
LOOSE = 1.0  # J: the leak that complementary contacts begin with
MESH = Transcription(method=Radau(intervals=60))  # as fine as ground that gives way is stiff
BEARING = 0.02  # of the weight: a foot that pushes more stands


def found(
    statement: Problem,
    transcription: Transcription,
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution,
    **settings: Any,
) -> Solution:
    """Solve at once on compliant ground, and where forces are sought from a loose leak on."""
    if touches(statement.loads):
        settings["loose"] = LOOSE
        return tighten(statement, transcription, solver, guess=guess, **settings)
    return solve(statement, transcription, solver, guess=guess, **settings)


def report(solution: Solution) -> dict[str, Any]:
    """Return of every foot its peak force (weights), the part of the motion in which it stands, and
    from when to when (s); and the mean of all forces over the weight, which is 1 where the end of
    the motion is the image of its start."""
    t = solution.times(2001)
    weight = body_weight(solution.problem.tree)
    feet, total = {}, np.zeros(len(t))
    for name in solution.problem.outputs:
        push = np.array(UP) @ solution.output(name, t) / weight
        total += push
        stands = push > BEARING
        feet[name.removeprefix("force on ")] = {
            "peak": float(push.max()),
            "share": float(stands.mean()),
            "spans": _spans(t, stands),
        }
    mean = float(np.trapezoid(total, t) / solution.duration)
    return {"contacts": {"feet": feet, "mean": mean}}


def _spans(t: np.ndarray, stands: np.ndarray) -> list[list[float]]:
    """Return from when to when (s) something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    return [[float(t[a]), float(t[b - 1])] for a, b in zip(edges[::2], edges[1::2])]


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the report's text."""
    entry = data["contacts"]
    feet = [
        f"{name:<22}stands {foot['share']:.1%} of the time, "
        + " and ".join(f"{a:.3f} to {b:.3f} s" for a, b in foot["spans"])
        + f"; at most {foot['peak']:.2f} weights"
        for name, foot in entry["feet"].items()
    ]
    return [*feet, f"{'ground':<22}gives {entry['mean']:.6f} weights in the mean (1 by momentum)"]


def draw(solution: Solution, file: str | Path) -> None:
    """Draw the overview to the file, and the forces on the feet to that with "-forces" added."""
    plot(solution, file)
    plot_outputs(solution, Path(file).with_stem(f"{Path(file).stem}-forces"))

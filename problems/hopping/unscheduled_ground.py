"""Ground that touches when the motion says so: how robots on it are stated, solved and reported."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ocp import (
    Guess,
    Problem,
    Radau,
    Solution,
    Solver,
    Transcription,
    phases_found,
    plot,
    solve,
    tighten,
)
from ocp import refine as refined
from ocp.mechanics import body_weight
from ocp.plots import plot_outputs
from ocp.problem import Complementarity, Compliant, touches
from ocp.transcription import Collocation

Contact: TypeAlias = Literal["compliant", "complementarity"]

UP = (0.0, 1.0, 0.0)
FRICTION = 0.8  # that of the feet of Falisse et al. (2019), by both models
STEEP = 0.8  # m/s: with which friction is as steep at rest as min(v / 0.2 m/s, 1) of simulators
SOLE = Compliant(radius=0.03, dissipation=1.0, static=FRICTION, dynamic=FRICTION, transition=STEEP)
GROUNDS: dict[str, Compliant | Complementarity] = {
    "compliant": SOLE,
    "complementarity": Complementarity(friction=FRICTION, leak=1e-2),
}
LOOSE = 1.0  # J: the leak that complementary contacts begin with
MESH = Transcription(method=Radau(intervals=40, order=5))  # fine where ground gives way fast
SEEKING = Transcription(method=Radau(intervals=20, order=2))  # where rigid contact is to be found
IN_PHASES = Transcription(method=Radau(intervals=8, order=5))  # each of those that it finds
TOLERANCE = 1e-3  # of the certificate that answers pass
BEARING = 0.02  # of the weight: a foot that pushes more stands


def found(
    statement: Problem,
    transcription: Transcription,
    solver: Solver = Solver(),
    *,
    guess: Guess | Solution,
    **settings: Any,
) -> Solution:
    """Solve at once on compliant ground, on splines from a mesh's answer, and where forces are
    sought from a loose leak on."""
    if touches(statement.loads):
        settings["loose"] = LOOSE
        return tighten(statement, transcription, solver, guess=guess, **settings)
    begin = lent(statement, transcription, solver, guess=guess, **settings)
    return solve(statement, transcription, solver, guess=begin, **settings)


def lent(
    statement: Problem,
    transcription: Transcription,
    solver: Solver,
    *,
    guess: Guess | Solution,
    **settings: Any,
) -> Guess | Solution:
    """Return the guess from which compliant contact is solved: on splines, which friction that
    begins within a knot's distance sets ringing, the answer on a mesh."""
    if isinstance(transcription.method, Collocation) or isinstance(guess, Solution):
        return guess
    return solve(statement, MESH, solver, guess=guess, **settings)


def solved_from(first: Callable[[Problem], Guess]) -> Callable[..., Solution]:
    """Return the method that solves a problem from its `first` guess, if there is no other."""

    def method(
        statement: Problem,
        transcription: Transcription = MESH,
        solver: Solver = Solver(),
        *,
        guess: Guess | Solution | None = None,
        certified: bool = True,
        refine: float | None = None,
        **settings: Any,
    ) -> Solution:
        """Find contacts, and what is then sure of them.

        If `certified`, the mesh is refined until the certificate holds: where forces are sought
        that of the phases which contacts found. Otherwise the first answer is all.
        """
        begin, rigid = guess or first(statement), bool(touches(statement.loads))
        if rigid and transcription == MESH:
            transcription = SEEKING
        tolerance = refine or (TOLERANCE if certified else None)
        if tolerance is None or rigid:
            solution = found(statement, transcription, solver, guess=begin, **settings)
            if tolerance is None or not solution.success:
                return solution
            statement, begin = phases_found(solution)
            transcription = IN_PHASES
        else:
            begin = lent(statement, transcription, solver, guess=begin, **settings)
        return refined(statement, tolerance, transcription, solver, guess=begin, **settings)

    return method


def report(solution: Solution) -> dict[str, Any]:
    """Return of every foot its peak force (weights), the part of the motion in which it stands, and
    from when to when (s); and the mean of all forces, blows among them, over the weight, which is 1
    where the end of the motion is the image of its start."""
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
    blows = [push for blow in (solution.impulses or {}).values() for push in blow.values()]
    struck = sum(float(np.array(UP) @ push) for push in blows) / weight
    mean = float((np.trapezoid(total, t) + struck) / solution.duration)
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

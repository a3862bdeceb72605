"""Steps of people whose hands are busy, with a box or a bar: their arms do not swing."""

from dataclasses import replace

from ocp import Objective, Problem
from ocp.problems.gait.statement.step import HUMAN, problem

SWINGING = "coupling,avoidance"  # what is asked of arms that swing
RELAXED = "arms"  # the term of arms that hang


def busy_step(
    speed: float,
    step: float,
    *,
    points: int | None = None,
    person: str = "",
    smooth: float = 0.0025,
    objective: str = HUMAN,
) -> Problem:
    """Return the step of `gait` at a speed (m/s), so long (m), without what arms keep to that hang.

    Nothing is asked of their swing, and torques of shoulders and elbows cost what those of all
    joints do: they bear what the hands hold. `points`, `person`, `smooth` and `objective` are those
    of the step.
    """
    how = {"points": points, "person": person, "smooth": smooth, "objective": objective}
    walked = problem(speed, step, without=SWINGING, **how)
    terms = tuple(each for each in walked.objective.terms if each[1].name != RELAXED)
    return replace(walked, objective=Objective(terms=terms))

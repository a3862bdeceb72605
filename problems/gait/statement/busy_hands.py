"""Steps of people whose hands are busy, with a box or a bar: their arms do not swing."""

from dataclasses import replace
from typing import Any

from ocp import Objective, Problem
from ocp.problems.gait.statement.step import problem
from ocp.studies import call_by_flags

SWINGING = "coupling,avoidance"  # what is asked of arms that swing
RELAXED = "arms"  # the term of arms that hang


def busy_step(**flags: Any) -> Problem:
    """Return the step of `gait` with these flags, without what arms keep to that hang.

    Nothing is asked of their swing, and torques of shoulders and elbows cost what those of all
    joints do: they bear what the hands hold.
    """
    walked = call_by_flags(problem, flags | {"without": SWINGING})
    terms = tuple(each for each in walked.objective.terms if each[1].name != RELAXED)
    return replace(walked, objective=Objective(terms=terms))

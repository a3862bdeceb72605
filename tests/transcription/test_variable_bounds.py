"""Bounds of variables: whose they are where several ask, and that they do not cross."""

import numpy as np
import pytest

from ocp import BSpline, Problem, effort, path
from ocp.models.arms.two_link import two_link
from ocp.transcription.transcribe_phase import transcribe_phase
from ocp.transcription.variables.named_multipliers import name_multipliers

SHOULDER = 0  # the variable that is its angle at the start


def bounded(*sides):
    """Two links whose shoulder starts within several bounds (name, lower, upper), rad."""
    start = [
        path(name, lambda at: at.q[0], lower=lower, upper=upper, when="start")
        for name, lower, upper in sides
    ]
    return transcribe_phase(
        Problem(
            tree=two_link(),
            motion=BSpline(points=8),
            duration=1.0,
            objective=effort(),
            constraints=start,
        )
    )


def priced(transcribed, multiplier):
    """What each constraint's multiplier is where the shoulder's bound has one."""
    x_multipliers = np.zeros(transcribed.layout.size)
    x_multipliers[SHOULDER] = multiplier
    rows = transcribed.rows, transcribed.bound_owners, transcribed.binding
    named = name_multipliers(*rows, x_multipliers, np.zeros(len(transcribed.nlp.g_lower)))
    return {name: float(each.values[0, 0]) for name, each in named.items()}


def test_of_equal_bounds_the_first_one_counts():
    transcribed = bounded(("wide", -2.0, 2.0), ("first", -1.0, 1.0), ("second", -1.0, 1.0))
    assert transcribed.nlp.lower[SHOULDER] == -1.0 and transcribed.nlp.upper[SHOULDER] == 1.0
    assert priced(transcribed, 3.0) == {"wide": 0.0, "first": 3.0, "second": 0.0}
    owners = {side: transcribed.bound_owners[SHOULDER, side][0].name for side in ("lower", "upper")}
    assert owners == {"lower": "first", "upper": "first"}


def test_each_side_is_priced_by_who_asked_for_it():
    transcribed = bounded(("below", -1.0, 5.0), ("above", -5.0, 1.0))
    assert priced(transcribed, -2.0) == {"below": -2.0, "above": 0.0}
    assert priced(transcribed, 2.0) == {"below": 0.0, "above": 2.0}


@pytest.mark.parametrize("sums", [(0.1 + 0.2, 0.3), (0.3, 0.1 + 0.2)])
def test_bounds_that_differ_by_rounding_meet(sums):
    transcribed = bounded(*((f"bound{k}", each, each) for k, each in enumerate(sums)))
    assert transcribed.nlp.lower[SHOULDER] == transcribed.nlp.upper[SHOULDER] == 0.3

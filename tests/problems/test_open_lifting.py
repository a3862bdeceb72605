"""A lift whose numbers are open is, at any values of theirs, the lift that is stated with these."""

import numpy as np
import pytest

from ocp import Spline, Transcription
from ocp.mechanics import with_values
from ocp.models.human import human
from ocp.problems.lifting import TASK, Box
from ocp.problems.lifting.solve_lifts import _numbers
from ocp.problems.lifting.statement.lift import problem
from ocp.problems.lifting.statement.standing_body import outermost, stance
from ocp.transcription import transcribe_phase

OTHER = {
    "start_height": 0.4,
    "start_ahead": 0.5,
    "end_height": 1.3,
    "end_ahead": 0.45,
    "time": 1.3,
    "stature": 1.65,
    "feet": 0.25,
    "smooth": 0.003,
}
FEW = Transcription(method=Spline(nodes=1))


def test_a_plan_s_program_at_other_values_is_that_of_these_numbers():
    parameters = {each.name: each for each in TASK.parameters if each.name in OTHER}
    values = {each: OTHER[name] for name, each in parameters.items()}
    planned = transcribe_phase(
        TASK.state({"points": 6, "weight": 0.5, "passive": False, **parameters}), FEW
    ).at(values)
    stated = transcribe_phase(
        TASK.state({"points": 6, "weight": 0.5, "passive": False, **OTHER}), FEW
    )
    size = len(stated.nlp.lower)
    x = stated.guess + 0.05 * np.sin(np.arange(size))
    whole = np.append(x, planned.nlp.lower[size:])
    rows = planned.nlp.constraints(whole), stated.nlp.constraints(x)
    np.testing.assert_allclose(*map(np.array, rows), rtol=1e-10, atol=1e-10)
    for side in ("lower", "upper", "g_lower", "g_upper"):
        bound = getattr(stated.nlp, side)
        np.testing.assert_allclose(getattr(planned.nlp, side)[: len(bound)], bound, atol=1e-13)
    price, other = planned.nlp.objective(whole), stated.nlp.objective(x)
    assert float(price) == pytest.approx(float(other), rel=1e-12)


def test_an_open_box_is_in_the_hands_and_what_it_weighs_is_an_output():
    box = next(each for each in TASK.parameters if each.name == "box")
    given = with_values(problem(box=Box(mass=box), passive=False), {box: 12.0})
    stated = problem(box=Box(mass=12.0), passive=False)
    assert given.tree == stated.tree
    assert float(given.outputs["box_mass"](None)) == 12.0


def test_soles_reach_as_far_as_the_feet_are_apart():
    apart = next(each for each in TASK.parameters if each.name == "feet")
    low, high = with_values(outermost(stance(human(), apart)), {apart: 0.3})
    near, far = outermost(stance(human(), 0.2))
    np.testing.assert_allclose(high - low, far - near + (0.1, 0.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(low, (-high[0], 0.0, near[2]), atol=1e-15)


def test_the_weights_of_a_front_are_those_of_the_values_given():
    open_ones = {each.name: each for each in TASK.parameters if each.name in ("time", "smooth")}
    terms = TASK.state({"weight": 0.25, "passive": False, **open_ones}).objective.terms
    numbers = _numbers({term.name: weight for weight, term in terms}, {"time": 2.0})
    expected = {"dynamic_effort": 0.125, "stability": 0.375, "smoothness": 0.00125}
    assert numbers == pytest.approx(expected)

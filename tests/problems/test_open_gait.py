"""A step whose numbers are open is, at any values of theirs, the step that is stated with these."""

import numpy as np
import pytest

from ocp import Parameter, Transcription
from ocp.mechanics.values.parameters import parameters_of, with_values
from ocp.models.human import ROOT, human
from ocp.problem import unilateral
from ocp.problems.gait.statement.step import effort_step as problem
from ocp.transcription import transcribe_phase

SIDED = ("hip_flex", "hip_abd", "knee_flex", "ankle_df", "toe_ext", "shou_flex", "elb_flex")
MOVING = ",".join([*ROOT, *(f"{joint}_{side}" for side in "rl" for joint in SIDED)])
OTHER = {  # parameter: its own value, another, unit
    "speed": (1.2, 1.3, "m/s"),
    "step": (0.6, 0.63, "m"),
    "mass": (75.0, 80.0, "kg"),
    "stature": (1.75, 1.62, "m"),
    "width": (0.1, 0.12, "m"),
    "contact": (0.002, 0.003, "m"),
    "slip": (0.1, 0.08, "m/s"),
    "backpack": (10.0, 14.0, "kg"),
    "hands": (40.0, 60.0, "N"),
    "slope": (5.0, -3.0, "deg"),
    "knees": (1.0, 0.7, ""),
    "trunk": (1.2, 0.9, ""),
    "smooth": (0.0025, 0.004, ""),
}


def opened(*names):
    """Parameters by name, and other values of theirs."""
    parameters = {name: Parameter(name, OTHER[name][0], OTHER[name][2]) for name in names}
    return parameters, {each: OTHER[name][1] for name, each in parameters.items()}


@pytest.mark.parametrize(
    "names",
    [
        ("speed", "step", "width", "smooth", "slope"),
        ("stature", "mass", "backpack", "hands", "knees", "trunk"),
    ],
    ids="-".join,
)
def test_an_open_step_given_its_numbers_is_the_step_of_these_numbers(names):
    parameters, values = opened(*names)
    given = with_values(problem(active=MOVING, **parameters), values)
    stated = problem(active=MOVING, **{name: OTHER[name][1] for name in names})
    assert not parameters_of(given)
    for one, other in zip(numbers_of(given), numbers_of(stated)):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def numbers_of(step):
    """All that a step is made of, but for its functions."""
    supports = [support for foot in step.ground.feet for support in foot.supports]
    yield step.duration
    yield step.symmetry.shift
    yield step.ground.normal
    yield [weight for weight, _ in step.objective.terms]
    yield from (load.force for load in step.loads)
    yield from (support.polygon for support in supports)
    yield from (pin.target for support in supports for pin in support.pins)
    yield from (point.position for point in step.tree.points)
    for joint, link in zip(step.tree.joints, step.tree.links):
        yield from (joint.home, joint.position, joint.torque)
        yield from (link.mass, link.com, link.inertia)


def test_a_plan_s_program_at_another_speed_and_step_is_that_of_these_numbers():
    """Row for row, those among them that no motion moves, which are in neither."""
    parameters, values = opened("speed", "step", "width", "contact", "slip", "slope")
    settings = {"active": MOVING, "points": 6, "jump": True}
    numbers = {name: OTHER[name][1] for name in parameters}
    planned = transcribe_phase(problem(**settings, **parameters), Transcription()).at(values)
    stated = transcribe_phase(problem(**settings, **numbers), Transcription())
    size = len(stated.nlp.lower)
    assert len(planned.nlp.lower) == size + 6
    x = stated.guess + 0.05 * np.sin(np.arange(size))
    x = np.append(x, planned.nlp.lower[size:])
    np.testing.assert_allclose(
        np.array(planned.nlp.constraints(x)),
        np.array(stated.nlp.constraints(x[:size])),
        rtol=1e-10,
        atol=1e-10,
    )
    for side in ("lower", "upper", "g_lower", "g_upper"):
        bound = getattr(stated.nlp, side)
        np.testing.assert_allclose(getattr(planned.nlp, side)[: len(bound)], bound, atol=1e-13)
    price, stated_price = planned.nlp.objective(x), stated.nlp.objective(x[:size])
    assert float(price) == pytest.approx(float(stated_price), rel=1e-12)


def test_an_open_mass_below_zero_is_refused_by_name():
    with pytest.raises(ValueError, match="human: mass: expected more than 0 kg, got -1 kg"):
        human(mass=Parameter("mass", -1.0, "kg"))
    with pytest.raises(ValueError, match="mass.*expected kg, got parameter 'mass' in m"):
        human(mass=Parameter("mass", 75.0, "m"))


def test_a_share_of_the_weight_is_of_the_mass_that_is_given():
    """Its row counts in weights of the mass that the plan was prepared with."""
    mass = Parameter("mass", 75.0, "kg")
    step = problem(active=MOVING, mass=mass)
    (_, together) = unilateral(step.tree, step.ground, least=0.2)
    assert with_values(together.lower_of(0), {mass: 90.0}) == pytest.approx(0.2 * 90 / 75)

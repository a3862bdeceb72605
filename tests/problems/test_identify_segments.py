"""Masses of a person's segments from the force of the ground on a seeded motion."""

from functools import lru_cache

import numpy as np
import pytest

from ocp import BSpline, Recording, noisy
from ocp.models.human import human, parsed, segment_masses, weighed
from ocp.problems.human.identify_segments import (
    PERSON,
    identified,
    measurable,
    statement,
    table,
    truth,
)

TIMES = np.linspace(0.0, 1.2, 49)
BASIS = BSpline(points=8, degree=5)


@lru_cache
def asked():
    """The problem whose parameters are ten masses."""
    return statement()


@lru_cache
def exact():
    """What plates measure, without noise, of a motion of all joints about standing."""
    points = 0.3 * np.random.default_rng(0).standard_normal((asked().tree.dof, BASIS.points))
    q = points @ BASIS.values(TIMES / TIMES[-1]).T
    return measurable(asked(), Recording(t=TIMES, q=q, outputs={}, motion=BASIS), truth())


def test_exact_forces_tell_all_masses():
    answer = identified(asked(), [exact()])
    assert {name: answer.values[name] for name in truth()} == pytest.approx(truth(), abs=1e-8)
    assert not answer.unidentifiable
    assert truth()["thigh_mass"] == pytest.approx(12.0)
    assert "| thigh         | 10.620 | 12.000 | 12.000 |" in table(answer, truth())


def test_noisy_forces_tell_the_whole_mass_better_than_any_part():
    answer = identified(asked(), [noisy(exact(), 1)])
    values, covariance = answer.estimate(whole(answer))
    assert values[0] == pytest.approx(75.0, abs=3 * np.sqrt(covariance[0, 0]))
    assert np.sqrt(covariance[0, 0]) < min(answer.errors.values())
    off = [(answer.values[name] - mass) / answer.errors[name] for name, mass in truth().items()]
    assert np.abs(off).max() < 3.5


def whole(answer):
    """The mass of a person as an expression of those of the segments, of limbs one side's."""
    single = ("pelvis", "middle_trunk", "upper_trunk", "head_and_neck")
    masses = {each.name.removesuffix("_mass"): each for each in answer.free}
    return [sum((1 if name in single else 2) * mass for name, mass in masses.items())]


def test_segments_of_other_masses_are_those_that_a_person_would_have():
    own = human(segments=parsed(PERSON), frozen=())
    other = weighed(human(frozen=()), segment_masses(own))
    for one, same in zip(own.links, other.links):
        assert one.mass == pytest.approx(same.mass)
        assert np.array(one.inertia) == pytest.approx(np.array(same.inertia))
    with pytest.raises(ValueError, match="unknown segment 'tail'; the segments are pelvis"):
        weighed(own, {"tail": 1.0})

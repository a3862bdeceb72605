"""Force elements that are none are refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from element_arm import ARM

from ocp import Parameter
from ocp.mechanics import (
    Armature,
    Bumper,
    CurvedSpring,
    Damper,
    Friction,
    PassiveMoment,
    Spring,
    Strength,
    Strut,
    Tendon,
)

BAD = {
    "a damper of no size": (
        lambda: Damper(joint="hip", damping=0.0),
        "damper 'hip damper': damping: expected a number above 0, got 0",
    ),
    "a spring that pushes out": (
        lambda: Spring(joint="hip", stiffness=-2.0),
        "spring 'hip spring': stiffness: expected a number above 0, got -2",
    ),
    "a spring on a fixed joint": (
        lambda: replace(ARM, elements=(Spring(joint="foot", stiffness=2.0),)),
        "spring 'foot spring': joint 'foot' is fixed and has no coordinate",
    ),
    "an unknown joint": (
        lambda: replace(ARM, elements=(Friction(joint="hand", dynamic=2.0),)),
        "friction 'hand friction': unknown joint 'hand'; the joints are hip, knee, foot",
    ),
    "two of one name": (
        lambda: replace(ARM, elements=(Damper(joint="hip", damping=1),) * 2),
        "element 'hip damper': the name is used twice",
    ),
    "an unknown point": (
        lambda: replace(ARM, elements=(Strut(name="s", start="elbow", end="toe", damping=1),)),
        "strut 's': unknown point 'elbow'; the points are thigh, heel, shank, toe",
    ),
    "a path on one link": (
        lambda: replace(
            ARM, elements=(Tendon(name="t", path=("thigh", "heel"), stiffness=1, slack=1),)
        ),
        "tendon 't': the points of its path, thigh, heel, are all on one link",
    ),
    "a path on joined links": (
        lambda: replace(ARM, elements=(Strut(name="s", start="shank", end="toe", damping=1),)),
        "strut 's': the points of its path, shank, toe, are all on one link, or on rigidly",
    ),
    "a strut of nothing": (
        lambda: Strut(name="s", start="shank", end="toe"),
        "strut 's': expected a stiffness or a damping above 0, got neither",
    ),
    "friction that rests less": (
        lambda: Friction(joint="hip", dynamic=2.0, static=1.0),
        "static level: expected at least the dynamic one, 2, got 1",
    ),
    "places that fall": (
        lambda: CurvedSpring(joint="hip", places=(0, 0), forces=(1, 2)),
        r"places: expected increasing numbers, got \[0.0, 0.0\]",
    ),
    "a bumper without ends": (
        lambda: Bumper(joint="hip", stiffness=2.0),
        "bumper 'hip bumper': ends: expected a lower or an upper one, got none",
    ),
    "a gear of zero": (
        lambda: Armature(joint="hip", inertia=1.0, gear=0),
        "armature 'hip armature': gear: expected a ratio other than 0",
    ),
    "a moment of too many": (
        lambda: replace(
            ARM, elements=(PassiveMoment(name="m", joints=("hip",), moment=lambda x, v: (x[0], 0)),)
        ),
        "passive moment 'm': moment: expected 1 values, got 2",
    ),
    "a winch without a radius": (
        lambda: Tendon(name="t", path=("thigh", "toe"), stiffness=1, slack=1, winch="hip"),
        "tendon 't': expected a winch and its radius, or none, got 'hip' and 0",
    ),
    "an unknown winch": (
        lambda: replace(
            ARM,
            elements=(
                Tendon(
                    name="t", path=("thigh", "toe"), stiffness=1, slack=1, winch="drum", radius=0.1
                ),
            ),
        ),
        "tendon 't': winch: unknown joint 'drum'",
    ),
    "a path that stays at a place": (
        lambda: replace(
            ARM, elements=(Tendon(name="t", path=("thigh", "toe", "toe"), stiffness=1, slack=1),)
        ),
        "tendon 't': toe and toe of its path are one place",
    ),
    "a moment that fails": (
        lambda: replace(
            ARM, elements=(PassiveMoment(name="m", joints=("hip",), moment=lambda x, v: x[3]),)
        ),
        r"passive moment 'm': moment: fails where it is handed expressions \(1,\), \(1,\): Runtime",
    ),
    "a moment of no number": (
        lambda: replace(
            ARM, elements=(PassiveMoment(name="m", joints=("hip",), moment=lambda x, v: np.nan),)
        ),
        "passive moment 'm': moment: expected finite values, got nan",
    ),
    "a strength of angles alone": (
        lambda: Strength(joint="hip", direction=1, capacity=lambda x: 3.0),
        "hip strength upwards': capacity: fails where it is handed .* takes 1 positional argument",
    ),
    "a strength of nothing": (
        lambda: Strength(joint="hip", direction=1, capacity=lambda x, v: None),
        "capacity: expected a CasADi expression or numbers, got NoneType",
    ),
    "an element alone": (
        lambda: replace(ARM, elements=Damper(joint="hip", damping=1)),
        "elements: expected a tuple of Armature or Bumper or .* records, got Damper",
    ),
    "no moment": (
        lambda: PassiveMoment(name="m", joints=("hip",)),
        "passive moment 'm': expected a moment or an energy, got neither",
    ),
    "a parameter of another unit": (
        lambda: replace(ARM, elements=(Spring(joint="hip", stiffness=Parameter("k", 2.0, "N/m")),)),
        "spring 'hip spring': stiffness: expected N m/rad, got parameter 'k' in N/m",
    ),
    "no element": (
        lambda: replace(ARM, elements=(3.0,)),
        "tree: elements: expected Armature or Bumper .* got float 3.0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_elements_are_refused_by_name(case):
    make, words = BAD[case]
    with pytest.raises(ValueError, match=words):
        make()

"""Muscles of the legs on the human skeleton: arms beside published ones, sizes, sides."""

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

from ocp.mechanics import State
from ocp.models.human import human
from ocp.models.human.muscles.leg_muscles import (
    GROUPS,
    Body,
    leg_muscles,
    leg_places,
    muscle_volumes,
)
from ocp.models.human.volumes import LEG

NAMES = "glut_med2", "bifemlh", "rect_fem", "psoas", "vas_lat", "soleus", "med_gas", "tib_ant"
# m, range of arms about joints at q = 0 of published means of people: hip flexors and extensors
# (Arnold, Asakawa & Delp 2000 [recalled]), knee (Buford et al. 1997 [recalled]), ankle (Maganaris
# et al. 1998 [recalled])
ARMS = {
    ("glut_med2", "hip_abd"): (0.03, 0.06),
    ("bifemlh", "hip_flex"): (-0.07, -0.045),
    ("bifemlh", "knee_flex"): (0.015, 0.035),
    ("rect_fem", "hip_flex"): (0.03, 0.05),
    ("rect_fem", "knee_flex"): (-0.05, -0.03),
    ("psoas", "hip_flex"): (0.02, 0.045),
    ("vas_lat", "knee_flex"): (-0.05, -0.03),
    ("soleus", "ankle_df"): (-0.06, -0.04),
    ("med_gas", "ankle_df"): (-0.06, -0.04),
    ("med_gas", "knee_flex"): (0.01, 0.035),
    ("tib_ant", "ankle_df"): (0.03, 0.05),
}


@lru_cache(maxsize=2)
def of_person(stature):
    tree = human(stature, 75.0)
    return tree, {each.name: each for each in leg_muscles(tree, stature, 75.0, only=NAMES)}


def slopes(tree, muscle, q):
    state = State(tree=tree, q=ca.DM(q), qd=ca.DM(tree.dof, 1))
    names = [joint.name for joint in tree.moving]
    return {names[row]: float(value) for row, value in muscle.path.slope(state).items()}


def test_arms_are_those_of_people():
    tree, known = of_person(1.75)
    for (name, joint), (lower, upper) in ARMS.items():
        arm = -slopes(tree, known[f"{name}_r"], np.zeros(tree.dof))[f"{joint}_r"]
        assert lower < arm < upper, (name, joint)


def test_polynomials_follow_the_courses():
    """Away from where points come and go, within a millimetre."""
    tree, known = of_person(1.75)
    q = np.zeros(tree.dof)
    for name, angle in (("hip_flex_r", 0.3), ("knee_flex_r", 0.2), ("ankle_df_r", 0.1)):
        q[tree.coordinate(name)] = angle
    state = State(tree=tree, q=ca.DM(q), qd=ca.DM(tree.dof, 1))
    for name in NAMES:
        muscle = known[f"{name}_r"]
        course = float(muscle.course.length(state))
        assert float(muscle.path.length(state)) == pytest.approx(course, abs=1e-3)


def test_sides_are_images():
    tree, known = of_person(1.75)
    angles = {"hip_flex": 0.2, "hip_abd": -0.1, "hip_rot": 0.1, "knee_flex": 0.4, "ankle_df": -0.2}
    right, left = np.zeros(tree.dof), np.zeros(tree.dof)
    for joint, angle in angles.items():
        right[tree.coordinate(f"{joint}_r")] = left[tree.coordinate(f"{joint}_l")] = angle
    for name in NAMES:
        lengths = [
            float(known[f"{name}_{side}"].course.length(State(tree=tree, q=ca.DM(q), qd=None)))
            for side, q in (("r", right), ("l", left))
        ]
        assert lengths[0] == pytest.approx(lengths[1], abs=1e-12)


def test_a_taller_person_has_longer_muscles_in_proportion():
    (_, small), (_, tall) = of_person(1.75), of_person(1.925)
    for name in NAMES:
        one, other = small[f"{name}_r"], tall[f"{name}_r"]
        assert other.fibre / one.fibre == pytest.approx(1.1, rel=1e-9)
        assert other.slack / one.slack == pytest.approx(1.1, rel=1e-9)


def test_volumes_are_those_of_the_groups():
    volumes, leg = muscle_volumes(1.75, 75.0), 47 * 75 * 1.75 + 1285
    assert set(volumes) == set(leg_places()) and len(volumes) == 43
    for group, starts in GROUPS.items():
        share, least = LEG[group]
        whole = sum(size for name, size in volumes.items() if name.startswith(starts))
        assert whole == pytest.approx(share * leg + least)


def test_places_begin_at_the_joints_of_the_person():
    """The hip's own place in the model's pelvis is the person's hip, of both sides."""
    tree = human()
    for side, sign in (("r", -1.0), ("l", 1.0)):
        body = Body.of(tree, side, 1.75)
        assert body.joints["hip"] == pytest.approx([sign * 0.084, 0.9275, 0.0])
        assert body.scales["femur"][1] == pytest.approx(0.42875 / (0.3958 + 0.0120), rel=1e-3)


# mm, of a planar model with these muscles (gait10dof18musc), by slopes of its paths' lengths, for
# bends of the knee (deg)
BENDS = (10.0, 20.0, 30.0, 45.0)
BENT = {
    "vas_int": (-44.9, -45.8, -44.7, -41.5),
    "rect_fem": (-48.4, -50.4, -49.6, -45.4),
    "bifemlh": (31.5, 34.0, 34.8, 33.9),
    "bifemsh": (26.4, 30.5, 32.1, 33.8),
    "med_gas": (22.5, 23.2, 20.9, 18.1),
}


def test_arms_at_the_knee_are_the_model_s_whose_shank_slides_on_the_thigh():
    """By the hinge in the shank's own origin, vasti had 34 mm at 30 deg."""
    tree = human(stature=1.8)
    known = leg_muscles(tree, 1.8, 75.0, only=tuple(BENT))
    knee = tree.coordinate("knee_flex_r")
    for bend, *arms in zip(BENDS, *BENT.values()):
        q = np.zeros(tree.dof)
        q[knee] = np.radians(bend)
        state = State(tree=tree, q=ca.DM(q))
        ours = {each.name: -1e3 * float(each.path.slope(state)[knee]) for each in known[::2]}
        for name, arm in zip(BENT, arms):
            assert abs(ours[f"{name}_r"] - arm) < 3.1, (name, bend)

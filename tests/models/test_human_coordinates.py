"""The human's coordinates: which way each goes, how far, how strongly, and what freezing does."""

import numpy as np
import pytest
from human_bodies import REFLECTION, frames_of, movement, person, places

from ocp.dynamics.formulations.newton_euler import inverse
from ocp.models.human import GAIT_FROZEN, NAMES, ROOT, human, positive_motion, torque_scale

AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-X": (-1, 0, 0), "-Z": (0, 0, -1)}
# Right side and midline: axis of the positive coordinate at q = 0, marker (a point, or a place
# 0.1 m ahead of one), and the way it goes.
MOVEMENTS = {
    "glob_tz": ("Z", "L5S1", "Z"),
    "glob_ty": ("Y", "L5S1", "Y"),
    "glob_tx": ("X", "L5S1", "X"),
    "glob_ry": ("Y", "ahead of L5S1", "X"),
    "glob_rz": ("Z", "hip_l", "Y"),
    "glob_rx": ("X", "C7T1", "Z"),
    "hip_flex": ("-X", "knee_r", "Z"),
    "hip_abd": ("-Z", "knee_r", "-X"),
    "hip_rot": ("Y", "toe_r", "X"),
    "knee_flex": ("X", "ankle_r", "-Z"),
    "ankle_df": ("-X", "toe_r", "Y"),
    "ankle_inv": ("Z", "ball_med_r", "Y"),
    "toe_ext": ("-X", "toe_r", "Y"),
    **{
        f"spine{k}_{way}": movement
        for k in (1, 2, 3, 4)
        for way, movement in {
            "flex": ("X", "head_top", "Z"),
            "lat": ("Z", "head_top", "-X"),
            "rot": ("Y", "ahead of C7T1", "X"),
        }.items()
    },
    "clav_elev": ("-Z", "shoulder_r", "Y"),
    "clav_prot": ("Y", "shoulder_r", "Z"),
    "shou_flex": ("-X", "elbow_r", "Z"),
    "shou_abd": ("-Z", "elbow_r", "-X"),
    "shou_rot": ("Y", "ahead of elbow_r", "X"),
    "elb_flex": ("-X", "wrist_r", "Z"),
    "elb_pron": ("Y", "ahead of wrist_r", "X"),
    "wri_flex": ("Z", "grip_r", "X"),
    "wri_rad": ("-X", "grip_r", "Z"),
    "neck_flex": ("X", "head_top", "Z"),
    "neck_lat": ("Z", "head_top", "-X"),
    "neck_rot": ("Y", "ahead of head_top", "X"),
    "head_flex": ("X", "head_top", "Z"),
    "head_rot": ("Y", "ahead of head_top", "X"),
}


def test_a_positive_coordinate_moves_as_its_words_say():
    """By 20 deg or 0.2 m from q = 0, the marker fixed to the joint's link goes the stated way,
    about the stated axis."""
    tree, frames, _, zero = person()
    where = places(tree, zero)
    for name in NAMES:
        k, side = tree.link_index(name), REFLECTION if name.endswith("_l") else np.eye(3)
        axis, marker, way = MOVEMENTS[movement(name)]
        screw = np.array(tree.joints[k].screw)
        turning = screw[:3].any()
        direction = zero[k][:3, :3] @ (screw[:3] if turning else screw[3:])
        expected = np.linalg.det(side) * side @ AXES[axis] if turning else np.array(AXES[axis])
        np.testing.assert_allclose(direction, expected, rtol=0, atol=1e-15, err_msg=name)
        start = side @ (where[marker.split()[-1]] + (0, 0, 0.1 * marker.startswith("ahead")))
        moving = frames(np.eye(55)[k] * (np.radians(20) if turning else 0.2))[k]
        moved = moving @ np.linalg.inv(zero[k]) @ (*start, 1.0)
        assert (moved[:3] - start) @ (side @ AXES[way]) > 0.015, name
        assert positive_motion(name)


def test_words_say_the_direction():
    for name, word in {"knee_flex_l": "backward", "glob_ry": "left", "spine2_lat": "right"}.items():
        assert word in positive_motion(name)
    with pytest.raises(ValueError, match="unknown joints 'knee'; the joints are glob_tz, "):
        positive_motion("knee")


RANGES = {
    "hip_flex": (-30, 120),
    "hip_abd": (-30, 45),
    "hip_rot": (-45, 45),
    "knee_flex": (0, 140),
    "ankle_df": (-50, 25),
    "ankle_inv": (-20, 35),
    "toe_ext": (-40, 70),
    "shou_flex": (-60, 180),
    "shou_abd": (-30, 150),
    "shou_rot": (-90, 70),
    "elb_flex": (0, 150),
    "elb_pron": (-80, 80),
    "wri_flex": (-70, 80),
    "wri_rad": (-30, 20),
    "neck_flex": (-45, 40),
    "neck_lat": (-40, 40),
    "neck_rot": (-40, 40),
    "head_flex": (-20, 15),
    "head_rot": (-40, 40),
    "clav_elev": (-10, 40),
    "clav_prot": (-25, 25),
}


def test_joints_reach_as_far_as_people_do():
    reached = set()
    for joint in person()[0].joints:
        name = movement(joint.name)
        if name in RANGES:
            assert np.degrees(joint.position) == pytest.approx(RANGES[name]), name
            reached.add(name)
    assert reached == set(RANGES)


def test_gait_has_narrower_limits():
    for full, gait in zip(human(frozen=()).joints, human(frozen=(), ranges="gait").joints):
        assert full.position[0] <= gait.position[0] <= 0 <= gait.position[1] <= full.position[1]
        assert gait.position[0] < gait.position[1] and gait.torque == full.torque
    gait = {joint.name: joint.position for joint in human(frozen=(), ranges="gait").joints}
    for name, reach in {
        "knee_flex_l": (0, 75),
        "shou_abd_r": (0, 20),
        "wri_flex_r": (-17.5, 20),
        "spine4_rot": (-5, 5),
    }.items():
        assert np.degrees(gait[name]) == pytest.approx(reach)


def test_the_spine_bends_as_far_as_its_parts():
    """Flexion 85, extension 40, bending 42 and rotation 45 deg, shared among four joints."""
    ranges = {joint.name: np.degrees(joint.position) for joint in human(frozen=()).joints}
    for way, whole in {"flex": (-40, 85), "lat": (-42, 42), "rot": (-45, 45)}.items():
        assert sum(ranges[f"spine{k}_{way}"] for k in (1, 2, 3, 4)) == pytest.approx(whole)


MGH = 75.0 * 9.81 * 1.75
STRENGTHS = {  # against and along the positive coordinate (N m)
    # mean + deviation of Anderson et al. 2007, table 3
    "hip_flex": (MGH * (0.161 + 0.049), MGH * (0.113 + 0.025)),
    "knee_flex": (MGH * (0.163 + 0.040), MGH * (0.087 + 0.015)),
    "ankle_df": (MGH * (0.095 + 0.022), MGH * (0.033 + 0.005)),
    # percentiles 5, 50, 95 of Stobbe 1982
    "spine1_flex": (234 + (503 - 164) / 3.29, 143 + (216 - 89) / 3.29),
    "spine2_flex": (337, 182),
    "spine3_flex": (337, 182),
    "spine4_flex": (337, 182),
    "spine1_lat": (159 + (261 - 95) / 3.29,) * 2,
    "spine2_lat": (209, 209),
    "spine3_lat": (209, 209),
    "spine4_lat": (209, 209),
    **{f"spine{k}_rot": (75 * 1.25, 75 * 1.25) for k in (1, 2, 3, 4)},
    "hip_abd": (75 * 1.08, 75 * 1.29),
    "hip_rot": (75 * 0.66, 75 * 0.72),
    "ankle_inv": (75 * 0.42, 75 * 0.46),
    "toe_ext": (30, 10),
    "clav_elev": (150, 150),
    "clav_prot": (150, 150),
    "shou_flex": (100, 92),
    "shou_abd": (91, 89),
    "shou_rot": (42, 69),
    "elb_flex": (57, 98),
    "elb_pron": (14, 12),
    "wri_flex": (12, 25),
    "wri_rad": (10, 11),
    "neck_flex": (75 * 0.7, 75 * 0.4),
    "head_flex": (75 * 0.7, 75 * 0.4),
    "neck_lat": (36, 36),
    "neck_rot": (15, 15),
    "head_rot": (15, 15),
}


def test_strengths_are_the_published_ones():
    """To the full N m to which they are rounded."""
    limits = {joint.name: joint.torque for joint in person()[0].joints if joint.actuated}
    assert {movement(name) for name in limits} == set(STRENGTHS)
    for name, limit in limits.items():
        lower, upper = STRENGTHS[movement(name)]
        assert limit == pytest.approx((-lower, upper), abs=0.65), name


def test_only_the_six_global_joints_are_without_muscles():
    tree = human()
    passive = tuple(joint.name for joint in tree.moving if not joint.actuated)
    assert passive == ROOT == tree.names[:6]
    assert all(np.isinf(joint.torque).all() for joint in tree.joints[:6])
    scale = torque_scale(tree)
    assert list(scale) == [joint.name for joint in tree.moving][6:]
    assert scale["hip_flex_r"] == 270 and scale["elb_flex_l"] == 98 and scale["spine1_flex"] == 337


def test_frozen_joints_stand_at_zero():
    tree, rng = human(), np.random.default_rng(0)
    full, frames, torques, _ = person()
    assert {joint.name for joint in tree.joints if joint.screw is None} == set(GAIT_FROZEN)
    rows = [full.coordinate(joint.name) for joint in tree.moving]
    q, qd, qdd = (np.zeros(55) for _ in range(3))
    for part in (q, qd, qdd):
        part[rows] = rng.uniform(-0.5, 0.5, 38)
    np.testing.assert_allclose(frames_of(tree, q[rows]), frames(q), rtol=0, atol=1e-14)
    given = np.array(inverse(tree, q[rows], qd[rows], qdd[rows])).ravel()
    np.testing.assert_allclose(given, torques(q, qd, qdd)[rows], rtol=0, atol=1e-11)


def test_the_frozen_set_is_checked():
    unknown = "unknown joints 'knee', 'tail'; the joints are glob_tz, .*head_rot"
    with pytest.raises(ValueError, match=unknown):
        human(frozen=("knee", "hip_rot_r", "tail"))
    text = "expected a collection of joint names, got the string 'head_rot'"
    with pytest.raises(ValueError, match=text):
        human(frozen="head_rot")
    assert human(frozen=(*GAIT_FROZEN, *GAIT_FROZEN)) == human()
    assert human(frozen=ROOT).dof == 49 and human(frozen=NAMES).dof == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"stature": 0}, "stature: expected more than 0 m, got 0 m"),
        ({"stature": 175}, "stature: expected at most 2.8 m, got 175 m; is it in cm?"),
        ({"mass": 75e3}, "mass: expected at most 700 kg, got 75000 kg; is it in g?"),
        ({"mass": -75}, "mass: expected more than 0 kg, got -75 kg"),
        ({"stature": np.nan}, r"stature \(m\): expected finite numbers"),
        ({"mass": np.inf}, r"mass \(kg\): expected finite numbers"),
        ({"mass": "heavy"}, r"mass \(kg\): expected numbers"),
        ({"ranges": "sport"}, "ranges: expected 'anatomical' or 'gait', got 'sport'"),
        ({"gravity": -9.81}, "gravity: expected shape"),
    ],
)
def test_a_wrong_person_is_refused_by_name_and_unit(change, message):
    with pytest.raises(ValueError, match=message):
        human(**change)

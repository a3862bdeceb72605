"""The human skeleton: its size and mass, what each coordinate does, its mirror image, its scaling, and the torques that hold it up."""

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest
from ocp.models.human import (
    BOX_SPHERES,
    CONTACTS,
    FEET,
    GAIT_FROZEN,
    NAMES,
    ROOT,
    SELF_SPHERES,
    SOLES,
    human,
    mirror,
    positive_motion,
    torque_scale,
)
from ocp.models.human.anthropometry import LINKS

from ocp.dynamics.newton_euler import inverse
from ocp.mechanics.joints import Joint
from ocp.mechanics.kinematics import poses
from ocp.mechanics.tree import Link, Tree

AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-X": (-1, 0, 0), "-Z": (0, 0, -1)}
REFLECTION = np.diag((-1.0, 1.0, 1.0))  # left and right change places
# Right side and midline: axis of the positive coordinate at q = 0, marker (a point, or a place 0.1 m ahead of one), and the way it goes.
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


@lru_cache(maxsize=None)
def person():
    """The reference person with all 55 joints moving, functions q -> poses and (q, qd, qdd) -> torques, and the poses at q = 0."""
    tree = human(frozen=())
    q, qd, qdd = (ca.SX.sym(name, tree.dof) for name in ("q", "qd", "qdd"))
    stacked = ca.Function("poses", [q], [ca.horzcat(*poses(tree, q))])
    torques = ca.Function("torques", [q, qd, qdd], [inverse(tree, q, qd, qdd)])

    def frames(q):
        return np.array(stacked(q)).reshape(4, -1, 4).swapaxes(0, 1)

    return (
        tree,
        frames,
        lambda *motion: np.array(torques(*motion)).ravel(),
        frames(np.zeros(tree.dof)),
    )


def places(tree, frames):
    """Positions (m) of all points by name."""
    return {
        point.name: (frames[tree.link_index(point.link)] @ (*point.position, 1.0))[:3]
        for point in tree.points
    }


def together(links, frames):
    """Mass of some links, their centre of mass, and inertia about it, in global axes."""
    masses = np.array([link.mass for link in links])
    centers = np.array([(frame @ (*link.com, 1.0))[:3] for frame, link in zip(frames, links)])
    center = masses @ centers / masses.sum()
    inertia = np.zeros((3, 3))
    for link, frame, place in zip(links, frames, centers):
        arm = place - center
        inertia += frame[:3, :3] @ link.inertia @ frame[:3, :3].T + link.mass * (
            arm @ arm * np.eye(3) - np.outer(arm, arm)
        )
    return masses.sum(), center, inertia


def frames_of(tree, q=None):
    """Poses of any tree, at q = 0 unless said otherwise."""
    return np.array(
        [np.array(pose) for pose in poses(tree, ca.DM.zeros(tree.dof) if q is None else ca.DM(q))]
    )


def other_side(name):
    """The name with left and right exchanged."""
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def movement(name):
    """The joint's name without its side."""
    return name[:-2] if other_side(name) != name else name


def random_posture(tree, rng):
    """A posture within the joint limits."""
    return np.array([rng.uniform(*joint.position) for joint in tree.moving])


# Size and mass --------------------------------------------------------------------------------------------------------------


def test_there_are_55_joints_of_which_38_move_in_gait():
    assert len(NAMES) == len(set(NAMES)) == human(frozen=()).dof == 55
    assert len(set(GAIT_FROZEN)) == 17 and human().dof == 38
    branches = [
        range(6),
        range(6, 13),
        range(13, 20),
        range(20, 32),
        range(32, 41),
        range(41, 50),
        range(50, 55),
    ]
    roots = [human().joints[branch[0]].parent for branch in branches]
    assert roots == [
        "ground",
        "glob_rx",
        "glob_rx",
        "glob_rx",
        "spine4_rot",
        "spine4_rot",
        "spine4_rot",
    ]


def test_the_reference_person_has_the_stated_mass_height_and_balance():
    tree, _, _, frames = person()
    mass, center, inertia = together(tree.links, frames)
    assert mass == pytest.approx(75.0, abs=1e-12)
    assert places(tree, frames)["head_top"] == pytest.approx((0.0, 1.75, 0.0), abs=1e-12)
    assert center == pytest.approx((0.0, 0.9886, 0.0014), abs=5e-5)
    assert center[1] / 1.75 == pytest.approx(0.565, abs=5e-4)
    assert inertia.diagonal() == pytest.approx((11.67, 0.94, 12.28), abs=5e-3)


def test_points_of_the_standing_person_are_where_they_belong():
    tree, _, _, frames = person()
    where = places(tree, frames)
    assert max(abs(where[name][1]) for sole in SOLES.values() for name in sole) < 1e-8
    assert (
        max(
            abs(where[name][1])
            for feet in CONTACTS.values()
            for names in feet.values()
            for name in names
        )
        < 1e-8
    )
    for name, place in {
        "heel_r": (-0.084, 0, -0.04517),
        "ball_lat_r": (-0.129, 0, 0.12635),
        "toe_l": (0.084, 0, 0.19083),
        "toe_lat_r": (-0.114, 0, 0.18083),
        "ankle_l": (0.084, 0.06825, 0),
        "knee_r": (-0.084, 0.49875, 0),
        "mid_thigh_r": (-0.084, 0.713125, 0),
        "hip_l": (0.084, 0.9275, 0),
        "L5S1": (0, 1.0325, 0),
        "T6": (0, 1.37375, 0),
        "C7T1": (0, 1.505875, 0),
        "shoulder_r": (-0.18025, 1.4217, 0),
        "elbow_l": (0.18025, 1.13854377, 0),
        "wrist_r": (-0.18025, 0.8682537, 0),
        "grip_l": (0.18025, 0.7816081, 0),
        "pelvis_origin": (0, 0.9275, 0),
    }.items():
        assert where[name] == pytest.approx(place, abs=2e-8), name


def test_left_and_right_of_the_standing_person_mirror_each_other():
    tree, _, _, frames = person()
    where = places(tree, frames)
    assert {other_side(name) for name in where} == set(where)
    for name, place in where.items():
        np.testing.assert_allclose(where[other_side(name)], REFLECTION @ place, rtol=0, atol=1e-15)


# Segments of men (de Leva 1996): share of the mass, length (m), radii of gyration about X, Y, Z over it; the joint from which the centre of mass
# is measured, and its place there over the length. The hand's palm faces the thigh, the foot points ahead; the trunk's centres are elsewhere.
SEGMENTS = {
    "thigh": (("hip_rot_r",), 0.1416, 0.42875, (0.329, 0.149, 0.329), "hip_r", (0, -0.4095, 0)),
    "shank": (("knee_flex_r",), 0.0433, 0.4305, (0.246, 0.102, 0.251), "knee_r", (0, -0.4395, 0)),
    "foot": (
        ("ankle_inv_r", "toe_ext_r"),
        0.0137,
        0.2581 * 1.75 / 1.741,
        (0.245, 0.257, 0.124),
        None,
        None,
    ),
    "upper_arm": (
        ("shou_rot_r",),
        0.0271,
        0.2817 * 1.75 / 1.741,
        (0.269, 0.158, 0.285),
        "shoulder_r",
        (0, -0.5772, 0),
    ),
    "forearm": (
        ("elb_pron_r",),
        0.0162,
        0.2689 * 1.75 / 1.741,
        (0.265, 0.121, 0.276),
        "elbow_r",
        (0, -0.4574, 0),
    ),
    "hand": (
        ("wri_rad_r",),
        0.0061,
        0.0862 * 1.75 / 1.741,
        (0.628, 0.401, 0.513),
        "wrist_r",
        (0, -0.79, 0),
    ),
    "head_and_neck": (
        ("neck_rot", "head_rot"),
        0.0694,
        0.2429 * 1.75 / 1.741,
        (0.315, 0.261, 0.303),
        "C7T1",
        (0, 0.4998, 0),
    ),
    "upper_trunk": (
        ("spine3_rot", "spine4_rot"),
        0.1596,
        0.2421 * 1.75 / 1.741,
        (0.320, 0.465, 0.505),
        None,
        None,
    ),
    "middle_trunk": (
        ("spine1_rot", "spine2_rot"),
        0.1633,
        0.2155 * 1.75 / 1.741,
        (0.383, 0.468, 0.482),
        None,
        None,
    ),
    "lower_trunk": (("glob_rx",), 0.1117, 0.1457 * 1.75 / 1.741, (0.551, 0.587, 0.615), None, None),
}


@pytest.mark.parametrize("segment", SEGMENTS)
def test_segments_have_the_published_masses_centres_and_radii(segment):
    tree, _, _, frames = person()
    names, share, length, radii, joint, place = SEGMENTS[segment]
    for side in (lambda name: name, other_side):
        rows = [tree.link_index(side(name)) for name in names]
        mass, center, inertia = together([tree.links[k] for k in rows], frames[rows])
        assert mass == pytest.approx(75.0 * share, abs=1e-12)
        assert np.sqrt(inertia.diagonal() / mass) / length == pytest.approx(radii, abs=2e-4)
        assert np.abs(inertia - np.diag(inertia.diagonal())).max() < 1e-8
        if joint:
            assert (center - places(tree, frames)[side(joint)]) / length == pytest.approx(
                place, abs=2e-4
            )


def test_links_with_mass_are_those_of_segments_and_have_physical_inertias():
    for link, name in zip(person()[0].links, NAMES):
        assert bool(link.mass) == (movement(name) in sum(LINKS.values(), ()))
        if link.mass:
            moments = np.linalg.eigvalsh(link.inertia)
            assert moments[0] > 0 and moments[0] + moments[1] > moments[2]


def test_feet_contacts_soles_and_spheres_name_what_the_tree_has():
    tree, _, _, frames = person()
    where = places(tree, frames)
    for side, (rear, fore) in FEET.items():
        assert {tree.point(name).link for name in CONTACTS[side]["H"]} == {rear}
        assert {tree.point(name).link for part in "BT" for name in CONTACTS[side][part]} == {fore}
        corners = np.array([where[name][[0, 2]] for name in SOLES[side]])
        edges = np.roll(corners, -1, axis=0) - corners
        turns = [
            first[0] * second[1] - first[1] * second[0]
            for first, second in zip(edges, np.roll(edges, -1, axis=0))
        ]
        assert len(set(np.sign(turns))) == 1  # convex, and in order
    for spheres in (SELF_SPHERES, BOX_SPHERES):
        assert all(
            radius == spheres[other_side(name)] > 0 for name, radius in spheres.items()
        ) and set(spheres) <= set(where)


# Coordinates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_positive_coordinate_moves_as_its_words_say(name):
    """By 20 deg or 0.2 m from q = 0, the marker fixed to the joint's link goes the stated way, about the stated axis."""
    tree, frames, _, zero = person()
    k, side = tree.link_index(name), REFLECTION if name.endswith("_l") else np.eye(3)
    axis, marker, way = MOVEMENTS[movement(name)]
    screw = np.array(tree.joints[k].screw)
    turning = screw[:3].any()
    expected = np.linalg.det(side) * side @ AXES[axis] if turning else np.array(AXES[axis])
    np.testing.assert_allclose(
        zero[k][:3, :3] @ (screw[:3] if turning else screw[3:]), expected, rtol=0, atol=1e-15
    )
    start = places(tree, zero)[marker.split()[-1]] + (0, 0, 0.1 * marker.startswith("ahead"))
    start = side @ start
    moved = (
        frames(np.eye(55)[k] * (np.radians(20) if turning else 0.2))[k]
        @ np.linalg.inv(zero[k])
        @ (*start, 1.0)
    )
    assert (moved[:3] - start) @ (side @ AXES[way]) > 0.015
    assert positive_motion(name)


def test_words_say_the_direction():
    assert (
        "backward" in positive_motion("knee_flex_l")
        and "left" in positive_motion("glob_ry")
        and "right" in positive_motion("spine2_lat")
    )
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


@pytest.mark.parametrize("name", RANGES)
def test_joints_reach_as_far_as_people_do(name):
    ranges = [
        np.degrees(joint.position) for joint in person()[0].joints if movement(joint.name) == name
    ]
    assert ranges and all(reach == pytest.approx(RANGES[name]) for reach in ranges)


def test_gait_has_narrower_limits():
    for full, gait in zip(human(frozen=()).joints, human(frozen=(), ranges="gait").joints):
        assert full.position[0] <= gait.position[0] <= 0 <= gait.position[1] <= full.position[1]
        assert gait.position[0] < gait.position[1] and gait.torque == full.torque
    gait = {
        joint.name: tuple(np.degrees(joint.position))
        for joint in human(frozen=(), ranges="gait").joints
    }
    assert gait["knee_flex_l"] == pytest.approx((0, 75)) and gait["shou_abd_r"] == pytest.approx(
        (0, 20)
    )
    assert gait["wri_flex_r"] == pytest.approx((-17.5, 20)) and gait["spine4_rot"] == pytest.approx(
        (-5, 5)
    )


def test_the_spine_bends_as_far_as_its_parts():
    """Flexion 85, extension 40, bending 42 and rotation 45 deg, shared among four joints."""
    ranges = {joint.name: np.degrees(joint.position) for joint in human(frozen=()).joints}
    for way, whole in {"flex": (-40, 85), "lat": (-42, 42), "rot": (-45, 45)}.items():
        assert sum(ranges[f"spine{k}_{way}"] for k in (1, 2, 3, 4)) == pytest.approx(whole)


MGH = 75.0 * 9.81 * 1.75


@pytest.mark.parametrize(
    "name, lower, upper",
    [
        ("hip_flex", MGH * (0.161 + 0.049), MGH * (0.113 + 0.025)),
        ("knee_flex", MGH * (0.163 + 0.040), MGH * (0.087 + 0.015)),
        (
            "ankle_df",
            MGH * (0.095 + 0.022),
            MGH * (0.033 + 0.005),
        ),  # mean + deviation of Anderson et al. 2007, table 3
        ("spine1_flex", 234 + (503 - 164) / 3.29, 143 + (216 - 89) / 3.29),
        ("spine2_flex", 337, 182),
        ("spine3_flex", 337, 182),
        ("spine4_flex", 337, 182),
        ("spine1_lat", *(159 + (261 - 95) / 3.29,) * 2),
        ("spine2_lat", 209, 209),
        ("spine3_lat", 209, 209),
        ("spine4_lat", 209, 209),
        *(
            (f"spine{k}_rot", 75 * 1.25, 75 * 1.25) for k in (1, 2, 3, 4)
        ),  # percentiles 5, 50, 95 of Stobbe 1982
        ("hip_abd", 75 * 1.08, 75 * 1.29),
        ("hip_rot", 75 * 0.66, 75 * 0.72),
        ("ankle_inv", 75 * 0.42, 75 * 0.46),
        ("toe_ext", 30, 10),
        ("clav_elev", 150, 150),
        ("clav_prot", 150, 150),
        ("shou_flex", 100, 92),
        ("shou_abd", 91, 89),
        ("shou_rot", 42, 69),
        ("elb_flex", 57, 98),
        ("elb_pron", 14, 12),
        ("wri_flex", 12, 25),
        ("wri_rad", 10, 11),
        ("neck_flex", 75 * 0.7, 75 * 0.4),
        ("head_flex", 75 * 0.7, 75 * 0.4),
        ("neck_lat", 36, 36),
        ("neck_rot", 15, 15),
        ("head_rot", 15, 15),
    ],
)
def test_strengths_are_the_published_ones(name, lower, upper):
    """To the full N m to which they are rounded."""
    tree = person()[0]
    limits = [joint.torque for joint in tree.joints if movement(joint.name) == name]
    assert limits and all(limit == pytest.approx((-lower, upper), abs=0.65) for limit in limits)


def test_only_the_six_global_joints_are_without_muscles():
    tree = human()
    assert (
        tuple(joint.name for joint in tree.moving if not joint.actuated) == ROOT == tree.names[:6]
    )
    assert all(np.isinf(joint.torque).all() for joint in tree.joints[:6])
    scale = torque_scale(tree)
    assert list(scale) == [joint.name for joint in tree.moving][6:]
    assert scale["hip_flex_r"] == 270 and scale["elb_flex_l"] == 98 and scale["spine1_flex"] == 337


# Frozen joints --------------------------------------------------------------------------------------------------------------


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
    with pytest.raises(
        ValueError, match="unknown joints 'knee', 'tail'; the joints are glob_tz, .*head_rot"
    ):
        human(frozen=("knee", "hip_rot_r", "tail"))
    with pytest.raises(
        ValueError, match="expected a collection of joint names, got the string 'head_rot'"
    ):
        human(frozen="head_rot")
    assert human(frozen=(*GAIT_FROZEN, *GAIT_FROZEN)) == human()
    assert human(frozen=ROOT).dof == 49 and human(frozen=NAMES).dof == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"stature": 0}, "stature: expected more than 0 m, got 0 m"),
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


# Mirror image ---------------------------------------------------------------------------------------------------------------


def test_the_mirror_image_has_reflected_points_mass_and_torques():
    tree, frames, torques, _ = person()
    index, sign = mirror(tree)
    flip, rng = np.kron(REFLECTION, REFLECTION), np.random.default_rng(1)
    for _ in range(20):
        motion = random_posture(tree, rng), rng.uniform(-1, 1, 55), rng.uniform(-1, 1, 55)
        image = [sign * part[index] for part in motion]
        here, there = frames(motion[0]), frames(image[0])
        where, seen = places(tree, here), places(tree, there)
        for name, place in where.items():
            np.testing.assert_allclose(
                seen[other_side(name)], REFLECTION @ place, rtol=0, atol=1e-12
            )
        (_, center, inertia), (_, reflected, inertia_seen) = (
            together(tree.links, here),
            together(tree.links, there),
        )
        np.testing.assert_allclose(reflected, REFLECTION @ center, rtol=0, atol=1e-12)
        np.testing.assert_allclose(inertia_seen.ravel(), flip @ inertia.ravel(), rtol=0, atol=1e-12)
        effort = torques(*motion)
        np.testing.assert_allclose(
            torques(*image), sign * effort[index], rtol=0, atol=1e-12 * np.abs(effort).max()
        )


@pytest.mark.parametrize(
    "frozen",
    [GAIT_FROZEN, (), (*ROOT, "knee_flex_r", "knee_flex_l")],
    ids=["gait", "none", "root_and_knees"],
)
def test_mirroring_twice_changes_nothing(frozen):
    tree = human(frozen=frozen)
    index, sign = mirror(tree)
    names = np.array([joint.name for joint in tree.moving])
    assert [other_side(name) for name in names] == list(names[index])
    np.testing.assert_array_equal(index[index], np.arange(tree.dof))
    np.testing.assert_array_equal(sign * sign[index], np.ones(tree.dof))
    limits = np.array([joint.position for joint in tree.moving])
    np.testing.assert_array_equal(np.sort(sign[:, None] * limits[index], axis=1), limits)


def test_a_lopsided_or_foreign_tree_has_no_mirror_image():
    with pytest.raises(
        ValueError, match="joint 'knee_flex_r' moves, but its partner 'knee_flex_l' is frozen"
    ):
        mirror(human(frozen=("knee_flex_l",)))
    with pytest.raises(ValueError, match="joint 'hinge' is not of the human"):
        mirror(Tree(links=(Link(),), joints=(Joint(name="hinge", screw=(0, 0, 1, 0, 0, 0)),)))


# Scaling and statics --------------------------------------------------------------------------------------------------------


def test_a_smaller_person_scales_by_stature_and_mass():
    small, full = human(1.6, 60.0, frozen=()), person()[0]
    length, weight = 1.6 / 1.75, 60.0 / 75.0
    mass, center, inertia = together(small.links, frames_of(small))
    _, center_full, inertia_full = together(full.links, person()[3])
    assert mass == pytest.approx(60.0) and center == pytest.approx(length * center_full, abs=1e-12)
    np.testing.assert_allclose(inertia, weight * length**2 * inertia_full, rtol=0, atol=1e-12)
    where, reference = places(small, frames_of(small)), places(full, person()[3])
    assert where["head_top"][1] == pytest.approx(1.6)
    assert all(where[name] == pytest.approx(length * reference[name], abs=1e-12) for name in where)
    for mine, theirs in zip(small.joints, full.joints):
        assert mine.torque == pytest.approx(weight * length * np.array(theirs.torque))
        slide = theirs.kind == "prismatic"
        assert mine.position == pytest.approx(
            (length if slide else 1.0) * np.array(theirs.position)
        )


def test_resting_torques_scale_like_their_limits():
    small, (full, _, torques, _) = human(1.9, 90.0, frozen=()), person()
    q, rest = random_posture(full, np.random.default_rng(2)), np.zeros(55)
    scaled, reference = (
        np.array(inverse(small, q, rest, rest)).ravel()[6:],
        torques(q, rest, rest)[6:],
    )
    np.testing.assert_allclose(scaled, 1.9 * 90.0 / (1.75 * 75.0) * reference, rtol=0, atol=1e-10)


def test_standing_takes_the_weight_at_the_root():
    """75 kg at 9.81 m/s2, 1.4 mm ahead of the pelvis' axis; without gravity nothing."""
    for gravity, weight in ((9.81, 735.75), (0.0, 0.0)):
        tree = human(gravity=(0.0, -gravity, 0.0))
        force = np.array(inverse(tree, *(np.zeros(38),) * 3)).ravel()[:6]
        assert force == pytest.approx((0, weight, 0, 0, 0, -0.00143217 * weight), abs=1e-4)

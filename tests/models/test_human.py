"""The human skeleton: its size and mass, its segments, its mirror image and its scaling."""

import numpy as np
import pytest
from human_bodies import (
    REFLECTION,
    frames_of,
    movement,
    other_side,
    person,
    places,
    random_posture,
    together,
)

from ocp import Joint, Link, Parameter, Tree
from ocp.dynamics.formulations.newton_euler import inverse
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
)
from ocp.models.human.anthropometry import LINKS


def test_there_are_55_joints_of_which_38_move_in_gait():
    assert len(NAMES) == len(set(NAMES)) == human(frozen=()).dof == 55
    assert len(set(GAIT_FROZEN)) == 17 and human().dof == 38
    joints = human().joints
    roots = [joints[first].parent for first in (0, 6, 13, 20, 32, 41, 50)]  # of the branches
    assert roots == ["ground", *["glob_rx"] * 3, *["spine4_rot"] * 3]


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
    touching = [name for sole in SOLES.values() for name in sole]
    touching += [name for feet in CONTACTS.values() for names in feet.values() for name in names]
    assert max(abs(where[name][1]) for name in touching) < 1e-8
    for name, place in {
        "heel_r": (-0.084, 0, -0.04517),
        "ball_lat_r": (-0.129, 0, 0.12635),
        "toe_l": (0.084, 0, 0.19083),
        "toe_lat_r": (-0.114, 0, 0.18083),
        "ankle_l": (0.084, 0.06825, 0),
        "knee_r": (-0.084, 0.49875, 0),
        "mid_shank_r": (-0.084, 0.2835, 0),
        "mid_thigh_r": (-0.084, 0.713125, 0),
        "hip_l": (0.084, 0.9275, 0),
        "L5S1": (0, 1.0325, 0),
        "T6": (0, 1.37375, 0),
        "C7T1": (0, 1.505875, 0),
        "head": (0, 1.65, 0),
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


# Segments of men (de Leva 1996): share of the mass, length (m), radii of gyration about X, Y, Z
# over it; the joint from which the centre of mass is measured, and its place there over it. The
# hand's palm faces the thigh, the foot points ahead; the trunk's centres are elsewhere.
TALL = 1.75 / 1.741
LIMBS = {
    ("hip_rot_r",): (0.1416, 0.42875, (0.329, 0.149, 0.329), "hip_r", -0.4095),
    ("knee_flex_r",): (0.0433, 0.4305, (0.246, 0.102, 0.251), "knee_r", -0.4395),
    ("shou_rot_r",): (0.0271, 0.2817 * TALL, (0.269, 0.158, 0.285), "shoulder_r", -0.5772),
    ("elb_pron_r",): (0.0162, 0.2689 * TALL, (0.265, 0.121, 0.276), "elbow_r", -0.4574),
    ("wri_rad_r",): (0.0061, 0.0862 * TALL, (0.628, 0.401, 0.513), "wrist_r", -0.79),
    ("neck_rot", "head_rot"): (0.0694, 0.2429 * TALL, (0.315, 0.261, 0.303), "C7T1", 0.4998),
}
OTHERS = {
    ("ankle_inv_r", "toe_ext_r"): (0.0137, 0.2581 * TALL, (0.245, 0.257, 0.124)),
    ("spine3_rot", "spine4_rot"): (0.1596, 0.2421 * TALL, (0.320, 0.465, 0.505)),
    ("spine1_rot", "spine2_rot"): (0.1633, 0.2155 * TALL, (0.383, 0.468, 0.482)),
    ("glob_rx",): (0.1117, 0.1457 * TALL, (0.551, 0.587, 0.615)),
}


def test_segments_have_the_published_masses_centres_and_radii():
    tree, _, _, frames = person()
    where = places(tree, frames)
    for names, (share, length, radii, *centre) in (LIMBS | OTHERS).items():
        for side in (lambda name: name, other_side):
            rows = [tree.link_index(side(name)) for name in names]
            mass, center, inertia = together([tree.links[k] for k in rows], frames[rows])
            assert mass == pytest.approx(75.0 * share, abs=1e-12)
            assert np.sqrt(inertia.diagonal() / mass) / length == pytest.approx(radii, abs=2e-4)
            assert np.abs(inertia - np.diag(inertia.diagonal())).max() < 1e-8
            if centre:
                joint, height = centre
                away = (center - where[side(joint)]) / length
                assert away == pytest.approx((0, height, 0), abs=2e-4), names


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
        (x, z), (u, v) = edges.T, np.roll(edges, -1, axis=0).T
        turns = x * v - z * u
        assert len(set(np.sign(turns))) == 1  # convex, and in order
    for spheres in (SELF_SPHERES, BOX_SPHERES):
        assert set(spheres) <= set(where)
        for name, radius in spheres.items():
            assert radius == spheres[other_side(name)] > 0


def test_the_mirror_image_has_reflected_points_mass_and_torques():
    tree, frames, torques, _ = person()
    index, sign = mirror(tree)
    flip, rng = np.kron(REFLECTION, REFLECTION), np.random.default_rng(1)
    for _ in range(5):
        motion = random_posture(tree, rng), rng.uniform(-1, 1, 55), rng.uniform(-1, 1, 55)
        image = [sign * part[index] for part in motion]
        here, there = frames(motion[0]), frames(image[0])
        where, seen = places(tree, here), places(tree, there)
        for name, place in where.items():
            other = seen[other_side(name)]
            np.testing.assert_allclose(other, REFLECTION @ place, rtol=0, atol=1e-12)
        _, center, inertia = together(tree.links, here)
        _, reflected, inertia_seen = together(tree.links, there)
        np.testing.assert_allclose(reflected, REFLECTION @ center, rtol=0, atol=1e-12)
        np.testing.assert_allclose(inertia_seen.ravel(), flip @ inertia.ravel(), rtol=0, atol=1e-12)
        effort = torques(*motion)
        error = np.abs(torques(*image) - sign * effort[index]).max()
        assert error <= 1e-12 * np.abs(effort).max()


def test_mirroring_twice_changes_nothing():
    for frozen in (GAIT_FROZEN, (), (*ROOT, "knee_flex_r", "knee_flex_l")):
        tree = human(frozen=frozen)
        index, sign = mirror(tree)
        names = np.array([joint.name for joint in tree.moving])
        assert [other_side(name) for name in names] == list(names[index])
        np.testing.assert_array_equal(index[index], np.arange(tree.dof))
        np.testing.assert_array_equal(sign * sign[index], np.ones(tree.dof))
        limits = np.array([joint.position for joint in tree.moving])
        np.testing.assert_array_equal(np.sort(sign[:, None] * limits[index], axis=1), limits)


def test_a_lopsided_or_foreign_tree_has_no_mirror_image():
    lopsided = "joint 'knee_flex_r' moves, but its partner 'knee_flex_l' is frozen"
    with pytest.raises(ValueError, match=lopsided):
        mirror(human(frozen=("knee_flex_l",)))
    with pytest.raises(ValueError, match="joint 'hinge' is not of the human"):
        mirror(Tree(links=(Link(),), joints=(Joint(name="hinge", screw=(0, 0, 1, 0, 0, 0)),)))


def test_a_smaller_person_scales_by_stature_and_mass_but_strength_by_stature_alone():
    small, full = human(1.6, 60.0, frozen=()), person()[0]
    length, weight = 1.6 / 1.75, 60.0 / 75.0
    mass, center, inertia = together(small.links, frames_of(small))
    _, center_full, inertia_full = together(full.links, person()[3])
    assert mass == pytest.approx(60.0) and center == pytest.approx(length * center_full, abs=1e-12)
    np.testing.assert_allclose(inertia, weight * length**2 * inertia_full, rtol=0, atol=1e-12)
    where, reference = places(small, frames_of(small)), places(full, person()[3])
    assert where["head_top"][1] == pytest.approx(1.6)
    assert all(where[name] == pytest.approx(length * reference[name], abs=1e-12) for name in where)
    for joint, usual in zip(small.joints, full.joints):
        assert joint.torque == pytest.approx(length**3 * np.array(usual.torque))
        reach = (length if usual.kind == "prismatic" else 1.0) * np.array(usual.position)
        assert joint.position == pytest.approx(reach)


def test_resting_torques_scale_like_their_limits():
    small, (full, _, torques, _) = human(1.9, 90.0, frozen=()), person()
    q, rest = random_posture(full, np.random.default_rng(2)), np.zeros(55)
    scaled = np.array(inverse(small, q, rest, rest)).ravel()[6:]
    reference = torques(q, rest, rest)[6:]
    np.testing.assert_allclose(scaled, 1.9 * 90.0 / (1.75 * 75.0) * reference, rtol=0, atol=1e-10)


def test_standing_takes_the_weight_at_the_root():
    """75 kg at 9.81 m/s2, 1.4 mm ahead of the pelvis' axis; without gravity nothing."""
    for gravity, weight in ((9.81, 735.75), (0.0, 0.0)):
        tree = human(gravity=(0.0, -gravity, 0.0))
        force = np.array(inverse(tree, *(np.zeros(38),) * 3)).ravel()[:6]
        assert force == pytest.approx((0, weight, 0, 0, 0, -0.00143217 * weight), abs=1e-4)


def test_a_person_that_is_asked_for_again_is_the_same_tree():
    """By the numbers of own segments and by the very same parameters; from arrays it is new."""
    taller, segments = Parameter("taller", 1.8, "m"), {"thigh": {"length": 0.45}}
    assert human(segments=segments) is human(segments={"thigh": {"length": 0.45}})
    assert human(taller) is human(taller)
    assert human(taller) is not human(Parameter("taller", 1.8, "m"))
    longer = human(segments={"thigh": {"length": 0.46}})
    assert human(segments=segments) is not longer and human(segments=segments) != longer
    gravity = np.array((0.0, -1.62, 0.0))
    before = human(gravity=gravity)
    gravity[1] = -9.81
    assert before.gravity[1] == -1.62 and human(gravity=gravity).gravity[1] == -9.81

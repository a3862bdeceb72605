"""The surface of a body is a person's: whole, upright on its soles, as heavy and as tall."""

import numpy as np
import pytest

from ocp.mechanics import poses, positions
from ocp.models.human import human
from ocp.models.walkers.gymnast import gymnast
from ocp.plots.bodies.solid_triangles import solids


def parts(tree):
    """(link, corners (F, 3, 3) at q = 0, colour) of all skins."""
    frames = [np.array(pose) for pose in poses(tree, np.array(tree.neutral))]
    for each in solids(tree):
        pose = frames[each.link]
        yield tree.link_names[each.link], each.corners @ pose[:3, :3].T + pose[:3, 3], each.colour


def volume(faces):
    return float((np.cross(faces[:, 0], faces[:, 1]) * faces[:, 2]).sum() / 6)


@pytest.fixture(name="man", scope="module")
def _man():
    return [*parts(human())]


def test_a_body_stands_on_flat_soles_as_tall_as_it_is(man):
    every = np.concatenate([corners.reshape(-1, 3) for _, corners, _ in man])
    assert every[:, 1].min() == pytest.approx(0.0, abs=0.003)
    assert every[:, 1].max() == pytest.approx(1.75, abs=0.02)
    lowest = every[every[:, 1] < 0.003]
    assert np.ptp(lowest[:, 2]) > 0.2  # from heel to toe
    for small in (1.5, 1.95):
        tall = np.concatenate([each.reshape(-1, 3) for _, each, _ in parts(human(small))])
        assert np.ptp(tall[:, 1]) == pytest.approx(small, abs=0.03)


def test_both_sides_are_mirror_images(man):
    def extremes(suffix, sign):
        boxes = [corners * (sign, 1, 1) for name, corners, _ in man if name.endswith(suffix)]
        return [(each.min(axis=(0, 1)), each.max(axis=(0, 1))) for each in boxes]

    np.testing.assert_allclose(extremes("_r", 1), extremes("_l", -1), atol=1e-4)


def test_a_face_looks_ahead_and_skins_face_outward(man):
    head = [corners for name, corners, _ in man if name == "head_rot"]
    skull, nose = head[0], max(head, key=lambda each: each[..., 2].max())
    assert nose[..., 2].max() > skull[..., 2].max() + 0.005 > 0
    assert abs(nose[..., 0].mean()) < 1e-6 and 1.5 < nose[..., 1].mean() < 1.7
    assert min(volume(corners) for _, corners, _ in man) > 0


def test_arms_hang_beside_the_trunk_and_not_in_it(man):
    trunk = np.concatenate(
        [corners.reshape(-1, 3) for name, corners, _ in man if "spine" in name or name == "glob_rx"]
    )
    arms = [corners for name, corners, _ in man if name in ("elb_pron_l", "wri_rad_l")]
    for corners in arms:
        for low in np.arange(0.75, 1.15, 0.05):
            level = corners.reshape(-1, 3)
            level = level[np.abs(level[:, 1] - low) < 0.04]
            beside = trunk[np.abs(trunk[:, 1] - low) < 0.04]
            if len(level) and len(beside):
                assert level[:, 0].min() > beside[:, 0].max() - 0.005, low


def test_girths_follow_the_masses_of_segments():
    def breadth(tree, link):
        return max(float(np.ptp(each[..., 0])) for name, each, _ in parts(tree) if name == link)

    usual, heavy = human(), human(mass=150.0)
    for link in ("hip_rot_r", "spine2_rot"):
        assert breadth(heavy, link) == pytest.approx(np.sqrt(2) * breadth(usual, link), rel=0.01)
    assert breadth(heavy, "head_rot") == pytest.approx(breadth(usual, "head_rot"))
    hips = [breadth(human(sex=sex), "glob_rx") for sex in ("male", "female")]
    assert hips[1] > 1.03 * hips[0]


def test_a_gymnast_looks_like_a_person_whose_arms_are_at_its_shoulders():
    tree = gymnast()
    skins = [*parts(tree)]
    by_link = {
        name: np.concatenate([corners.reshape(-1, 3) for link, corners, _ in skins if link == name])
        for name in ("body", "left", "right")
    }
    q = np.array(tree.neutral)
    head, feet = (np.array(place).ravel()[2] for place in positions(tree, q, ("head", "feet")))
    every = np.concatenate([*by_link.values()])
    assert every[:, 2].max() == pytest.approx(head, abs=0.06)
    assert every[:, 2].min() == pytest.approx(feet, abs=0.2)  # toes pointed
    hands = positions(tree, q, ("left hand", "right hand"))
    for name, hand in zip(("left", "right"), hands):
        low = by_link[name][by_link[name][:, 2].argmin()]
        np.testing.assert_allclose(low, np.array(hand).ravel(), atol=0.1)

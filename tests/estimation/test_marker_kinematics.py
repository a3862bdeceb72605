"""Motions from markers: exact where they are, as far off as their noise says where it is not."""

from math import pi

import numpy as np
import pytest
from marker_bodies import BASIS, NOISE, moving, seen, wrist

from ocp import BSpline, Link, Parameter, Point, Scaling, Series, Tree, inverse_kinematics, revolute
from ocp.estimation.marker_residuals import point_places
from ocp.mechanics import free, poses
from ocp.models.arms.two_link import two_link
from ocp.models.human import human
from ocp.models.human.markers import cluster_names, clustered


def test_exact_markers_give_the_motion_back():
    tree = wrist()
    t, q = moving(tree)
    fit = inverse_kinematics(tree, seen(tree, t, q), motion=BASIS)
    assert fit.success and max(fit.rms.values()) < 1e-12
    np.testing.assert_allclose(fit.q, q, atol=1e-11)
    h = 1e-5
    control = 0.5 * np.random.default_rng(0).standard_normal((3, BASIS.points))
    rates = control @ (BASIS.values(t[1:-1] + h) - BASIS.values(t[1:-1] - h)).T / (2 * h)
    np.testing.assert_allclose(fit.qd[:, 1:-1], rates, atol=1e-6)


def test_errors_are_those_that_the_noise_propagates():
    tree, ratios = wrist(), []
    t, q = moving(tree)
    for trial in range(8):
        fit = inverse_kinematics(tree, seen(tree, t, q, noise=NOISE, seed=trial), motion=BASIS)
        ratios.append((fit.q - q) / fit.deviations)
        assert fit.deviation == pytest.approx(NOISE, rel=0.1)
    assert np.sqrt(np.mean(np.square(ratios))) == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(ratios) < 1.96) == pytest.approx(0.95, abs=0.04)


def test_deviations_are_those_of_the_dense_covariance():
    tree = wrist()
    t, q = moving(tree, frames=40)
    fit = inverse_kinematics(tree, seen(tree, t, q), motion=BASIS, deviation=NOISE)
    names = tuple(point.name for point in tree.points)
    _, slopes = point_places(tree, names, fit.q)
    weights = BASIS.values(t)
    rows = [np.kron(weights[k], slopes[k]) for k in range(len(t))]
    covariance = NOISE**2 * np.linalg.inv(sum(row.T @ row for row in rows))
    for k in (0, 7, 39):
        block = np.kron(weights[k], np.eye(3))
        expected = np.sqrt(np.diag(block @ covariance @ block.T))
        np.testing.assert_allclose(fit.deviations[:, k], expected, rtol=1e-6)


def test_a_human_of_38_coordinates_is_met_in_200_frames_within_the_noise():
    tree = clustered(human())
    names = cluster_names(tree)
    t, q = moving(tree, frames=200, size=0.15)
    markers = seen(tree, t, q, names, NOISE)
    fit = inverse_kinematics(tree, markers, motion=BASIS)
    ratio = (fit.q - q) / fit.deviations
    assert fit.success
    assert np.sqrt(np.mean(ratio**2)) == pytest.approx(1.0, abs=0.1)
    assert np.degrees(fit.deviations[3:]).max() < 1.0 and fit.unseen == ()


@pytest.mark.parametrize("seed", [0, 1, 9])
def test_limbs_are_not_wound_up_on_the_way_from_another_posture(seed):
    """Joints .5 rad off the first posture (rms), a metre away, skin that has moved by 15 mm."""
    tree, rng = clustered(human()), np.random.default_rng(seed)
    names, t = cluster_names(tree), np.linspace(0.0, 1.0, 8)
    slides = [joint.kind == "prismatic" for joint in tree.moving]
    turns = [not joint.name.startswith("glob") for joint in tree.moving]
    q = np.where(slides, 1.0, 0.5) * rng.standard_normal(tree.dof) * np.logical_or(slides, turns)
    places = point_places(tree, names, q[:, None])[0]
    skin = places + 0.015 * rng.standard_normal(places.shape)
    markers = Series(t=t, values=dict(zip(names, np.split(skin.repeat(8, axis=1), len(names)))))
    fit = inverse_kinematics(tree, markers, motion=BSpline(points=4, degree=3))
    assert np.abs(fit.q[:, 0] - q)[turns].max() < 1.5  # in place of whole turns


def test_without_a_basis_cross_validation_finds_one_that_leaves_only_noise():
    tree = wrist()
    t = np.linspace(0.0, 1.0, 120)
    q = np.array([np.sin(5 * t), 0.5 * np.cos(4 * t), np.sin(3 * t + 1)])
    fit = inverse_kinematics(tree, seen(tree, t, q, noise=NOISE))
    ratio = np.sqrt(np.mean(((fit.q - q) / fit.deviations) ** 2))
    assert ratio == pytest.approx(1.0, abs=0.25) and fit.motion.points < 30


def test_gaps_weigh_nothing_and_widen_the_deviations():
    tree = wrist()
    t, q = moving(tree)
    whole = seen(tree, t, q)
    values = {name: rows.copy() for name, rows in whole.values.items()}
    for name in ("a", "b", "c"):
        values[name][:, 30:50] = np.nan
    fit = inverse_kinematics(tree, Series(t=t, values=values), motion=BASIS, deviation=NOISE)
    np.testing.assert_allclose(fit.q, q, atol=1e-9)
    full = inverse_kinematics(tree, whole, motion=BASIS, deviation=NOISE)
    assert (fit.deviations[:, 40] > 1.2 * full.deviations[:, 40]).all()
    assert np.isnan(fit.residuals["a"][:, 30:50]).all()


def test_a_joint_that_no_marker_tells_of_is_named_and_stays():
    tree = two_link()
    points = [Point(name="knob", link="shoulder", position=(0.0, 0.0, 0.0))]
    bare = Tree(links=tree.links, joints=tree.joints, points=points)
    t = np.linspace(0.0, 1.0, 50)
    q = np.array([np.sin(t), 0 * t])
    fit = inverse_kinematics(bare, seen(bare, t, q), motion=BASIS, start=(0.0, 0.7))
    assert fit.unseen == ("elbow",) and np.isinf(fit.deviations[1]).all()
    np.testing.assert_allclose(fit.q[1], 0.7, atol=1e-9)
    np.testing.assert_allclose(fit.q[0], q[0], atol=1e-6)


def test_weights_say_which_marker_is_trusted():
    tree = wrist()
    t, q = moving(tree)
    markers = seen(tree, t, q)
    values = dict(markers.values) | {"a": markers.values["a"] + 0.05}
    biased = Series(t=t, values=values)
    even = inverse_kinematics(tree, biased, motion=BASIS)
    wary = inverse_kinematics(tree, biased, motion=BASIS, weights={"a": 0.0})
    assert np.abs(even.q - q).max() > 0.01
    np.testing.assert_allclose(wary.q, q, atol=1e-10)


def test_limits_that_are_left_are_told():
    tree = wrist()
    t = np.linspace(0.0, 1.0, 40)
    q = np.array([1.2 * t, 0 * t, 0 * t])
    fit = inverse_kinematics(tree, seen(tree, t, q), motion=BASIS)
    assert fit.beyond == ("yaw leaves its limits by 0.2 rad",)


def test_limits_that_are_imposed_are_never_left_and_the_nearest_motion_is_found():
    """What the markers pull with is what the limits press against, where they are reached."""
    tree = wrist()
    t = np.linspace(0.0, 1.0, 40)
    q = np.array([1.1 * np.sin(2 * pi * t), 0.2 * t, 0 * t])
    markers = seen(tree, t, q, noise=NOISE)
    fit = inverse_kinematics(tree, markers, motion=BASIS, limits=True)
    assert fit.success and np.abs(fit.q[0]).max() <= 1.0 and fit.beyond == ()
    assert list(fit.active) == ["yaw"] and set(fit.active["yaw"]) == {-1, 0, 1}
    weights, reached = BASIS.values(t), fit.active["yaw"] != 0
    off, slopes = point_places(tree, tuple(markers.values), fit.q)
    off = off - np.vstack(list(markers.values.values()))
    pulls = np.einsum("kri,rk->ki", slopes, off)
    left = weights.T @ pulls
    share, *_ = np.linalg.lstsq(weights[reached].T, left[:, 0], rcond=None)
    np.testing.assert_allclose(weights[reached].T @ share, left[:, 0], atol=1e-5)
    np.testing.assert_allclose(left[:, 1:], 0.0, atol=1e-5)
    assert (share * fit.active["yaw"][reached] < 0).all()


def test_limits_of_named_joints_leave_the_others_free_and_exact_markers_exact():
    tree = wrist()
    t, q = moving(tree, size=0.2)
    fit = inverse_kinematics(tree, seen(tree, t, q), motion=BASIS, limits=["yaw"])
    np.testing.assert_allclose(fit.q, q, atol=1e-8)
    assert dict(fit.active) == {} and fit.success


def test_a_start_far_off_finds_a_tree_that_is_turned_round():
    tree = wrist()
    t, q = moving(tree, size=0.2)
    turned = q + np.array([[0.8 * pi], [0.0], [0.0]])
    fit = inverse_kinematics(tree, seen(tree, t, turned), motion=BASIS, start=(1.5, 0.0, 0.0))
    expected = np.array(poses(tree, turned[:, 40])[-1])
    np.testing.assert_allclose(np.array(poses(tree, fit.q[:, 40])[-1]), expected, atol=1e-9)


@pytest.mark.parametrize("angle", [2.1, pi, 4.2])
def test_a_body_that_faces_another_way_is_found_from_where_it_stands(angle):
    """A root that nothing drives is tried turned round, where the first frame is not met."""
    places = [*np.array([(0.3, 0.1, 0), (0, 0.3, 0.1), (0.1, 0, 0.3), (-0.2, 0.1, -0.3)])]
    points = [Point(name=f"m{k}", link="hand", position=place) for k, place in enumerate(places)]
    joints = (
        revolute("facing", axis=(0, 1, 0), actuated=False),
        revolute("lean", "facing", axis=(1, 0, 0), actuated=False),
        revolute("hand", "lean", axis=(0, 0, 1), home=(0.2, 1.0, 0.0)),
    )
    body = Tree(links=[Link(mass=1.0)] * 3, joints=joints, points=points)
    t = np.linspace(0.0, 1.0, 30)
    q = np.array([angle + 0.2 * t, 0.3 * t, -0.2 * t])
    fit = inverse_kinematics(body, seen(body, t, q), motion=BASIS)
    assert fit.success and max(fit.rms.values()) < 1e-9


def test_its_angles_and_its_guess_serve_a_problem():
    tree = wrist()
    t, q = moving(tree)
    fit = inverse_kinematics(tree, seen(tree, t, q), motion=BASIS)
    assert list(fit.angles.values) == ["yaw", "pitch", "roll"]
    assert fit.guess.duration == 1.0 and np.shape(fit.guess.q) == (3, 80)
    assert "5 markers, 80 times, converged" in repr(fit)


def test_a_free_body_turns_by_quaternions_of_length_one():
    places = {"a": (0.2, 0, 0), "b": (0, 0.3, 0), "c": (0, 0, 0.1), "d": (0.1, 0.1, 0.1)}
    points = [Point(name=name, link="body", position=place) for name, place in places.items()]
    body = Tree(links=[Link()] * 3 + [Link(mass=1.0)], joints=free("body"), points=points)
    t = np.linspace(0.0, 1.0, 60)
    half = 2.0 * t  # half of the angle: nearly two thirds of a turn about a slanted axis
    turn = np.array([np.cos(half), np.sin(half) * 0.6, np.sin(half) * 0.8, 0 * t])
    q = np.vstack([t, t**2, 0 * t, turn])
    markers = seen(body, t, q, noise=NOISE)
    fit = inverse_kinematics(body, markers)
    assert fit.success and fit.unseen == ()
    np.testing.assert_allclose(np.linalg.norm(fit.q[3:], axis=0), 1.0, atol=1e-3)
    ratio = (fit.q - q) / fit.deviations
    assert 0.7 < np.sqrt(np.mean(ratio**2)) < 1.4
    assert np.abs(fit.q[3:] - turn).max() < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": {"a": "nose"}}, "walk.trc: markers a match no point of the tree"),
        ({"weights": {"nose": 1.0}}, "weights: walk.trc has no 'nose'"),
        ({"start": (0.0, 0.0)}, r"inverse_kinematics: start: expected shape \(3,\)"),
        ({"motion": BSpline(points=81)}, "walk.trc: 81 control points want as many frames"),
        ({"motion": 9}, "inverse_kinematics: motion: expected BSpline, got int 9"),
        ({"deviation": -1.0}, "deviation: expected a number of at least 0"),
        ({"limits": ["roll"]}, "limits: joint 'roll' has none"),
        ({"limits": ["neck"]}, "unknown joint 'neck'"),
        ({"limits": "yaw"}, "limits: expected True, False or names of joints, got 'yaw'"),
        ({"scaling": True}, "inverse_kinematics: scaling: expected Scaling, got bool True"),
        ({"scaling": Scaling(segments={"a": ["neck"]})}, "segment 'a': unknown link 'neck'"),
        ({"scaling": Scaling(segments={"a": "yaw"})}, "segment 'a': expected names of links"),
        (
            {"scaling": Scaling(segments={"a": ["yaw"], "b": ["yaw"]})},
            "scaling: link 'yaw' is in 'a' and in 'b'",
        ),
    ],
)
def test_bad_input_is_refused_by_name(change, words):
    tree = wrist()
    t, q = moving(tree)
    with pytest.raises(ValueError, match=words):
        inverse_kinematics(tree, seen(tree, t, q), **{"motion": BASIS, **change})


def test_an_open_tree_is_refused():
    open_arm = two_link(torque=Parameter("strength", 10.0))
    t = np.linspace(0.0, 1.0, 20)
    with pytest.raises(ValueError, match="expected numbers, got the parameters strength"):
        inverse_kinematics(open_arm, Series(t=t, values={"tip": np.zeros((3, 20))}))

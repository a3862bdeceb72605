"""Lengths of segments from markers: exact where they are, as far off as their noise says else."""

import numpy as np
import pytest
from marker_bodies import BASIS, NOISE, seen

from ocp import Link, Point, Scaling, Tree, inverse_kinematics, revolute
from ocp.estimation.marker_residuals import point_places
from ocp.mechanics import free, scale_links


def legs():
    """A pelvis that moves in space, and on both sides a thigh and a shank, all with markers."""
    names = ("hip_r", "knee_r", "hip_l", "knee_l")
    joints = [*free("pelvis")]
    for side, way in (("r", -1), ("l", 1)):
        joints.append(revolute(f"hip_{side}", "pelvis", axis=(0, 0, 1), home=(0, 0, 0.1 * way)))
        joints.append(revolute(f"knee_{side}", f"hip_{side}", axis=(0, 0, 1), home=(0, -0.4, 0)))
    spots = ((0.1, -0.1, 0), (0, -0.35, 0.05), (-0.05, -0.2, 0.03))
    links = [Link()] * 3 + [Link(mass=1.0)] * 5
    points = [
        Point(name=f"{name}_{k}", link=name, position=spot)
        for name in ("pelvis", *names)
        for k, spot in enumerate(spots)
    ]
    return Tree(links=links, joints=joints, points=points)


def stepping(tree, frames=30):
    """Coordinates (n, N) of legs that swing and a pelvis that turns a little."""
    t = np.linspace(0.0, 1.0, frames)
    swing = [0.5 * np.sin(3 * t), 0.4 + 0.4 * np.cos(4 * t), 0.4 * np.cos(3 * t), 0.5 + 0.3 * t]
    turn = [np.cos(0.2 * t), 0 * t, np.sin(0.2 * t), 0 * t]
    return t, np.array([t, 0.1 * t, 0 * t, *turn, *swing])


LENGTHS = {"pelvis": 0.95, "hip": 1.08, "knee": 0.9}


def seen_scaled(noise, seed=1):
    """The legs, and markers of those whose segments are of other LENGTHS."""
    tree = legs()
    sizes = {"pelvis": 0.95} | {
        f"{name}_{side}": LENGTHS[name] for name in ("hip", "knee") for side in "rl"
    }
    t, q = stepping(tree)
    return tree, q, seen(scale_links(tree, sizes), t, q, noise=noise, seed=seed)


def test_lengths_of_segments_are_found_with_the_motion_within_the_noise():
    ratios, off = [], []
    for trial in range(4):
        tree, q, markers = seen_scaled(NOISE, seed=trial)
        both = Scaling(sides=("_r", "_l"))
        fit = inverse_kinematics(tree, markers, motion=BASIS, scaling=both)
        assert fit.success and list(fit.lengths) == list(LENGTHS)
        ratios += [(fit.lengths[n] - LENGTHS[n]) / fit.length_deviations[n] for n in LENGTHS]
        off.append((fit.q[:3] - q[:3]) / fit.deviations[:3])
    assert np.sqrt(np.mean(np.square(ratios))) == pytest.approx(1.0, abs=0.3)
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(1.0, abs=0.3)
    assert max(fit.length_deviations.values()) < 2e-3 and " to 1.079 times as long" in repr(fit)


def test_exact_markers_give_the_lengths_back_and_a_tree_that_needs_no_scaling():
    tree, _, markers = seen_scaled(0.0)
    fit = inverse_kinematics(tree, markers, motion=BASIS, scaling=Scaling(spread=10.0))
    assert fit.lengths["hip_r"] == pytest.approx(1.08, abs=1e-5) and len(fit.lengths) == 5
    again = inverse_kinematics(fit.tree, markers, motion=BASIS)
    assert max(again.rms.values()) < 1e-5 and not again.lengths
    loose = Scaling(segments={"thighs": ["hip_r", "hip_l"]})
    part = inverse_kinematics(tree, markers, motion=BASIS, scaling=loose)
    assert list(part.lengths) == ["thighs"] and max(part.rms.values()) > 1e-3


def test_a_body_scaled_on_a_static_trial_serves_another_recording():
    tree, q, walk = seen_scaled(NOISE)
    still = np.repeat(q[:, [10]], len(walk.t), axis=1)
    sizes = {"pelvis": 0.95} | {f"{n}_{side}": LENGTHS[n] for n in ("hip", "knee") for side in "rl"}
    stands = seen(scale_links(tree, sizes), walk.t, still, noise=NOISE, seed=7)
    static = inverse_kinematics(tree, stands, scaling=Scaling(sides=("_r", "_l")))
    assert max(abs(static.lengths[name] - LENGTHS[name]) for name in LENGTHS) < 3e-3
    moved = inverse_kinematics(static.tree, walk, motion=BASIS)
    assert moved.deviation == pytest.approx(NOISE, rel=0.05) and moved.tree is static.tree


def test_deviations_of_lengths_are_those_of_the_dense_covariance():
    tree, _, markers = seen_scaled(NOISE)
    plan = Scaling(sides=("_r", "_l"), spread=0.05)
    fit = inverse_kinematics(tree, markers, motion=BASIS, deviation=NOISE, scaling=plan)
    groups = tuple(plan.groups("", tree).values())
    names, weights = tuple(markers.values), BASIS.values(markers.t)
    y = np.vstack([fit.q, np.outer(list(fit.lengths.values()), np.ones(len(markers.t)))])
    slopes = point_places(tree, names, y, groups)[1]
    n = tree.dof
    rows = [
        np.hstack([np.kron(each[:, None, :], b[:, None]).reshape(len(each), -1), wide])
        for each, wide, b in zip(slopes[..., :n], slopes[..., n:], weights)
    ]
    ball = np.array([np.r_[0, 0, 0, q[3:7] / np.linalg.norm(q[3:7]), 0, 0, 0, 0] for q in fit.q.T])
    rows += [np.r_[np.kron(b, row), 0, 0, 0][None] for b, row in zip(weights, ball)]
    normal = sum(row.T @ row for row in rows) / NOISE**2
    normal[-3:, -3:] += np.eye(3) / 0.05**2
    covariance = np.linalg.inv(normal)
    expected = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(list(fit.length_deviations.values()), expected[-3:], rtol=1e-5)
    for k in (0, 15):
        block = np.kron(weights[k], np.eye(n))
        expected = np.sqrt(np.diag(block @ covariance[:-3, :-3] @ block.T))
        np.testing.assert_allclose(fit.deviations[:, k], expected, rtol=1e-5)


def test_a_segment_without_markers_keeps_its_length_and_says_that_nothing_is_known():
    tree, _, markers = seen_scaled(NOISE)
    bare = markers.only([name for name in markers.values if "knee_l" not in name])
    fit = inverse_kinematics(tree, bare, motion=BASIS, scaling=Scaling(spread=0.1))
    assert fit.lengths["knee_l"] == pytest.approx(1.0, abs=1e-3)
    assert fit.length_deviations["knee_l"] == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"spread": 0.0}, "scaling: spread: expected a number above 0"),
        ({"sides": "_r"}, "scaling: sides: expected two endings of names"),
        ({"sides": ("_r", "_l"), "segments": {}}, "expected segments or sides, got both"),
    ],
)
def test_a_scaling_that_says_nothing_is_refused(stated, words):
    with pytest.raises(ValueError, match=words):
        Scaling(**stated)

"""Postures of the skeleton and of Rajagopal's body are the same, one way and back."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from ocp import Link, Tree, load_model, prismatic, revolute
from ocp.interchange import ModelWarning
from ocp.mechanics import poses
from ocp.models.human.rajagopal import AXES, LIMBS, human_postures, rajagopal_postures
from ocp.models.human.skeleton import human

FILE = next(Path(os.environ.get("OPENSIM_MODELS") or os.devnull).rglob("Rajagopal2016.osim"), None)
X, Y, Z = np.eye(3)
ELSEWHERE = "clav", "neck", "head"
LINKS = {  # his links, by the last coordinate of each: ours
    "pelvis_rotation": "glob_rx",
    "hip_rotation": "hip_rot",
    "knee_angle": "knee_flex",
    "subtalar_angle": "ankle_inv",
    "mtp_angle": "toe_ext",
    "lumbar_rotation": "spine4_rot",
    "arm_rot": "shou_rot",
    "elbow_flex": "elb_flex",
    "pro_sup": "elb_pron",
    "wrist_dev": "wri_rad",
}
BODIES = dict(
    zip(
        LINKS,
        ["pelvis", "femur", "tibia", "calcn", "toes", "torso", "humerus", "ulna", "radius", "hand"],
    )
)


def frames(tree, q):
    """{link: pose (4x4)}."""
    return {n: np.array(ca.DM(p)) for n, p in zip(tree.link_names, poses(tree, ca.DM(q)))}


def plain_body(skeleton):
    """A tree of Rajagopal's coordinates, with no oblique axes, its joints where the skeleton has
    them."""
    places = {name: AXES @ pose[:3, 3] for name, pose in frames(skeleton, [0.0] * 55).items()}
    joints, links, made = [], [], {}
    named = {f"{last}{s}": f"{body}{s}" for last, body in BODIES.items() for s in ("", "_r", "_l")}

    def add(name, parent, axis, place, kind=revolute):
        home = place - made.get(parent, 0 * place)
        joints.append(kind(name, parent, axis=axis, home=tuple(home), actuated=False))
        links.append(Link(name=named.get(name, name)))
        made[links[-1].name] = place
        return links[-1].name

    before, start = "ground", np.array([0.0, 0.0, 0.0])
    for name, axis in zip(("pelvis_tx", "pelvis_ty", "pelvis_tz"), (X, Y, Z)):
        before = add(name, before, axis, start, prismatic)
    for name, axis in zip(("pelvis_tilt", "pelvis_list", "pelvis_rotation"), (Z, X, Y)):
        before = add(name, before, axis, start)
    pelvis = before
    for name, axis in zip(("lumbar_extension", "lumbar_bending", "lumbar_rotation"), (Z, X, Y)):
        before = add(name, before, axis, places["glob_rx"])
    torso = before
    for side, out in (("r", 1), ("l", -1)):
        rows = [("hip_flexion", Z, "hip_flex"), ("hip_adduction", out * X, "hip_flex")]
        rows += [("hip_rotation", out * Y, "hip_flex"), ("knee_angle", -Z, "hip_rot")]
        rows += [("ankle_angle", Z, "knee_flex"), ("subtalar_angle", out * X, "knee_flex")]
        rows += [("mtp_angle", -Z, "ankle_inv")]
        arm = [("arm_flex", Z, "clav_prot"), ("arm_add", out * X, "clav_prot")]
        arm += [("arm_rot", out * Y, "clav_prot"), ("elbow_flex", Z, "shou_rot")]
        arm += [("pro_sup", out * Y, "shou_rot"), ("wrist_flex", Z, "elb_pron")]
        arm += [("wrist_dev", out * X, "elb_pron")]  # where palms face forward
        for first, chain in ((pelvis, rows), (torso, arm)):
            before = first
            for name, axis, where in chain:
                before = add(f"{name}_{side}", before, axis, places[f"{where}_{side}"])
    return Tree(joints=joints, links=links)


@pytest.fixture(scope="module")
def skeleton():
    return human(frozen=())


def postures(tree, count=12):
    """Random postures of the skeleton without clavicles and neck, in six tenths of its ranges."""
    ends = 0.6 * np.array([joint.position for joint in tree.moving], dtype=float)
    q = np.random.default_rng(0).uniform(*ends.T, (count, tree.dof)).T
    others = [joint.name.startswith(ELSEWHERE) for joint in tree.moving]
    q[others] = 0.0
    return q


def turns(skeleton, body, q, p):
    """{link: angles (rad) between its orientations in both, each from the same posture}."""
    zero = np.zeros(skeleton.dof)
    ours, his = frames(skeleton, zero), frames(body, rajagopal_postures(skeleton, body, zero))
    pairs = {}
    for last, b in LINKS.items():
        for s in ("", "_r", "_l"):
            if f"{b}{s}" in ours:
                pairs[f"{BODIES[last]}{s}"] = f"{b}{s}"
    angles = {name: [] for name in pairs}
    for x, y in zip(q.T, p.T):
        here, there = frames(skeleton, x), frames(body, y)
        for a, b in pairs.items():
            turned = AXES @ here[b][:3, :3] @ ours[b][:3, :3].T @ AXES.T
            apart = turned - there[a][:3, :3] @ his[a][:3, :3].T
            angles[a].append(2 * np.arcsin(min(np.linalg.norm(apart) / np.sqrt(8), 1.0)))
    return angles


def test_segments_stand_alike_and_joints_of_legs_are_at_the_same_places(skeleton):
    body, q = plain_body(skeleton), postures(skeleton)
    p = rajagopal_postures(skeleton, body, q)
    for name, angles in turns(skeleton, body, q, p).items():
        assert max(angles) < 1e-7, name
    here, there = frames(skeleton, q[:, 0]), frames(body, p[:, 0])
    for ours, his in (("hip_rot", "tibia"), ("knee_flex", "calcn"), ("ankle_inv", "toes")):
        for side in "rl":
            place = AXES @ here[f"{ours}_{side}"][:3, 3]
            np.testing.assert_allclose(there[f"{his}_{side}"][:3, 3], place, atol=1e-12)


def test_postures_come_back(skeleton):
    """His all; ours but for how the spine shares what it turns."""
    body, q = plain_body(skeleton), postures(skeleton)
    p = rajagopal_postures(skeleton, body, q)
    back = human_postures(body, skeleton, p)
    np.testing.assert_allclose(rajagopal_postures(skeleton, body, back), p, atol=1e-12)
    limbs = [not joint.name.startswith(("spine", *ELSEWHERE)) for joint in skeleton.moving]
    np.testing.assert_allclose(back[limbs], q[limbs], atol=1e-12)


def test_frozen_joints_stand_and_one_posture_is_a_vector(skeleton):
    body, walker = plain_body(skeleton), human()
    p = rajagopal_postures(walker, body, np.zeros(walker.dof))
    assert p.shape == (body.dof,)
    assert p[body.coordinate("wrist_flex_r")] == 0.0
    assert p[body.coordinate("pro_sup_l")] == pytest.approx(np.pi / 2)
    p[body.coordinate("lumbar_extension")] = -0.4
    back = human_postures(body, walker, p)
    assert back[walker.coordinate("spine1_flex")] == pytest.approx(0.2)


def test_postures_of_another_body_are_refused(skeleton):
    body = plain_body(skeleton)
    with pytest.raises(ValueError, match="expected 55 rows, got shape"):
        rajagopal_postures(skeleton, body, np.zeros(3))
    stiff = human(frozen=[j.name for j in skeleton.moving if j.name.startswith("spine")])
    with pytest.raises(ValueError, match="expected a level of the spine"):
        human_postures(body, stiff, np.zeros(body.dof))


@pytest.mark.commands
@pytest.mark.skipif(FILE is None, reason="needs Rajagopal2016.osim in the folder OPENSIM_MODELS")
def test_on_his_own_body_what_differs_are_oblique_axes(skeleton, tmp_path):
    """Ankle, subtalar, toes, elbow and forearm, and what his knee turns beside its flexion."""
    free = tmp_path / "free.osim"
    free.write_text(FILE.read_text().replace("<locked>true", "<locked>false"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        body = replace(load_model(free), elements=())
    names = {joint.name for joint in body.moving}
    assert all(f"{name}_{side}" in names for name in LIMBS for side in "rl")
    q = postures(skeleton)
    p = rajagopal_postures(skeleton, body, q)
    within = {"tibia": 11, "calcn": 26, "toes": 34, "ulna": 19, "radius": 21, "hand": 21}  # deg
    for name, angles in turns(skeleton, body, q, p).items():
        largest = np.degrees(max(angles))
        assert largest < within.get(name.rpartition("_")[0], 1e-6), name
    back = rajagopal_postures(skeleton, body, human_postures(body, skeleton, p))
    np.testing.assert_allclose(back, p, atol=1e-12)

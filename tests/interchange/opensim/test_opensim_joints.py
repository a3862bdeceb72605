"""Bodies and joints of OpenSim's files move as the format says, and as OpenSim moves them."""

import casadi as ca
import numpy as np
import pytest
from opensim_child import MODELS, needs_opensim, opensim_answers
from osim_states import frames, states_of, torques
from osim_texts import (
    CHAIN,
    FREE,
    HIP_AXES,
    OLD,
    PLACES,
    body,
    constant,
    coordinate,
    document,
    joint,
    line,
    listed,
    oldest,
    transform,
    written,
)

from ocp import load_model
from ocp.mechanics import close_coordinates, position
from ocp.storage.tree_data import tree_data, tree_of

TEXTS = {"chain": CHAIN, "free": FREE, "old": OLD}


# The format's own words, in numbers ---------------------------------------------------------------


def turn(axis, angle):
    """The rotation (4x4) about an axis (Rodrigues)."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat
    return pose


def shift(*place):
    """A translation (4x4)."""
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def offset(pose):
    """The frame (4x4) of a place and of turns about x, y and z."""
    place, (a, b, c) = pose
    return shift(*place) @ turn((1, 0, 0), a) @ turn((0, 1, 0), b) @ turn((0, 0, 1), c)


def test_a_custom_joint_slides_in_its_parent_and_turns_about_turned_axes(tmp_path):
    tree = load_model(written(CHAIN, tmp_path))
    state = states_of(tree, 1)[0]
    root = offset(PLACES[0]) @ shift(state["tx"][0], state["ty"][0], 0)
    root = root @ turn((0, 0, 1), state["tilt"][0]) @ np.linalg.inv(offset(PLACES[1]))
    slip = state["slip"][0]
    along = np.array([0, 2, 1]) / 5**0.5 * (0.01 * slip**3 - 0.05 * slip**2 + 0.2 * slip + 0.03)
    hip = offset(PLACES[0]) @ shift(*(along + [-0.04, 0, 0]))
    hip = hip @ turn((1, 0.2, 0), state["hip_1"][0])
    hip = hip @ turn((0, 0.9, 0.1), 0.2 - state["hip_2"][0])
    hip = hip @ turn((0.1, 0.3, 1), 0.5 * state["hip_3"][0] - 0.1)
    expected = root @ hip @ np.linalg.inv(offset(PLACES[1]))
    np.testing.assert_allclose(frames(tree, state)["b"], expected, atol=1e-14)


def test_coordinates_have_their_names_and_ranges_and_followers_and_locked_ones_none(tmp_path):
    tree = load_model(written(CHAIN, tmp_path))
    names = "tx ty tilt slip hip_1 hip_2 hip_3 knee ankle_1 ankle_2 neck_1 neck_2 neck_3 slide"
    assert {each.name for each in tree.moving} == set(names.split())
    assert all(each.position == (-1.0, 1.0) for each in tree.moving)
    assert not tree.driven
    assert set("abcdefghi") < set(tree.link_names)
    np.testing.assert_allclose(tree.gravity, (0, -9.80665, 0))


def test_a_marker_is_a_point(tmp_path):
    tree = load_model(written(CHAIN, tmp_path))
    assert tree.point("toe").link == "d"
    assert tree.point("toe").position == (0.1, 0.2, 0.3)


def test_a_file_of_version_3_is_that_of_version_4(tmp_path):
    new = document(
        [
            body("thigh", 8, (0, -0.17, 0), (0.13, 0.035, 0.14, 0, 0, 0.01)),
            body("shank", 3.5, (0, -0.2, 0), (0.05, 0.005, 0.05, 0, 0, 0)),
        ],
        [
            joint(
                "PinJoint",
                "hip",
                ("/ground", "thigh"),
                [coordinate("hip_angle", reach=(-1, 2))],
                (((0.1, 0.9, 0), (0, 0.25, 0)), ((0, 0.1, 0), (0, 0, 0.5))),
            ),
            joint(
                "CustomJoint",
                "shank_joint",
                ("thigh", "shank"),
                [coordinate("knee_angle", reach=(-2, 0.1))],
                (((0, -0.3, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))),
                transform(
                    ("knee_angle", (0, 0, 1), line(1.0)),
                    None,
                    ("", (1, 0, 0), constant(0.0)),
                    None,
                    (
                        "knee_angle",
                        (0, 1, 0),
                        "<MultiplierFunction><function><SimmSpline><x>-2 -1 0 0.5</x>"
                        "<y>-0.42 -0.4 -0.396 -0.4</y></SimmSpline></function><scale>1.05</scale>"
                        "</MultiplierFunction>",
                    ),
                    None,
                ),
            ),
        ],
        listed(
            "MarkerSet",
            '<Marker name="toe"><socket_parent_frame>/bodyset/shank</socket_parent_frame>'
            "<location>0 -0.4 0.1</location></Marker>",
        ),
    )
    assert load_model(written(OLD, tmp_path)) == load_model(written(new, tmp_path, "new.osim"))


@pytest.mark.filterwarnings("ignore:.*have those of De Groote")
def test_axes_of_version_1_are_those_of_version_3_in_their_order(tmp_path):
    """Whether a joint has its turns before its slides or after."""
    new = "".join(
        f'<TransformAxis name="{name}"><coordinates>{coordinate}</coordinates><axis>{axis}</axis>'
        "</TransformAxis>"
        for name, coordinate, axis in (
            ("rotation1", "hip_angle", "0 0 1"),
            ("translation1", "hip_x", "1 0 0"),
        )
    )
    listed_axes = oldest(*HIP_AXES)[oldest(*HIP_AXES).index("<TransformAxisSet>") :]
    listed_axes = listed_axes[: listed_axes.index("</TransformAxisSet>") + 19]
    text = oldest(*HIP_AXES).replace(listed_axes, f"<SpatialTransform>{new}</SpatialTransform>")
    whole = load_model(written(text, tmp_path, "new.osim"))
    assert {"hip_x", "hip_angle"} <= {each.name for each in whole.moving}
    for axes in (HIP_AXES, HIP_AXES[::-1]):
        assert load_model(written(oldest(*axes), tmp_path)) == whole


def test_a_joint_whose_child_is_nearer_to_the_ground_is_turned_round(tmp_path):
    bodies = [body("a"), body("b")]
    first = joint("PinJoint", "first", ("/ground", "a"), ["first"])
    there = joint("CustomJoint", "second", ("a", "b"), ["turn", "way"], PLACES, SLANTED)
    back = joint("CustomJoint", "second", ("b", "a"), ["turn", "way"], PLACES[::-1], SLANTED)
    trees = [
        load_model(written(document(bodies, [first, each]), tmp_path, f"{k}.osim"))
        for k, each in enumerate((there, back))
    ]
    state = {"first": [0.0] * 3, "turn": [0.4, 0, 0], "way": [0.3, 0, 0]}
    pose = shift(0.3, 0, 0) @ turn((0.2, 1, 0), 0.4)
    ends = offset(PLACES[0]), np.linalg.inv(offset(PLACES[1]))
    for tree, moved in zip(trees, (pose, np.linalg.inv(pose))):
        np.testing.assert_allclose(frames(tree, state)["b"], ends[0] @ moved @ ends[1], atol=1e-15)


SLANTED = transform(
    ("turn", (0.2, 1, 0), line(1.0)),
    ("", (1, 0, 0), constant(0.0)),
    None,
    ("way", (1, 0, 0), line(1.0)),
    None,
    None,
)


def test_followers_are_kept_as_data(tmp_path):
    tree = load_model(written(CHAIN, tmp_path))
    assert tree_of(tree_data(tree, lambda tape: tape), lambda data: data) == tree


# Constraints --------------------------------------------------------------------------------------


def closed(kind, words):
    """Two bodies that hang from the ground, and a constraint between them."""
    joints = [
        joint("PlanarJoint", f"hang_{name}", ("/ground", name), [f"{name}{k}" for k in "txy"])
        for name in "ab"
    ]
    constraint = f'<{kind} name="held">{words}</{kind}>'
    return document([body("a"), body("b")], joints, listed("ConstraintSet", constraint))


def test_a_point_constraint_holds_two_places_together(tmp_path):
    text = closed(
        "PointConstraint",
        "<socket_body_1>/bodyset/a</socket_body_1><socket_body_2>/bodyset/b</socket_body_2>"
        "<location_body_1>0.1 0.2 0</location_body_1><location_body_2>0 -0.3 0</location_body_2>",
    )
    tree = load_model(written(text, tmp_path))
    q = close_coordinates(tree, np.linspace(-0.4, 0.6, tree.dof))
    start, end = (np.array(ca.DM(position(tree, q, f"held_{end}"))) for end in ("start", "end"))
    np.testing.assert_allclose(start, end, atol=1e-9)


def test_a_weld_constraint_holds_two_frames_together(tmp_path):
    text = closed(
        "WeldConstraint",
        "<body_1>a</body_1><body_2>b</body_2><location_body_1>0.1 0.2 0</location_body_1>"
        "<orientation_body_1>0 0 0.3</orientation_body_1>"
        "<orientation_body_2>0 0 -0.2</orientation_body_2>",
    )
    tree = load_model(written(text, tmp_path))
    q = close_coordinates(tree, np.linspace(-0.4, 0.6, tree.dof))
    known = dict(zip((each.name for each in tree.moving), q))
    first, second = (frames(tree, {n: [v, 0, 0] for n, v in known.items()})[k] for k in "ab")
    expected = first @ shift(0.1, 0.2, 0) @ turn((0, 0, 1), 0.3)
    np.testing.assert_allclose(second @ turn((0, 0, 1), -0.2), expected, atol=1e-9)


def test_a_point_on_a_line_slides_along_it(tmp_path):
    text = closed(
        "PointOnLineConstraint",
        "<socket_line_body>/ground</socket_line_body>"
        "<line_direction_vec>1 2 0</line_direction_vec>"
        "<point_on_line>0.3 0 0</point_on_line>"
        "<socket_follower_body>/bodyset/b</socket_follower_body>"
        "<point_on_follower>0 -0.3 0</point_on_follower>",
    )
    tree = load_model(written(text, tmp_path))
    q = close_coordinates(tree, np.linspace(-0.4, 0.6, tree.dof))
    place = np.array(ca.DM(position(tree, q, "held_end"))).ravel() - [0.3, 0, 0]
    np.testing.assert_allclose(np.cross(place, [1, 2, 0]), 0.0, atol=1e-9)


# OpenSim ------------------------------------------------------------------------------------------


@needs_opensim
@pytest.mark.parametrize("name", TEXTS)
def test_places_and_torques_are_those_of_opensim(tmp_path, name):
    path = written(TEXTS[name], tmp_path)
    tree = load_model(path)
    states = states_of(tree, 6)
    answers = opensim_answers(MODELS, mechanics={"model": str(path), "states": states})
    for state, answer in zip(states, answers["mechanics"], strict=True):
        ours = frames(tree, state)
        for link, (rotation, place) in answer["places"].items():
            np.testing.assert_allclose(ours[link][:3, 3], place, atol=1e-12)
            np.testing.assert_allclose(ours[link][:3, :3].ravel(), rotation, atol=1e-12)
        needed, largest = torques(tree, state), max(map(abs, answer["forces"].values()))
        for coordinate_name, force in answer["forces"].items():
            assert needed[coordinate_name] == pytest.approx(force, abs=1e-12 * largest)


@needs_opensim
def test_where_turns_follow_one_coordinate_torques_are_those_of_opensims_energies(tmp_path):
    """OpenSim's own inverse dynamics misses the rates of its energies there."""
    axes = [
        ("knee", axis, f"<SimmSpline><x>-2 -1 0 1 2</x><y>{curve}</y></SimmSpline>")
        for axis, curve in (((1, 0, 0), "-1 -.8 0 .9 2"), ((0, 1, 0), "0 .2 .5 .3 0"))
    ]
    knee = transform(("knee", (0, 0, 1), line(1.0)), *axes, None, None, None)
    text = document(
        [body("a"), body("b")],
        [
            joint("PinJoint", "hip", ("/ground", "a"), ["hip"], PLACES),
            joint("CustomJoint", "knee", ("a", "b"), ["knee"], PLACES, knee),
        ],
    )
    path = written(text, tmp_path)
    tree = load_model(path)
    states = states_of(tree, 3)
    request = {"model": str(path), "states": states}
    answers = opensim_answers(MODELS, mechanics=request, lagrange=request)
    missed = []
    for k, state in enumerate(states):
        needed = torques(tree, state)
        for name, force in answers["lagrange"][k]["forces"].items():
            assert needed[name] == pytest.approx(force, rel=1e-8, abs=1e-9)
            missed.append(abs(answers["mechanics"][k]["forces"][name] - force))
    assert max(missed) > 1e-3  # N m

"""Worn loads: masses fixed to segments, and knees that stay bent."""

import numpy as np
import pytest

from ocp.dynamics import inverse_dynamics
from ocp.mechanics import positions
from ocp.models.human import human, loads_of, mirror, one_sided, wearing, worn
from ocp.problems.gait import effort_step as problem
from ocp.problems.gait.pictures.human_figure import body_points, laden
from ocp.problems.gait.report.step_report import loads_kg


def test_a_text_of_loads_is_read():
    assert loads_of("trunk=10,foot=2 waist=1.5") == {"trunk": 10.0, "foot": 2.0, "waist": 1.5}
    assert loads_of("") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (3, "load: expected a text, as 'trunk=10,foot=2', got 3"),
        ("foot", "load: expected SEGMENT=KG, as in trunk=10,foot=2, got 'foot'"),
        ("foot=two", "load: expected SEGMENT=KG, .*, got 'foot=two'"),
        ("trunk_r=2", "load: unknown segment 'trunk_r'"),
        ("hand_x=2", "load: unknown segment 'hand_x'"),
        ("foot=1,foot_r=2", "load: foot_r is given twice"),
        ("hand_r=5", "load: hand_r: of a body that is not alike on both sides .* take stride full"),
        ("arm=2", "load: unknown segment 'arm'; expected some of trunk, waist, thigh, shank, foot"),
        ("foot=1,foot=2", "load: foot is given twice"),
        ("foot=-2", "load: foot: expected more than 0 kg, got -2 kg"),
        ("foot=inf", "load: foot: expected more than 0 kg, got inf kg"),
    ],
)
def test_loads_that_nobody_can_wear_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        problem(load=text)


def test_loads_weigh_on_both_sides_where_their_segments_have_their_centres():
    body = human()
    laden = wearing(body, {"trunk": 10.0, "shank": 2.0})
    assert worn(laden) == {"load_trunk": 10.0, "load_shank_r": 2.0, "load_shank_l": 2.0}
    at = dict(zip(worn(laden), positions(laden, np.zeros(laden.dof), worn(laden))))
    knee, ankle = (positions(body, np.zeros(body.dof), (n,))[0] for n in ("knee_r", "ankle_r"))
    shank, other, trunk = (
        np.array(at[f"load_{n}"]).ravel() for n in ("shank_r", "shank_l", "trunk")
    )
    np.testing.assert_allclose(other, shank * (-1, 1, 1), atol=1e-9)
    assert float(ankle[1]) < shank[1] < float(knee[1]) and trunk[1] > 1.2
    still = np.zeros((3, body.dof))
    bare, heavy = (np.array(inverse_dynamics(tree, *still)).ravel() for tree in (body, laden))
    height = body.coordinate("glob_ty")
    assert heavy[height] - bare[height] == pytest.approx(14.0 * 9.81)
    np.testing.assert_array_equal(mirror(laden)[0], mirror(body)[0])


def test_a_hand_holds_its_load_where_it_grips():
    body = human()
    laden = wearing(body, loads_of("hand_r=5,foot_l=1"))
    assert worn(laden) == {"load_hand_r": 5.0, "load_foot_l": 1.0}
    held, grip = positions(laden, np.zeros(laden.dof), ("load_hand_r", "grip_r"))
    np.testing.assert_allclose(held, grip)
    assert one_sided(loads_of("foot=2,hand_r=5,hand_l=5,thigh_l=1")) == ("thigh_l",)


def test_what_is_worn_is_reported():
    assert loads_kg(wearing(human(), {"foot": 2.0})) == {"foot_r": 2.0, "foot_l": 2.0}
    assert loads_kg(human()) == {}


def test_what_is_worn_is_drawn_as_balls_of_its_side():
    body = wearing(human(), {"waist": 4.0, "foot": 2.0})
    balls = laden(body).balls
    assert {name: part for name, (part, _) in balls.items() if name.startswith("load")} == {
        "load_waist": "middle",
        "load_foot_r": "right",
        "load_foot_l": "left",
    }
    assert balls["load_waist"][1] == pytest.approx(0.0985, abs=1e-4)  # m, of 4 l
    assert set(balls) <= set(body_points(body)) and not set(worn(body)) & set(body_points())


def test_knees_of_those_who_crouch_stay_bent_and_hips_may_go_down():
    usual, crouched = (problem(crouch=angle).tree for angle in (0.0, 30.0))
    knee, height = (usual.joint_index(name) for name in ("knee_flex_l", "glob_ty"))
    np.testing.assert_allclose(np.degrees(crouched.joints[knee].position), (30.0, 140.0))
    down = np.array(crouched.joints[height].position) - usual.joints[height].position
    np.testing.assert_allclose(down, (-0.93 * (1 - np.cos(np.radians(15.0))), 0.0), atol=2e-3)


@pytest.mark.parametrize("angle", [-1.0, 51.0, float("nan")])
def test_nobody_crouches_beyond_what_a_swinging_knee_is_asked_for(angle):
    with pytest.raises(ValueError, match="crouch: expected 0 to 50 deg, got"):
        problem(crouch=angle)

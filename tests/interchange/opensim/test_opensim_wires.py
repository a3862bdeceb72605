"""PathActuators of OpenSim's files are wires: chosen tensions over the same points."""

import pytest
from osim_texts import BEHIND, PATH, conditional, leg, listed, point, written

from ocp import load_model
from ocp.interchange import ModelWarning

FINITE = (
    "<optimal_force>500</optimal_force><min_control>0.1</min_control><max_control>1</max_control>"
)


def actuator(path=PATH, more=FINITE):
    return f'<PathActuator name="winch">{path}{more}</PathActuator>'


def test_a_path_actuator_pulls_along_its_points(tmp_path):
    tree = load_model(written(leg(actuator()), tmp_path))
    (wire,) = tree.stays
    assert wire.name == "winch" and wire.tension == (50.0, 500.0)
    places = {each.name: each for each in tree.points}
    ends = [each for each in wire.path if isinstance(each, str)]
    assert len(wire.path) == len(BEHIND)
    assert {places[name].link for name in ends} <= {"thigh", "shank"}
    assert not tree.elements


def test_what_would_push_is_told_and_what_never_pulls_left_out(tmp_path):
    with pytest.warns(ModelWarning, match="wires pull and do not push: winch"):
        tree = load_model(written(leg(actuator(more="")), tmp_path))
    assert tree.stays[0].tension == (0.0, float("inf"))
    slack = FINITE.replace("<max_control>1", "<max_control>-0.5").replace("0.1<", "-1<")
    with pytest.warns(ModelWarning, match=r"winch \(PathActuator\): it never pulls"):
        assert not load_model(written(leg(actuator(more=slack)), tmp_path, "b.osim")).stays


def test_wires_over_conditional_points_are_left_out_by_name(tmp_path):
    ends = point("a", "thigh", (0.02, -0.1, 0)), point("z", "shank", (0.02, -0.1, 0))
    middle = conditional("c", "thigh", (0.03, -0.3, 0), "knee", (-1.0, 0.0))
    points = listed("PathPointSet", ends[0], middle, ends[1])
    path = f'<GeometryPath name="path">{points}</GeometryPath>'
    with pytest.warns(ModelWarning, match="wires over moving or conditional points are not read"):
        assert not load_model(written(leg(actuator(path)), tmp_path)).stays

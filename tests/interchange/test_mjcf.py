"""Models of MJCF: read by MuJoCo where it is installed, and moving as they do there."""

import sys
from dataclasses import replace
from math import inf, pi

import casadi as ca
import numpy as np
import pytest
from mjcf_texts import MODEL
from refusals import refused

from ocp import Friction
from ocp.interchange import ModelWarning, load_model
from ocp.mechanics import close_coordinates, poses, position
from ocp.mechanics.kinematics.loop_closure import gap
from ocp.problems.benchmarks.dynamics.compare_mjcf import compared_mjcf


def written(folder, text):
    """Path of a file with this text."""
    path = folder / "model.xml"
    path.write_text(text)
    return path


@pytest.fixture
def mujoco():
    return pytest.importorskip("mujoco", reason="needs the extra `mjcf`")


def test_a_model_is_that_of_the_file(tmp_path, mujoco):
    tree = load_model(written(tmp_path, MODEL))
    names = ["root_x", "root_y", "root_z", *(f"root.{part}" for part in "wxyz"), "lift", "reach"]
    assert [joint.name for joint in tree.moving] == [
        *names,
        *(f"wrist.{part}" for part in "wxyz"),
        "swing",
    ]
    assert tree.gravity == (0.1, 0.2, -9.7)
    assert {"trunk", "arm", "hand", "body 4", "tail"} <= set(tree.link_names)
    lift, reach, swing = (tree.joints[tree.joint_index(k)] for k in ("lift", "reach", "swing"))
    assert lift.position == pytest.approx((-40 * pi / 180, 60 * pi / 180))
    assert lift.torque == (-20, 50) and reach.torque == (-7, 7) and not swing.actuated
    assert swing.position == (-inf, inf) and tree.point("eye").link == "trunk"


def test_its_looks_are_the_geoms_that_are_shown(tmp_path, mujoco):
    tree = load_model(written(tmp_path, MODEL))
    (box,) = tree.links[tree.link_index("trunk")].visuals
    assert (box.kind, box.size, box.colour) == ("box", (0.4, 0.2, 0.1), (1, 0, 0, 0.5))
    assert box.pose[0][3] == pytest.approx(0.02)
    shapes = [each.kind for link in tree.links for each in link.visuals]
    assert shapes == ["box", "capsule", "ellipsoid", "cylinder", "capsule"]
    text = MODEL.replace('rgba="1 0 0 0.5"', 'contype="0" conaffinity="0"')
    touching = load_model(written(tmp_path, text), shapes="collision")
    (ball,) = touching.links[touching.link_index("trunk")].visuals
    assert ball.kind == "sphere"


def test_it_moves_as_in_mujoco(tmp_path, mujoco):
    assert compared_mjcf(written(tmp_path, MODEL), states=5).differences[0] < 1e-12


def test_its_links_are_where_mujoco_has_them(tmp_path, mujoco):
    path = written(tmp_path, MODEL)
    tree, model = load_model(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q = data.qpos.copy()
    frames = poses(tree, ca.DM(q))
    mujoco.mj_kinematics(model, data)
    for name in ("trunk", "arm", "hand", "tail"):
        frame = np.array(frames[tree.link_index(name)])
        assert np.abs(frame[:3, 3] - data.body(name).xpos).max() < 1e-15
        assert np.abs(frame[:3, :3].ravel() - data.body(name).xmat).max() < 1e-15
    assert np.abs(np.array(position(tree, q, "eye")).ravel() - data.site("eye").xpos).max() < 1e-15


def test_a_free_joint_may_be_held(tmp_path, mujoco):
    tree = load_model(written(tmp_path, MODEL), base="fixed", gravity=(0, 0, 0))
    assert tree.joints[0].kind == "fixed" and tree.joints[0].home[2][3] == 1.0
    assert tree.moving[0].name == "lift" and tree.gravity == (0, 0, 0)
    with refused("model.xml: base: an MJCF file states its free joints itself; expected 'fixed'"):
        load_model(written(tmp_path, MODEL), base="planar")


def test_dry_friction_is_an_element(tmp_path, mujoco):
    tree = load_model(written(tmp_path, MODEL))
    kinds = {each.name: type(each).__name__ for each in tree.elements}
    assert kinds == {
        "lift damper": "Damper",
        "lift armature": "Armature",
        "lift spring": "Spring",
        "reach damper": "Damper",
        "reach friction": "Friction",
        "wrist damper": "PassiveMoment",
    }
    assert next(e for e in tree.elements if isinstance(e, Friction)).dynamic == 0.4


BARS = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="left"><joint name="a" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 1"/>
    <body name="top" pos="0 0 1"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 1 0 0"/></body></body>
  <body name="right" pos="1 0 0"><joint name="c" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 1"/></body>
  <body name="dial" pos="2 0 0"><joint name="d" axis="0 1 0" ref="0.1"/>
    <geom type="sphere" size="0.1" pos="0.1 0 0"/></body>
</worldbody><equality>{}</equality></mujoco>"""
PINNED = '<connect name="pin" body1="top" body2="right" anchor="1 0 0"/>'
ANCHORED = '<connect name="pin" body1="top" body2="world" anchor="1 0 0"/>'
COUPLED = '<joint joint1="d" joint2="a" polycoef="0.2 -2 0.5 0 0"/>'
WELDED = '<weld name="seam" body1="top" body2="right"/>'


@pytest.mark.filterwarnings("ignore:XML attribute")
@pytest.mark.parametrize(("equality", "rows"), [(PINNED, 3), (ANCHORED, 3), (WELDED, 6)])
def test_loops_of_equalities_close(tmp_path, mujoco, equality, rows):
    tree = load_model(written(tmp_path, BARS.format(equality)))
    (loop,) = tree.loops
    assert loop.name in ("pin", "seam")
    gaps = np.array(gap(tree, ca.DM.zeros(tree.dof)))
    assert gaps.size == rows and np.abs(gaps).max() < 1e-15
    if equality == PINNED:
        q = close_coordinates(tree, [0.4, 0.1, 0.1, 0.0], fixed=["a"])
        assert np.allclose(q[:3], (0.4, -0.4, 0.4), atol=1e-9)


def test_a_joint_that_an_equality_holds_stands_still_there_and_holds_its_followers(
    tmp_path, mujoco
):
    held = '<joint joint1="a" polycoef="0.3"/><joint joint1="d" joint2="a" polycoef="0 2 0 0 0"/>'
    path = written(tmp_path, BARS.format(held))
    tree, model = load_model(path), mujoco.MjModel.from_xml_path(str(path))
    assert [joint.name for joint in tree.moving] == ["b", "c"]
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3, 0.2, -0.4, 0.1 + 2 * 0.3
    mujoco.mj_kinematics(model, data)
    frames = poses(tree, ca.DM([0.2, -0.4]))
    for name in ("left", "top", "right", "dial"):
        frame = np.array(frames[tree.link_index(name)])
        assert np.abs(frame[:3, 3] - data.body(name).xpos).max() < 1e-15
        assert np.abs(frame[:3, :3].ravel() - data.body(name).xmat).max() < 1e-15
    assert compared_mjcf(path, states=3).differences[0] < 1e-12


def test_joints_follow_by_polynomials_from_their_references(tmp_path, mujoco):
    tree = load_model(written(tmp_path, BARS.format(COUPLED)))
    assert [joint.name for joint in tree.moving] == ["a", "b", "c"]
    follower = tree.joints[tree.joint_index("d")]
    assert follower.follows.coordinate == "a"
    assert float(follower.follows.function(ca.DM(0.3))) == pytest.approx(
        0.1 + 0.2 - 2 * 0.3 + 0.5 * 0.3**2, rel=1e-14
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<option gravity", '<option density="1.2" gravity', "of a fluid are left out: density"),
        ('<body name="tail"', '<body name="tail" gravcomp="1"', "weight of bodies .*: tail$"),
        (
            "</actuator>",
            '</actuator><tendon><fixed name="string" stiffness="3" armature="1">'
            '<joint joint="lift" coef="1"/></fixed></tendon>',
            "tendons with forces of their own are left out: string$",
        ),
        (
            "</actuator>",
            '<motor name="push" site="eye"/></actuator>',
            "actuators that drive no joint alone are left out: push$",
        ),
        (
            '<compiler angle="degree"/>',
            '<compiler angle="degree" settotalmass="9"/>',
            "MuJoCo warns: compiler attribute 'settotalmass' is deprecated",
        ),
        ('type="ball"', 'type="ball" armature="1"', "no angle of their own are left out: wrist$"),
    ],
)
def test_what_is_left_out_is_said(tmp_path, monkeypatch, mujoco, old, new, message):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(ModelWarning, match=message) as said:
        load_model(written(tmp_path, MODEL.replace(old, new)))
    assert len(said) == 1 and [path.name for path in tmp_path.iterdir()] == ["model.xml"]


def test_ranges_in_radians_that_are_read_in_degrees_are_told(tmp_path, mujoco):
    text = """<mujoco><worldbody><body name="rod"><joint name="hinge" range="-1.57 1.57"/>
        <geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/></body></worldbody></mujoco>"""
    with pytest.warns(ModelWarning, match="read in degrees.*: hinge: -1.57 to 1.57 degrees$"):
        load_model(written(tmp_path, text))


def test_what_the_file_switches_off_is_off(tmp_path, mujoco):
    flags = '<option><flag gravity="disable" spring="disable" damper="disable"/></option>'
    tree = load_model(written(tmp_path, MODEL.replace("<default>", flags + "<default>")))
    assert tree.gravity == (0, 0, 0)
    assert {type(each).__name__ for each in tree.elements} == {"Armature", "Friction"}


def test_what_mujoco_refuses_is_said_with_its_words(tmp_path, mujoco):
    path = written(tmp_path, MODEL.replace('type="slide"', 'type="sled"'))
    with pytest.raises(ValueError, match=r"model.xml:15: .*(sled|invalid keyword)"):
        load_model(path)
    with refused("model.xml: it has no body but the world"):
        load_model(written(tmp_path, "<mujoco/>"))


def test_without_mujoco_models_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModuleNotFoundError, match=r"model.xml: .*install .*ocp-motion\[mjcf\]"):
        load_model(written(tmp_path, MODEL))


def test_a_spring_of_a_reference_rests_where_mujocos_does(tmp_path, mujoco):
    tree = load_model(written(tmp_path, MODEL))
    spring = next(each for each in tree.elements if each.name == "lift spring")
    assert spring.rest == pytest.approx(15 * pi / 180)
    assert replace(spring, rest=0.0).stiffness == 4.0

"""Robots from URDF files: what they become, what is said of them, and what is refused where."""

from dataclasses import replace
from math import inf

import casadi as ca
import numpy as np
import pytest
from urdf_texts import ARM, FINGERS, LOSSY, SOLES, written

import ocp
from ocp.interchange import ModelWarning, load_model
from ocp.mechanics import Visual, element_torques, poses, position, structure


@pytest.fixture
def arm(tmp_path):
    return load_model(written(tmp_path, ARM))


def test_links_and_joints_are_those_of_the_file(arm):
    assert arm.names == ("base", "turn", "slide", "tip")
    assert arm.link_names == ("world", "upper", "slider", "tool")
    assert arm.parents == (-1, 0, 1, 2) and arm.dof == 2 and arm.gravity == (0.0, 0.0, -9.81)
    turn, slide = arm.moving
    assert turn == ocp.revolute(
        "turn", "world", axis=(0, 1, 0), home=turn.home, position=(-1, 2), velocity=3, torque=30
    )
    assert slide == ocp.prismatic(
        "slide", "upper", axis=(1, 0, 0), home=(0.2, 0, 0), position=(0, 0.4), torque=10
    )
    assert np.allclose(np.array(turn.home)[:3, 0], (0, 1, 0), atol=1e-15)
    assert arm.links[2].mass == 0.5 and not np.any(arm.links[2].inertia)


def test_turns_are_about_fixed_axes_x_then_y_then_z(arm):
    x, y, z = 0.1, 0.2, 0.3
    about_x = [[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]
    about_y = [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
    about_z = [[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]]
    home = np.array(arm.joints[3].home)
    assert np.abs(home[:3, :3] - np.array(about_z) @ about_y @ about_x).max() < 1e-15


def test_an_inertia_is_turned_into_the_links_axes(arm):
    given = np.array([[0.03, 0.001, -0.002], [0.001, 0.02, 0.003], [-0.002, 0.003, 0.04]])
    found = np.array(arm.links[1].inertia)
    assert np.allclose(np.linalg.eigvalsh(found), np.linalg.eigvalsh(given), rtol=1e-12)
    assert abs(found[0, 1] - 0.001) > 1e-3


def test_looks_are_kept_by_reference(arm):
    rod, box = arm.links[1].visuals
    assert (rod.kind, rod.size, rod.colour) == ("cylinder", (0.05, 0.4), (0.5, 0.5, 0.5, 1.0))
    assert rod.pose[2][3] == 0.1
    assert (box.kind, box.size, box.colour) == ("box", (0.1, 0.2, 0.3), None)


def test_names_of_links_lead_to_points_and_errors(arm):
    tipped = replace(arm, points=(ocp.Point(name="tcp", link="tool", position=(0.1, 0, 0)),))
    assert np.array(position(tipped, ca.DM([0, 0]), "tcp")).shape == (3, 1)
    with pytest.raises(ValueError, match="unknown link 'tip'; the links are world, upper, slider"):
        replace(arm, points=(ocp.Point(name="tcp", link="tip"),))


@pytest.mark.parametrize(
    ("base", "names"),
    [
        ("free", ["base_x", "base_y", "base_z", *(f"base.{part}" for part in "wxyz")]),
        ("planar", ["base_x", "base_z", "base"]),
    ],
)
def test_a_base_may_float(tmp_path, base, names):
    tree = load_model(written(tmp_path, ARM), base=base)
    root = tree.moving[: len(names)]
    assert [joint.name for joint in root] == names
    assert not any(joint.actuated for joint in root) and structure(tree).adrift
    q = ca.DM([0.1] * tree.dof)
    fixed = load_model(written(tmp_path, ARM))
    inner = np.array(ocp.mass_matrix(tree, q))[-2:, -2:]
    assert np.abs(inner - np.array(ocp.mass_matrix(fixed, q[-2:]))).max() < 1e-14


def test_a_planar_base_keeps_the_axes_of_its_link(tmp_path):
    tree = load_model(written(tmp_path, ARM), base="planar")
    base = np.array(poses(tree, ca.DM([0.1, 0.2, 0.3, 0, 0]))[2])
    assert np.allclose(base[:3, 3], (0.1, 0, 0.2)) and np.allclose(base[:3, 1], (0, 1, 0))
    assert base[0, 2] == pytest.approx(np.sin(0.3))


def test_a_base_takes_another_name_where_its_own_is_taken(tmp_path):
    text = ARM.replace('name="turn"', 'name="base"').replace('"tool"', '"base__x"')
    assert load_model(written(tmp_path, text)).names[0] == "base_"
    assert load_model(written(tmp_path, text), base="planar").names[2] == "base__"


def between_two(kind):
    """A robot of two links with a joint of that kind."""
    joint = (
        f'<joint name="way" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    )
    mass = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
    links = f'<link name="a"/><link name="b"><inertial>{mass}</inertial></link>'
    return f"<robot>{links}{joint}</joint></robot>"


@pytest.mark.parametrize(
    ("kind", "q"), [("planar", [0.3, 0.2, 0.1]), ("floating", [0.3, 0.2, 0, 1, 0, 0, 0])]
)
def test_joints_of_several_ways_are_rows_of_joints_without_drives(tmp_path, kind, q):
    tree = load_model(written(tmp_path, between_two(kind)))
    assert tree.dof == len(q) and not any(joint.actuated for joint in tree.moving)
    assert tree.link_names[-1] == "b" and tree.names[0] == "base"
    shift = np.array(poses(tree, ca.DM(q))[-1])[:3, 3]
    assert np.linalg.norm(shift) == pytest.approx(np.hypot(0.3, 0.2)) and abs(shift[2]) < 1e-15


# What acts at joints, and what they follow --------------------------------------------------------


def test_damping_and_dry_friction_are_elements(tmp_path):
    tree = load_model(written(tmp_path, LOSSY))
    assert tree.elements == (
        ocp.Damper(joint="turn", damping=0.3, name="turn damper"),
        ocp.Friction(joint="turn", dynamic=0.2, name="turn friction"),
    )
    q, qd, rest = ca.DM([0.3, 0.1]), ca.DM([50, 0]), ca.DM([0, 0])
    plain = replace(tree, elements=())
    lost = ocp.inverse_dynamics(tree, q, qd, rest) - ocp.inverse_dynamics(plain, q, qd, rest)
    assert np.allclose(np.array(lost).ravel(), (0.3 * 50 + 0.2, 0), atol=1e-12)


def test_joints_follow_others_in_lines(tmp_path):
    tree = load_model(written(tmp_path, FINGERS))
    assert [joint.name for joint in tree.moving] == ["first"]
    lines = [joint.follows and joint.follows.function.coefficients for joint in tree.joints]
    assert lines[1:] == [None, (0.1, -3.0), pytest.approx((1.2, -6.0))]
    assert tree.moving[0].position == (0, 1) and tree.moving[0].torque == (-9, 9)


def test_what_is_lost_at_a_follower_is_lost_at_its_leader(tmp_path):
    tree = load_model(written(tmp_path, FINGERS))
    damper, _ = tree.elements
    assert (damper.joint, damper.name, damper.damping) == ("first", "second damper", 18.0)
    speed, force = 0.01, 0.5 * np.tanh(4 * 3 * 0.01 / 0.1) * 3  # of a line three times as fast
    lost = element_torques(tree, ca.DM([0.2]), ca.DM([speed]))
    assert float(lost) == pytest.approx(-18 * speed - force, rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'joint="first"',
            'joint="frist"',
            "unknown joint 'frist' of 'second'; take repair='loosen' for a coordinate of its own",
        ),
        ('joint="first"', 'joint="third"', "joints second, third, second follow each other"),
        (
            'multiplier="-3"',
            'multiplier="0"',
            "expected a joint that turns or slides, times a number other than 0, got 'first' "
            r".prismatic. times 0",
        ),
    ],
)
def test_joints_that_follow_nothing_are_refused(tmp_path, old, new, message):
    path = written(tmp_path, FINGERS.replace(old, new))
    with pytest.raises(ValueError, match=rf"^arm.urdf:\d: <mimic>: {message}"):
        load_model(path)


def test_joints_that_follow_nothing_are_loosened(tmp_path):
    path = written(tmp_path, FINGERS.replace('joint="first"', 'joint="frist"'))
    with pytest.warns(ModelWarning, match="that ought to follow unknown ones follow none: second$"):
        tree = load_model(path, repair="loosen")
    assert [joint.name for joint in tree.moving] == ["first", "second"]


# What is remarked and repaired --------------------------------------------------------------------


def test_what_moves_no_mass_is_refused_or_fixed(tmp_path):
    text = ARM.replace('<mass value="0.5"/>', '<mass value="0"/>')
    path = written(tmp_path, text)
    message = (
        r"arm.urdf:29: <joint name=\"slide\">: nothing that it moves has mass; take repair='we"
    )
    with pytest.raises(ValueError, match=message):
        load_model(path)
    with pytest.warns(ModelWarning, match=r"arm.urdf: joints that move no mass are fixed: slide$"):
        assert load_model(path, repair=("balance", "weld")).dof == 1


MESH = '<visual><geometry><mesh filename="{}" scale="1 -1 2"/></geometry></visual>'


def test_meshes_that_are_not_there_are_a_warning(tmp_path):
    path = written(
        tmp_path,
        ARM.replace('<link name="tool"/>', f'<link name="tool">{MESH.format("a/b.stl")}</link>'),
    )
    with pytest.warns(ModelWarning, match=r"arm.urdf: meshes that are not there: a/b.stl$") as said:
        tree = load_model(path)
    assert said[0].filename == __file__  # the line that asked for it
    assert tree.links[3].visuals == (Visual(kind="mesh", path="a/b.stl", size=(1, -1, 2)),)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("m.stl", "pack/urdf/m.stl"),
        ("../meshes/m.stl", "pack/meshes/m.stl"),
        ("package://pack/meshes/m.stl", "pack/meshes/m.stl"),
        ("package://other/m.stl", "elsewhere/other/m.stl"),
        ("package://ros/m.stl", "paths/ros/m.stl"),
    ],
)
def test_meshes_are_found_where_robots_keep_them(tmp_path, monkeypatch, name, place):
    mesh, folder = tmp_path / place, tmp_path / "pack" / "urdf"
    mesh.parent.mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    mesh.touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "paths"))
    text = ARM.replace('<link name="tool"/>', f'<link name="tool">{MESH.format(name)}</link>')
    tree = load_model(written(folder, text), folders=[tmp_path / "elsewhere"])
    (visual,) = tree.links[3].visuals
    assert mesh.samefile(visual.path)


def test_limits_that_nobody_gave_are_none(tmp_path):
    text = ARM.replace('effort="30" velocity="3"', 'effort="0" velocity="0"')
    with pytest.warns(ModelWarning, match=r"zero are taken as none: turn \(effort, velocity\)$"):
        tree = load_model(written(tmp_path, text))
    assert tree.moving[0].torque == tree.moving[0].velocity == (-inf, inf)
    with pytest.warns(ModelWarning, match="without lower and upper limits .*: slide$"):
        tree = load_model(written(tmp_path, ARM.replace('lower="0" upper="0.4"', "")))
    assert tree.moving[1].position == (-inf, inf)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('lower="-1" upper="2"', 'lower="-90" upper="180"', "angles beyond 10 rad .*: turn$"),
        ('xyz="0.2 0 0"', 'xyz="200 0 0"', "places beyond 20 m .*: slide$"),
        (
            '<child link="tool"/>',
            '<child link="tool"/><dynamics damping="2"/>',
            "damping and friction of fixed joints are left out: tip$",
        ),
        (
            '<child link="tool"/>',
            '<child link="tool"/><mimic joint="turn"/>',
            "joints that are fixed and follow another stay fixed: tip$",
        ),
    ],
)
def test_what_is_likely_not_meant_is_warned_of(tmp_path, old, new, words):
    assert old in ARM
    with pytest.warns(ModelWarning, match=words):
        load_model(written(tmp_path, ARM.replace(old, new, 1)))


def test_what_is_called_like_the_ground_is_renamed(tmp_path):
    text = ARM.replace('"tool"', '"ground"')
    with pytest.warns(ModelWarning, match="link 'ground' is 'ground of the file'"):
        assert load_model(written(tmp_path, text)).link_names[-1] == "ground of the file"


def test_links_may_show_their_collision_shapes(tmp_path):
    text = ARM.replace(
        '<link name="tool"/>',
        """<link name="tool"><visual><geometry>
      <sphere radius="1"/></geometry></visual><collision><origin xyz="0 0 2"/><geometry>
      <box size="1 2 3"/></geometry></collision></link>""",
    )
    (shape,) = load_model(written(tmp_path, text), shapes="collision").links[-1].visuals
    assert (shape.kind, shape.size, shape.pose[2][3]) == ("box", (1, 2, 3), 2)
    assert load_model(written(tmp_path, text)).links[-1].visuals[0].kind == "sphere"
    with pytest.raises(ValueError, match="shapes: expected one of visual, collision, got 'both'"):
        load_model(written(tmp_path, text), shapes="both")


def test_soles_are_the_lowest_of_collision_shapes(tmp_path):
    tree = load_model(written(tmp_path, SOLES), soles=("box", "ball"))
    places = [np.array(position(tree, np.zeros(0), point.name)).ravel() for point in tree.points]
    assert [point.name for point in tree.points] == ["box.1", "box.2", "box.3", "box.4", "ball.1"]
    expected = [(-0.2, -0.05), (0.0, -0.05), (0.0, 0.05), (-0.2, 0.05)]
    np.testing.assert_allclose(places[:4], [(*place, -0.02) for place in expected], atol=1e-12)
    np.testing.assert_allclose(places[4], (0.0, 0.0, -0.03), atol=1e-12)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("rod", r"arm\.urdf:6: <collision>.*: a sole is that of spheres and boxes, got <cylinder>"),
        ("trunk", r"arm\.urdf:2: <link name=.trunk.>: it has no <collision> to stand on"),
        ("heel", "unknown link 'heel'; the links are trunk, box"),
    ],
)
def test_a_link_without_a_sole_says_so(tmp_path, link, message):
    with pytest.raises(ValueError, match=message):
        load_model(written(tmp_path, SOLES), soles=[link])

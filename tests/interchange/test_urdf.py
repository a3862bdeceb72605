"""Robots from URDF files: what they become, what is said of them, and what is refused where."""

from dataclasses import replace
from math import inf, pi

import casadi as ca
import numpy as np
import pytest

from ocp import (
    Damper,
    Friction,
    Point,
    Spring,
    inverse_dynamics,
    mass_matrix,
    prismatic,
    revolute,
)
from ocp.interchange import ModelWarning, load_model, save_model
from ocp.mechanics import Visual, element_torques, poses, position, structure

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.2" rpy="0.3 -0.2 0.5"/>
      <mass value="2"/>
      <inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.02" iyz="0.003" izz="0.04"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.1"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name="steel"/>
    </visual>
    <visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual>
  </link>
  <link name="slider">
    <inertial><mass value="0.5"/><inertia ixx="0" iyy="0" izz="0"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
  </link>
  <link name="tool"/>
  <joint name="turn" type="revolute">
    <origin xyz="0 0 0.3" rpy="0 0 1.5707963267948966"/>
    <parent link="world"/><child link="upper"/>
    <axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="3"/>
  </joint>
  <joint name="slide" type="prismatic">
    <origin xyz="0.2 0 0"/><parent link="upper"/><child link="slider"/>
    <limit lower="0" upper="0.4" effort="10"/>
  </joint>
  <joint name="tip" type="fixed">
    <origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><parent link="slider"/><child link="tool"/>
  </joint>
</robot>
"""


def written(folder, text, name="arm.urdf"):
    """Path of a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def arm(tmp_path):
    return load_model(written(tmp_path, ARM))


def test_links_and_joints_are_those_of_the_file(arm):
    assert arm.names == ("base", "turn", "slide", "tip")
    assert arm.link_names == ("world", "upper", "slider", "tool")
    assert arm.parents == (-1, 0, 1, 2) and arm.dof == 2 and arm.gravity == (0.0, 0.0, -9.81)
    turn, slide = arm.moving
    assert turn == revolute(
        "turn",
        "world",
        axis=(0, 1, 0),
        home=turn.home,
        position=(-1, 2),
        velocity=3,
        torque=30,
    )
    assert slide == prismatic(
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
    tipped = replace(arm, points=(Point(name="tcp", link="tool", position=(0.1, 0, 0)),))
    assert np.array(position(tipped, ca.DM([0, 0]), "tcp")).shape == (3, 1)
    with pytest.raises(ValueError, match="unknown link 'tip'; the links are world, upper, slider"):
        replace(arm, points=(Point(name="tcp", link="tip"),))


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
    inner = np.array(mass_matrix(tree, q))[-2:, -2:]
    assert np.abs(inner - np.array(mass_matrix(fixed, q[-2:]))).max() < 1e-14


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

LOSSY = ARM.replace("<axis xyz", '<dynamics damping="0.3" friction="0.2"/><axis xyz')


def test_damping_and_dry_friction_are_elements(tmp_path):
    tree = load_model(written(tmp_path, LOSSY))
    assert tree.elements == (
        Damper(joint="turn", damping=0.3, name="turn damper"),
        Friction(joint="turn", dynamic=0.2, name="turn friction"),
    )
    q, qd, rest = ca.DM([0.3, 0.1]), ca.DM([50, 0]), ca.DM([0, 0])
    plain = replace(tree, elements=())
    lost = inverse_dynamics(tree, q, qd, rest) - inverse_dynamics(plain, q, qd, rest)
    assert np.allclose(np.array(lost).ravel(), (0.3 * 50 + 0.2, 0), atol=1e-12)


FINGERS = """<robot name="hand"><link name="palm"/>{}
  <joint name="first" type="prismatic"><parent link="palm"/><child link="a"/>
    <limit lower="0" upper="1" effort="9"/></joint>
  <joint name="second" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1"/><dynamics damping="2" friction="0.5"/>
    <mimic joint="first" multiplier="-3" offset="0.1"/></joint>
  <joint name="third" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <mimic joint="second" multiplier="2" offset="1"/></joint>
</robot>""".format(
    "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0.2 0"/><mass value="1"/>'
        f'<inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        for name in "abc"
    )
)


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


def with_inertia(numbers, mass="2"):
    """The arm with other moments of inertia of its upper link."""
    begin = ARM.index('<inertia ixx="0.03"')
    end = ARM.index("/>", begin) + 2
    moments = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    text = ARM[:begin] + f"<inertia {moments}/>" + ARM[end:]
    return text.replace('<mass value="2"/>', f'<mass value="{mass}"/>')


PLATE = {"ixx": 0.001, "iyy": 0.001, "izz": 0.01}


def test_an_inertia_of_no_body_is_refused_and_balanced(tmp_path):
    path = written(tmp_path, with_inertia(PLATE))
    message = (
        r"^arm.urdf:6: <inertial>: no body of 2 kg has principal moments 0.001, 0.001, 0.01 kg m2: "
        "each is at most the sum of the others; take repair='balance' for the nearest inertia"
    )
    with pytest.raises(ValueError, match=message):
        load_model(path)
    with pytest.warns(
        ModelWarning, match="upper in line 6: principal moments 0.001, 0.001, 0.01 b"
    ):
        tree = load_model(path, repair="balance")
    moments = np.linalg.eigvalsh(np.array(tree.links[1].inertia))
    assert np.allclose(moments, [0.005, 0.005, 0.01], rtol=1e-12)  # the integral of z z becomes 0


@pytest.mark.parametrize("noise", [1e-20, 1e-12])
def test_rounding_of_a_point_mass_is_accepted(tmp_path, noise):
    numbers = {"ixx": 0, "ixz": noise, "iyy": 0, "izz": 0}
    tree = load_model(written(tmp_path, with_inertia(numbers)))
    assert np.abs(tree.links[1].inertia).max() <= 2 * noise


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


def test_what_is_called_like_the_ground_is_renamed(tmp_path):
    text = ARM.replace('"tool"', '"ground"')
    with pytest.warns(ModelWarning, match="link 'ground' is 'ground of the file'"):
        assert load_model(written(tmp_path, text)).link_names[-1] == "ground of the file"


# What is refused ----------------------------------------------------------------------------------


SLIDE = '<joint name="slide" type="prismatic">'
TIP = '<joint name="tip" type="fixed">'
TOOL = '<link name="tool"/>'
HEAVY = '<mass value="2"/>'
AXIS = 'xyz="0 2 0"'
LIMIT = '<limit lower="0" upper="0.4" effort="10"/>'
CHILD = '<child link="tool"/>'
BALL = '<sphere radius="0.1"/>'

WRONG = {
    "cut off": ("</robot>\n", "", "", "no XML: no element found"),
    "crossed": ("</link>", "</lnk>", "</lnk>", "no XML: mismatched tag"),
    "kind": (
        SLIDE,
        SLIDE.replace("prismatic", "ball"),
        SLIDE[:-18],
        '<joint name="slide">: type: expected one of revolute, continuous, prismatic, fixed, '
        "floating, planar, got 'ball'",
    ),
    "mass": (HEAVY, "", "<inertial>", "<inertial>: <mass> is missing"),
    "negative": (
        HEAVY,
        '<mass value="-2"/>',
        "<inertial>",
        "<inertial>: link mass: expected at least 0 kg, got -2",
    ),
    "word": (
        HEAVY,
        '<mass value="heavy"/>',
        "<mass",
        "<mass>: value: expected a finite number, got 'heavy'",
    ),
    "nan": ('ixx="0.03"', 'ixx="nan"', 'ixx="nan"', "<inertia>: ixx: expected a finite number"),
    "no axis": (AXIS, 'xyz="0 0 0"', "<axis", "<axis>: xyz: expected a direction, got zeros"),
    "short axis": (AXIS, 'xyz="0 2"', "<axis", "<axis>: xyz: expected 3 finite numbers, got '0 2'"),
    "no limit": (
        LIMIT,
        "",
        SLIDE,
        '<joint name="slide">: <limit> is missing, which a prismatic joint must have',
    ),
    "crossed limits": (
        'lower="0"',
        'lower="1"',
        SLIDE,
        "<joint name=\"slide\">: joint 'slide': position limits: lower bound 1 is above upper",
    ),
    "negative effort": (
        'effort="10"',
        'effort="-10"',
        'effort="-10"',
        "<limit>: effort: expected at least 0, got -10",
    ),
    "unknown link": (
        CHILD,
        '<child link="hook"/>',
        '<child link="hook"/>',
        "<child>: joint 'tip': unknown link 'hook'",
    ),
    "two parents": (
        CHILD,
        '<child link="upper"/>',
        TIP,
        "<joint name=\"tip\">: link 'upper' is already the child of joint 'turn' in line 23",
    ),
    "cycle": (
        '<parent link="slider"/>',
        '<parent link="tool"/>',
        TIP,
        '<joint name="tip">: joints tip form a cycle: a loop is no tree',
    ),
    "two roots": (
        TOOL,
        '<link name="tool"/><link name="spare"/>',
        '<link name="spare"/>',
        '<link name="spare">: expected one link without a parent, got 2: world, spare',
    ),
    "twice": (
        TOOL,
        '<link name="upper"/>',
        '<link name="upper"/>',
        '<link name="upper">: the name is used twice, first in line 5',
    ),
    "no name": (TOOL, "<link/>", "<link/>", "<link>: name is missing"),
    "look": (
        BALL,
        '<cone radius="0.1"/>',
        "<cone",
        "<visual>: <geometry>: expected one of box, sphere, cylinder, capsule, mesh, got <cone>",
    ),
    "radius": (
        BALL,
        '<sphere radius="0"/>',
        '<sphere radius="0"/>',
        "<sphere>: visual sphere: radius: expected a number above 0, got 0",
    ),
    "no link": (ARM, '<robot name="arm"/>', "<robot", '<robot name="arm">: it has no <link>'),
    "no robot": (ARM, "<model/>", "<model", "<model>: expected <robot>, the root of a URDF"),
    "other": (ARM, "<sdf/>", "<sdf", "<sdf>: SDF files are not read"),
    "muscles": (ARM, "<OpenSimDocument/>", "<Op", "<OpenSimDocument>: OpenSim files are not read"),
    "damping": (
        "<axis",
        '<dynamics damping="-1"/><axis',
        "<dynamics",
        "<dynamics>: damper 'turn damper': damping: expected a number above 0, got -1",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_said_of_file_line_and_element(tmp_path, kind):
    old, new, place, message = WRONG[kind]
    text = ARM.replace(old, new)
    line = text.index(place) if place else len(text)
    with pytest.raises(ValueError) as error:
        load_model(written(tmp_path, text))
    number = text[:line].count("\n") + 1
    assert str(error.value).startswith(f"arm.urdf:{number}: {message}")


def test_options_that_are_none_are_refused(tmp_path):
    path = written(tmp_path, ARM)
    with pytest.raises(ValueError, match="base: expected one of fixed, free, planar, got 'loose'"):
        load_model(path, base="loose")
    with pytest.raises(ValueError, match="expected some of balance, weld, loosen, got 'glue'"):
        load_model(path, repair="glue")
    with pytest.raises(ValueError, match=r"none.urdf: cannot be read: No such file"):
        load_model(tmp_path / "none.urdf")


# What is written ----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "free", "planar"])
@pytest.mark.parametrize("text", [LOSSY, FINGERS], ids=["arm", "hand"])
@pytest.mark.filterwarnings("ignore:again.urdf. of dry friction:UserWarning")
def test_a_tree_that_is_written_reads_back_the_same(tmp_path, base, text):
    tree = load_model(written(tmp_path, text), base=base)
    save_model(tree, tmp_path / "again.urdf")
    again = load_model(tmp_path / "again.urdf", base=base)
    assert (again.names, again.link_names) == (tree.names, tree.link_names)
    for first, second in zip(tree.joints, again.joints):
        assert np.abs(np.array(first.home) - np.array(second.home)).max() < 1e-15
        assert replace(first, home=second.home) == second
    fast = ca.DM([10.0] * tree.dof)
    lost = [np.array(element_torques(each, fast, fast)) for each in (tree, again)]
    assert np.abs(lost[0] - lost[1]).max() < 1e-12 and np.abs(lost[0]).max() > 1
    for first, second in zip(tree.links, again.links):
        assert replace(first, visuals=()) == replace(second, visuals=())
        assert [each.size for each in first.visuals] == [each.size for each in second.visuals]


@pytest.mark.parametrize("pitch", [pi / 2, -pi / 2 + 4e-12, 1e-5, pi / 2 - 1e-7])
def test_turns_are_written_to_the_last_digits_at_any_pitch(tmp_path, pitch):
    turns = f'rpy="0.4 {pitch!r} -1.1"'
    tree = load_model(written(tmp_path, ARM.replace('rpy="0.1 0.2 0.3"', turns)))
    save_model(tree, tmp_path / "again.urdf")
    again = load_model(tmp_path / "again.urdf")
    assert np.abs(np.array(tree.joints[3].home) - np.array(again.joints[3].home)).max() < 4e-16


def test_a_tree_on_the_ground_has_a_link_for_it(tmp_path):
    from ocp.models.two_link import two_link

    tree = replace(two_link(gravity=9.81), points=())
    with pytest.warns(ModelWarning, match="links' frames stand on their joints' axes: shoulder; "):
        save_model(tree, tmp_path / "two.urdf", name="two & two")
    assert '<robot name="two &amp; two">' in (tmp_path / "two.urdf").read_text()
    again = load_model(tmp_path / "two.urdf", gravity=tree.gravity)
    motion = [ca.DM([0.3, -0.4]), ca.DM([1, 2]), ca.DM([3, 4])]
    torques = [np.array(inverse_dynamics(each, *motion)) for each in (tree, again)]
    assert again.link_names[0] == "world" and np.abs(torques[0] - torques[1]).max() < 1e-13


def test_what_the_format_cannot_say_is_refused_or_remarked(tmp_path, arm):
    from ocp.models.four_bar import four_bar

    with pytest.raises(ValueError, match="save_model: URDF knows no loops, and the tree has pin"):
        save_model(four_bar(), tmp_path / "bar.urdf")
    sprung = replace(arm, elements=(Spring(joint="turn", stiffness=3.0),))
    with pytest.raises(ValueError, match="URDF knows no spring, and the tree has 'turn spring'"):
        save_model(sprung, tmp_path / "bar.urdf")
    tipped = replace(arm, points=(Point(name="tcp", link="tool"),))
    with pytest.warns(ModelWarning, match=r"out.urdf: points are left out: tcp$"):
        save_model(tipped, tmp_path / "out.urdf")
    joints = [replace(each, torque=(-5, 7)) if each.name == "turn" else each for each in arm.joints]
    with pytest.warns(
        ModelWarning, match=r"the narrower of two limits is written: turn \(torque\)"
    ):
        save_model(replace(arm, joints=joints), tmp_path / "out.urdf")
    assert load_model(tmp_path / "out.urdf").moving[0].torque == (-5, 5)

"""URDF files that are wrong are refused with file, line and element."""

import pytest
from urdf_texts import ARM, written

from ocp.interchange import load_model

SLIDE = '<joint name="slide" type="prismatic">'
TIP = '<joint name="tip" type="fixed">'
TOOL = '<link name="tool"/>'
HEAVY = '<mass value="2"/>'
AXIS = 'xyz="0 2 0"'
LIMIT = '<limit lower="0" upper="0.4" effort="10"/>'
CHILD = '<child link="tool"/>'

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
    "endless": ('ixx="0.03"', 'ixx="1e300"', 'ixx="1e300"', "<inertia>: ixx: expected a finite"),
    "code": (
        ARM,
        '<?xml version="1.0" encoding="klingon"?>' + ARM,
        "<?xml",
        "no XML: unknown encoding: klingon",
    ),
    "part": (ARM, "<mujocoinclude/>", "<mujoco", "<mujocoinclude>: a part of other MJCF files"),
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
    "no link": (ARM, '<robot name="arm"/>', "<robot", '<robot name="arm">: it has no <link>'),
    "no robot": (ARM, "<model/>", "<model", "<model>: expected <robot>, the root of a URDF"),
    "other": (ARM, "<sdf/>", "<sdf", "<sdf>: SDF files are not read"),
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
    with pytest.raises(
        ValueError, match="expected some of balance, keep, weld, loosen, got 'glue'"
    ):
        load_model(path, repair="glue")
    with pytest.raises(ValueError, match=r"none.urdf: cannot be read: No such file"):
        load_model(tmp_path / "none.urdf")


def test_mjcf_that_mujoco_cannot_decode_is_said(tmp_path):
    path = tmp_path / "m.xml"
    path.write_bytes("<mujoco/>".encode("utf-16"))
    with pytest.raises(ValueError, match=r"^m.xml:1: <mujoco>: MJCF is read of files in UTF-8"):
        load_model(path)

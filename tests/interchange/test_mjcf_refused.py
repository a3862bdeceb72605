"""MJCF files that are wrong are refused with file, line and element; what is not there is said."""

import pytest

from ocp.interchange import ModelWarning, load_model

MODEL = """<mujoco>
  <worldbody>
    <body name="arm"><geom size="0.1"/>
      <joint name="hip"/>
      <body name="hand" pos="0 0 1"><geom size="0.1"/>
        <joint name="wrist"/>
        <body name="tip" pos="0 0 1"><geom size="0.1"/>
          <joint name="nail"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
HIP = '<joint name="hip"/>'
TIP = '<body name="tip" pos="0 0 1"><geom size="0.1"/>'
END = "</mujoco>"
LEADS = '<joint joint1="{}" joint2="{}"/>'
MESH = '<geom type="mesh" mesh="scan"/>'
ASSET = '<asset><mesh name="scan" file="no.stl"/></asset>'

WRONG = {
    "damping": (
        HIP,
        '<joint name="hip" damping="-1"/>',
        ":4: <joint> 'hip': damper 'hip damper': damping: expected a number above 0, got -1",
    ),
    "stiffness": (
        HIP,
        '<joint name="hip" stiffness="-1"/>',
        ":4: <joint> 'hip': spring 'hip spring': stiffness: expected a number above 0, got -1",
    ),
    "kind": (HIP, '<joint name="hip" type="sled"/>', ":4: <joint>: invalid keyword: 'sled'"),
    "axis": (HIP, '<joint name="hip" axis="0 0 0"/>', ":4: 'hip': axis too small in joint"),
    "word": (HIP, '<joint name="hip" damping="x"/>', ":4: <joint>: bad format in attribute"),
    "crossed limits": (
        HIP,
        '<joint name="hip" limited="true" range="9 5"/>',
        ":4: 'hip': range[0] should be smaller than range[1] in joint",
    ),
    "unknown": (HIP, "<hip/>", ":4: <hip>: Schema violation: unrecognized element"),
    "twice": (HIP, '<joint name="nail"/>', ":8: <joint>: repeated name 'nail' in joint"),
    "no mass": (TIP, '<body name="tip">', ":7: 'tip': mass and inertia of moving bodies must be"),
    "no file": (
        HIP,
        '<include file="no.xml"/>',
        " or a file that it includes, line 4: <include>: Error opening file 'no.xml'",
    ),
    "mesh with mass": (
        TIP,
        f'<body name="tip">{MESH}',
        ":7: <geom> of body 'tip': its mass follows from a mesh that is not there, ",
    ),
    "itself": (END, LEADS.format("hip", "hip"), ":13: element 'hip' is repeated in equality"),
    "cycle": (
        END,
        LEADS.format("hip", "wrist") + LEADS.format("nail", "hip") + LEADS.format("wrist", "nail"),
        ": joints hip, wrist, nail follow each other",
    ),
    "part": (MODEL, "<mujocoinclude/>", ":1: <mujocoinclude>: a part of other MJCF files; load"),
    "empty": (MODEL, "<mujoco/>", ": it has no body but the world"),
    "nothing": (MODEL, "", ":1: no XML: no element found"),
    "crossed": (HIP, '<joint name="hip">', ":11: no XML: mismatched tag"),
}


def changed(folder, old, new):
    """Path of the model's file with this in place of that."""
    if old == END:
        new = f"<equality>{new}</equality>{END}"
    path = folder / "m.xml"
    asset = ASSET if MESH[:-2] in new else ""
    path.write_text(MODEL.replace(old, new, 1).replace("<worldbody>", asset + "<worldbody>"))
    return path


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_said_of_file_line_and_element(tmp_path, kind):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    old, new, message = WRONG[kind]
    with pytest.raises(ValueError) as error:
        load_model(changed(tmp_path, old, new))
    assert str(error.value).startswith("m.xml" + message)


def test_who_follows_a_follower_follows_its_leader(tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    steps = '<joint joint1="hip" joint2="wrist" polycoef="1 2 3 0 0"/>'
    steps += '<joint joint1="wrist" joint2="nail" polycoef="0.5 -1 0 0 0"/>'
    tree = load_model(changed(tmp_path, END, steps))
    hip, wrist = (tree.joints[tree.joint_index(name)].follows for name in ("hip", "wrist"))
    assert hip.coordinate == wrist.coordinate == "nail"
    y = 0.5 - 0.3
    assert wrist.function(0.3) == pytest.approx(y)
    assert hip.function(0.3) == pytest.approx(1 + 2 * y + 3 * y**2)


LEFT_OUT = {
    "second leader": (
        END,
        LEADS.format("hip", "wrist") + LEADS.format("hip", "nail"),
        "equalities are left out: equality 2$",
    ),
    "crossed limits": (HIP, '<joint name="hip" range="9 5"/>', "above the upper .*: hip$"),
    "mesh": (HIP, MESH.replace("/>", ' mass="0"/>') + HIP, r"not there, .*left out: .*no\.stl$"),
    "mocap": (
        "</worldbody>",
        '<body name="hook" mocap="true"/></worldbody>',
        r"moved from outside \(mocap\) stand still: hook$",
    ),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_is_not_known_here_is_said(tmp_path, kind):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    old, new, message = LEFT_OUT[kind]
    with pytest.warns(ModelWarning, match=message):
        load_model(changed(tmp_path, old, new))


def test_a_comment_that_only_mujoco_takes_is_no_fault(tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    path = tmp_path / "m.xml"
    path.write_text("<!-- arm -->\n" + MODEL.replace("<worldbody>", "<!-- a -- b --><worldbody>"))
    assert load_model(path).dof == 3


def test_a_file_that_begins_with_many_comments_is_read_at_once(tmp_path):
    path = tmp_path / "m.urdf"
    path.write_text("<!-- a -->\n" * 200 + '<robot name="r"><link name="base"/></robot>')
    assert load_model(path).link_names == ("base",)


def test_names_that_are_no_text_are_refused(tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    path = tmp_path / "model.xml"
    path.write_bytes(MODEL.encode().replace(b'<body name="', b'<body name="\xff', 1))
    with pytest.raises(
        ValueError, match=r"^model.xml: expected names in UTF-8, got one with other"
    ):
        load_model(path)


def test_endless_numbers_are_refused_by_the_joint(tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    path = tmp_path / "model.xml"
    far = MODEL.replace(TIP, TIP.replace('pos="0 0 1"', 'pos="0 inf 1"'))
    path.write_text(far.replace('<joint name="nail"/>', '<joint name="nail" type="ball"/>'))
    with pytest.raises(ValueError, match=r"^model.xml: joint 'nail': home: expected finite number"):
        load_model(path)

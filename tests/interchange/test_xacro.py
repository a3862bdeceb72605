"""Files of macros: expanded where their reader is installed, and otherwise said to need it."""

import sys

import pytest
from refusals import refused

from ocp.interchange import load_model

ROD = """<robot name="rods" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="count" default="1"/>
  <xacro:property name="heavy" value="${1 + 1}"/>
  <link name="root"/>
  <xacro:macro name="rod" params="name parent">
    <link name="${name}"><inertial>
      <mass value="${heavy}"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>
    </inertial></link>
    <joint name="to ${name}" type="continuous">
      <parent link="${parent}"/><child link="${name}"/>
    </joint>
  </xacro:macro>
  <xacro:rod name="a" parent="root"/>
  <xacro:if value="${$(arg count) > 1}"><xacro:rod name="b" parent="a"/></xacro:if>
</robot>
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rods.xacro"
    file.write_text(ROD)
    return file


def test_macros_are_expanded_with_their_arguments(path):
    pytest.importorskip("xacro", reason="needs the extra `xacro`")
    assert load_model(path).link_names == ("root", "a")
    tree = load_model(path, arguments={"count": 2})
    assert tree.link_names == ("root", "a", "b") and tree.links[2].mass == 2.0
    path.write_text(ROD.replace("${1 + 1}", "${1 + lead}"))
    with pytest.raises(ValueError, match=r"rods.xacro: cannot be expanded: .*lead"):
        load_model(path)


def test_without_its_reader_macros_say_what_to_install(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ModuleNotFoundError, match=r"rods.xacro: .*install .*ocp-motion\[xacro\]"):
        load_model(path)


def test_macros_and_arguments_belong_to_files_of_macros(path, tmp_path):
    other = path.rename(tmp_path / "rods.urdf")
    with refused(
        'rods.urdf:1: <robot name="rods">: it has macros: a file of macros is named .xacro'
    ):
        load_model(other)
    with refused("rods.urdf: only files named .xacro take arguments, got ['count']"):
        load_model(other, arguments={"count": 2})
    with pytest.raises(ValueError, match=r"none.xacro: cannot be read: No such file"):
        load_model(tmp_path / "none.xacro")

"""Models of files beside the engines of their field."""

import pytest
from mjcf_texts import BARS

from ocp.problems.benchmarks.dynamics import compare_mjcf, compare_mjcf_loops, compare_models

ROBOT = """<robot name="r">
  <link name="base"><inertial>
    <origin xyz="0.1 0.2 0.3" rpy="1 2 3"/><mass value="3"/>
    <inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.02" iyz="0.003" izz="0.04"/>
  </inertial></link>
  <link name="turned"><inertial>
    <origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="{}" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
  </inertial></link>
  <link name="slid"><inertial>
    <origin xyz="0 0.1 0" rpy="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
  </inertial></link>
  <joint name="a" type="continuous">
    <origin xyz="0 0 0.5" rpy="0.3 0.2 0.1"/><parent link="base"/><child link="turned"/>
    <axis xyz="1 1 0"/><limit effort="10" velocity="3"/>
  </joint>
  <joint name="b" type="prismatic">
    <origin xyz="0.4 0 0" rpy="0 1.5 0"/><parent link="turned"/><child link="slid"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="3"/>
  </joint>
</robot>"""


@pytest.mark.parametrize(("moment", "repaired"), [(0.01, False), (0.05, True)])
def test_a_file_moves_as_in_pinocchio(tmp_path, moment, repaired):
    pytest.importorskip("pinocchio", reason="needs the extra `oracles`")
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT.format(moment))
    compared = compare_models.compared_urdf(path, states=3)
    assert (compared.coordinates, compared.repaired) == (2, repaired)
    assert len(compared.differences) == len(compare_models.MEASURES)
    assert max(compared.differences) < 1e-12


def public(find):
    """Files that an extra brings."""
    try:
        return find()
    except ModuleNotFoundError as error:
        pytest.skip(str(error))


def test_a_refused_file_says_why(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("<robot/>")
    compared = compare_models.compared_urdf(path)
    assert compared.refusal == "robot.urdf:1: <robot>: it has no <link>"
    assert list(compare_models.rows([compared])) == []


def test_public_robots_move_as_in_pinocchio():
    pytest.importorskip("pinocchio", reason="needs the extra `oracles`")
    files = public(compare_models.urdf_files)
    assert len(files) == 69
    for name in ("panda.urdf", "bolt.urdf"):  # one has a follower, the other needs repair
        path = next(each for each in files if each.name == name)
        assert max(compare_models.compared_urdf(path, states=1).differences) < 1e-10


def test_without_the_public_files_the_command_says_what_to_install(monkeypatch, capsys):
    def missing():
        raise ModuleNotFoundError("the public URDF files are not here")

    monkeypatch.setattr(compare_models, "urdf_files", missing)
    assert compare_models.run([]) == 2
    assert "compare_models: error: the public URDF files" in capsys.readouterr().err


def test_public_mjcf_models_move_as_in_mujoco():
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    files = public(compare_mjcf.mjcf_files)
    for name in ("hopper", "ant", "walker2d", "pusher", "inverted_double_pendulum", "humanoid"):
        path = next(each for each in files if each.stem == name)
        assert compare_mjcf.compared_mjcf(path, states=3).differences[0] < 1e-12


def test_closed_loops_and_followers_move_as_in_mujoco(tmp_path):
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")
    path = tmp_path / "bars.xml"
    path.write_text(BARS)
    compared = compare_mjcf_loops.compared_loops(path, states=1)
    assert len(compared.differences) == len(compare_mjcf_loops.MEASURES)
    assert max(compared.differences) < 1e-9
    assert compare_mjcf.compared_mjcf(path, states=2).differences[0] < 1e-12


def test_the_files_of_a_folder_are_compared_and_an_empty_one_is_said(tmp_path, capsys):
    pytest.importorskip("pinocchio", reason="needs the extra `oracles`")
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT.format(0.01))
    (tmp_path / "notes.xml").write_text("<notes/>")
    assert compare_models.run(["--folder", str(tmp_path), "--states", "1"]) == compare_models.DONE
    assert "| 2 |" in " ".join(capsys.readouterr().out.split())
    path.unlink()
    assert compare_models.run(["--folder", str(tmp_path)]) == 2
    assert "no URDF or MJCF files" in capsys.readouterr().err

"""Tendons of MJCF: sums of coordinates and lines between sites act as they do in MuJoCo, and what
drives them drives joints."""

from math import inf

import pytest

from ocp import Strut
from ocp.interchange import ModelWarning, load_model
from ocp.problems.benchmarks.dynamics.compare_mjcf import compared_mjcf

MODEL = """<mujoco><worldbody>
  <site name="wall" pos="1 0 0"/>
  <body><joint name="a"/><geom size="0.1" pos="0.3 0 0"/><site name="near" pos="0.2 0.1 0"/>
    <body pos="0 0 1"><joint name="b" axis="0 1 0" ref="10"/><geom size="0.1" pos="0.2 0 0.1"/>
      <site name="far" pos="0.1 0 0"/>
      <body pos="0 0 1"><joint name="c" axis="1 1 0" damping="0.3"/>
        <geom size="0.1" pos="0.2 0 0.1"/>
        <body pos="0 0 1"><joint name="d" damping="0.4" stiffness="5" springref="20"/>
          <geom size="0.1" pos="0.2 0 0.1"/></body></body></body></body>
</worldbody>
<tendon>
  <fixed name="sum" stiffness="3" damping="0.2" springlength="0.4">
    <joint joint="a" coef="0.5"/><joint joint="b" coef="2"/><joint joint="c" coef="-1.2"/></fixed>
  <fixed name="twice" damping="0.7"><joint joint="a" coef="0.5"/><joint joint="c" coef="0.25"/>
  </fixed>
  <spatial name="cord" stiffness="10" damping="1"><site site="wall"/><site site="far"/></spatial>
  <spatial name="rod" stiffness="10" springlength="0.3"><site site="near"/><site site="far"/>
  </spatial>
  {tendon}
</tendon>
<equality>
  <joint joint1="c" joint2="a" polycoef="0.1 2 0 0 0"/>
  <joint joint1="d" joint2="b" polycoef="0.1 1 0.5 -0.2 0"/>
</equality>
<actuator>
  <motor tendon="twice" ctrlrange="-3 5"/><motor joint="c" gear="3" ctrlrange="-1 2"/>{motor}
</actuator></mujoco>"""


@pytest.fixture
def read(tmp_path):
    """Function that reads the model with another tendon and motor."""
    pytest.importorskip("mujoco", reason="needs the extra `mjcf`")

    def model(tendon="", motor=""):
        path = tmp_path / "m.xml"
        path.write_text(MODEL.format(tendon=tendon, motor=motor))
        return load_model(path), path

    return model


def test_tendons_and_what_acts_on_curved_followers_act_as_in_mujoco(read):
    tree, path = read()
    names = [each.name for each in tree.elements]
    assert {"sum tendon", "twice tendon", "cord tendon", "rod tendon"} <= set(names)
    assert isinstance(tree.elements[names.index("cord tendon")], Strut)
    assert compared_mjcf(path, states=3).differences[0] < 1e-12


def test_what_drives_a_tendon_of_one_joint_and_its_followers_drives_the_joint(read):
    tree, _ = read()
    a, b = tree.moving
    assert a.torque == (-1 * 3 - 2 * 3, 1 * 5 + 2 * 6) and not b.actuated
    assert b.torque == (-inf, inf)


SLACK = '<spatial name="slack" stiffness="1" springlength="0 1"><site site="wall"/>'
BENT = '<spatial name="bent" damping="1"><site site="wall"/><site site="near"/>'


@pytest.mark.parametrize(
    "tendon, motor, words",
    [
        (f'{SLACK}<site site="far"/></spatial>', "", "tendons .* are left out: slack$"),
        (f'{BENT}<site site="far"/></spatial>', "", "tendons .* are left out: bent$"),
        ("", '<motor name="pull" tendon="sum"/>', "drive no joint alone are left out: pull$"),
    ],
)
def test_other_tendons_are_left_out_with_a_word(read, tendon, motor, words):
    with pytest.warns(ModelWarning, match=words):
        read(tendon, motor)

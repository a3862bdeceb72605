"""Small models as MJCF texts, for the tests of what reads them."""

MODEL = """<mujoco model="all kinds">
  <compiler angle="degree"/>
  <option gravity="0.1 0.2 -9.7"/>
  <default><geom density="800"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="trunk" pos="0 0 1" quat="0.9 0.1 0.2 0.3">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.02 0 0" rgba="1 0 0 0.5"/>
      <geom type="sphere" size="0.3" group="3"/>
      <site name="eye" pos="0.2 0 0.1"/>
      <body name="arm" pos="0.2 0 0" euler="10 20 30">
        <joint name="lift" type="hinge" axis="0 1 0" pos="0.01 0.02 -0.03" ref="20" damping="0.3"
               armature="0.02" stiffness="4" springref="15" range="-40 60"/>
        <joint name="reach" type="slide" axis="1 0 1" ref="0.1" damping="2" frictionloss="0.4"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
        <body name="hand" pos="0.3 0 0">
          <joint name="wrist" type="ball" pos="0.01 0 0.02" damping="0.07"/>
          <geom type="ellipsoid" size="0.03 0.05 0.07" pos="0 0 0.03"/>
          <body pos="0 0 0.1"><geom type="cylinder" size="0.02 0.04"/></body>
        </body>
      </body>
      <body name="tail" pos="-0.2 0 0">
        <joint name="swing" axis="0 0 1" ref="5"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 -0.3 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="lift" gear="50" ctrlrange="-0.4 1" ctrllimited="true"/>
    <position joint="reach" kp="10" forcerange="-7 7"/>
  </actuator>
</mujoco>
"""

BARS = """<mujoco><worldbody>
  <body name="left"><freejoint name="root"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 1"/>
    <body name="top" pos="0 0 1">
      <joint name="b" axis="0 1 0" ref="10" damping="0.1" stiffness="2" springref="30"
        armature="0.01"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 1 0 0"/></body>
    <body name="right" pos="1 0 0"><joint name="c" type="ball" damping="0.2"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 1"/></body>
    <body name="dial" pos="2 0 0"><joint name="d" axis="0 1 0"/>
      <geom type="sphere" size="0.1" pos="0.1 0 0"/></body></body>
</worldbody><equality>
  <connect name="pin" body1="top" body2="right" anchor="1 0 0"/>
  <joint joint1="d" joint2="b" polycoef="0.2 -2 0.5 0 0"/>
</equality></mujoco>"""
GAIN = "0.75 1.05 500 1 0.4 1.6 8 1.3 1.4"
PULLED = """<mujoco><compiler angle="radian"/><worldbody>
  <geom name="bone" type="cylinder" size="0.05 0.2" pos="0.02 0 0" euler="1.3 0.2 0"/>
  <geom name="head" type="sphere" size="0.06" pos="0 0 0.2"/>
  <site name="top" pos="0.08 0 0.5"/><site name="back" pos="-0.09 0.01 0.45"/>
  <site name="beside" pos="0.2 0 0"/><site name="behind" pos="-0.4 0.02 0.2"/>
  <site name="within" pos="0.03 0.01 0.01"/><site name="core" pos="0.01 -0.01 0.2"/>
  <body name="arm"><joint name="a" axis="0 1 0" range="-1 1"/>
    <joint name="b" axis="1 0 0" range="-0.5 0.5"/>
    <geom size="0.04" pos="0.05 0 -0.4" mass="2"/>
    <site name="low" pos="0.1 0.02 -0.3"/><site name="low back" pos="-0.1 -0.02 -0.3"/>
    <body name="tip" pos="0 0 -0.4"><joint name="c" axis="0 1 0" range="-1 1"/>
      <geom size="0.03" pos="0 0 -0.2"/><site name="end" pos="0.02 0 -0.1"/></body></body>
</worldbody>
<tendon>
  <spatial name="past"><site site="top"/><geom geom="bone" sidesite="beside"/><site site="low"/>
    <site site="end"/></spatial>
  <spatial name="round"><site site="back"/><geom geom="head"/><site site="low"/></spatial>
  <spatial name="rear"><site site="back"/><geom geom="head" sidesite="behind"/>
    <site site="low back"/></spatial>
  <spatial name="through"><site site="top"/><geom geom="bone" sidesite="within"/>
    <site site="low"/></spatial>
  <spatial name="inside"><site site="top"/><geom geom="head" sidesite="core"/><site site="low"/>
    </spatial>
</tendon>
<actuator>{}</actuator></mujoco>"""


def muscle(name, lengths="0.5 1.2", more=""):
    """An actuator that is a muscle."""
    return (
        f'<general name="{name}" tendon="{name}" gaintype="muscle" biastype="muscle" '
        f'dyntype="muscle" dynprm="0.01 0.04 0" gainprm="{GAIN}" biasprm="{GAIN}" '
        f'lengthrange="{lengths}" ctrllimited="true" ctrlrange="0 1" {more}/>'
    )

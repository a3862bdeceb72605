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

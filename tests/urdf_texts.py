"""Small robots as URDF texts, for the tests of what reads and writes them."""

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


LOSSY = ARM.replace("<axis xyz", '<dynamics damping="0.3" friction="0.2"/><axis xyz')


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


SOLES = """<robot name="walker">
  <link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="box"><collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.1 0.04"/></geometry>
  </collision></link>
  <link name="ball"><collision><geometry><sphere radius="0.03"/></geometry></collision></link>
  <link name="rod"><collision><geometry><cylinder radius="1" length="1"/></geometry></collision>
  </link>
  <joint name="a" type="fixed"><origin rpy="0 0 3.141592653589793"/>
    <parent link="trunk"/><child link="box"/></joint>
  <joint name="b" type="fixed"><origin rpy="1.5707963267948966 0 0"/>
    <parent link="trunk"/><child link="ball"/></joint>
  <joint name="c" type="fixed"><parent link="trunk"/><child link="rod"/></joint>
</robot>"""


def written(folder, text, name="arm.urdf"):
    """Path of a file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path

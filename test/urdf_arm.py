"""A URDF of an arm with three joints, fixed parts, and limits that are partly unknown."""

ARM = """\
<?xml version="1.0"?>
<robot name="arm">
  <link name="floor"/>
  <link name="plate"/>
  <link name="upper"/>
  <link name="elbow_housing"/>
  <link name="fore"/>
  <link name="finger"/>
  <joint name="mount" type="fixed">
    <parent link="floor"/> <child link="plate"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="plate"/> <child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0 1.57079632679 0"/>
    <axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="upper"/> <child link="elbow_housing"/>
    <origin xyz="0.4 0 0" rpy="0 0 0.5"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="elbow_housing"/> <child link="fore"/>
    <origin xyz="0 0.1 0"/>
    <axis xyz="1 -2 -3"/>
    <limit velocity="5" effort="0"/>
  </joint>
  <joint name="gripper" type="prismatic">
    <parent link="fore"/> <child link="finger"/>
    <origin xyz="0.2 0 0" rpy="0.3 0 0"/>
    <axis xyz="0 0 -1"/>
    <limit upper="0.05" velocity="0.1" effort="20"/>
  </joint>
</robot>
"""


def changed(old, new):
    """Return the text of the arm with one place changed."""
    assert ARM.count(old) == 1, "the test must change one place"
    return ARM.replace(old, new)

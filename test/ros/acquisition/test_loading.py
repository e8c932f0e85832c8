"""While the acquisition node records it loads no modules, for which joint states would wait."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros

RECORDING = """
import sys
import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from robot_identification.ros.acquisition.node import AcquisitionNode
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.messages.common import time_of

rclpy.init()
node = AcquisitionNode()
known = set(sys.modules)
node._recordings.begin()
for number in range(1500):
    position = 0.3 * np.sin(0.01 * number + np.arange(6))
    message = JointState(name=list(node._robot.joint_names))
    message.header.stamp = time_of(NANOSECONDS + 2_000_000 * number)
    message.position, message.effort = position.tolist(), np.cos(position).tolist()
    node._on_state(message)
node._recordings.publish()
node._report()
assert node._recordings._filtered._samples > 0, "samples were filtered"
print("loaded:", *sorted(set(sys.modules) - known))
"""


def test_nothing_is_loaded_while_a_recording_is_made():
    line = [sys.executable, "-c", RECORDING, "--ros-args", "-p", "robot:=tx40"]
    # With a variable of its own it is a process that begins with nothing loaded.
    environment = {**os.environ, "PYTHONNOUSERSITE": "1"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]

"""A robot's driver for the soak: joint states with a stamp every period, sent when they are due.

Usage: publisher.py NAMESPACE MOTION READERS SAMPLES REPORT

The motion repeats; the noise has another length, so that the sum does not.  Every stamp is a whole
number of periods after the first.  The report says what was sent, and how late.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.messages.common import floats, time_of
from soaking.percentiles import percentiles

_READERS_WITHIN = 60.0


def main(namespace: str, motion: str, readers: int, samples: int, report: str) -> None:
    """Send states and write the report."""
    rclpy.init()
    node = Node("driver", namespace=namespace)
    publisher = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
    end = time.monotonic() + _READERS_WITHIN
    while publisher.get_subscription_count() < readers:
        if time.monotonic() > end:
            raise SystemExit(f"{publisher.get_subscription_count()} of {readers} readers came")
        time.sleep(0.01)
    with np.load(motion) as file:
        columns = {name: file[name] for name in file.files}
    first, late = send(publisher, columns, samples)
    acknowledged = publisher.wait_for_all_acked(Duration(seconds=10))
    late_s = percentiles(late / NANOSECONDS)
    said = {"sent": samples, "first_stamp": first, "acknowledged": acknowledged, "late_s": late_s}
    Path(report).write_text(json.dumps(said))
    node.destroy_node()
    rclpy.shutdown()


def send(
    publisher: rclpy.publisher.Publisher, columns: dict[str, np.ndarray], samples: int
) -> tuple[int, np.ndarray]:
    """Send states; return the first stamp and (samples,) how late each was sent, both in ns."""
    period = round(NANOSECONDS / float(columns["rate"]))
    late = np.zeros(samples, dtype=np.int64)
    message = JointState(name=columns["names"].tolist())
    gc.collect()
    gc.freeze()
    first = time.time_ns() + NANOSECONDS // 10
    for number in range(samples):
        fill(message, columns, number)
        due = first + number * period
        message.header.stamp = time_of(due)
        time.sleep(max(0, due - time.time_ns()) / NANOSECONDS)
        publisher.publish(message)
        late[number] = time.time_ns() - due
    return first, late


def fill(message: JointState, columns: dict[str, np.ndarray], number: int) -> None:
    """Put in what is measured at one time."""
    for name in ("position", "velocity", "effort"):
        exact, noise = columns[name], columns[f"{name}_noise"]
        setattr(message, name, floats(exact[number % len(exact)] + noise[number % len(noise)]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])

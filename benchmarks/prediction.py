"""The calibration node beside a robot with seven joints and states at 1 kHz.

A driver in a process of its own sends states of a moving robot with a stamp every millisecond.  The
node predicts efforts for them.  Counted: states sent, received and predicted; the delay from the
stamp of a state to the receipt of its prediction, and to that of its external efforts; share of a
core and resident memory of the node.

With --external-efforts the node observes external efforts of the same states too, and learns their
thresholds from the first half; with --wrench it publishes the wrench at the last joint besides.

Usage: prediction.py [--seconds S] [--rate HZ] [--predicted-rate HZ] [--external-efforts] [--wrench]
       [--velocities] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from robot_identification.srv import Calibrate
from sensor_msgs.msg import JointState
from soaking.resources import Usage

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.files.results import write_result
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.common.middleware import private_domain
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.raw_samples import RawSamples

NAMESPACE = "/bench_prediction"
JOINTS = 7
IDENTIFIED_FROM = 20.0  # s
EFFORT_NOISE = 0.05  # N m
DRIVER = """
import sys, time
import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of
rclpy.init()
node = Node("driver", namespace=sys.argv[1])
publisher = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
motion, rate = np.load(sys.argv[2]), float(sys.argv[3])
positions, efforts = motion["position"].tolist(), motion["effort"].tolist()
velocities = motion["velocity"].tolist() if len(sys.argv) > 4 else [[]] * len(positions)
while publisher.get_subscription_count() < 1:
    time.sleep(0.01)
message = JointState(name=[f"joint_{i}" for i in range(1, 8)])
begin = time.time()
for i, (message.position, message.velocity, message.effort) in enumerate(
    zip(positions, velocities, efforts)
):
    due = begin + i / rate
    time.sleep(max(0.0, due - time.time()))
    message.header.stamp = time_of(round(due * 1e9))
    publisher.publish(message)
publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=10))
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--predicted-rate", type=float, default=0.0)
    parser.add_argument("--external-efforts", action="store_true")
    parser.add_argument("--wrench", action="store_true")
    parser.add_argument("--velocities", action="store_true", help="the driver has some")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.update(private_domain())
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "predicted_rate": options.predicted_rate,
            "external_efforts": options.external_efforts or options.wrench,
            "contact_learning_time": max(1.0, options.seconds / 2.0),
            "wrench_frame": f"joint_{JOINTS}" if options.wrench else "",
        }
        found = measure(
            Path(folder), options.seconds, options.rate, given, velocities=options.velocities
        )
    found["load"] = load
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:24} {value}")


def measure(
    folder: Path, seconds: float, rate: float, given: dict[str, Any], *, velocities: bool = False
) -> dict[str, Any]:
    """Return what was counted and timed, with parameters that are given to the node."""
    robot, result, motion = prepare(folder, seconds, rate)
    delays: list[int] = []
    effort_delays: list[int] = []
    reports: list[dict[str, str]] = []
    with (
        NodeProcesses(folder) as nodes,
        Client(NAMESPACE, watch=nodes.check) as client,
    ):
        node = client.node

        def on_prediction(message: JointState) -> None:
            delays.append(time.time_ns() - stamp_of(message))

        def on_efforts(message: JointState) -> None:
            effort_delays.append(time.time_ns() - stamp_of(message))

        def on_report(message: DiagnosticArray) -> None:
            reports.extend(
                {value.key: value.value for value in status.values}
                for status in message.status
                if status.name.startswith(f"{NAMESPACE}/calibration: ")
            )

        node.create_subscription(JointState, "predicted_joint_states", on_prediction, qos.STATES_IN)
        efforts = "calibration/external_joint_efforts"
        node.create_subscription(JointState, efforts, on_efforts, qos.STATES_IN)
        node.create_subscription(DiagnosticArray, "/diagnostics", on_report, qos.STATUS)
        line = command(
            "calibration", parameters={"robot": str(robot), **given}, namespace=NAMESPACE
        )
        process = nodes.start("calibration", line)
        request = Calibrate.Request(result=str(result), prior="none", consistent=True)
        Verbs(client).ask(request)
        driver = [sys.executable, "-c", DRIVER, NAMESPACE, str(motion), str(rate)]
        driver += ["velocities"] * velocities
        with subprocess.Popen(driver) as sending:
            client.wait_for(lambda: delays, 60.0, "predictions")
            clock, usage = [time.monotonic()], [Usage.of(process.pid)]
            while sending.poll() is None:
                client.spin(1.0)
                clock.append(time.monotonic())
                usage.append(Usage.of(process.pid))
        del clock[-1], usage[-1]  # the driver may have ended some time before
        client.spin(3.0)
    told = {key: value for report in reports for key, value in report.items()}
    counted = ("states_received", "states_predicted", "states_observed", "contacts")
    last = {key: int(told[key]) for key in counted if key in told}
    return {
        "states_sent": round(seconds * rate),
        **last,
        "predictions_received": len(delays),
        **delay_figures("delay", delays),
        **delay_figures("effort_delay", effort_delays),
        "share_of_a_core": round(
            (usage[-1].seconds - usage[0].seconds) / (clock[-1] - clock[0]), 3
        ),
        "memory_first_mb": round(usage[0].resident, 1),
        "memory_middle_mb": round(usage[len(usage) // 2].resident, 1),
        "memory_last_mb": round(usage[-1].resident, 1),
    }


def delay_figures(name: str, delays: list[int]) -> dict[str, float]:
    """Return what is told of delays in ns, in s; nothing where there are none."""
    if not delays:
        return {}
    late = np.sort(np.array(delays)) / NANOSECONDS
    shares = {"median": late[len(late) // 2], "99_percent": late[int(0.99 * len(late))]}
    return {
        f"{name}_{key}_s": round(float(value), 4)
        for key, value in {**shares, "longest": late[-1]}.items()
    }


def prepare(folder: Path, seconds: float, rate: float) -> tuple[Path, Path, Path]:
    """Write a robot, a result of its identification and what the driver sends; return the files."""
    described = folder / "seven.yaml"
    described.write_text(description())
    robot = load_robot(described)
    rng = np.random.default_rng(0)
    truth = values(rng)
    length = max(seconds, IDENTIFIED_FROM)
    times = np.arange(round(length * rate)) / rate
    tones = 2.0 * np.pi * rng.uniform(0.1, 0.6, size=(3, JOINTS))
    q = np.sum(0.4 * np.sin(tones * times[:, None, None] + rng.uniform(0, 6, (3, JOINTS))), axis=1)
    qd = np.gradient(q, 1.0 / rate, axis=0, edge_order=2)
    qdd = np.gradient(qd, 1.0 / rate, axis=0, edge_order=2)
    effort = inverse_dynamics(robot, truth, q, qd, qdd)
    effort = effort + EFFORT_NOISE * rng.normal(size=effort.shape)
    fitted = slice(round(IDENTIFIED_FROM * rate))
    stamps = np.round(times[fitted] * NANOSECONDS).astype(np.int64) + NANOSECONDS
    raw = RawSamples(stamps, q[fitted], None, effort[fitted])
    result = identify(robot, [build_recording(raw, robot.joint_names)])
    write_result(folder / "result.yaml", result)
    sent = slice(round(seconds * rate))
    np.savez(folder / "motion.npz", position=q[sent], velocity=qd[sent], effort=effort[sent])
    return described, folder / "result.yaml", folder / "motion.npz"


def description() -> str:
    """Return the text of a robot file of an arm with seven joints."""
    lines = ["name: seven", "effort_meaning: joint_torque", "gravity: [0, 0, -9.81]", "joints:"]
    for j in range(JOINTS):
        alpha = ("0", "-pi/2", "pi/2")[0 if j == 0 else 1 + j % 2]
        lines += [
            f"  - name: joint_{j + 1}",
            "    type: revolute",
            f"    geometry: {{alpha: {alpha}, d: 0, theta: 0, r: {0.3 if j % 2 == 0 else 0}}}",
        ]
    return "\n".join(lines) + "\n"


def values(rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return parameters of bodies that can exist, with friction."""
    parameters = np.zeros((JOINTS, 14))
    for j, row in enumerate(parameters):
        mass, centre, radius = 4.0 / (1 + j), rng.uniform(-0.1, 0.1, 3), 0.08
        inertia = mass * (radius**2 * np.eye(3) + centre @ centre * np.eye(3))
        inertia -= mass * np.outer(centre, centre)
        row[:10] = [*inertia[np.triu_indices(3)], *(mass * centre), mass]
        row[10:] = [0.3, 1.0, 1.5, 0.1]
    return parameters.ravel()


if __name__ == "__main__":
    main()

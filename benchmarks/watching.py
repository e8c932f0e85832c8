"""How well the excitation node watches: detection, false stops, and the age of states.

Usage: watching.py [detection] [false_stops] [planning]     (all by default)

detection    the simulated TX-40 is paused with SIGSTOP, or pushed off its trajectory, at random
             moments of a run: time from the moment at which a state counts as stale, or shows an
             error above its limit, to the braking trajectory's stamp, and from there to its receipt
false_stops  whole runs with the default state_timeout of 0.1 s and states at 125, 500 and 1000 Hz,
             alone and with a busy process for every core: how they ended
planning     states of seven joints at 1 kHz, before and while a plan is computed: their age when
             they are taken in (stamps say when they were due), how many were lost, the longest
             pause of the watch, and the processor time that the node takes
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from robot_identification.msg import ExcitationStatus as Status
from robot_identification.srv import PlanExcitation
from sensor_msgs.msg import JointState

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.common.middleware import private_domain
from simulated_cell import Cell, Sent

EVENTS = 40
LIMIT = 0.1
TIMEOUT = 0.1
JOINTS = 7
PUBLISHER = """
import sys, time, rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from robot_identification.ros.common import qos
rclpy.init()
node = Node("driver", namespace=sys.argv[1])
publisher = node.create_publisher(JointState, "joint_states", qos.STATES_OUT)
names = [f"joint_{i}" for i in range(1, 8)]
message = JointState(name=names, position=[0.0] * 7, velocity=[0.0] * 7)
due = time.time_ns()
while True:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(due, 10**9)
    publisher.publish(message)
    due += 10**6
    time.sleep(max(0, due - time.time_ns()) * 1e-9)
"""


@contextmanager
def cell(robot: str, values: str, rate: float, timeout: float) -> Iterator[Cell]:
    """Provide a simulated robot and the node."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Cell(
            Path(folder),
            robot,
            values,
            simulation={"rate": rate},
            excitation={"state_timeout": timeout, "tracking_error_limit": [LIMIT]},
        ) as made,
    ):
        yield made


def detection() -> None:
    """Print latencies of stale states and tracking errors."""
    moments = np.random.default_rng(0)
    with cell("tx40", "tx40_simulated", 500.0, TIMEOUT) as robot:
        robot.start_nodes()
        plan(robot, 5.0)
        efforts = robot.client.node.create_publisher(JointState, "feedforward_effort", qos.COMMANDS)
        for name, provoke in (("stale states", pause), ("tracking error", push)):
            found: list[tuple[float, float]] = []
            while len(found) < EVENTS:
                found += provoke(robot, float(moments.uniform(0.5, 4.0)), efforts)
            for what, values in zip(
                ("braking after it could be known", "received after its stamp"),
                1e3 * np.array(found).T,
                strict=True,
            ):
                median, p99 = np.quantile(values, (0.5, 0.99))
                print(
                    f"{name}, {len(values)} events: {what} {median:.1f} ms (median), "
                    f"{p99:.1f} ms (99 %), {values.max():.1f} ms (worst)"
                )


def plan(robot: Cell, duration: float) -> None:
    """Plan or end."""
    response = robot.answers.plan(rows=10, starts=1, duration=duration)
    if not response.success:
        raise SystemExit(response.message)


def begin(robot: Cell, seconds: float) -> int:
    """Start and wait until some time of the run; return how many trajectories were sent.

    A motion that is stopped before that, because the machine is busy, is begun anew.
    """
    over = (Status.STOPPED, Status.FAULT)
    while True:
        del robot.states[:-1]
        robot.statuses.clear()
        begun = robot.now()
        answer = robot.answers.start()
        if not answer.success:
            print(f"refused: {answer.message}", flush=True)
            robot.client.spin(2.0)
            continue
        if robot.wait_for(Status.RUNNING, *over, timeout=60.0).state == Status.RUNNING:
            start = stamp_of(robot.followed(begun).message)
            moment = start + round(seconds * NANOSECONDS)
            robot.wait(lambda moment=moment: robot.now() >= moment, "moment", 60.0)
            if robot.status.state == Status.RUNNING:
                return len(robot.sent)
        print(f"begun anew: {robot.status.text}", flush=True)
        robot.wait_for(*over, timeout=60.0)
        robot.client.spin(2.0)


def end(robot: Cell) -> None:
    """Wait until the motion is over."""
    robot.wait_for(Status.STOPPED, Status.FAULT, Status.FINISHED, timeout=60.0)


def pause(robot: Cell, seconds: float, _: Any) -> list[tuple[float, float]]:
    """Pause the robot; return latencies of detection and of publication, in s."""
    count = begin(robot, seconds)
    process = robot.nodes.process("simulated_robot")
    process.send_signal(signal.SIGSTOP)
    try:
        robot.wait(lambda: len(robot.sent) > count, "braking")
        braking = robot.sent[count]
    finally:
        process.send_signal(signal.SIGCONT)
    before = [stamp_of(s) for s in robot.states if stamp_of(s) < stamp_of(braking.message)]
    known = before[-1] / NANOSECONDS + TIMEOUT
    end(robot)
    robot.client.spin(2.0)
    return [latencies(braking, known)]


def push(robot: Cell, seconds: float, efforts: Any) -> list[tuple[float, float]]:
    """Push joint 6 off; return latencies of detection and of publication, in s, if that shows."""
    count = begin(robot, seconds)
    run = robot.sent[count - 1]
    reference, start = run.trajectory.reordered(robot.robot.joint_names), stamp_of(run.message)
    efforts.publish(JointState(name=["joint_6"], effort=[40.0]))
    robot.wait(lambda: len(robot.sent) > count, "braking")
    efforts.publish(JointState(name=["joint_6"], effort=[0.0]))
    braking = robot.sent[count]
    stamps = np.array([stamp_of(s) for s in robot.states])
    measured = np.array([s.position for s in robot.states])
    off = np.abs(reference.sample((stamps - start) / NANOSECONDS)[0] - measured).max(axis=1)
    known = stamps[(off > LIMIT) & (stamps > start)]
    end(robot)
    robot.client.spin(2.0)
    if robot.status.stop_reason != Status.TRACKING_ERROR or not len(known):
        print(f"not counted: {robot.status.text}", flush=True)
        return []
    return [latencies(braking, known[0] / NANOSECONDS)]


def latencies(braking: Sent, known: float) -> tuple[float, float]:
    """Return from the moment at which it could be known to the stamp, and to the receipt, in s."""
    stamp = stamp_of(braking.message)
    return stamp / NANOSECONDS - known, (braking.clock - stamp) / NANOSECONDS


def false_stops() -> None:
    """Print how whole runs ended."""
    for rate in (125.0, 500.0, 1000.0):
        with cell("tx40", "tx40_simulated", rate, TIMEOUT) as robot:
            robot.start_nodes()
            plan(robot, 20.0)
            for name, busy in (("alone", 0), ("busy", os.cpu_count() or 1)):
                with load(busy):
                    status, _ = robot.run()
                    print(f"{rate:g} Hz, {name}: state {status.state}, {status.text}", flush=True)


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep cores busy."""
    line = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(line) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def planning() -> None:
    """Print ages of states before and while a plan is computed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seven.yaml"
        file.write_text(seven_joints())
        with Cell(Path(folder), str(file), "", excitation={"state_timeout": 0.5}) as robot:
            reports: list[dict[str, str]] = []

            def on_report(message: DiagnosticArray) -> None:
                reports.extend(
                    {value.key: value.value for value in status.values}
                    for status in message.status
                    if status.name == f"{robot.namespace}/excitation: joint states"
                )

            robot.client.node.create_subscription(
                DiagnosticArray, "/diagnostics", on_report, qos.STATUS
            )
            driver = subprocess.Popen([sys.executable, "-c", PUBLISHER, robot.namespace])
            try:
                robot.start_excitation()
                robot.client.spin(3.0)
                reports.clear()
                used = processor_seconds(robot)
                robot.client.spin(10.0)
                used = (processor_seconds(robot) - used) / 10.0
                tell(f"waiting, {100.0 * used:.0f} % of a core", reports)
                request = PlanExcitation.Request(starts=3, start_position=[0.0] * JOINTS)
                future = robot.begun.ask(request)
                begun = time.monotonic()
                while not future.done() and time.monotonic() < begun + 120.0:
                    robot.client.spin(0.1)
                tell(f"while planning ({time.monotonic() - begun:.1f} s)", reports)
            finally:
                driver.kill()
                driver.wait()


def processor_seconds(robot: Cell) -> float:
    """Return the processor time of the excitation node so far, in s."""
    stat = Path(f"/proc/{robot.nodes.process('excitation').pid}/stat").read_text()
    ticks = stat.rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def tell(name: str, values: list[dict[str, str]]) -> None:
    """Print what the diagnostics said and forget it."""
    lost = int(values[-1]["messages_lost"]) - int(values[0]["messages_lost"])
    count = int(values[-1]["messages_received"]) - int(values[0]["messages_received"])
    ages = [float(v["age_median_s"]) for v in values if v["age_median_s"]]
    worst = max(float(v["age_max_s"]) for v in values if v["age_max_s"])
    longest = max(float(v["longest_pause_s"]) for v in values)
    print(
        f"{name}: {count} states, {lost} lost; age {1e3 * float(np.median(ages)):.2f} ms (median), "
        f"{1e3 * worst:.1f} ms (worst); longest pause of the watch {1e3 * longest:.1f} ms"
    )
    values.clear()


def seven_joints() -> str:
    """Return the description of an arm with seven joints."""
    limits = "lower: -2.5, upper: 2.5, velocity: 2.0, acceleration: 10.0, effort: 100.0"
    lines = ["name: seven", "effort_meaning: joint_torque", "gravity: [0, 0, -9.81]", "joints:"]
    for j in range(JOINTS):
        alpha = ("0", "-pi/2", "pi/2")[0 if j == 0 else 1 + j % 2]
        lines += [
            f"  - name: joint_{j + 1}",
            "    type: revolute",
            f"    geometry: {{alpha: {alpha}, d: 0, theta: 0, r: {0.3 if j % 2 == 0 else 0}}}",
            f"    limits: {{{limits}}}",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is named on the command line, or everything."""
    os.environ.update(private_domain())
    parts = {"detection": detection, "false_stops": false_stops, "planning": planning}
    for name in sys.argv[1:] or parts:
        print(f"{name}, load of the machine {os.getloadavg()[0]:.1f}", flush=True)
        parts[name]()


if __name__ == "__main__":
    main()

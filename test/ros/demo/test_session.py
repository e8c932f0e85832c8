"""The whole way: simulated robot, acquisition, identification, each a process, as the demo does."""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.msg import SampleBlock
from rosgraph_msgs.msg import Clock

import forked_processes
from diagnostics import Diagnostics, values_of
from lock_step import LockStepSession
from robot_identification.cli import demo
from robot_identification.cli.demo import EXCITING, ROBOT, _trajectory
from robot_identification.cli.main import main
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients import processes
from robot_identification.ros.common import qos
from robot_identification.ros.demo import session as demo_session
from robot_identification.ros.demo.session import Session, sigmas
from robot_identification.ros.messages.common import time_of

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def program(*arguments):
    return [sys.executable, "-m", "robot_identification.cli.main", *arguments]


def short_motion(name):
    """Return a motion like that of the demo of this name, in a third of its time or less."""
    robot = load_robot(ROBOT)
    points, seed = (8, 3) if name == EXCITING else (4, 4)
    settings = RandomPointsSettings(points=points, draws=3, seed=seed)
    return random_points(robot, settings, np.zeros(len(robot.joints))).trajectory


def test_demo_finds_the_truth(capsys, monkeypatch):
    """``make demo`` does the same with longer motions, and a robot that waits for nobody."""
    monkeypatch.setattr(demo, "_trajectory", short_motion)
    monkeypatch.setattr(demo_session, "Session", LockStepSession)
    assert main(["demo", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    trusted = [entry for entry in result["parameters"] if entry["relative_std_percent"] < 5.0]
    assert len(trusted) >= 25
    assert sum(entry["sigmas"] <= 4.0 for entry in trusted) >= 0.9 * len(trusted)
    assert result["relative_error"]["total"] < 0.03
    assert result["held_out_error"]["total"] < 0.03
    assert result["calibration"]["consistent"]
    assert result["calibration"]["relative_error"] < 0.03
    # How well it follows depends on efforts that come in time; test_computed_torque.py moves time.
    assert {len(errors) for errors in result["tracking_error_rms"].values()} == {7}


def test_demo_says_what_is_wrong_and_leaves_nothing_behind(capsys, monkeypatch):
    started = []

    def starting(*arguments, **options):
        started.append(forked_processes.Popen(*arguments, **options))
        return started[-1]

    names = {name: getattr(subprocess, name) for name in subprocess.__all__}
    monkeypatch.setattr(processes, "subprocess", SimpleNamespace(**names | {"Popen": starting}))
    assert main(["demo", "--speed", "-1"]) == 1
    told = capsys.readouterr().err
    assert "simulated_robot has ended with exit code 2" in told
    assert "real_time_factor" in told
    assert len(started) > 3
    assert all(process.poll() is not None for process in started)


def test_interrupted_demo_leaves_nothing_behind(tmp_path):
    mark, said = f"interrupted-{os.getpid()}", tmp_path / "said"
    with said.open("wb") as output:
        demo = forked_processes.Popen(  # whose nodes are executed, with the mark
            program("demo"),
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "DEMO_MARK": mark},
        )
    while len(marked(mark)) < 3:
        assert demo.poll() is None, said.read_text()
    demo.send_signal(signal.SIGTERM)
    assert demo.wait() not in (0, None), said.read_text()
    while marked(mark):  # where the demo had to be ended, the kernel interrupts its nodes after it
        pass


def marked(mark):
    """Return the processes whose environment carries a mark."""
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if has(path, mark)]


def has(path, mark):
    try:
        return f"DEMO_MARK={mark}".encode() in path.read_bytes()
    except OSError:
        return False  # it has ended, or is not ours


@pytest.mark.usefixtures("executed_nodes")
def test_nodes_have_ended_before_the_session_leaves_ros(tmp_path):
    """Where that never ends the process is ended, and with it what would stop them."""
    told = []
    session = Session.__new__(Session)
    session.nodes = processes.NodeProcesses(tmp_path)
    process = session.nodes.start("sleeper", ["sleep", "1000"])
    session.client = SimpleNamespace(
        spin=lambda _seconds: None, close=lambda: told.append(process.poll())
    )
    session.close()
    assert told == [-signal.SIGINT]


def test_received_and_lost_are_what_was_sent(tmp_path):
    simulated = {"wait_for_reader": True, "rate": 200.0}  # 10 s of samples are kept
    parameters = {"simulated_robot": simulated, "acquisition": {"diagnostics_period": 0.1}}
    namespace = f"/cell_{uuid.uuid4().hex[:8]}/left"
    with Session(
        tmp_path, parameters, namespace=namespace, environment={}, description="tx40"
    ) as session:
        diagnostics = Diagnostics(session.client.node, namespace)
        session.wait_until_ready()

        def told():
            for status in diagnostics.of("acquisition: joint states")[-1:]:
                values = values_of(status)
                return int(values["messages_received"]) + int(values["messages_lost"])
            return 0

        session.client.wait_for(lambda: told() > 500, 60.0, "samples")
        session.nodes.stop("simulated_robot")
        text = session.nodes.output("simulated_robot")
        sent = int(re.findall(r"samples_published (\d+)", text)[-1])
        session.client.wait_for(lambda: told() >= sent, 10.0, "last report")
        assert told() == sent


def test_simulated_time_is_followed(tmp_path):
    parameters = {
        name: {"use_sim_time": True}
        for name in ("simulated_robot", "acquisition", "identification")
    }
    with Session(tmp_path, parameters, environment={}, description="tx40") as session:
        session.wait_until_ready()
        clock = session.client.node.create_publisher(Clock, "/clock", 10)
        begin, now, blocks = 1000 * 10**9, [1000 * 10**9], []
        session.client.node.create_subscription(SampleBlock, "samples", blocks.append, qos.BLOCKS)

        def tick():
            now[0] += 2 * 10**6
            clock.publish(Clock(clock=time_of(now[0])))
            return blocks and blocks[0].stamps

        session.verbs.start_recording()
        stamps = session.client.wait_for(tick, 60.0, "samples")
        assert begin <= stamps[0] <= now[0]


def test_sigmas_of_exact_values():
    assert sigmas(2.0, 1.0, 0.5) == 2.0
    assert sigmas(1.0, 1.0, 0.0) == 0.0
    assert sigmas(2.0, 1.0, 0.0) == float("inf")


def test_the_motion_of_the_demo_is_there():
    assert _trajectory(EXCITING).duration > 10.0

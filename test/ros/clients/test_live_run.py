"""Live runs as an operator makes them: the command run against nodes of a simulated robot."""

import io
import json
import signal
import subprocess
import sys
import uuid

import numpy as np
import pytest
from robot_identification.msg import ExcitationStatus
from trajectory_msgs.msg import JointTrajectory

from forked_processes import Popen
from live_robots import ROBOT, TRUTH, start_robot
from robot_identification.cli.main import main
from robot_identification.files.parameters import read_parameters
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.node_requests import NODES
from robot_identification.ros.clients.processes import NodeProcesses
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos

pytestmark = [pytest.mark.ros, pytest.mark.slow]

LEFT, RIGHT = (f"/{side}_{uuid.uuid4().hex[:8]}" for side in ("left", "right"))
HEAVY = 1.5
QUICK = ("--rows", "8", "--duration", "3", "--wait", "60")
NO_REHEARSAL = "plan,run,identify,validate,calibrate"


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The SCARA on the left; the processes of its nodes."""
    with NodeProcesses(tmp_path_factory.mktemp("logs")) as processes:
        start(processes, tmp_path_factory.mktemp("robot"), LEFT, TRUTH)
        yield processes


@pytest.fixture
def two_robots(robot, tmp_path):
    """Another one on the right, half as heavy again."""
    start(robot, tmp_path, RIGHT, HEAVY * TRUTH)


def start(processes, folder, namespace, truth):
    start_robot(processes, folder, namespace, truth)
    with Client(namespace, watch=processes.check) as client:
        Verbs(client).require(*NODES)


@pytest.fixture
def client(robot):
    """A client in the left namespace that hears every trajectory."""
    with Client(LEFT, watch=robot.check) as client:
        client.sent, client.statuses = [], []
        client.node.create_subscription(
            JointTrajectory, "joint_trajectory", client.sent.append, qos.COMMANDS
        )
        client.node.create_subscription(
            ExcitationStatus, "excitation/status", client.statuses.append, qos.STATUS
        )
        client.wait_for(lambda: client.statuses, 10.0, "status")
        yield client


@pytest.fixture(scope="module")
def planned(robot, tmp_path_factory):
    """The folder of a run in which nothing but a plan was made."""
    folder = tmp_path_factory.mktemp("run")
    assert (
        main(["run", "--namespace", LEFT, *QUICK, "--steps", "plan", "--output", str(folder)]) == 0
    )
    return folder


def walk(*arguments):
    return [sys.executable, "-m", "robot_identification.cli.main", "run", *map(str, arguments)]


def answer(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def heaviest(truth):
    """Return the true value of the first base parameter, the inertia about the first axis."""
    base = base_parameters(ROBOT)
    return base.values(truth[base.columns])[0]


def commissioned(folders):
    """Return what two runs at once print: one with a second motion, one with a held-out part.

    The first rehearses nothing, not even what it plans to validate (test/cli/test_run.py does).
    The part held out must be longer than what the filters need, 0.5 s here.
    """
    ways = {
        LEFT: ("--steps", NO_REHEARSAL, "--rehearsal-speed", "1"),
        RIGHT: ("--held-out", "0.35", "--rehearsal-speed", "0.8"),
    }
    common = ("--prior", "none", "--accept", "0.2", "--yes", "--json")
    running = {
        namespace: Popen(
            walk(*QUICK, *common, *way, "--namespace", namespace, "--output", folders[namespace]),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for namespace, way in ways.items()
    }
    documents = {}
    try:
        for namespace, process in running.items():
            out, told = process.communicate()
            assert process.returncode == 0, told
            documents[namespace] = json.loads(out)
    finally:
        for process in running.values():
            process.kill()
            process.communicate()
    return documents


@pytest.mark.parametrize("text", ["no\n", "", "y\n"])
def test_nothing_moves_without_a_yes(client, planned, monkeypatch, capsys, text):
    answer(monkeypatch, text)
    arguments = ["--namespace", LEFT, "--steps", "rehearse", "--output", str(planned)]
    assert main(["run", *arguments]) == 2
    told = capsys.readouterr().err
    assert "the robot will move: approach" in told
    assert "20 % speed" in told
    assert "nothing has moved" in told
    client.spin(0.5)
    assert not client.sent
    assert Verbs(client).parameter("excitation", "speed") == 1.0


def test_an_interruption_brakes_and_says_so(client, planned):
    slowly = ("--speed", "0.3", "--rehearsal-speed", "0.1")
    line = walk("--namespace", LEFT, "--yes", "--steps", "run", *slowly, "--output", planned)
    process = Popen(line, stderr=subprocess.PIPE, text=True)
    client.statuses.clear()
    client.wait_for(
        lambda: client.statuses and client.statuses[-1].state == ExcitationStatus.RUNNING,
        60.0,
        "motion",
    )
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate()
    assert process.returncode == 130, told
    assert "interrupted: braking: at rest in" in told
    client.wait_for(
        lambda: client.statuses[-1].state == ExcitationStatus.STOPPED, 10.0, "robot at rest"
    )
    np.testing.assert_allclose(client.sent[-1].points[-1].velocities, 0.0)
    assert Verbs(client).parameter("excitation", "speed") == 1.0
    assert "run" not in json.loads((planned / "run.json").read_text())


def test_another_plan_than_that_of_the_run_is_not_followed(client, planned, capsys, tmp_path):
    document = {"plan": {"hash": "another"}}
    (tmp_path / "run.json").write_text(json.dumps(document))
    arguments = ["--namespace", LEFT, "--steps", "run", "--yes", "--output", str(tmp_path)]
    assert main(["run", *arguments]) == 2
    assert "not that of this run" in capsys.readouterr().err
    client.spin(0.3)
    assert not client.sent


def test_a_result_needs_data_and_a_plan_that_can_be(robot, planned, capsys):
    folder = ["--namespace", LEFT, "--output", str(planned)]
    assert main(["run", *folder, "--steps", "identify"]) == 2
    assert "nothing says which recording" in capsys.readouterr().err
    assert main(["run", *folder, "--steps", "identify", "--recording", "nobody-1"]) == 2
    assert "no recording nobody-1" in capsys.readouterr().err
    one_joint = ["--method", "one-joint", "--rows", "30"]  # of the other method
    assert main(["run", *folder, "--steps", "plan", *one_joint]) == 2
    assert "excitation/plan" in capsys.readouterr().err


@pytest.mark.usefixtures("two_robots")
def test_two_robots_side_by_side_are_commissioned_and_nothing_crosses(tmp_path):
    """Both at once, each with its own namespace; the streamed estimates are not mistaken."""
    folders = {namespace: tmp_path / namespace.strip("/") for namespace in (LEFT, RIGHT)}
    documents = commissioned(folders)
    for namespace, folder in folders.items():
        assert documents[namespace] == json.loads((folder / "run.json").read_text())
    for namespace, truth in ((LEFT, TRUTH), (RIGHT, HEAVY * TRUTH)):
        document, folder = documents[namespace], folders[namespace]
        (source,) = document["identify"]["sources"]
        assert source["name"] == document["run"]["recording"]
        result = read_result(folder / "result.yaml")
        assert result.estimate.values[0] == pytest.approx(heaviest(truth), rel=0.05)
        assert document["validate"]["relative_error"]["total"] < 0.2
        assert document["calibrate"]["consistent"]
        assert (folder / "plan.yaml").is_file()
        assert (folder / "identified.urdf").read_text().startswith("<?xml")
        assert read_parameters(folder / "parameters.yaml", ROBOT) is not None
    left = documents[LEFT]
    assert left["validate"]["recording"] not in ("", left["run"]["recording"])
    assert left["validate"]["hash"] != left["plan"]["hash"]
    right = documents[RIGHT]
    assert right["rehearse"]["duration"] == pytest.approx(right["run"]["duration"] / 0.8)
    # The second motion was recorded after the result, and has not taken its place.
    assert left["calibrate"]["relative_error"] == pytest.approx(
        left["identify"]["relative_error"]["total"], abs=0.02
    )
    with Client(LEFT) as client:
        assert Verbs(client).parameter("identification", "streaming")

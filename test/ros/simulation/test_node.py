import itertools
import math
import re
import signal
import subprocess
import time
import uuid
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from rclpy.node import NodeNameNonExistentError
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from diagnostics import Diagnostics, values_of
from forked_processes import Popen
from lock_step import RobotClock, SteppedClock
from refused_starts import refused_start
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.trajectories import message_of

pytestmark = pytest.mark.ros

RATE = 500.0
PERIOD = round(1e9 / RATE)
SPEED = 2.0
EXACT = {
    "robot": "tx40",
    "rate": RATE,
    "real_time_factor": SPEED,
    "position_noise": [0.0],
    "position_resolution": [0.0],
    "effort_noise": [0.0],
}
STEPPED = {"use_sim_time": True, "real_time_factor": 1.0}
ROBOT = load_robot("tx40")
MOTION = Trajectory(
    ROBOT.joint_names,
    [0.0, 0.7, 1.5],
    np.array([np.zeros(6), [0.5, 0.3, -0.4, 0.6, 0.5, -0.9], [0.1, 0.2, 0.3, -0.2, -0.1, 0.4]]),
    np.array([np.zeros(6), np.full(6, 0.2), np.zeros(6)]),
    np.zeros((3, 6)),
)


class Simulated:
    """A running node, and all that it publishes."""

    def __init__(self, client, processes, namespace):
        self.client, self.processes = client, processes
        self.states, self.clock = [], None
        client.collect(JointState, "joint_states", self.states.append, qos.STATES_IN)
        self.diagnostics = Diagnostics(client.node, namespace)
        self.trajectories = client.node.create_publisher(
            JointTrajectory, "joint_trajectory", qos.COMMANDS
        )
        self.efforts = client.node.create_publisher(JointState, "feedforward_effort", qos.COMMANDS)
        self.process = processes.start(
            "robot", command("simulated_robot", namespace=namespace, parameters=self.parameters)
        )

    parameters = EXACT

    @property
    def counters(self):
        """What the node has counted, by its last status."""
        told = self.diagnostics.of("simulated_robot")
        return {key: int(value) for key, value in values_of(told[-1]).items()} if told else {}

    def spin(self, until):
        """Process messages until something holds."""

        def looked():
            if self.clock is not None:
                self.clock.look()
            return until()

        self.client.wait_for(looked, math.inf, "expected state of the simulated robot")

    def spin_until_logged(self, text):
        self.spin(lambda: text in self.processes.output("robot"))

    def spin_until_ready(self):
        self.spin(lambda: len(self.states) > 10)
        self.spin(
            lambda: (
                self.trajectories.get_subscription_count() and self.efforts.get_subscription_count()
            )
        )

    def send(self, trajectory, ahead=1.0):
        """Start a trajectory some simulated time from now; return the stamp of its start."""
        self.spin_until_ready()
        start = stamp_of(self.states[-1]) + round(ahead * RATE) * PERIOD
        self.trajectories.publish(message_of(trajectory, start))
        return start

    def columns(self):
        """Return stamps (samples,), positions and efforts (samples, joints)."""
        return (
            np.array([stamp_of(state) for state in self.states]),
            np.array([state.position for state in self.states]),
            np.array([state.effort for state in self.states]),
        )

    def motion(self, trajectory=MOTION):
        """Send a trajectory, end the node, return positions and efforts at its samples.

        The time of the robot stands still until it has taken the trajectory over.
        """
        self.clock = RobotClock(
            self.client.node, lambda: stamp_of(self.states[-1]) if self.states else 0
        )
        self.spin_until_ready()
        self.clock.held = True
        start = self.send(trajectory)
        self.spin_until_logged("starts at sample")
        self.clock.held = False
        end = start + round(trajectory.times[-1] * 1e9)
        self.spin(lambda: stamp_of(self.states[-1]) > end)
        self.processes.stop()
        stamps, position, effort = self.columns()
        during = (stamps >= start) & (stamps <= end)
        return position[during], effort[during]


@pytest.fixture
def simulate(tmp_path):
    """Return a function that starts a node; everything ends with the test."""
    stack = ExitStack()
    numbers = itertools.count()

    def start(**parameters):
        namespace = f"/t{uuid.uuid4().hex[:12]}/arm"
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        processes = stack.enter_context(NodeProcesses(folder))
        client = stack.enter_context(Client(namespace, watch=processes.check))
        kind = type("Given", (Simulated,), {"parameters": EXACT | parameters})
        return kind(client, processes, namespace)

    with stack:
        yield start


def expected(trajectory=MOTION):
    """Return positions and efforts of the simulation itself along a trajectory."""
    loop = ClosedLoop(
        ROBOT, load_values("tx40_simulated", ROBOT, complete=True), sample_rate_hz=RATE
    )
    samples = loop.run(trajectory.reference, trajectory.duration)
    return samples.position, samples.effort


def test_the_motion_is_that_of_the_simulation_whenever_it_starts(simulate):
    position, effort = expected()
    reverse = tuple(reversed(ROBOT.joint_names))
    for trajectory in (MOTION, MOTION.reordered(reverse)):
        robot = simulate(**STEPPED)
        found = robot.motion(trajectory)
        np.testing.assert_allclose(found[0], position, atol=1e-9)
        np.testing.assert_allclose(found[1], effort, atol=1e-5)
        assert robot.states[0].name == list(ROBOT.joint_names)


def test_samples_sent_are_samples_received_and_their_stamps_are_exact(simulate):
    robot = simulate(rate=1000.0, real_time_factor=1.0, use_sim_time=True)
    clock = SteppedClock(robot.client.node, 0.008)

    heard = [0]

    def enough():
        """Go on when the samples of the last tick have come, or the first has not."""
        if clock.step(not robot.states or len(robot.states) > heard[0]):
            heard[0] = len(robot.states)
        return len(robot.states) > 1000

    robot.spin(enough)
    robot.processes.stop()
    told = robot.processes.output("robot")
    published = int(re.findall(r"samples_published (\d+)", told)[-1])
    first = int(re.search(r"ready: .* from (\d+) ns", told)[1])
    missed = (robot.columns()[0][0] - first) // 1_000_000  # before the nodes had found each other
    robot.spin(lambda: missed + len(robot.states) == published)
    steps = np.diff(robot.columns()[0])
    np.testing.assert_array_equal(steps, 1_000_000)


def test_a_node_that_was_stalled_makes_good_every_sample_and_then_its_clock(simulate):
    robot = simulate(real_time_factor=1.0, use_sim_time=True)
    clock = SteppedClock(robot.client.node, 0.004)

    def newest():
        clock.go_on()
        return stamp_of(robot.states[-1]) if robot.states else 0

    robot.spin(newest)
    robot.process.send_signal(signal.SIGSTOP)
    clock.now += 1_500_000_000
    robot.process.send_signal(signal.SIGCONT)
    robot.spin(lambda: newest() > clock.now - 5 * PERIOD)
    np.testing.assert_array_equal(np.diff(robot.columns()[0]), PERIOD)


def test_noise_depends_on_seed_and_trajectory_alone(simulate):
    noisy = {"position_noise": [1e-4], "effort_noise": [0.5], "seed": 7, **STEPPED}
    first, second = (simulate(**noisy).motion() for _ in range(2))
    np.testing.assert_allclose(second[0], first[0], atol=1e-9)
    np.testing.assert_allclose(second[1], first[1], atol=1e-5)
    deviation = first[1] - expected()[1]
    np.testing.assert_allclose(deviation.std(axis=0), 0.5, rtol=0.15)


def test_what_cannot_be_followed_is_refused_and_the_robot_stays(simulate):
    robot = simulate()
    robot.spin_until_ready()
    before = robot.columns()[1][-1]
    not_a_number = message_of(MOTION, 0)
    not_a_number.points[1].positions[2] = float("nan")
    stranger = message_of(MOTION, 0)
    stranger.joint_names[0] = "elbow"
    backwards = message_of(MOTION, 0)
    backwards.points[2].time_from_start.sec = 0
    over = message_of(MOTION, 1)
    in_motion = message_of(MOTION, 0)
    in_motion.points[-1].velocities[3] = 0.1
    for message, reason in (
        (not_a_number, "positions of joint joint_3 at point 1 is nan"),
        (stranger, "elbow"),
        (backwards, "times must increase: point 2"),
        (over, "was over"),
        (in_motion, "joint_4 has velocity 0.1 at the last point"),
        (JointTrajectory(), "at least one point"),
    ):
        robot.trajectories.publish(message)
        robot.spin_until_logged(reason)
    robot.spin(lambda: robot.counters.get("trajectories_refused") == 6)
    assert robot.counters["trajectories_followed"] == 0
    np.testing.assert_allclose(robot.columns()[1][-1], before, atol=1e-9)


def test_a_new_trajectory_replaces_the_one_before(simulate):
    robot = simulate()
    robot.send(MOTION, ahead=0.5)
    robot.spin_until_logged("starts at sample")
    home = Trajectory(ROBOT.joint_names, [1.0], np.full((1, 6), 0.05))
    robot.trajectories.publish(message_of(home, 0))
    robot.spin(lambda: robot.counters.get("trajectories_followed") == 2)
    target = stamp_of(robot.states[-1]) + 2_000_000_000
    robot.spin(lambda: stamp_of(robot.states[-1]) > target)
    np.testing.assert_allclose(robot.columns()[1][-1], 0.05, atol=0.05)


def test_feedforward_effort_is_added_to_that_of_the_controller(simulate):
    robot = simulate()
    robot.spin_until_ready()
    before = robot.columns()[1][-1]
    robot.efforts.publish(JointState(name=["joint_1"], effort=[30.0]))
    robot.spin(lambda: robot.states[-1].position[0] > before[0] + 1e-3)
    assert robot.states[-1].effort[0] > 0.0
    robot.efforts.publish(JointState(name=["joint_1"], effort=[float("nan")]))
    robot.spin_until_logged("feedforward_effort refused")


def topics_of(asking, node):
    """Return the names of the topics of a node as another one knows them by now."""
    names = set()
    for ask in (
        asking.get_publisher_names_and_types_by_node,
        asking.get_subscriber_names_and_types_by_node,
    ):
        with suppress(NodeNameNonExistentError):
            names |= {name for name, _ in ask(node, asking.get_namespace())}
    return names


def test_names_follow_the_namespace(simulate):
    robot = simulate()
    robot.spin_until_ready()
    node = robot.client.node
    own = {
        f"{node.get_namespace()}/{name}"
        for name in ("joint_states", "joint_trajectory", "feedforward_effort")
    }
    shared = {"/rosout", "/parameter_events", "/diagnostics", "/clock"}
    robot.client.wait_for(
        lambda: topics_of(node, "simulated_robot") >= own, 20.0, "topics of the node"
    )
    assert topics_of(node, "simulated_robot") <= own | shared


def test_noise_as_a_share_of_the_limits_and_velocity_as_asked(simulate):
    robot = simulate(effort_noise_fraction=0.01, velocity="none")
    robot.spin(lambda: len(robot.states) > 1000)
    limits = np.array([joint.limits.effort for joint in ROBOT.joints])
    np.testing.assert_allclose(robot.columns()[2].std(axis=0), 0.01 * limits, rtol=0.15)
    assert len(robot.states[-1].velocity) == 0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_says_what_it_sent(tmp_path, ending):
    line = command(
        "simulated_robot", parameters={"robot": "tx40"}, namespace=f"/t{uuid.uuid4().hex[:12]}"
    )
    with (tmp_path / "log").open("w+") as log:
        process = Popen(line, stdout=log, stderr=subprocess.STDOUT)
        while "ready" not in (tmp_path / "log").read_text():
            time.sleep(0.05)
        process.send_signal(ending)
        assert process.wait() == 0
    text = (tmp_path / "log").read_text()
    assert "samples_published" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rate": 2000.0}, "rate"),
        ({"rate": 300.0}, "must divide"),
        ({"robot": "nonesuch"}, "nonesuch"),
        ({"parameters_file": "nonesuch"}, "nonesuch"),
        ({"effort_noise": [1.0, 2.0]}, "one for each of 6 joints"),
        ({"effort_noise_fraction": 0.1, "effort_noise": [0.1]}, "effort_noise is given as well"),
        ({"position_noise": [-1.0]}, "at least 0"),
        ({"velocity": "guessed"}, "none, true, difference"),
    ],
)
def test_a_wrong_parameter_ends_it_with_a_clear_error(parameters, message):
    assert message in refused_start("simulated_robot", {"robot": "tx40", **parameters})


def test_a_robot_whose_true_values_nobody_knows_is_refused(tmp_path):
    robot = tmp_path / "own.yaml"
    robot.write_text(find_robot("scara").read_text().replace("name: scara", "name: own", 1))
    said = refused_start("simulated_robot", {"robot": str(robot)})
    assert "the true values of own are not known" in said


def test_a_robot_whose_currents_nobody_can_convert_is_refused_before_it_is_ready(tmp_path):
    text = find_robot("scara").read_text()
    robot = tmp_path / "scara.yaml"
    robot.write_text(re.sub("effort_meaning: .*", "effort_meaning: current", text))
    said = refused_start("simulated_robot", {"robot": str(robot)})
    assert "joint joint_1 needs one" in said
    assert "ready:" not in said

"""A model fed forward through DDS: a right one makes the robot follow, a wrong one does not."""

import signal
import uuid

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from random_robots import random_values
from refused_starts import refused_start
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes import qos
from robot_identification.nodes.client import Client
from robot_identification.nodes.commissioning import heavy_prior
from robot_identification.nodes.inertial_messages import parameters_message
from robot_identification.nodes.processes import NodeProcesses, command
from robot_identification.nodes.tracking import Tracking
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import load_values
from stalled_nodes import stalled

pytestmark = pytest.mark.ros

ROBOT = load_robot("tx40")
TRUTH = load_values("tx40_simulated", ROBOT)
POSITIONS = np.array(
    [
        np.zeros(6),
        [0.6, 0.4, -0.5, 0.8, 0.6, -1.2],
        [-0.5, -0.3, 0.6, -0.9, -0.4, 1.0],
        np.zeros(6),
    ]
)
MOTION = Trajectory(
    ROBOT.joint_names, [0.0, 1.0, 2.2, 3.2], POSITIONS, np.zeros((4, 6)), np.zeros((4, 6))
)


@pytest.fixture
def track(tmp_path):
    """Return what follows with the simulated TX-40; everything ends with the test."""
    processes = NodeProcesses(tmp_path)
    namespace = f"/t{uuid.uuid4().hex[:12]}"
    client = Client(namespace, watch=processes.check)
    exact = {
        "robot": "tx40",
        "position_noise": [0.0],
        "position_resolution": [0.0],
        "effort_noise": [0.0],
    }
    line = command("simulated_robot", parameters=exact, namespace=namespace)
    processes.start("simulated_robot", line)
    tracking = Tracking(client, processes, ROBOT, "tx40", namespace, lead=2.0)
    tracking.wait_until_ready()
    yield tracking
    client.close()
    processes.stop()


def test_the_right_model_follows_five_times_better_than_a_wrong_one(track):
    track.use(heavy_prior(ROBOT, TRUTH, 1.3))
    wrong = track.follow(MOTION).total
    track.use(TRUTH)
    right = track.follow(MOTION).total
    assert right < wrong / 5.0
    assert right < 1e-3


def test_parameters_of_another_robot_change_nothing(track):
    stranger = load_robot("puma560")
    values = random_values(np.random.default_rng(0), stranger)
    message = parameters_message(stranger, values, stamp=1)
    track.parameters.publish(message)
    track.wait_until_logged("inertial_parameters refused: tx40: these are parameters of puma560")
    track.go_to(np.zeros(6), 0.1)
    assert track.efforts == []
    track.use(TRUTH)
    track.pause(0.5)
    held = track.efforts[-1].effort
    track.parameters.publish(message)
    track.wait_until_logged("refused", times=2)
    track.pause(0.5)
    np.testing.assert_allclose(track.efforts[-1].effort, held, atol=1e-9)
    assert np.abs(held).max() > 0.5


def test_a_node_that_ends_takes_its_effort_away(track):
    track.use(TRUTH)
    track.go_to(np.zeros(6), 0.1)
    track.wait(lambda: track.efforts, "efforts")
    track.nodes.stop("computed_torque")
    track.wait(lambda: not any(track.efforts[-1].effort), "an effort of zero")
    assert track.efforts[-1].header.stamp.sec == 0


def test_a_robot_that_stood_still_meanwhile_hears_of_that(track):
    track.use(TRUTH)
    track.go_to(POSITIONS[1], 2.0)
    held = np.array(track.newest.position)
    efforts = track.client.node.create_publisher(JointState, "feedforward_effort", qos.EFFORTS)
    track.wait(lambda: efforts.get_subscription_count() == 2, "robot")
    robot = track.nodes.process("simulated_robot")
    with stalled(robot, efforts, name=["stranger"], effort=[0.0]):
        track.nodes.process("computed_torque").send_signal(signal.SIGINT)
        track.client.spin(0.5)
    track.nodes.stop("computed_torque")
    track.wait(lambda: np.abs(track.newest.position - held).max() > 1e-5, "sinking robot")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"robot": "nonesuch"}, "nonesuch"), ({"lead": 9.0}, "lead"), ({"rate": 0.0}, "rate")],
)
def test_a_wrong_parameter_ends_it_with_a_clear_error(parameters, message):
    assert message in refused_start("computed_torque", {"robot": "tx40", **parameters})

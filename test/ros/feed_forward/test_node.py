"""A model fed forward through DDS: a right one makes the robot follow, a wrong one does not."""

import math
import signal
import uuid

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from random_robots import random_values
from refused_starts import refused_start
from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.dynamics.simulation.sensors import Sensors, SensorSettings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.common import qos
from robot_identification.ros.demo.commissioning import heavy_prior
from robot_identification.ros.demo.tracking import Tracking
from robot_identification.ros.feed_forward.stream import TorqueStream
from robot_identification.ros.messages.inertial import parameters_message
from robot_identification.ros.simulation.robot import RobotSimulator
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
        "rate": 100.0,
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


def tracking_error(values):
    """Follow a motion with a model fed forward; return the root mean square of the errors.

    Robot and stream of efforts are those of the nodes, and meet at every hundredth of a second.
    """
    loop = ClosedLoop(ROBOT, TRUTH, sample_rate_hz=500.0)
    none = (0.0,) * len(ROBOT.joints)
    sensors = Sensors(ROBOT, SensorSettings(none, none, none, none), seed=0)
    robot = RobotSimulator(loop, sensors, POSITIONS[0])
    stream = TorqueStream(ROBOT.joint_names, rate=100.0, lead=0.5)
    stream.use(FeedForward(ROBOT, values))
    start, measured = 10**9, []
    stream.due(0)
    stream.follow(MOTION, start, POSITIONS[0])
    robot.follow(MOTION, start * 1e-9)
    for now in range(0, start + round(MOTION.duration * 1e9), 10**7):
        for stamp, effort in stream.due(now):
            robot.add_effort(effort, stamp * 1e-9)
        measured.append(robot.produce(5).position)
    assert robot.late_efforts == 0
    position = np.concatenate(measured)
    times = np.arange(len(position)) / 500.0 - start * 1e-9
    moving = times >= 0.0
    return np.sqrt(np.mean((position[moving] - MOTION.sample(times[moving])[0]) ** 2))


def held_effort(track, place):
    """Wait until the node sends what it takes to stand somewhere, and return that."""
    still = np.zeros((1, len(ROBOT.joints)))
    (wanted,) = FeedForward(ROBOT, TRUTH).efforts(np.asarray(place)[None], still, still)
    track.wait(
        lambda: track.efforts and np.allclose(track.efforts[-1].effort, wanted, 1e-7, 1e-9),
        "the effort that holds the robot",
    )
    return wanted


def test_the_right_model_follows_five_times_better_than_a_wrong_one():
    right, wrong = tracking_error(TRUTH), tracking_error(heavy_prior(ROBOT, TRUTH, 1.3))
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
    held = held_effort(track, np.zeros(6))
    track.parameters.publish(message)
    track.wait_until_logged("refused", times=2)
    track.pause(0.5)
    np.testing.assert_allclose(track.efforts[-1].effort, held, atol=1e-9)
    assert np.abs(held).max() > 0.5


def changed(**fields):
    """Return the true parameters as a message, with other values of some of its fields."""
    made = parameters_message(ROBOT, TRUTH, stamp=5)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def with_value(name, value):
    values = np.array(TRUTH)
    values[ROBOT.all_parameter_names.index(name)] = value
    return changed(values=values.tolist())


HOSTILE = {
    "without a hash": (changed(robot_hash=""), "without a hash"),
    "not consistent": (changed(consistent=False), "not called consistent"),
    "a negative mass": (with_value("M3", -2.0), "M = -2"),
    "a mass of 1e308": (with_value("M3", 1e308), "M3 is 1e+308"),
    "values of 1e308": (changed(values=[1e308] * len(TRUTH)), "is 1e+308"),
    "not a number": (with_value("ZZ1", math.nan), "ZZ1 is nan"),
    "a thousand million times": (changed(values=(1e9 * TRUTH).tolist()), "to stand where"),
    "too few values": (changed(values=[1.0]), "1 values for 86 parameters"),
}


def test_what_no_calibration_publishes_moves_no_robot(track):
    """A real publisher, one message after the other, and a robot that is to hold a posture."""
    track.use(TRUTH)
    track.go_to(POSITIONS[1], 1.0)
    held = held_effort(track, POSITIONS[1])
    before = len(track.efforts)
    for number, (message, words) in enumerate(HOSTILE.values()):
        track.parameters.publish(message)
        track.wait_until_logged("refused", times=number + 1)
        assert words in track.nodes.output("computed_torque").splitlines()[-1]
    track.pause(0.5)
    since = np.array([message.effort for message in track.efforts[before:]])
    np.testing.assert_allclose(since, np.broadcast_to(held, since.shape), atol=1e-9)
    assert len(since)
    track.wait(
        lambda: np.abs(np.array(track.states[-1].position) - POSITIONS[1]).max() < 1e-3,
        "the robot in its posture",
    )


def test_a_wrong_model_stays_within_the_effort_limits(track):
    """It stands, for what is wrong about it shows in motion only."""
    wrong = np.array(TRUTH)
    wrong[[14 * joint + 10 for joint in range(4)]] = 1e9  # inertias of drives
    track.use(wrong)
    track.go_to(POSITIONS[1], 0.5)
    track.wait_until_logged("the model asks for more than the effort limit of joint_1")
    sent = np.array([message.effort for message in track.efforts])
    limits = np.array([joint.limits.effort for joint in ROBOT.joints])
    gains = {name: np.array(gain) for name, gain in ROBOT.controller.gains.items()}
    own = gains["velocity_feedforward"] * [j.limits.velocity for j in ROBOT.joints]
    own += gains["acceleration_feedforward"] * [j.limits.acceleration for j in ROBOT.joints]
    assert (np.abs(sent) <= limits + np.maximum(own, limits)).all()


def test_a_robot_without_effort_limits_is_refused(tmp_path):
    path = tmp_path / "unlimited.yaml"
    lines = find_robot("scara").read_text().replace(", effort: 100.0", "").splitlines()
    path.write_text("\n".join(line for line in lines if "limits: {effort: 20.0}" not in line))
    told = refused_start("computed_torque", {"robot": str(path)})
    assert "joint joint_1, joint_2 have no effort limit" in told


def test_a_node_that_ends_takes_its_effort_away(track):
    track.use(TRUTH)
    track.go_to(np.zeros(6), 0.1)
    track.wait(lambda: track.efforts, "efforts")
    track.nodes.stop("computed_torque")
    track.wait(lambda: not any(track.efforts[-1].effort), "an effort of zero")
    assert track.efforts[-1].header.stamp.sec == 0


def test_efforts_are_sent_by_an_active_node_only_and_fall_when_it_is_deactivated(track):
    """Real service calls, and a node that lets go of everything and begins anew."""
    verbs = Verbs(track.client)
    track.use(TRUTH)
    track.go_to(POSITIONS[1], 0.5)
    held = held_effort(track, POSITIONS[1])
    before = len(track.efforts)
    verbs.change_state("computed_torque", "deactivate")
    assert verbs.lifecycle_state("computed_torque") == "inactive"
    track.wait(lambda: not any(track.efforts[-1].effort), "an effort of zero")
    fallen = np.array([held, *(message.effort for message in track.efforts[before:])])
    assert np.abs(np.diff(fallen, axis=0)).max() < 0.1 * np.abs(held).max()
    count = len(track.efforts)
    track.pause(0.3)
    assert len(track.efforts) == count
    for transition in ("cleanup", "configure"):
        verbs.change_state("computed_torque", transition)
    track.wait_until_ready()
    verbs.change_state("computed_torque", "activate")
    track.go_to(POSITIONS[1], 0.5)
    held_effort(track, POSITIONS[1])  # the parameters are latched


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

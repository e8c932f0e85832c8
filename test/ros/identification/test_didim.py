import numpy as np
import pytest
from robot_identification.srv import BaseParameters, IdentifyDidim
from sensor_msgs.msg import JointState

from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.results import read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.error_codes import CODES
from simulated_experiments import raw_samples, reference_at, write_without_positions

pytestmark = pytest.mark.ros

ROBOT = load_robot("scara")
BASE = base_parameters(ROBOT)
TRUTH = BASE.values(load_values("scara", ROBOT)[BASE.columns])
RATE = 200.0
NOISE = (0.05, 0.01)
SECONDS = 30.0
LIVE = 4000
SERVICE = "identification/didim"


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Efforts and reference of half a minute; positions that nobody measured."""
    path = tmp_path_factory.mktemp("bags") / "bag"
    return write_without_positions(path, RATE, NOISE, seconds=SECONDS)


def didim(suite, bag, **fields):
    request = IdentifyDidim.Request(**fields)
    request.data.bags = [str(bag)]
    return suite.verbs.answers.ask(request)


def errors_of(result):
    values = np.array([parameter.value for parameter in result.parameters])
    std = np.array([parameter.std for parameter in result.parameters])
    return np.abs(values - TRUTH), std


@pytest.fixture(scope="module")
def identified(suite, bag):
    """Have a result latched, be there another one since or not."""
    assert didim(suite, bag).success


@pytest.fixture
def good(suite, identified):
    """A result that is latched, and that failures must leave."""
    return suite.latched()


def test_torque_alone_tells_the_parameters_of_a_bag(suite, bag):
    suite.progress.clear()
    response = didim(suite, bag, output="didim.yaml")
    assert (response.success, response.error_code) == (True, CODES.OK), response.message
    result = response.result
    error, std = errors_of(result)
    known = std < 0.05 * np.abs(TRUTH)
    assert known.sum() >= 5
    assert (error <= np.maximum(0.01 * np.abs(TRUTH), 3.0 * std))[known].all()
    assert (result.method, result.converged) == ("didim", True)
    assert len(result.error_history) == result.iterations + 1
    assert result.error_history[-1] < 0.1 < result.error_history[0]
    (output,) = response.written
    assert read_result(output).history.verdict == "converged"
    assert repr(suite.latched()) == repr(result)
    suite.wait(lambda: suite.progress and suite.progress[-1].fraction == 1.0, "end of progress")
    told = {message.iteration: message for message in suite.progress if message.relative_error}
    assert sorted(told) == list(range(result.iterations + 1))
    for number, message in told.items():
        assert list(message.joint_names) == list(ROBOT.joint_names)
        assert message.relative_error_total == pytest.approx(result.error_history[number])
        assert "torque error" in message.text


def test_a_live_recording_with_samples_of_the_reference_is_enough(suite):
    raw = raw_samples("scara", "scara", RATE, NOISE)
    reference = reference_at(raw, RATE)
    names = list(ROBOT.joint_names)
    commands = suite.client.node.create_publisher(JointState, "joint_reference", qos.STATES_OUT)
    suite.wait(commands.get_subscription_count, "reader of the reference")

    def command(i):
        message = JointState(name=names, position=reference[i].tolist())
        message.header.stamp = time_of(int(raw.stamps[i]))
        return message

    def states():
        for i in range(LIVE):
            if i:
                commands.publish(command(i))
            state = JointState(
                name=names, position=raw.position[i].tolist(), effort=raw.effort[i].tolist()
            )
            state.header.stamp = time_of(int(raw.stamps[i]))
            yield state

    suite.send_first_reference(commands, command(0))

    recording = suite.record(states(), expected=LIVE)[0].recording
    request = IdentifyDidim.Request(start="idim")
    request.data.recordings = [recording]
    response = suite.verbs.answers.ask(request)
    assert response.success, response.message
    error, std = errors_of(response.result)
    known = std < 0.05 * np.abs(TRUTH)
    assert known.sum() >= 4
    assert (error <= np.maximum(0.01 * np.abs(TRUTH), 4.0 * std))[known].all()
    assert [source.name for source in response.result.sources] == [recording]


def test_what_is_refused_changes_nothing(suite, bag, good, tmp_path):
    for fields, code in (
        ({"start": "nowhere.yaml"}, CODES.RESULT_INVALID),
        ({"weighting": "heavy"}, CODES.INVALID_REQUEST),
        ({"tolerance_error": -1.0}, CODES.INVALID_REQUEST),
        ({"essential": True}, CODES.INVALID_REQUEST),
        ({"output": str(tmp_path)}, CODES.OUTPUT_FAILED),
    ):
        response = didim(suite, bag, **fields)
        assert (response.success, response.error_code) == (False, code), (fields, response.message)
        assert response.message
    assert repr(suite.latched()) == repr(good)


def test_a_recording_without_reference_is_refused(suite, tmp_path):
    raw = raw_samples("scara", "scara", RATE, NOISE)
    path = tmp_path / "bag"
    write_joint_states(path, ROBOT.joint_names, raw)
    response = didim(suite, path)
    assert response.error_code == CODES.DATA_INVALID
    assert "reference" in response.message


def test_too_few_iterations_end_in_not_converged_with_what_was_reached(suite, bag, good):
    response = didim(suite, bag, max_iterations=1)
    assert (response.success, response.error_code) == (False, CODES.NOT_CONVERGED)
    assert not response.result.converged
    assert len(response.result.error_history) == 2
    assert repr(suite.latched()) == repr(good)


def test_the_node_answers_while_didim_runs_and_cancel_ends_it(suite, bag):
    request = IdentifyDidim.Request(
        max_iterations=1000, tolerance_error=1e-300, tolerance_parameters=1e-300
    )
    others = [
        write_without_positions(bag.with_name(f"bag_{seed}"), RATE, NOISE, seed, SECONDS)
        for seed in (1, 2, 3)
    ]
    request.data.bags = [str(one) for one in (bag, *others)]
    answer = suite.begin(request)
    suite.wait(lambda: any(message.iteration for message in suite.progress), "first iteration")
    assert suite.verbs.answers.ask(BaseParameters.Request()).success
    assert not answer.done()
    assert didim(suite, bag).error_code == CODES.BUSY
    assert suite.verbs.cancel("identification").success
    suite.wait(answer.done, "answer of what was cancelled")
    assert answer.result().error_code == CODES.CANCELLED

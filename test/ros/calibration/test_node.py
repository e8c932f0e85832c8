import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from robot_identification.msg import IdentificationResult, InertialParameters, PayloadEstimate
from robot_identification.srv import Calibrate, InverseDynamics
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from live_nodes import ROBOT, TRUTH, states
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.urdf.prior import given_by_urdf, urdf_prior
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.client import Client
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.messages.inertial import values_of_message
from robot_identification.ros.messages.results import result_message

pytestmark = pytest.mark.ros

BASE = base_parameters(ROBOT)
SERVICE = "calibration/calibrate"
NOISE = (0.05, 0.01)


def noisy(seed, factors=(1.0, 1.0)):
    """Return states whose efforts are noisy, and wrong by factors."""
    messages = states()
    noise = np.random.default_rng(seed).normal(size=(len(messages), 2)) * NOISE
    for message, error in zip(messages, noise, strict=True):
        message.effort = (np.array(message.effort) * factors + error).tolist()
    return messages


@pytest.fixture(scope="module")
def prior(tmp_path_factory):
    """Parameters that are wrong by a fifth."""
    path = tmp_path_factory.mktemp("prior") / "cad.yaml"
    names = ROBOT.all_parameter_names
    values = {n: 1.2 * float(v) for n, v in zip(names, TRUTH, strict=True) if v != 0.0}
    path.write_text(yaml.safe_dump({"robot": "scara", "parameters": values}))
    return path


class Outputs:
    """What the calibration node has published."""

    def __init__(self, suite):
        self.predicted, self.external, self.payloads = [], [], []
        suite.client.node.create_subscription(
            PayloadEstimate, "calibration/payload", self.payloads.append, qos.STATUS
        )
        suite.client.node.create_subscription(
            JointState, "predicted_joint_states", self.predicted.append, qos.STATES_IN
        )
        topic = "calibration/external_joint_efforts"
        suite.client.node.create_subscription(
            JointState, topic, self.external.append, qos.STATES_IN
        )

    def newest(self, suite):
        found = suite.diagnostics.of("calibration: residual")
        return found[-1] if found else None


@pytest.fixture(scope="module")
def calibrating(make_suite, prior):
    """Acquisition, identification and calibration for the SCARA, ready."""
    suite = make_suite()
    suite.start("acquisition", block_period=0.05, diagnostics_period=0.1)
    suite.start("identification")
    wanted = {"external_efforts": True, "payload": True, "payload_learning_time": 10.0}
    suite.start("calibration", prior=str(prior), diagnostics_period=0.1, **wanted)
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.verbs.require("calibration")
    return suite


@pytest.fixture(scope="module")
def outputs(calibrating):
    return Outputs(calibrating)


@pytest.fixture(scope="module")
def result_file(calibrating, outputs):
    recording = move(calibrating, noisy(0))
    response = calibrating.identify(recording, output="result.yaml")
    assert response.success, response.message
    return Path(response.written[0])


def move(suite, messages):
    """Let the robot send states a thousand times a second."""

    def paced():
        for message in messages:
            time.sleep(0.001)
            yield message

    return suite.record(paced(), expected=len(messages))[0].recording


def calibrate(suite, **fields):
    return suite.verbs.answers.ask(Calibrate.Request(**fields))


def latched(suite, kind, topic):
    """Return what somebody who comes only now receives."""
    with Client(suite.namespace) as late:
        got = []
        late.node.create_subscription(kind, topic, got.append, qos.LATCHED)
        late.wait_for(lambda: got, 20.0, topic)
        return got[0]


def test_without_an_identification_nothing_is_published(calibrating):
    response = calibrate(calibrating)
    assert (response.success, response.error_code) == (False, CODES.RESULT_INVALID)
    assert "identify" in response.message
    got = []
    calibrating.client.node.create_subscription(
        InertialParameters, "inertial_parameters", got.append, qos.LATCHED
    )
    calibrating.client.spin(1.0)
    assert got == []


def test_parameters_are_consistent_latched_and_written(calibrating, result_file):
    response = calibrate(calibrating, output="parameters.yaml", urdf="scara.urdf")
    assert (response.success, response.error_code) == (True, CODES.OK), response.message
    urdf, output = map(Path, response.written)
    assert (output.name, urdf.name) == ("parameters.yaml", "scara.urdf")
    message = response.parameters
    values = values_of_message(message, ROBOT)
    assert message.consistent
    assert check_consistency(ROBOT, values).consistent
    exact, found = (BASE.values(np.asarray(v)[BASE.columns]) for v in (TRUTH, values))
    np.testing.assert_allclose(found, exact, rtol=0.03, atol=0.01)
    assert message.relative_error_total < 0.02
    assert len(message.verdicts) == len(message.std) == len(message.names)
    assert set(message.verdicts) >= {
        InertialParameters.ESSENTIAL,
        InertialParameters.NOT_IDENTIFIABLE,
    }
    assert [link.joint for link in message.links] == list(ROBOT.joint_names)
    assert message.recordings
    assert repr(latched(calibrating, InertialParameters, "inertial_parameters")) == repr(message)
    description = latched(calibrating, String, "identified_robot_description").data
    assert description == urdf.read_text()
    assert parse_urdf(description, "scara").robot.joint_names == ROBOT.joint_names
    np.testing.assert_array_equal(load_values(output, ROBOT), values)
    again, given = urdf_prior(urdf, ROBOT), given_by_urdf(urdf, ROBOT)
    np.testing.assert_allclose(again[given], values[given], rtol=1e-9, atol=1e-12)


def test_the_calibrated_model_is_asked_by_anybody(calibrating, result_file):
    parameters = calibrate(calibrating).parameters
    answer = calibrating.verbs.answers.ask(
        InverseDynamics.Request(positions=[0.3, -0.5], velocities=[1.0, -1.0])
    )
    assert answer.success, answer.message
    expected = inverse_dynamics(ROBOT, parameters.values, [0.3, -0.5], [1.0, -1.0], [0.0, 0.0])[0]
    np.testing.assert_allclose(answer.efforts, expected, rtol=1e-9)
    assert (np.array(answer.std) > 0.0).all()
    assert answer.parameters_hash == parameters.parameters_hash != ""
    assert answer.stamp == parameters.header.stamp


def test_a_result_file_gives_the_same_as_the_message(calibrating, result_file):
    live = calibrate(calibrating)
    from_file = calibrate(calibrating, result=str(result_file))
    assert live.success
    assert from_file.success
    np.testing.assert_allclose(
        from_file.parameters.values, live.parameters.values, rtol=1e-8, atol=1e-10
    )


def test_what_fails_leaves_what_was_published(calibrating, result_file, prior, tmp_path):
    first = calibrate(calibrating, output="own.yaml")
    assert first.success
    own = Path(first.written[0])
    good = latched(calibrating, InertialParameters, "inertial_parameters")
    before = own.read_text()
    for fields, code in (
        ({"space": "outer"}, CODES.INVALID_REQUEST),
        ({"result": str(tmp_path / "nothing.yaml")}, CODES.RESULT_INVALID),
        ({"result": str(prior)}, CODES.RESULT_INVALID),
        ({"prior": "nothing.yaml"}, CODES.RESULT_INVALID),
        ({"output": "."}, CODES.OUTPUT_FAILED),
        ({"output": "one", "urdf": "one"}, CODES.OUTPUT_FAILED),
        ({"prior": str(own), "output": str(own), "overwrite": True}, CODES.OUTPUT_FAILED),
    ):
        response = calibrate(calibrating, **fields)
        assert (response.success, response.error_code) == (False, code), (fields, response.message)
        assert response.message
        assert not response.parameters.names
    assert repr(latched(calibrating, InertialParameters, "inertial_parameters")) == repr(good)
    assert own.read_text() == before


def test_a_calibration_that_fails_at_its_end_has_published_and_written_nothing(
    calibrating, result_file, tmp_path
):
    """The result does not say how to filter what is predicted; all the rest could be done."""
    first = calibrate(calibrating, output="out.yaml", urdf="out.urdf")
    before = [Path(path).read_text() for path in first.written]
    good = latched(calibrating, InertialParameters, "inertial_parameters")
    described = latched(calibrating, String, "identified_robot_description")
    mute = tmp_path / "mute.yaml"
    write_result(mute, replace(read_result(result_file), settings={}))
    response = calibrate(calibrating, result=str(mute), output="out.yaml", urdf="out.urdf")
    assert (response.success, response.error_code) == (False, CODES.INVALID_REQUEST)
    assert "not stated: the result does not say how" in response.message
    assert not response.parameters.names
    assert [Path(path).read_text() for path in first.written] == before
    assert repr(latched(calibrating, InertialParameters, "inertial_parameters")) == repr(good)
    assert latched(calibrating, String, "identified_robot_description") == described


def test_a_calibration_writes_over_no_file_of_somebody_else(calibrating, result_file, tmp_path):
    """The URDF of a robot is nothing that a calibration may replace."""
    first = calibrate(calibrating, output="mine.yaml", urdf="mine.urdf")
    assert first.success, first.message
    good = latched(calibrating, InertialParameters, "inertial_parameters")
    cad = Path(first.written[0]).parent / "cad.urdf"
    cad.write_text("<robot/>")
    outside = tmp_path / "outside.urdf"
    for name in ("cad.urdf", str(outside)):
        response = calibrate(calibrating, output="mine.yaml", urdf=name)
        assert response.error_code == CODES.OUTPUT_FAILED, response.message
    assert cad.read_text() == "<robot/>"
    assert not outside.exists()
    assert repr(latched(calibrating, InertialParameters, "inertial_parameters")) == repr(good)
    again = calibrate(calibrating, output="mine.yaml", urdf="mine.urdf")
    assert again.success, again.message
    assert calibrate(calibrating, urdf="cad.urdf", overwrite=True).success
    assert parse_urdf(cad.read_text(), "cad").robot.joint_names == ROBOT.joint_names


def test_parameters_that_no_robot_has_are_refused_whatever_a_request_says(calibrating, result_file):
    good = latched(calibrating, InertialParameters, "inertial_parameters")
    response = calibrate(calibrating, result=str(result_file), consistent=False)
    assert response.error_code == CODES.INVALID_REQUEST, response.message
    assert "calibrate without --consistent" in response.message
    assert repr(latched(calibrating, InertialParameters, "inertial_parameters")) == repr(good)


def test_a_result_of_another_robot_is_refused(calibrating, result_file):
    other = result_file.with_name("other.yaml")
    write_result(other, replace(read_result(result_file), robot="somebody_else"))
    response = calibrate(calibrating, result=str(other))
    assert response.error_code == CODES.RESULT_INVALID
    assert "is a result of somebody_else" in response.message


def test_a_result_of_another_robot_is_ignored(calibrating, result_file):
    publisher = calibrating.client.node.create_publisher(
        IdentificationResult, "identified_parameters", qos.LATCHED
    )
    calibrating.wait(publisher.get_subscription_count, "reader of results")
    publisher.publish(IdentificationResult(robot="somebody_else"))
    calibrating.client.spin(0.5)
    assert calibrate(calibrating).parameters.robot == "scara"


def test_a_recording_that_runs_is_told_once_and_not_with_every_estimate(calibrating, result_file):
    publisher = calibrating.client.node.create_publisher(
        IdentificationResult, "identified_parameters", qos.LATCHED
    )
    calibrating.wait(publisher.get_subscription_count, "reader of results")
    message = result_message(read_result(result_file), ROBOT, stamp=0)

    def told(name):
        return calibrating.processes.output("calibration").count(f"to calibrate, of {name}\n")

    for name in ("running", "running", "another"):
        message.sources[0].name = name
        publisher.publish(message)
        calibrating.wait(lambda name=name: told(name), "line of the log")
        calibrating.client.spin(0.2)
    assert told("running") == 1


def test_predicted_and_external_efforts_are_those_of_the_states(calibrating, outputs, result_file):
    assert calibrate(calibrating).success
    outputs.predicted.clear()
    outputs.external.clear()
    sent = noisy(1)[:1000]
    measured = {stamp_of(state): state.effort for state in sent}
    move(calibrating, sent)
    calibrating.wait(lambda: len(outputs.predicted) >= 100, "predicted states")
    assert {stamp_of(message) for message in outputs.predicted} <= set(measured)
    own = np.array([message.effort for message in outputs.predicted])
    others = np.array([measured[stamp_of(message)] for message in outputs.predicted])
    assert np.linalg.norm(own - others) < 0.1 * np.linalg.norm(others)
    stamps = [stamp_of(message) for message in outputs.external]  # half way between two states
    assert min(measured) < min(stamps) <= max(stamps) < max(measured)
    outside = np.array([message.effort for message in outputs.external])
    # Positions alone at 100 Hz tell little of accelerations, and a median is not of reversals.
    assert (np.median(np.abs(outside), axis=0) < 0.2 * np.median(np.abs(others), axis=0)).all()
    calibrating.client.spin(0.5)
    status = outputs.newest(calibrating)
    assert status.level == DiagnosticStatus.OK, status.message


def test_the_payload_that_the_states_tell_is_published(calibrating, outputs, result_file):
    known = calibrate(calibrating).parameters.parameters_hash
    outputs.payloads.clear()

    def told():
        return outputs.payloads[-1].status != PayloadEstimate.LEARNING

    move(calibrating, noisy(3)[:400])  # too few to learn from, however late they are worked on
    calibrating.wait(lambda: outputs.payloads and not told(), "learning")
    while not told():
        move(calibrating, noisy(3)[:900])
    last = outputs.payloads[-1]
    assert (last.robot, last.parameters_hash, last.changes) == ("scara", known, 0)
    assert last.payload.joint == ROBOT.joint_names[-1]
    answer = calibrating.client.call(Trigger, "calibration/learn_bare_robot")
    assert "carry nothing" in answer.message
    move(calibrating, noisy(5)[:400])
    calibrating.wait(lambda: not told(), "learning anew")


def test_a_residual_that_drifts_is_told(calibrating, outputs, result_file):
    assert calibrate(calibrating).success
    move(calibrating, noisy(2, factors=(1.0, 1.5)))
    calibrating.wait(
        lambda: outputs.newest(calibrating).level == DiagnosticStatus.WARN, "warning of the drift"
    )
    text = outputs.newest(calibrating).message
    assert ROBOT.joint_names[1] in text
    assert ROBOT.joint_names[0] not in text


def test_a_hostile_result_that_is_latched_ends_no_node(calibrating, prior, result_file):
    """Nor does it the next one: whoever starts a node again gets the message again."""
    hostile = result_message(read_result(result_file), ROBOT, stamp=0)
    hostile.factors[0].columns = [0] * 400_000
    publisher = calibrating.client.node.create_publisher(
        IdentificationResult, "identified_parameters", qos.LATCHED
    )

    def refused():
        return "numbers for 400000 columns" in calibrating.processes.output("calibration")

    calibrating.wait(publisher.get_subscription_count, "reader of results")
    publisher.publish(hostile)
    calibrating.wait(refused, "refusal")
    assert calibrate(calibrating, result=str(result_file)).success
    calibrating.processes.stop("calibration")
    calibrating.start("calibration", prior=str(prior), diagnostics_period=0.1)
    calibrating.client.wait_for_service(Calibrate, SERVICE)
    calibrating.wait(refused, "refusal after the restart")
    assert calibrate(calibrating, result=str(result_file)).success

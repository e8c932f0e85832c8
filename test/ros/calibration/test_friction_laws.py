"""A friction law that the data ask for, from the service to whoever takes its parameters."""

import numpy as np
import pytest
from robot_identification.msg import InertialParameters
from robot_identification.srv import Calibrate

from live_nodes import ROBOT, states
from robot_identification.files.parameters import with_law_of
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.common import qos
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.messages.inertial import robot_of_message, values_of_message
from robot_identification.ros.messages.received_results import result_of

pytestmark = pytest.mark.ros

ASYMMETRY = 0.3
"""Half of viscous friction forwards less that backwards, of the first joint, N m s/rad."""


def asymmetric_states():
    """Return states of the SCARA with friction that its robot file does not know, and noise."""
    messages = states()
    q = np.array([message.position for message in messages])
    speed = np.gradient(q, 0.01, axis=0, edge_order=2)
    noise = np.random.default_rng(3).normal(size=q.shape) * (0.02, 0.002)
    for message, own, v in zip(messages, noise, speed[:, 0], strict=True):
        effort = np.array(message.effort) + own
        effort[0] += ASYMMETRY * abs(v)
        message.effort = effort.tolist()
    return messages


@pytest.fixture(scope="module")
def suite(make_suite):
    suite = make_suite()
    suite.start("acquisition", block_period=0.05)
    suite.start("identification", friction="auto")
    suite.start("calibration")
    suite.wait_for_acquisition()
    suite.verbs.require("identification")
    suite.verbs.require("calibration")
    return suite


@pytest.fixture(scope="module")
def recording(suite):
    return suite.record(asymmetric_states())[0].recording


def test_the_node_chooses_laws_as_its_parameter_says_and_requests_overrule_it(suite, recording):
    chosen = suite.identify(recording)
    assert chosen.success, chosen.message
    assert "Fva" in result_of(chosen.result).friction.joints[0]
    stated = suite.identify(recording, friction="stated")
    assert stated.result.friction == ""
    assert chosen.result.relative_error_total < 0.2 * stated.result.relative_error_total


def test_a_choice_that_there_is_not_is_refused(suite, recording):
    response = suite.identify(recording, friction="magic")
    assert response.error_code == CODES.INVALID_REQUEST
    assert "choose one of stated, coulomb-viscous, auto" in response.message


def test_validation_applies_the_law_of_the_result(suite, recording):
    plain = suite.identify(recording, friction="coulomb-viscous")
    chosen = suite.identify(recording, output="law.yaml")
    for fields in ({}, {"result": chosen.written[0]}):
        response = suite.verbs.validate(data_of([recording]), **fields)
        assert response.success, response.message
        assert response.relative_error_total == pytest.approx(
            chosen.result.relative_error_total, rel=1e-6
        )
    assert plain.result.relative_error_total > 5.0 * response.relative_error_total


def test_calibrated_parameters_name_their_law(suite, recording):
    published = []
    suite.client.node.create_subscription(
        InertialParameters, "inertial_parameters", published.append, qos.LATCHED
    )
    identified = suite.identify(recording)
    request = Calibrate.Request(space="base", output="parameters.yaml")
    response = suite.client.call(Calibrate, "calibration/calibrate", request)
    assert response.success, response.message
    message = response.parameters
    assert "Fva1" in message.terms
    assert message.functions[message.terms.index("Fva1")] == "|v|"
    robot = robot_of_message(message, ROBOT)
    assert robot == result_of(identified.result).model_of(ROBOT)
    values = dict(zip(message.names, values_of_message(message, robot), strict=True))
    assert values["Fva1"] == pytest.approx(ASYMMETRY, rel=0.1)
    suite.wait(lambda: published, "inertial parameters")
    assert published[-1].terms == message.terms
    # The file has the law too: whoever reads it needs no other robot file.
    assert with_law_of(response.written[0], ROBOT) == robot

"""Questions to the calibration node's model, without a node."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.srv import Gravity, InverseDynamics, MassMatrix

from robot_identification.calibration.model.queries import CalibratedModel
from robot_identification.calibration.spread import Spread
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.calibration.model_services import MOST_SAMPLES, ModelServices
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.messages.inertial import parameters_message

ROBOT = load_robot("scara")
VALUES = load_values("scara", ROBOT)
SPREAD = Spread(np.random.default_rng(0).normal(size=(len(ROBOT.standard_indices), 3)), None)
MODEL = CalibratedModel(ROBOT, VALUES, SPREAD)
Q, V, A = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 4, 2))
NODE = SimpleNamespace(create_service=lambda *_, **__: None)


class Services(ModelServices):
    """Answers without a middleware."""

    def __init__(self, *, calibrated=True):
        super().__init__(NODE, ROBOT, JobSlot(logging.getLogger("queries")), None)
        if calibrated:
            self.use(ROBOT, SimpleNamespace(values=VALUES, spread=SPREAD), 3_000_000_007)

    def ask(self, name, kind, **fields):
        request = kind.Request(**{key: np.ravel(v).tolist() for key, v in fields.items()})
        return getattr(self, name)(request, kind.Response())


def test_the_answers_are_those_of_the_model():
    services = Services()
    motion = {"positions": Q, "velocities": V, "accelerations": A}
    inverse = services.ask("inverse_dynamics", InverseDynamics, **motion)
    gravity = services.ask("gravity", Gravity, positions=Q)
    masses = services.ask("mass_matrix", MassMatrix, positions=Q)
    for answer, values, expected in (
        (inverse, inverse.efforts, MODEL.inverse_dynamics(Q, V, A)),
        (gravity, gravity.efforts, MODEL.gravity(Q)),
        (masses, masses.masses, MODEL.mass_matrix(Q)),
    ):
        assert (answer.success, answer.error_code) == (True, CODES.OK), answer.message
        np.testing.assert_array_equal(values, expected.values.ravel())
        np.testing.assert_array_equal(answer.std, expected.std.ravel())
        assert np.isnan(answer.std_robust).all()
        assert answer.joint_names == list(ROBOT.joint_names)
        assert (answer.stamp.sec, answer.stamp.nanosec) == (3, 7)
        told = parameters_message(ROBOT, VALUES, stamp=0).parameters_hash
        assert answer.parameters_hash == told != ""


def test_what_is_not_given_is_rest():
    services = Services()
    alone = services.ask("inverse_dynamics", InverseDynamics, positions=Q)
    rest = {"velocities": 0.0 * V, "accelerations": 0.0 * A}
    given = services.ask("inverse_dynamics", InverseDynamics, positions=Q, **rest)
    assert list(alone.efforts) == list(given.efforts)


def test_columns_are_found_by_the_names_of_the_joints():
    services = Services()
    request = Gravity.Request(
        joint_names=list(ROBOT.joint_names[::-1]), positions=Q[:, ::-1].ravel().tolist()
    )
    answer = services.gravity(request, Gravity.Response())
    np.testing.assert_array_equal(answer.efforts, MODEL.gravity(Q).values.ravel())


@pytest.mark.parametrize(
    ("fields", "code", "told"),
    [
        ({}, CODES.INVALID_REQUEST, "give one for each of"),
        ({"positions": [0.0] * 3}, CODES.DATA_INVALID, "a multiple of 2 joints"),
        ({"positions": [0.0, np.nan]}, CODES.DATA_INVALID, "position of joint"),
        ({"positions": [0.0] * 4, "velocities": [0.0] * 2}, CODES.DATA_INVALID, "velocities"),
        ({"positions": [0.0] * 2, "velocities": [1e200] * 2}, CODES.DATA_INVALID, "of the model"),
        ({"positions": [0.0] * (2 * MOST_SAMPLES + 2)}, CODES.INVALID_REQUEST, "at most"),
        ({"positions": [0.0] * 2, "joint_names": ["wing"]}, CODES.INVALID_REQUEST, "joints are"),
        (
            {"positions": [0.0] * 2, "joint_names": list(ROBOT.joint_names[:1])},
            CODES.DATA_INVALID,
            ROBOT.joint_names[1],
        ),
    ],
)
def test_what_cannot_be_answered_says_why(fields, code, told):
    answer = Services().inverse_dynamics(
        InverseDynamics.Request(**fields), InverseDynamics.Response()
    )
    assert (answer.success, answer.error_code) == (False, code), answer.message
    assert told in answer.message
    assert len(answer.efforts) == 0


def test_without_a_calibration_there_is_no_model():
    answer = Services(calibrated=False).ask("gravity", Gravity, positions=Q)
    assert (answer.success, answer.error_code) == (False, CODES.RESULT_INVALID)
    assert "call ~/calibrate" in answer.message

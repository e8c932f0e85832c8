"""From a wrong prior to a model that a controller uses: everything through nodes and services."""

import numpy as np
import pytest
import yaml

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.parameters import read_prior
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.demo.commissioning import (
    OTHERS,
    follow_with_both,
    heavy_prior,
    plan,
    record_excitation,
    write_prior,
)
from robot_identification.ros.demo.session import Session
from robot_identification.ros.demo.tracking import Tracking
from robot_identification.ros.messages.inertial import values_of_message

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
FRICTION = ("Fv1", "Fc1", "Fv2", "Fc2")
TOO_LARGE = 1.3
QUICK = {"rows": 8, "starts": 1, "duration": 6.0, "seed": 0}
STILL = np.zeros((4, 2))
OTHER = Trajectory(
    ROBOT.joint_names,
    [0.0, 1.0, 2.2, 3.2],
    [[0.0, 0.0], [0.9, -1.1], [-0.8, 0.7], [0.0, 0.0]],
    STILL,
    STILL,
)
# A busy machine delays states and efforts: nothing here depends on when they come.
PATIENT = {"state_timeout": 5.0, "start_lead": 2.0, "tracking_error_limit": [1.0]}


def test_a_heavy_prior_says_nothing_of_friction(tmp_path):
    prior = heavy_prior(ROBOT, TRUTH, TOO_LARGE)
    write_prior(tmp_path / "prior.yaml", ROBOT, prior)
    read = read_prior(tmp_path / "prior.yaml", ROBOT)
    known = dict(zip(read.names, read.known, strict=True))
    assert not any(known[name] for name in FRICTION)
    assert all(known[name] for name in known if name not in FRICTION)
    values = dict(zip(ROBOT.all_parameter_names, prior, strict=True))
    assert values["ZZ2"] == pytest.approx(TOO_LARGE * 0.061)
    assert not any(values[name] for name in FRICTION)


@pytest.fixture
def complete(tmp_path):
    """Write a value for every parameter, as a simulation wants it; return the file."""
    path = tmp_path / "truth.yaml"
    values = dict(zip(ROBOT.all_parameter_names, TRUTH.tolist(), strict=True))
    named = {name: values[name] for name in ROBOT.standard_names}
    path.write_text(yaml.safe_dump({"robot": "scara", "parameters": named}))
    return path


@pytest.mark.ros
@pytest.mark.slow
def test_the_way_from_a_wrong_prior_leads_to_a_model_that_is_fed_forward(tmp_path, complete):
    settings = {
        "simulated_robot": {
            "robot": "scara",
            "parameters_file": str(complete),
            "rate": 200.0,
            "effort_noise": [0.08, 0.006],
        },
        "acquisition": {"robot": "scara"},
        "identification": {"robot": "scara", "streaming_settle": 1.0, "refresh_period": 0.2},
        "excitation": {"robot": "scara", "planning_niceness": 0, **PATIENT},
        "calibration": {"robot": "scara"},
    }
    with Session(tmp_path, settings, environment={}, others=OTHERS) as session:
        tracking = Tracking(
            session.client, session.nodes, ROBOT, "scara", session.namespace, lead=2.0
        )
        session.wait_until_ready()
        session.verbs.wait_until_idle()
        tracking.wait_until_ready()
        plan(session.verbs, ROBOT, **QUICK)
        recording = record_excitation(session.verbs)
        result = session.identify(recording)
        assert result.relative_error_total < 0.1
        prior = heavy_prior(ROBOT, TRUTH, TOO_LARGE)
        followed = follow_with_both(session, tracking, prior, OTHER, tmp_path)
    assert followed.calibrated.parameters.consistent
    # What moved afterwards was recorded too, and has not taken the place of the result.
    assert followed.recording != recording
    assert followed.calibrated.parameters.recordings == [recording]
    used = values_of_message(followed.calibrated.parameters, ROBOT)
    friction = [ROBOT.all_parameter_names.index(name) for name in FRICTION]
    np.testing.assert_allclose(used[friction], TRUTH[friction], rtol=0.3, atol=0.01)
    # How well it follows depends on efforts that come in time; test_computed_torque.py moves time.
    assert len(followed.with_prior.rms) == len(followed.with_identified.rms) == 2

"""One joint at a time through DDS: plan, move, stop, go on, identify."""

import numpy as np
import pytest
import yaml
from robot_identification.srv import Identify

from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.demo.session import Session
from robot_identification.ros.messages.error_codes import CODES
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
BASE = base_parameters(ROBOT)
# A busy machine delays states and efforts: nothing here depends on when they come.
PATIENT = {"state_timeout": 5.0, "start_lead": 2.0, "tracking_error_limit": [0.5]}
EXPERIMENTS = 5


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Return a SCARA with noise, and the nodes that move and identify it."""
    folder = tmp_path_factory.mktemp("one_joint")
    named = dict(zip(ROBOT.all_parameter_names, TRUTH.tolist(), strict=True))
    complete = {name: named[name] for name in ROBOT.standard_names}
    path = folder / "truth.yaml"
    path.write_text(yaml.safe_dump({"robot": "scara", "parameters": complete}))
    noise = {
        "position_noise": [1e-5],
        "effort_noise": [0.02, 0.002],
        "position_resolution": [0.0],
        "rate": 50.0,
    }
    settings = {name: {"robot": "scara"} for name in ("acquisition", "identification")}
    settings["simulated_robot"] = {"robot": "scara", "parameters_file": str(path), **noise}
    settings["excitation"] = {"robot": "scara", **PATIENT}
    with Session(folder, settings, environment={}, others=("excitation",)) as session:
        session.wait_until_ready()
        session.verbs.wait_until_idle()
        yield session


@pytest.fixture(scope="module")
def excitation(session):
    return session.verbs


def identified(session, recordings):
    request = Identify.Request(method="one-joint")
    request.data.recordings = recordings
    return session.verbs.answers.ask(request)


def go_on(excitation):
    """Go on as soon as the robot is at rest, which noise may deny for a moment."""
    while not (answer := excitation.answers.resume()).success:
        assert "wait until the robot is at rest" in answer.message
        excitation.client.spin(0.1)
    return answer


def stop_in(excitation, number):
    """Wait for an experiment and stop there."""
    status = excitation.wait(
        lambda: (
            excitation.status.state == Status.RUNNING
            and excitation.status.experiment == number
            and excitation.status
        ),
        f"experiment {number}",
    )
    assert status.experiments == EXPERIMENTS
    assert f"experiment {number} of {EXPERIMENTS}: joint_1 moves, the effort of" in status.text
    assert excitation.answers.stop().success
    stopped = excitation.wait_for(Status.STOPPED, Status.FAULT)
    assert stopped.state == Status.STOPPED
    assert stopped.experiment == number
    assert f"~/continue goes on with experiment {number} of {EXPERIMENTS}" in stopped.text


def test_what_cannot_be_told_is_said_with_the_reason(excitation):
    response = excitation.answers.plan(method="one-joint", locked=["joint_1"])
    assert response.success, response.message
    told = dict(zip(response.missing_parameters, response.missing_reasons, strict=True))
    assert set(told) == {"kx_2", "ky_2", "U33_1R", "Fv1", "Fc1"}
    assert set(told.values()) == {"joint_1 is locked"}
    assert set(response.unknown_base_parameters) == {"MX2", "MY2", "ZZ1R", "Fv1", "Fc1"}
    assert "stay unknown" in response.message


def test_a_joint_without_room_is_held_and_its_parameters_are_missing(excitation, tmp_path):
    limits = tmp_path / "joint_limits.yaml"
    limits.write_text(
        "joint_limits: {joint_2: {has_position_limits: true, min_position: -0.05, "
        "max_position: 0.05}}"
    )
    refused = excitation.answers.plan(joint_limits=str(limits))
    assert refused.error_code == CODES.INVALID_REQUEST
    response = excitation.answers.plan(method="one-joint", joint_limits=str(limits))
    assert response.success, response.message
    reasons = set(response.missing_reasons)
    assert reasons == {"joint_2 has no room to move and to brake in"}
    assert {"Fv2", "Fc2", "U33_2"} <= set(response.missing_parameters)
    assert "ZZ2" in response.unknown_base_parameters
    still = [point.positions[1] for point in response.trajectory.points]
    assert np.ptp(still) == 0.0


def test_fields_of_the_other_method_are_refused(excitation):
    for fields in (
        {"method": "one-joint", "rows": 8},
        {"method": "one-joint", "optimizer": "powell"},
        {"method": "points", "locked": ["joint_1"]},
        {"travel": 0.1},
        {"method": "one-joint", "moves": "backwards"},
        {"method": "one-joint", "locked": ["elbow"]},
        {"method": "all joints"},
    ):
        response = excitation.answers.plan(**fields)
        assert response.error_code == CODES.INVALID_REQUEST, (fields, response.message)


def test_a_plan_that_was_stopped_goes_on_and_both_recordings_identify(session, excitation):
    response = excitation.answers.plan(method="one-joint", travel=0.15, spread=0.3)
    assert response.success, response.message
    assert response.rows == EXPERIMENTS
    assert not response.missing_parameters
    assert all(response.passed)
    assert "nothing was interrupted" in excitation.answers.resume().message

    with excitation.recorded() as first:
        assert excitation.answers.start().success
        stop_in(excitation, 3)

    with excitation.recorded() as second:
        begun = len(excitation.statuses)
        answer = go_on(excitation)
        assert "from experiment 3 on" in answer.message
        end = excitation.wait_for(Status.FINISHED, Status.FAULT)
        assert end.state == Status.FINISHED, end.text
    numbers = [said.experiment for said in excitation.statuses[begun:]]
    assert numbers == sorted(numbers)
    assert set(numbers) == {3, 4, 5}
    assert "every experiment is done" in excitation.answers.resume().message

    answer = identified(session, [first.name, second.name])
    assert answer.success, answer.message
    values = {p.name: p.value for p in answer.result.parameters}
    truth = BASE.values(TRUTH[BASE.columns])
    error = np.array([values[name] for name in BASE.names]) - truth
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(truth)
    assert answer.result.method == "one-joint"

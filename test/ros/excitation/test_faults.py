"""What the excitation node refuses; a robot made of joint states that the test sends."""

import re
import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from lock_step import LockStepCell
from robot_identification.errors import MissingLimitError, NotCertifiedError
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.robot.files.loading import find_robot
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import qos
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.error_codes import CODES, error_code
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.planning.preparation import prepare
from robot_identification.ros.planning.worker import Failed, PlanningWorker
from simulated_cell import Status

LIMITS = """joint_limits:
  joint_1: {{has_acceleration_limits: true, max_acceleration: {0}}}
  joint_2: {{has_acceleration_limits: true, max_acceleration: {0}}}
"""
QUICK = {"rows": 8, "starts": 1, "duration": 3.0}
SOON = 1.0  # s


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a SCARA without limits of acceleration, and a file that states them."""
    folder = tmp_path_factory.mktemp("robot")
    robot, limits = folder / "arm.yaml", folder / "joint_limits.yaml"
    robot.write_text(find_robot("scara").read_text().replace("acceleration: 20.0, ", ""))
    limits.write_text(LIMITS.format(20.0))
    return robot, limits


class Fake:
    """A robot that does not move, and whose states can be spoilt."""

    def __init__(self, cell):
        self.cell = cell
        self.names, self.position, self.silent = ["joint_1", "joint_2"], [0.0, 0.0], False
        self.publisher = cell.client.node.create_publisher(
            JointState, "joint_states", qos.STATES_OUT
        )
        cell.drivers.append(self.publish)

    def publish(self):
        if not self.silent:
            message = JointState(name=self.names, position=self.position)
            message.header.stamp = time_of(self.cell.now())
            self.publisher.publish(message)

    def refused(self, text):
        """Wait until the node complains, and return the answers of plan and start.

        It complains when states are stale, which is soon here: nothing moves.
        """
        usual = self.cell._excitation["state_timeout"]
        self.cell.set_parameter("excitation", "state_timeout", SOON)
        self.cell.wait(lambda: text in self.cell.status.text, f"complaint: {text}")
        answers = self.cell.answers.plan(**QUICK), self.cell.answers.start()
        self.cell.set_parameter("excitation", "state_timeout", usual)
        return answers


@pytest.fixture(scope="module")
def cell(tmp_path_factory, files):
    robot, limits = files
    settings = {"joint_limits": str(limits), "robot": str(robot)}
    folder = tmp_path_factory.mktemp("cell")
    with LockStepCell(folder, "scara", "scara", excitation=settings) as cell:
        cell.fake = Fake(cell)
        cell.start_excitation()
        cell.planned = cell.first_plan(**QUICK)
        yield cell


@pytest.fixture
def fake(cell):
    yield cell.fake
    cell.fake.names, cell.fake.position, cell.fake.silent = (
        ["joint_1", "joint_2"],
        [0.0, 0.0],
        False,
    )
    cell.wait(lambda: not re.search("joint.state", cell.status.text), "sound states")


@pytest.mark.ros
class TestRefusals:
    def test_states_that_are_not_numbers(self, fake):
        fake.position = [0.0, float("nan")]
        planned, started = fake.refused("is nan")
        assert planned.error_code == CODES.STATE_STALE
        assert started.message.startswith("STATE_STALE")

    def test_other_joints(self, fake):
        fake.names = ["joint_1", "elbow"]
        planned, started = fake.refused("elbow")
        assert planned.error_code == CODES.STATE_STALE
        assert started.message.startswith("STATE_STALE")

    def test_silence(self, fake):
        fake.silent = True
        planned, started = fake.refused("s old")
        assert planned.error_code == CODES.STATE_STALE
        assert started.message.startswith("STATE_STALE")
        assert not fake.cell.sent

    def test_limits_lowered_since_the_plan(self, fake, files):
        files[1].write_text(LIMITS.format(2.0))
        try:
            started = fake.cell.answers.start()
        finally:
            files[1].write_text(LIMITS.format(20.0))
        assert not started.success
        assert started.message.startswith("NOT_CERTIFIED")
        assert "acceleration" in started.message
        assert not fake.cell.sent

    def test_limits_that_are_missing(self, fake, files):
        only_one = LIMITS.format(20.0).splitlines()[:2]
        files[1].write_text("\n".join(only_one))
        try:
            planned = fake.cell.answers.plan(**QUICK)
        finally:
            files[1].write_text(LIMITS.format(20.0))
        assert planned.error_code == CODES.LIMITS_MISSING
        assert "joint_2" in planned.message
        assert "acceleration" in planned.message

    @pytest.mark.parametrize(
        ("fields", "code", "word"),
        [
            ({"method": "dance"}, CODES.INVALID_REQUEST, "dance"),
            ({"model": "guess"}, CODES.INVALID_REQUEST, "guess"),
            ({"criterion": "taste"}, CODES.INVALID_REQUEST, "taste"),
            ({"optimizer": "luck"}, CODES.INVALID_REQUEST, "luck"),
            ({"duration": -1.0}, CODES.INVALID_REQUEST, "duration"),
            ({"start_position": [0.0]}, CODES.INVALID_REQUEST, "start_position"),
            ({"start_position": [0.0, 9.0]}, CODES.INVALID_REQUEST, "joint_2"),
            ({"joint_limits": "nowhere.yaml"}, CODES.ROBOT_INVALID, "nowhere.yaml"),
            ({"output": "/nowhere/plan.yaml"}, CODES.OUTPUT_FAILED, "/nowhere"),
        ],
    )
    def test_requests(self, fake, fields, code, word):
        response = fake.cell.answers.plan(**{**QUICK, **fields})
        assert response.error_code == code, response.message
        assert word in response.message
        assert fake.cell.status.trajectory_hash == fake.cell.planned.trajectory_hash

    def test_a_robot_that_does_not_move_is_noticed_and_told_to_brake(self, fake):
        cell = fake.cell
        assert cell.answers.start().success
        status = cell.wait_for(Status.BRAKING, Status.FAULT)
        assert status.stop_reason == Status.NOT_MOVING
        status = cell.wait_for(Status.FAULT)
        assert "no motion" in status.text
        start, braking = cell.sent[-2:]
        assert (braking.clock - start.clock) * 1e-9 < 2.0
        np.testing.assert_allclose(braking.trajectory.positions[-1], 0.0, atol=1e-9)


@pytest.mark.ros
def test_a_robot_whose_positions_are_of_motors_is_refused(tmp_path):
    robot = tmp_path / "motors.yaml"
    robot.write_text(find_robot("scara").read_text() + "\nposition_meaning: motor\n")
    with NodeProcesses(tmp_path) as processes:
        node = processes.start(
            "excitation", command("excitation", parameters={"robot": str(robot)})
        )
        assert node.wait() == 2
        assert "positions are of motors" in processes.output("excitation")


def a_plan(sources):
    machine = load_machine(sources)
    settings = OneJointSettings(start=np.zeros(2))
    return PlanningJob(sources, settings), plan_one_joint(machine.robot, settings)


def test_a_motion_is_certified_again_before_it_begins(files):
    robot, limits = files
    job, made = a_plan(Sources(str(robot), str(limits)))
    there = prepare(job, made, np.zeros(2), speed=0.2)
    assert there.approach is None
    assert there.run.duration == pytest.approx(5.0 * made.trajectory.duration)
    away = prepare(job, made, np.array([0.5, 0.0]))
    np.testing.assert_allclose(away.approach.positions[0], [0.5, 0.0])
    with pytest.raises(NotCertifiedError):
        prepare(job, made, np.array([9.0, 0.0]))
    before = robot.read_text()
    robot.write_text(before + "# another file\n")
    with pytest.raises(NotCertifiedError, match="have changed"):
        prepare(job, made, np.zeros(2))
    robot.write_text(before)
    limits.unlink()
    with pytest.raises(MissingLimitError, match="acceleration"):
        load_machine(Sources(str(robot)))
    limits.write_text(LIMITS.format(20.0))


def failure(worker, job):
    """Return why the planning process has no plan."""
    worker.submit(job)
    while True:
        for event in worker.poll():
            if isinstance(event, Failed):
                return event.exception
        time.sleep(0.01)


def test_errors_keep_their_data_on_the_way_from_the_planning_process(files):
    robot, limits = files
    settings = OneJointSettings(start=np.zeros(2))
    worker = PlanningWorker(0)
    try:
        missing = failure(worker, PlanningJob(Sources(str(robot)), settings))
        assert isinstance(missing, MissingLimitError)
        assert (missing.joint, missing.limit) == ("joint_1", "acceleration")
        assert error_code(missing) == CODES.LIMITS_MISSING
        broken = failure(worker, PlanningJob(Sources(str(robot), str(limits)), "no settings"))
        assert error_code(broken) == CODES.INTERNAL
        assert str(broken).startswith("AttributeError: ")
    finally:
        worker.close()

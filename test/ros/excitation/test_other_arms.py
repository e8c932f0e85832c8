"""Another robot in the cell: where its joint states say that it stands, or no motion at all."""

import re
from itertools import product

import numpy as np
import pytest
from sensor_msgs.msg import JointState

pytest.importorskip("coal", reason="the package coal is not installed")

from hand_moved_controller import Node
from lock_step import LockStepCell
from made_up_cells import ARM, collisions
from robot_identification.errors import SettingError, StaleStateError
from robot_identification.ros.excitation.other_arms import OtherArms, WatchedArm

QUICK = {"method": "one-joint"}
OTHER = """
arms:
  - name: other
    robot: other.yaml
    at: [1.15, 0, 0]
    joint_states: {topic}
    position: {{joint_2: 1.0}}
"""
ROBOT = """
name: other
effort_meaning: joint_torque
gravity: [0, 0, -9.81]
joints:
  - {name: joint_1, type: revolute, geometry: {alpha: 0, d: 0, theta: 0, r: 0}}
  - {name: joint_2, type: revolute, geometry: {alpha: -pi/2, d: 0, theta: 0, r: 0}}
cell:
  links:
    - {link: link_2, capsule: {from: [0, 0, 0], to: [0.7, 0, 0], radius: 0.05}}
"""


def state(**positions):
    return JointState(name=list(positions), position=list(map(float, positions.values())))


class TestWatchedArm:
    @pytest.fixture
    def arm(self):
        return WatchedArm("other", "/other/joint_states", frozenset("ab"))

    def test_nothing_is_known_before_the_first_state(self, arm):
        with pytest.raises(StaleStateError, match="has not said where it stands"):
            arm.posture(10.0, 2.0)

    def test_the_last_state_counts_until_it_is_too_old(self, arm):
        arm.add(state(a=0.1, b=0.2), 1.0)
        arm.add(state(a=0.105), 1.5)
        assert arm.posture(2.9, 2.0) == {"a": 0.105, "b": 0.2}
        with pytest.raises(StaleStateError, match=r"for 2\.1 s where it stands \(joint b\)"):
            arm.posture(3.1, 2.0)
        arm.add(state(b=0.2), 3.2)
        assert arm.posture(3.4, 2.0) == {"a": 0.105, "b": 0.2}
        with pytest.raises(StaleStateError, match=r"for 2\.1 s where it stands \(joint a\)"):
            arm.posture(3.6, 2.0)

    def test_its_gripper_and_our_robot_on_the_same_topic_say_nothing(self, arm):
        arm.add(state(finger=np.nan, a=0.1, b=0.2), 1.0)
        stood = arm.posture(1.0, 2.0)
        assert stood == {"a": 0.1, "b": 0.2}
        for i in range(50):
            arm.add(state(ours=0.1 * i, finger=-0.1 * i), 1.0 + 0.1 * i)
        assert arm.departure(stood, 2.9, 2.0) == ""
        assert "does not say any more" in arm.departure(stood, 3.1, 2.0), "its driver is silent"
        with pytest.raises(StaleStateError, match="where it stands"):
            arm.posture(3.1, 2.0)

    def test_a_joint_whose_driver_wraps_it_does_not_move_by_that(self, arm):
        for i in range(10):
            arm.add(state(a=np.pi * (-1) ** i, b=0.0), 1.0 + 0.1 * i)
        stood = arm.posture(1.9, 2.0)
        arm.add(state(a=-stood["a"], b=0.0), 2.0)
        assert arm.departure(stood, 2.0, 2.0) == ""

    def test_names_that_are_not_its_own_are_told(self, arm):
        arm.add(state(left_a=0.1, left_b=0.2), 1.0)
        with pytest.raises(StaleStateError, match="are of left_a, left_b, its joints are a, b"):
            arm.posture(1.0, 2.0)

    def test_a_robot_that_moves_is_waited_for(self, arm):
        for i in range(10):
            arm.add(state(a=0.1 * i), 0.1 * i)
        with pytest.raises(StaleStateError, match="moves"):
            arm.posture(1.0, 2.0)
        assert arm.posture(1.5, 2.0) == {"a": pytest.approx(0.9)}

    def test_what_is_no_posture_counts_as_no_state(self, arm):
        arm.add(state(a=np.nan), 1.0)
        arm.add(JointState(name=["a", "b"], position=[1.0]), 1.0)
        arm.add(JointState(), 1.0)
        with pytest.raises(StaleStateError):
            arm.posture(1.0, 2.0)

    def test_a_robot_that_leaves_or_falls_silent_is_noticed(self, arm):
        arm.add(state(a=0.1), 1.0)
        stood = arm.posture(1.0, 2.0)
        arm.add(state(a=0.105), 2.0)
        assert arm.departure(stood, 2.0, 2.0) == ""
        assert "does not say any more" in arm.departure(stood, 4.1, 2.0)
        arm.add(state(a=0.2), 4.2)
        assert "has moved: a from 0.100 to 0.200" in arm.departure(stood, 4.2, 2.0)


@pytest.fixture
def described(tmp_path):
    """Return the text of the cell file of two robots, beside the file of the other one."""
    (tmp_path / "other.yaml").write_text(ROBOT)
    return OTHER.format(topic="/other/joint_states")


def hand_of(model):
    """Return where the end of the other robot is."""
    (body,) = (one for one in model.scene.bodies if one.link.startswith("other: "))
    return body.capsule.ends[np.argmax(np.linalg.norm(body.capsule.ends - [1.15, 0, 0], axis=1))]


def test_joint_states_take_the_place_of_the_position_of_the_cell_file(tmp_path, described):
    offline = collisions(tmp_path, described)
    told = collisions(tmp_path, described, arms={"other": {"joint_1": 0.5, "joint_2": 0.0}})
    partly = collisions(tmp_path, described, arms={"other": {"joint_1": 0.0}})
    assert np.allclose(hand_of(offline), hand_of(partly))
    assert np.allclose(hand_of(told) - [1.15, 0, 0], [0.7 * np.cos(0.5), 0.7 * np.sin(0.5), 0])
    assert "what it tells on /other/joint_states is not read here" in " ".join(offline.remarks)
    assert "not read here" not in " ".join(told.remarks)


def test_a_joint_of_which_nobody_says_where_it_is_is_refused(tmp_path, described):
    with pytest.raises(SettingError, match="where its joints joint_1 are"):
        collisions(tmp_path, described, arms={"other": {"joint_2": 0.0}})
    with pytest.raises(SettingError, match="no joint of this name"):
        collisions(tmp_path, described.replace("joint_2: 1.0", "elbow: 1.0"))


def test_a_topic_that_there_cannot_be_is_told_with_the_robot_that_is_to_use_it(tmp_path):
    (tmp_path / "other.yaml").write_text(ROBOT)
    cell = tmp_path / "cell.yaml"
    cell.write_text(OTHER.format(topic="other/joint-states"))
    with pytest.raises(SettingError, match="arms: other: joint_states = other/joint-states: is no"):
        OtherArms(Node(), "scara", str(cell), timeout=2.0)


def in_the_way(folder, cell, planned):
    """Return a posture of the other robot that a motion runs into."""
    folder = folder / "searched"
    folder.mkdir()
    (folder / "other.yaml").write_text(ROBOT)
    postures = np.array([point.positions for point in planned.points])
    times = np.arange(len(postures))
    for joint_1, joint_2 in product(np.pi + np.linspace(-1.0, 1.0, 7), np.linspace(-1.0, 1.0, 7)):
        there = {"other": {"joint_1": joint_1, "joint_2": joint_2}}
        nearest = collisions(folder, cell, arms=there).check.nearest(times, postures)
        if nearest.distance < -0.02 and nearest.pair[1].startswith("other"):
            return joint_1, joint_2
    raise AssertionError("the motion stays away from the other robot")


@pytest.mark.ros
def test_the_node_asks_where_the_other_robot_stands(tmp_path):
    (tmp_path / "other.yaml").write_text(ROBOT)
    file = tmp_path / "cell.yaml"
    settings = {"cell": str(file), "arm_timeout": 2.0}
    file.write_text(ARM)
    with LockStepCell(tmp_path, excitation=settings) as cell:
        topic = f"{cell.namespace}/other/joint_states"
        file.write_text(ARM + OTHER.format(topic=topic))
        cell.drive()
        cell.start_excitation()
        refused = cell.answers.plan(**QUICK)
        assert not refused.success
        assert "other" in refused.message
        assert "has not said where it stands" in refused.message

        where, sender = [0.0, 0.0], cell.client.node.create_publisher(JointState, topic, 10)
        talking = [True]  # until it is cleared

        def say():
            if talking:
                sender.publish(state(joint_1=where[0], joint_2=where[1]))

        cell.client.node.create_timer(0.05, say)

        def plan():
            answer = cell.answers.plan(**QUICK)
            return answer if answer.success else None

        planned = cell.wait(plan, "plan when the other robot has said where it stands")
        cell.stand(planned.trajectory.points[0].positions, lambda answer: answer.success)

        where[:] = in_the_way(tmp_path, OTHER.format(topic=topic), planned.trajectory)
        in_between = r"other: link_2: -?[\d.]+ m"
        cell.ask_until(lambda: re.search(in_between, cell.answers.preview().message))
        answer = cell.answers.start()
        assert not answer.success, "the other robot stands in the way"

        talking.clear()
        cell.ask_until(lambda: "where it stands" in cell.answers.preview().message)
        answer = cell.answers.start()
        assert not answer.success
        assert "where it stands" in answer.message
        assert not cell.sent

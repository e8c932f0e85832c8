"""Checks before a motion: each provoked by what is wrong; no processes, no clock."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from hand_moved_controller import HandMovedController, Node
from robot_identification.errors import (
    NotCertifiedError,
    RobotDescriptionError,
    SettingError,
    StaleStateError,
)
from robot_identification.robot.files.loading import find_robot
from robot_identification.robot.model import EffortMeaning
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.excitation.checks.check import Verdict
from robot_identification.ros.excitation.checks.driver import (
    clock_check,
    driver_check,
    effort_check,
    held_joints_check,
)
from robot_identification.ros.excitation.checks.nodes import nodes_check
from robot_identification.ros.excitation.checks.preflight import (
    controller_check,
    limits_check,
    obstacles_check,
    parameters_check,
    require,
    robot_check,
)
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.planning.planning import Sources, load_machine
from robot_identification.ros.robots.in_use import NodesInUse, Statement
from robot_identification.ros.robots.view import RobotsView
from robot_identification.ros.supervision.driver import DriverView
from watched_motion import World

VALUES = ExcitationParameters(robot="scara")
OWN = Statement("/arm/excitation", "scara", "abcd", "scara")
DRIVER = DriverView(
    topic="/arm/joint_states", period=0.002, jitter=1e-5, delays=np.full(10, 0.002), messages=(),
    timeout=0.1, timeout_given=False,
)  # fmt: skip


@pytest.fixture(scope="module")
def machine():
    return load_machine(Sources("scara"))


@pytest.fixture(scope="module")
def robot(machine):
    return machine.described


def states(*efforts, names=("joint_1", "joint_2")):
    return [JointState(name=list(names), position=[0.0, 0.0], effort=[*e]) for e in efforts]


def passed(check, *texts):
    assert check.verdict is Verdict.PASSED, check
    assert all(text in str(check) for text in texts), check


def warned(check, *texts):
    assert check.verdict is Verdict.WARNING, check
    assert all(text in str(check).partition("; WARNING: ")[2] for text in texts), check
    require([check])


class TestRobot:
    def test_file_and_sources_of_the_limits_are_named(self, machine):
        told = robot_check(machine, RobotsView(OWN))
        passed(told, "scara", "scara.yaml", "limits from", "robot file")

    def test_the_topic_that_describes_it_is_named(self, machine):
        told = robot_check(machine, RobotsView(OWN, topic="/robot_description"))
        passed(told, "scara.yaml from /robot_description")

    def test_a_topic_that_describes_another_robot_by_now_refuses(self, machine):
        changed = RobotDescriptionError("describes another", path="topic:robot_description")
        check = robot_check(machine, RobotsView(OWN, refusal=changed))
        assert check.verdict is Verdict.REFUSED
        with pytest.raises(RobotDescriptionError, match="describes another"):
            require([check])

    def test_every_limit_is_told(self, machine):
        joint = machine.described.joints[0]
        passed(
            limits_check(machine),
            f"joint_1 {joint.limits.lower:g} to {joint.limits.upper:g} rad, ",
            f"{joint.limits.velocity:g} rad/s, {joint.limits.acceleration:g} rad/s2; joint_2",
        )

    def test_limits_wider_than_those_of_the_urdf_are_pointed_at(self, machine):
        first, *others = machine.described.joints
        narrow = replace(first, urdf_limits=replace(first.limits, velocity=1.0))
        wider = replace(machine.described, joints=(narrow, *others))
        warned(limits_check(replace(machine, described=wider)), "joint_1 limit", "in the URDF 1")


def others(*statements, silent=()):
    return NodesInUse((OWN, *statements), silent)


def another(node, **fields):
    return replace(OWN, node=f"/arm/{node}", **fields)


class TestNodes:
    def test_nodes_with_the_same_robot_are_named(self):
        said = others(another("acquisition"), another("identification", given="./scara.yaml"))
        passed(nodes_check(OWN, said), "acquisition, identification have scara, abcd")

    def test_a_node_alone_is_no_mistake(self):
        passed(nodes_check(OWN, others()), "no other node")

    @pytest.mark.parametrize("fields", [{"robot": "arm"}, {"digest": "f00d"}, {"digest": ""}])
    def test_a_node_with_another_robot_refuses_by_its_name(self, fields):
        check = nodes_check(OWN, others(another("acquisition"), another("calibration", **fields)))
        assert check.verdict is Verdict.REFUSED
        with pytest.raises(SettingError, match="restart /arm/calibration with the robot of exc"):
            require([check])

    def test_efforts_that_mean_different_things_are_pointed_at(self):
        said = others(
            another("acquisition", effort_meaning="current"),
            another("calibration", effort_meaning="joint_torque"),
            another("identification", effort_meaning="current"),
        )
        warned(
            nodes_check(OWN, said),
            "efforts are current to acquisition and identification, joint_torque to calibration",
            "effort_meaning",
        )

    def test_joint_states_of_two_topics_are_pointed_at(self):
        said = others(another("acquisition", joint_states="/arm/joint_states"))
        own = replace(OWN, joint_states="/joint_states")
        warned(nodes_check(own, said), "/joint_states to excitation, /arm/joint_states to acqui")

    def test_a_node_that_says_nothing_is_unknown_and_refuses_nothing(self):
        said = others(another("acquisition"), silent=("/arm/identification",))
        check = nodes_check(OWN, said)
        warned(check, "nothing is known of the robot of /arm/identification")
        assert "identification has not said" in check.value

    def test_only_nodes_that_run_in_the_namespace_count(self):
        said = {
            f"{place}/{name}": replace(OWN, node=f"{place}/{name}")
            for place in ("/arm", "/left")
            for name in ("acquisition", "calibration", "excitation")
        }
        running = [("acquisition", "/arm"), ("computed_torque", "/arm"), ("calibration", "/left")]
        found = NodesInUse.among(said, [*running, ("rviz", "/arm")], "/arm")
        assert [one.node for one in found.statements] == ["/arm/acquisition"]
        assert found.silent == ("/arm/computed_torque",)

    def test_nodes_of_the_root_have_names_that_begin_with_one_slash(self):
        running = [("acquisition", "/"), ("identification", "/")]
        found = NodesInUse.among({"/acquisition": another("acquisition")}, running, "/")
        assert (len(found.statements), found.silent) == (1, ("/identification",))


class TestDriver:
    def test_topic_rate_jitter_and_timeout_are_told(self, robot):
        text = "/arm/joint_states at 500 Hz, jitter 0.01 ms; stale after 0.1 s (by rate and jitter)"
        passed(driver_check(DRIVER, robot), text)
        given = replace(DRIVER, timeout=0.3, timeout_given=True)
        passed(driver_check(given, robot), "stale after 0.3 s (state_timeout)")

    def test_a_slow_driver_is_pointed_at(self, robot):
        slow = replace(DRIVER, period=0.02, timeout=0.3)
        warned(driver_check(slow, robot), "more than 100 Hz")
        low = replace(robot, processing=replace(robot.processing, cutoff_hz=None))
        for period in (0.01, 0.0100002):  # as a driver of 100 Hz is measured
            passed(driver_check(replace(DRIVER, period=period), low), "at 100 Hz")
        warned(driver_check(replace(DRIVER, period=0.0103), low), "more than 100 Hz")

    def test_the_cut_off_of_the_robot_file_may_want_more(self, robot):
        wanting = replace(robot, processing=replace(robot.processing, cutoff_hz=300.0))
        warned(driver_check(DRIVER, wanting), "more than 600 Hz")
        wanting = replace(robot, processing=replace(robot.processing, cutoff_hz=250.0))
        warned(driver_check(DRIVER, wanting), "more than 500 Hz")
        content = replace(robot, processing=replace(robot.processing, cutoff_hz=240.0))
        passed(driver_check(DRIVER, content), "at 500 Hz")

    def test_irregular_stamps_are_pointed_at(self, robot):
        warned(driver_check(replace(DRIVER, jitter=0.0015), robot), "irregular")

    def test_rare_states_want_a_timeout_by_intent(self, robot):
        rare = replace(DRIVER, period=0.2, timeout=0.5)
        warned(driver_check(rare, robot), "more than 100 Hz", "give state_timeout")

    def test_two_drivers_that_contradict_each_other_refuse_by_their_names(self, robot):
        two = replace(DRIVER, disputed=0.4, publishers=("/driver", "/joint_state_publisher"))
        check = driver_check(two, robot)
        assert check.verdict is Verdict.REFUSED
        with pytest.raises(StaleStateError, match="/driver and /joint_state_publisher publish"):
            require([check])
        three = replace(two, publishers=("/driver", "/joint_state_publisher", "/rviz"))
        assert (
            "/driver and /joint_state_publisher and /rviz pub" in driver_check(three, robot).value
        )

    def test_a_wrong_state_now_and_then_is_pointed_at(self, robot):
        for publishers in ((), ("/driver",)):
            once = replace(DRIVER, disputed=0.095, publishers=publishers)
            warned(driver_check(once, robot), "9.5 %", "look at the driver")

    def test_before_the_rate_is_known_nothing_is_said_of_it(self, robot):
        unknown = replace(DRIVER, period=np.nan, jitter=np.nan)
        passed(driver_check(unknown, robot), "too few states to tell the rate")


class TestEffort:
    def test_the_largest_of_every_joint_is_told(self, robot):
        check = effort_check(states([1.0, -2.0], [-3.0, 0.5]), robot)
        passed(check, "joint_1 3 N m, joint_2 2 N m")

    def test_efforts_of_nobody_knows_what_are_told_without_a_unit(self, robot):
        unknown = replace(robot, effort_meaning=None)
        passed(effort_check(states([1.0, -2.0]), unknown), "joint_1 1, joint_2 2")

    def test_currents_without_drive_gains_are_pointed_at_with_what_to_do(self, robot):
        currents = replace(robot, effort_meaning=EffortMeaning.CURRENT)
        joints = tuple(replace(joint, drive_gain=2.0) for joint in robot.joints)
        passed(effort_check(states([1.0, 2.0]), replace(currents, joints=joints)), "joint_1 1 A")
        lacking = replace(currents, joints=(replace(joints[0], drive_gain=None), *joints[1:]))
        check = effort_check(states([1.0, 2.0]), lacking)
        warned(check, "joint joint_1 needs one", "drive-gains")

    @pytest.mark.parametrize(
        ("efforts", "problem"),
        [([], "effort"), ([1.0], "effort"), ([1.0, float("nan")], "joint_2")],
    )
    def test_one_of_no_use_is_named_and_keeps_nothing_from_moving(self, robot, efforts, problem):
        check = effort_check(states([1.0, 2.0], efforts), robot)
        warned(check, "unless effort_topic of acquisition names where they are")
        assert problem in check.value

    def test_zeros_are_doubted(self, robot):
        warned(effort_check(states([0.0, 0.0], [1e-16, 0.0]), robot), "does the driver measure")
        passed(effort_check(states([0.0, 0.0], [1e-3, 0.0]), robot))

    def test_more_than_a_joint_can_have_is_doubted(self, robot):
        first, *others = robot.joints
        weak = replace(first, limits=replace(first.limits, effort=10.0))
        limited = replace(robot, joints=(weak, *others))
        assert robot.effort_meaning is not None
        warned(effort_check(states([11.0, 1.0]), limited), "joint_1 (limit 10)", "effort_meaning")
        passed(effort_check(states([10.0, 1.0]), limited))

    def test_without_states_there_is_none(self, robot):
        warned(effort_check([], robot), "start the driver")


class TestClock:
    def test_the_offset_is_told(self):
        delays = np.array([0.00555, 0.00999, 0.02])
        passed(clock_check(delays, 0.1), "taken in 5.55 ms after", "least, 9.99 ms in the median")

    def test_a_clock_that_is_ahead_is_pointed_at(self):
        warned(clock_check(np.array([-0.02, -0.01]), 0.1), "ahead", "synchronise")
        for least in (-0.0049, 0.001):  # clocks in a network agree to 5 ms
            passed(clock_check(np.array([least, 0.01]), 0.1))

    def test_a_clock_that_is_behind_is_pointed_at(self):
        warned(clock_check(np.array([0.06, 0.08]), 0.1), "behind", "synchronise")
        passed(clock_check(np.array([0.06, 0.08]), 0.5))

    def test_without_states_there_is_none(self):
        warned(clock_check(np.array([]), 0.1), "start the driver")


class TestParameters:
    def test_those_that_differ_are_told_with_their_defaults(self):
        values = replace(VALUES, speed=0.2, tracking_error_limit=(0.1, 0.2), cancel_brakes=True)
        passed(
            parameters_check(values),
            "speed 0.2 (default 1), ",
            "tracking_error_limit [0.1, 0.2] (default [0.1])",
            "cancel_brakes true (default false)",
        )

    def test_texts_and_whole_numbers_too(self):
        values = replace(VALUES, cell="cell.yaml", rows=12)
        passed(parameters_check(values), 'cell cell.yaml (default "")', "rows 12 (default 0)")

    def test_the_robot_has_no_default(self):
        passed(parameters_check(VALUES), "parameters: all as by default")


class TestObstacles:
    def prepared(self, *, checked):
        surroundings = SimpleNamespace(checked=checked)
        machine = SimpleNamespace(surroundings=surroundings)
        return SimpleNamespace(machine=machine, obstacles="all farther than 0.02 m")

    def test_distances_are_told(self):
        passed(obstacles_check(self.prepared(checked=True), acknowledged=False), "0.02 m")

    def test_what_is_not_checked_must_be_agreed_to(self):
        check = obstacles_check(self.prepared(checked=False), acknowledged=False)
        assert check.verdict is Verdict.REFUSED
        with pytest.raises(NotCertifiedError, match="acknowledge_unchecked"):
            require([check])

    def test_what_was_agreed_to_is_pointed_at(self):
        check = obstacles_check(self.prepared(checked=False), acknowledged=True)
        warned(check, "look yourself")


class TestController:
    def topic(self, *readers, heard=False):
        node = Node()
        node.readers, node.heard = readers, heard
        return Controller(node, "topic", None).choose()

    def test_who_listens_on_the_topic_is_named(self):
        check = controller_check(self.topic("acquisition", heard=True), "auto")
        passed(check)
        assert str(check) == "controller: /arm/controller by the topic /arm/joint_trajectory"

    def test_a_controller_may_have_a_name_like_that_of_a_reader(self):
        check = controller_check(self.topic("acquisition_controller"), "auto")
        passed(check, "/arm/acquisition_controller by the topic")

    @pytest.mark.parametrize(
        "readers", [(), ("acquisition", "computed_torque"), ("rosbag2_recorder", "_ros2cli_4711")]
    )
    def test_where_nobody_moves_the_robot_nothing_begins(self, readers):
        check = controller_check(self.topic(*readers), "auto")
        assert check.verdict is Verdict.REFUSED
        with pytest.raises(SettingError, match=r"the topic /arm/joint_trajectory: start the contr"):
            require([check])

    def test_the_server_of_the_action_is_named(self):
        transport = Controller(Node(), "auto", HandMovedController(World())).choose()
        check = controller_check(transport, "auto")
        passed(check)
        assert str(check).endswith("by the action /arm/follow_joint_trajectory")


def test_shipped_robots_are_described_by_their_files():
    told = robot_check(load_machine(Sources("scara")), RobotsView(OWN))
    assert str(find_robot("scara")) in str(told)


class TestFixedJoints:
    @pytest.fixture
    def held(self, robot):
        return replace(robot, fixed_joints={"finger": 0.0, "lift": 0.2})

    def test_where_they_stand_is_told(self, held):
        (check,) = held_joints_check({"finger": 0.001}, held)
        passed(check, "finger 0.001", "lift not told")

    def test_one_that_stands_elsewhere_is_pointed_at(self, held):
        (check,) = held_joints_check({"finger": 0.04, "lift": 0.2}, held)
        warned(check, "finger stands at 0.04", "fixed_joints: {finger: 0.04}")

    def test_a_robot_that_holds_none_has_no_such_check(self, robot):
        assert held_joints_check({}, robot) == ()

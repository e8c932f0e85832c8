"""Previews and starts as of the node: the same checks, the same words."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.action import ExecuteExcitation
from std_srvs.srv import Trigger

from awaited import answer_of
from hand_moved_controller import Node, NoEfforts
from live_nodes import complete_values
from robot_identification.errors import (
    NoPlanError,
    NotActiveError,
    ResultFileError,
    RobotDescriptionError,
    RobotIdentificationError,
)
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.controllers.choice import Controller
from robot_identification.ros.excitation.execution import WORK, MotionExecutor
from robot_identification.ros.excitation.motion_preparation import MotionPreparation
from robot_identification.ros.excitation.node import ExcitationNode
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.excitation.point_efforts import PointEfforts
from robot_identification.ros.messages.error_codes import CODES, error_code
from robot_identification.ros.messages.trajectories import trajectory_of
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.robots.in_use import NodesInUse, Statement
from robot_identification.ros.robots.view import RobotsView
from robot_identification.ros.supervision.driver import DriverView
from robot_identification.ros.supervision.phases import MotionSettings
from watched_motion import World, state, watched

SOURCES = Sources("scara", tracking_error=(0.1, 0.1))


@pytest.fixture(scope="module")
def planned():
    """Return what was asked for, and a plan of the SCARA: a swing of its first joint."""
    machine, still = load_machine(SOURCES), np.zeros((3, 2))
    places = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0]])
    names = machine.robot.joint_names
    swing = Trajectory(names, np.array([0.0, 2.0, 4.0]), places, still, still)
    certificate = certify(
        machine.robot, swing, start=np.zeros(2), surroundings=machine.surroundings
    )
    certificate.require()
    made = SimpleNamespace(trajectory=swing, certificate=certificate)
    return PlanningJob(SOURCES, PlanSettings()), SimpleNamespace(plan=made)


class Bench:
    """Preparation and executor, and a robot that stands still and says so.

    Attributes:
        values: parameters of the node.
        planner: has the plan; ``latest`` may be replaced.
    """

    def __init__(self, planned, efforts=None):
        self.world, self.node = World(), Node()
        self.node.heard = True
        self.values = ExcitationParameters(robot="scara", acknowledge_unchecked=True)
        scara = load_machine(SOURCES).described
        self.own = Statement("/arm/excitation", "scara", scara.digest, "scara")
        self.changed, self.others = None, ()
        self.names = planned[1].plan.trajectory.joint_names
        self.stand(np.zeros(2))
        self.planner = SimpleNamespace(latest=lambda _="": planned)
        picture = SimpleNamespace(picture=lambda *_: None, publish=lambda _: None)
        arms = SimpleNamespace(postures=dict, problem=lambda: "")
        slot, efforts = JobSlot(self.node.get_logger()), efforts or NoEfforts()
        self.parameters = SimpleNamespace(now=self.values)
        controller = Controller(self.node, "topic", None)
        self.preparation = MotionPreparation(
            self.parameters, settings=self.settings, require_active=self._require_active,
            controller=controller, watch=self, planner=self.planner, markers=picture, arms=arms,
            efforts=efforts, robots=self,
        )  # fmt: skip
        self.executor = MotionExecutor(
            self.node, slot, self.parameters, require_active=self._require_active,
            controller=controller, watch=self, planner=self.planner, preparation=self.preparation,
            arms=arms, efforts=efforts, changed=lambda: None,
        )  # fmt: skip
        self.slot, self.state = slot, "active"

    def _require_active(self):
        if self.state != "active":
            raise NotActiveError("/excitation", self.state)

    def settings(self):
        return MotionSettings(tracking_error=np.full(2, 0.1))

    def stand(self, position, drift=0.0, late=0.0):
        """Stand somewhere, or drift; the states are so late, in s."""
        self.states = watched(self.names)
        for i in range(50):
            place = np.asarray(position) + drift * 0.002 * i
            self.states.add(
                state(
                    self.world.now - round((late + 0.002 * (50 - i)) * 1e9), place, (), self.names
                ),
                self.world.instant,
            )

    # As RobotsWatch

    def view(self):
        return RobotsView(self.own, "", self.changed, NodesInUse(self.others))

    # As MotionWatch

    def now(self):
        return self.world.instant

    def fresh(self):
        return self.states.fresh(self.now())

    def take(self, moving=False):
        pass

    def wait_no_longer(self):
        pass

    async def newer(self):
        pass

    def seen(self):
        return DriverView(
            "/arm/joint_states", 0.002, 1e-5, np.full(9, 0.002),
            (state(0, np.zeros(2), (), self.names),), 0.1, timeout_given=False,
        )  # fmt: skip

    def start(self):
        """Return the answer of a start."""
        return answer_of(self.executor.begin(ExecuteExcitation.Goal(), self.slot.take(WORK)))

    def preview(self):
        """Return the text of a preview."""
        return answer_of(self.preparation.preview())


@pytest.fixture
def bench(planned):
    return Bench(planned)


def nobody_listens(bench):
    bench.node.heard = False


def nothing_is_known_of_obstacles(bench):
    bench.parameters.now = ExcitationParameters(robot="scara")


def the_robot_moves(bench):
    bench.stand(np.zeros(2), drift=0.5)


def the_states_are_old(bench):
    bench.stand(np.zeros(2), late=0.5)


def the_robot_is_parked_at_its_limit(bench):
    bench.stand([0.0, load_machine(SOURCES).declared.upper[1] - 0.01])


def another_node_has_another_robot(bench):
    bench.others = (replace(bench.own, node="/arm/identification", digest="f00d"),)


def the_topic_describes_another_robot(bench):
    told = "/robot_description describes another robot"
    bench.changed = RobotDescriptionError(told, path="topic:robot_description")


def there_is_no_plan(bench):
    def latest(_=""):
        raise NoPlanError("there is no certified plan; call ~/plan first")

    bench.planner.latest = latest


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (nobody_listens, "nobody takes trajectories"),
        (nothing_is_known_of_obstacles, "acknowledge_unchecked"),
        (the_robot_moves, "moves at"),
        (the_states_are_old, "s old"),
        (the_robot_is_parked_at_its_limit, "joint_2 stands at"),
        (another_node_has_another_robot, "restart /arm/identification"),
        (the_topic_describes_another_robot, "describes another robot"),
        (there_is_no_plan, "call ~/plan first"),
    ],
)
def test_a_preview_is_refused_where_a_start_is_and_with_the_same_words(bench, wrong, word):
    wrong(bench)
    with pytest.raises(RobotIdentificationError, match=word) as refused:
        bench.preview()
    answer = bench.start()
    assert not answer.success
    assert (answer.message, answer.error_code) == (str(refused.value), error_code(refused.value))
    assert not bench.node.published["joint_trajectory"]
    assert not bench.slot.busy


def test_a_fault_in_a_preview_is_answered_as_one_in_a_start_and_ends_no_node(bench):
    def latest(_=""):
        raise ZeroDivisionError("of no joint")

    bench.planner.latest = latest
    works = SimpleNamespace(preparation=bench.preparation)
    node = SimpleNamespace(_slot=bench.slot, _works=lambda: works)
    answer = answer_of(ExcitationNode._on_preview(node, None, Trigger.Response()))
    begun = bench.start()
    assert (begun.success, begun.error_code) == (False, CODES.INTERNAL)
    assert (answer.success, answer.message) == (False, f"INTERNAL: {begun.message}")


def test_a_preview_has_the_motion_then_a_line_for_each_check_and_the_controller_last(bench):
    motion, *checks = bench.preview().splitlines()
    assert motion.startswith("approach 0.0 s, trajectory ")
    names = [line.partition(":")[0] for line in checks]
    assert names == [
        "robot", "nodes", "limits", "driver", "effort", "clock", "parameters", "obstacles",
        "controller",
    ]  # fmt: skip
    assert checks[-1].endswith("by the topic /arm/joint_trajectory")
    assert not bench.node.published["joint_trajectory"]


def test_an_inactive_node_previews_and_says_that_a_start_would_be_refused(bench):
    bench.state = "inactive"
    _, first, second, *_ = bench.preview().splitlines()
    assert first.startswith("node: inactive; WARNING: /excitation is inactive")
    assert second.startswith("robot: ")
    answer = bench.start()
    assert (answer.success, answer.error_code) == (False, CODES.NOT_ACTIVE)
    assert answer.message in first
    assert not bench.node.published["joint_trajectory"]
    assert not bench.slot.busy


def test_a_node_that_is_deactivated_while_a_start_waits_for_a_state_moves_nothing(bench):
    class Waiting:
        def __await__(self):
            yield

    bench.newer = Waiting
    begun = bench.executor.begin(ExecuteExcitation.Goal(), bench.slot.take(WORK))
    begun.send(None)
    bench.state = "deactivating"
    resting = bench.executor.rest("the node is deactivated")
    assert resting() is None
    assert answer_of(begun).error_code == CODES.CANCELLED
    assert resting() == ""
    assert not bench.node.published["joint_trajectory"]


@pytest.mark.parametrize("asked", [Bench.preview, Bench.start])
def test_a_state_that_is_a_little_late_is_waited_for(bench, asked):
    async def newer():
        bench.stand(np.zeros(2))

    the_states_are_old(bench)
    bench.newer = newer
    asked(bench)
    assert len(bench.node.published["joint_trajectory"]) == (asked is Bench.start)


@pytest.mark.parametrize("asked", [Bench.preview, Bench.start])
def test_a_state_that_grows_old_while_a_motion_is_prepared_is_waited_for(bench, asked, monkeypatch):
    prepare = MotionPreparation.prepare

    def slowly(*given):
        made = prepare(*given)
        the_states_are_old(bench)
        return made

    async def newer():
        bench.stand(np.zeros(2))

    monkeypatch.setattr(MotionPreparation, "prepare", slowly)
    bench.newer = newer
    asked(bench)
    assert len(bench.node.published["joint_trajectory"]) == (asked is Bench.start)


def test_a_start_logs_what_a_preview_warns_of_and_begins(bench, caplog):
    warned = [line for line in bench.preview().splitlines() if "WARNING" in line]
    assert warned
    assert bench.start().success
    assert [record.message for record in caplog.records] == warned
    assert len(bench.node.published["joint_trajectory"]) == 1


def efforts_of(source, file="scara"):
    """Return what puts the efforts of a model into the points."""
    given = ExcitationParameters(
        robot="scara", parameters_file=str(file), point_efforts=source, acknowledge_unchecked=True
    )
    node = SimpleNamespace(get_logger=Node().get_logger, create_subscription=lambda *_: None)
    robot = load_machine(SOURCES).described
    return PointEfforts(node, robot, SimpleNamespace(now=given))


def test_efforts_in_the_points_are_told_and_sent_and_leave_the_motion_as_it_is(
    planned, bench, tmp_path
):
    bench.start()
    values = complete_values(tmp_path)
    fed = Bench(planned, efforts_of("file", values))
    assert f"; efforts by {values}" in fed.preview().splitlines()[0]
    answer = fed.start()
    assert answer.success, answer.message
    assert f"; efforts by {values}" in answer.message
    (plain,), (sent,) = (one.node.published["joint_trajectory"] for one in (bench, fed))
    own, other = trajectory_of(plain), trajectory_of(sent)
    times = np.linspace(0.0, 4.0, 500)
    for one, same in zip(own.sample(times), other.sample(times), strict=True):
        np.testing.assert_allclose(one, same, atol=1e-9)
    assert own.efforts is None
    assert np.abs(other.efforts).max() > 0.1


def test_the_start_is_as_much_later_as_the_points_take_to_be_sent(planned, bench, tmp_path):
    """A controller that is sent thousands of points after their start jumps along them."""
    fed = Bench(planned, efforts_of("file", complete_values(tmp_path)))
    for one in (bench, fed):
        assert one.start().success
        (message,) = one.node.published["joint_trajectory"]
        late = (stamp_of(message) - one.world.now) * 1e-9
        assert late == pytest.approx(0.3 + 1e-4 * len(message.points))
    assert len(message.points) > 50


def test_efforts_of_parameters_that_have_not_come_refuse_preview_and_start_alike(planned):
    bench = Bench(planned, efforts_of("calibrated"))
    with pytest.raises(ResultFileError, match="none have come") as told:
        bench.preview()
    answer = bench.start()
    assert (answer.error_code, answer.message) == (error_code(told.value), str(told.value))
    assert not bench.node.published["joint_trajectory"]

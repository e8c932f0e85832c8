"""Motions by the action FollowJointTrajectory: answers, tolerances, aborts, and every way to brake.

Robot, clock and controller are moved by hand.
"""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus

from hand_moved_controller import Arm
from robot_identification.errors import StaleStateError
from robot_identification.excitation.certification.checks import exceeded
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.controllers.goals import Outcome
from robot_identification.ros.supervision.phases import Command, Phase, Reason
from watched_motion import APPROACH, LIMITS, NAMES, STILL

ENDS = (Phase.STOPPED, Phase.FAULT, Phase.FINISHED)


@pytest.fixture
def arm():
    return Arm()


def stopped(arm, reason):
    """Wait for the end of a motion that was stopped; return what is said of it."""
    arm.wait_for(*ENDS)
    assert (arm.motion.phase, arm.motion.reason) == (Phase.STOPPED, reason), arm.text
    return arm.text


def accept_while_somebody_waits(arm):
    """Have the newest goal accepted as soon as the node waits; return the goals of such waits."""
    waited = []

    def answer(_):
        waited.append(arm.controller.sent[-1])
        arm.controller.answer(arm.controller.sent[-1], True)
        arm.executor.look()

    arm.controller.work = answer
    return waited


class TestFollowing:
    def test_a_trajectory_that_is_accepted_is_followed_to_the_end_that_the_controller_tells(
        self, arm
    ):
        arm.start()
        arm.wait_for(*ENDS)
        assert arm.motion.phase is Phase.FINISHED
        assert len(arm.controller.sent) == 1
        assert not arm.on_topic
        assert arm.followed == [arm.controller.sent[0].message]
        assert "succeeded, SUCCESSFUL" in arm.text

    def test_the_run_takes_the_place_of_the_approach(self):
        arm = Arm(approach=APPROACH, position=(0.3, 0.0))
        arm.start()
        arm.wait_for(*ENDS)
        assert arm.motion.phase is Phase.FINISHED
        assert len(arm.controller.sent) == len(arm.followed) == 2

    def test_acceptance_is_told_when_it_comes(self, arm):
        arm.controller.answers = None
        arm.start()
        arm.pass_time(0.1)
        assert "has not accepted it yet" in arm.text
        arm.controller.answer(arm.controller.sent[0], True)
        arm.pass_time(0.1)
        assert "accepted" in arm.text
        assert "not accepted" not in arm.text
        arm.wait_for(*ENDS)
        assert arm.motion.phase is Phase.FINISHED

    def test_a_result_that_never_comes_is_not_waited_for_and_told(self, arm):
        arm.controller.tells_end = False
        arm.start()
        arm.wait_for(*ENDS)
        assert arm.motion.phase is Phase.FINISHED
        assert "has not told the end, and was cancelled" in arm.text
        assert arm.controller.sent[0].asked == 1

    def test_a_controller_that_tells_the_end_too_early_is_still_watched_and_braked(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.controller.active.outcome = Outcome(GoalStatus.STATUS_SUCCEEDED)
        arm.pass_time(0.5)
        assert arm.motion.phase is Phase.RUNNING
        arm.executor.stop()
        stopped(arm, Reason.REQUESTED)
        assert len(arm.controller.sent) == 2


class TestRefusals:
    def test_a_rejection_stops_before_anything_moves(self, arm):
        arm.controller.answers = False
        arm.start()
        assert "has rejected the trajectory" in stopped(arm, Reason.CONTROLLER)
        assert len(arm.controller.sent) == 1
        assert not arm.on_topic

    def test_a_run_that_is_rejected_after_the_approach_stops_at_its_start(self):
        arm = Arm(approach=APPROACH, position=(0.3, 0.0))
        arm.start()
        arm.controller.answers = False
        assert "has rejected" in stopped(arm, Reason.CONTROLLER)
        assert len(arm.controller.sent) == 2
        assert np.allclose(arm.world.position, APPROACH.positions[-1])

    @pytest.mark.parametrize("answer", [False, True])
    def test_an_answer_that_is_late_is_not_waited_for_and_what_it_accepts_is_cancelled(
        self, arm, answer
    ):
        arm.controller.answers = None
        arm.node.heard = True
        arm.start()
        assert "has not accepted the trajectory before its start" in stopped(arm, Reason.CONTROLLER)
        assert len(arm.controller.sent) == 1
        assert not arm.on_topic
        with pytest.raises(StaleStateError, match="has not answered"):
            arm.link.choose()
        arm.controller.answer(arm.controller.sent[0], answer)
        arm.pass_time(0.05)
        assert arm.controller.sent[0].asked == int(answer)
        assert ("too late" in arm.text) == answer
        assert arm.link.choose() is arm.link.action

    def test_a_controller_that_goes_before_it_answers_is_owed_nothing(self, arm):
        arm.controller.answers = None
        arm.start()
        arm.pass_time(0.05)
        arm.controller.go()
        assert "has gone" in stopped(arm, Reason.CONTROLLER)
        assert len(arm.controller.sent) == 1
        assert arm.link.choose() is arm.link.topic

    def test_what_is_accepted_after_the_server_seemed_gone_for_a_moment_is_cancelled(self, arm):
        arm.controller.answers = None
        arm.start()
        arm.pass_time(0.05)
        arm.executor.stop()
        arm.controller.there = False
        arm.pass_time(0.005)
        arm.controller.there = True
        arm.pass_time(0.5)
        assert arm.link.choose() is arm.link.action, "one that was started anew owes nothing"
        (goal,) = arm.controller.sent
        arm.controller.answer(goal, True)
        arm.pass_time(0.05)
        assert goal.asked == 1
        assert arm.followed == [], "nobody is told to follow it"

    @pytest.mark.parametrize("code", [-1, -2, -3])
    def test_a_goal_that_is_refused_by_its_result_says_why(self, arm, code):
        arm.start()
        arm.controller.end(code=code, text="unknown joint elbow")
        text = stopped(arm, Reason.CONTROLLER)
        assert "unknown joint elbow" in text
        assert ("INVALID_GOAL", "INVALID_JOINTS", "OLD_HEADER_TIMESTAMP")[-1 - code] in text


class TestControllerEnds:
    @pytest.mark.parametrize(
        ("after", "status", "code", "named"),
        [
            (1.0, GoalStatus.STATUS_ABORTED, -4, "aborted, PATH_TOLERANCE_VIOLATED: a 0.2 off"),
            (4.35, GoalStatus.STATUS_ABORTED, -5, "aborted, GOAL_TOLERANCE_VIOLATED: a 0.2 off"),
            (2.0, GoalStatus.STATUS_ABORTED, -17, "aborted, error code -17: a 0.2 off"),
            (2.0, GoalStatus.STATUS_CANCELED, 0, "cancelled, a 0.2 off"),
        ],
    )
    def test_the_motion_is_stopped_with_the_code_by_name_and_nothing_more_is_sent(
        self, arm, after, status, code, named
    ):
        arm.controller.tells_end = False
        arm.node.heard = True
        arm.start()
        arm.pass_time(after)
        arm.controller.end(status, code, "a 0.2 off")
        text = stopped(arm, Reason.CONTROLLER)
        assert named in text
        assert "stops by itself" in text
        assert len(arm.controller.sent) == 1
        assert not arm.on_topic

    def test_a_robot_that_goes_on_after_an_abort_is_a_fault(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.controller.end(code=-4)
        where = arm.world.position
        steady = np.full((2, 2), -0.25)
        far = Trajectory(NAMES, [0.0, 8.0], np.array([where, where - 2.0]), steady, STILL[:2])
        arm.world.take(Command(far, arm.world.driver_now))
        arm.wait_for(Phase.FAULT)
        assert "use the emergency stop" in arm.text

    def test_a_server_that_goes_in_motion_ends_it(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.controller.go()
        text = stopped(arm, Reason.CONTROLLER)
        assert "has gone" in text
        assert "nobody takes a braking trajectory" in text
        assert len(arm.controller.sent) == 1

    def test_where_the_server_has_gone_the_topic_brakes_if_somebody_hears_it(self, arm):
        arm.node.heard = True
        arm.start()
        arm.pass_time(1.0)
        arm.controller.there = False
        arm.pass_time(0.01)
        (braking,) = arm.on_topic
        arm.world.take(arm.motion.command)
        assert "it is on the topic /arm/joint_trajectory" in stopped(arm, Reason.CONTROLLER)
        assert braking.points[-1].positions.tolist() == arm.world.position.tolist()


class TestStops:
    @pytest.mark.parametrize("moment", np.random.default_rng(5).uniform(0.31, 4.2, 50))
    def test_a_stop_at_any_moment_is_another_goal_and_ends_at_rest_within_the_limits(
        self, arm, moment
    ):
        arm.start()
        arm.pass_time(moment)
        assert arm.executor.stop().startswith("braking: at rest in")
        stopped(arm, Reason.REQUESTED)
        _, braking = arm.controller.sent
        assert braking.accepted
        assert not arm.on_topic
        assert len(arm.followed) == 2
        assert not exceeded(braking.command.trajectory, LIMITS)

    def test_a_stop_before_acceptance_sends_nothing_and_says_so(self, arm):
        arm.controller.answers = None
        arm.start()
        arm.pass_time(0.05)
        where = arm.world.position.copy()
        assert "nothing more is sent" in arm.executor.stop()
        assert "had not accepted" in stopped(arm, Reason.REQUESTED)
        assert len(arm.controller.sent) == 1
        assert not arm.on_topic
        assert np.array_equal(arm.world.position, where)
        arm.controller.answer(arm.controller.sent[0], True)
        arm.pass_time(1.0)
        assert arm.controller.sent[0].outcome.status == GoalStatus.STATUS_CANCELED
        assert np.array_equal(arm.world.position, where)

    def test_a_controller_that_brakes_when_it_is_cancelled_is_cancelled(self):
        arm = Arm(cancel_brakes=True)
        arm.start()
        arm.pass_time(1.0)
        arm.executor.stop()
        assert "has cancelled the trajectory" in stopped(arm, Reason.REQUESTED)
        (goal,) = arm.controller.sent
        assert goal.asked == 1

    def test_where_it_does_not_let_itself_be_cancelled_another_goal_brakes(self):
        arm = Arm(cancel_brakes=True)
        arm.controller.cancels = False
        arm.start()
        arm.pass_time(1.0)
        arm.executor.stop()
        text = stopped(arm, Reason.REQUESTED)
        assert "the request to cancel was rejected" in text
        assert len(arm.controller.sent) == 2

    @pytest.mark.parametrize("answer", [False, None])
    def test_braking_that_is_refused_or_not_answered_is_followed_by_cancelling(self, arm, answer):
        arm.start()
        arm.pass_time(1.0)
        arm.controller.answers = answer
        arm.executor.stop()
        text = stopped(arm, Reason.REQUESTED)
        said = "not answered" if answer is None else "rejected"
        assert f"the braking trajectory was {said}" in text
        assert "has cancelled the trajectory" in text
        running, braking = arm.controller.sent
        assert running.asked == 1
        if answer is None:
            arm.controller.answer(braking, True)
            arm.pass_time(0.05)
            assert braking.asked == 1

    def test_the_topic_is_the_last_way_and_sets_out_from_where_the_robot_is_then(self, arm):
        arm.node.heard = True
        arm.start()
        arm.pass_time(1.0)
        arm.controller.answers, arm.controller.cancels = None, False
        arm.executor.stop()
        while not arm.on_topic:
            arm.pass_time(0.005)
        (message,) = arm.on_topic
        assert np.abs(arm.world.position - message.points[0].positions).max() < 0.01
        arm.world.take(arm.motion.command)
        assert not exceeded(arm.motion.command.trajectory, LIMITS)
        text = stopped(arm, Reason.REQUESTED)
        for told in ("was not answered", "to cancel was rejected", "it is on the topic"):
            assert told in text

    def test_where_nobody_lets_it_brake_that_is_a_fault(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.controller.answers = arm.controller.cancels = False
        arm.controller.tells_end = False
        arm.executor.stop()
        arm.wait_for(*ENDS)
        assert "nobody takes a braking trajectory" in arm.text

    def test_a_braking_trajectory_that_the_controller_aborts_is_told(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.executor.stop()
        arm.pass_time(0.02)
        arm.controller.end(code=-4, text="a 0.2 off")
        assert "PATH_TOLERANCE_VIOLATED: a 0.2 off" in stopped(arm, Reason.REQUESTED)

    def test_braking_that_a_paused_controller_keeps_for_later_is_cancelled(self, arm):
        """Else it would be resumed whenever the controller goes on."""
        arm.start()
        arm.pass_time(1.0)
        arm.controller.tells_end = False
        arm.world.frozen = True
        arm.wait_for(*ENDS)
        running, braking = arm.controller.sent
        assert (running.asked, braking.asked) == (0, 0)
        arm.pass_time(4.0)
        assert (running.asked, braking.asked) == (0, 1)
        assert "has not told the end of braking, which was cancelled" in arm.text

    def test_braking_whose_end_is_told_is_not_cancelled(self, arm):
        arm.start()
        arm.pass_time(1.0)
        arm.executor.stop()
        stopped(arm, Reason.REQUESTED)
        arm.pass_time(4.0)
        assert [goal.asked for goal in arm.controller.sent] == [0, 0]

    @pytest.mark.parametrize("way", ["cancelled", "braking refused", "aborted"])
    def test_whoever_follows_is_told_how_the_robot_brakes_where_no_goal_tells_it(self, way):
        arm = Arm(cancel_brakes=way == "cancelled")
        arm.start()
        arm.pass_time(1.0)
        if way == "aborted":
            arm.controller.end(code=-4, text="a 0.2 off")
        else:
            arm.controller.answers = way == "cancelled"
            arm.executor.stop()
        arm.wait_for(*ENDS)
        running, braking = arm.followed
        assert running == arm.controller.sent[0].message
        end = np.asarray(braking.points[-1].positions)
        assert np.abs(end - arm.world.position).max() < 0.2
        assert not np.any(braking.points[-1].velocities)

    @pytest.mark.parametrize("over", [True, False])
    def test_a_node_that_ends_after_a_stop_waits_for_what_it_is_owed(self, arm, over):
        arm.controller.answers = None if over else True
        arm.start()
        arm.pass_time(0.05 if over else 1.0)
        arm.controller.answers = None
        arm.executor.stop()
        if over:
            arm.wait_for(*ENDS)
        waited = accept_while_somebody_waits(arm)
        arm.executor.finish()
        assert waited
        last = arm.controller.sent[-1]
        assert last.accepted
        assert last.asked == int(over)

    @pytest.mark.parametrize("accepted", [True, False])
    def test_a_node_that_ends_waits_until_the_controller_has_answered(self, arm, accepted):
        arm.controller.answers = True if accepted else None
        arm.start()
        arm.pass_time(1.0 if accepted else 0.05)
        arm.controller.answers = None
        waited = accept_while_somebody_waits(arm)
        arm.executor.finish()
        assert waited
        assert len(arm.controller.sent) == 1 + accepted
        assert arm.controller.sent[-1].asked == int(not accepted)

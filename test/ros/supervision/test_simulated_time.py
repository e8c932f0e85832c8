"""The clock of a simulation, which comes as messages to a node."""

import time

import pytest
from rosgraph_msgs.msg import Clock

from robot_identification.ros.supervision.clock import MotionClock
from ros_nodes import node

pytestmark = pytest.mark.ros
_PATIENCE = 10.0


def test_the_time_of_a_simulation_is_what_it_has_sent_whether_the_node_is_spun_or_not():
    with node("-p", "use_sim_time:=true") as made:
        simulation = made.create_publisher(Clock, "/clock", 10)
        clock, end = MotionClock(made), time.monotonic() + _PATIENCE
        assert clock.now().stamp == 0
        message = Clock()
        message.clock.sec = 7
        while clock.now().stamp == 0 and time.monotonic() < end:
            simulation.publish(message)
            clock.catch_up()
        now = clock.now()
        assert (now.stamp, now.simulated) == (7 * 10**9, True)


def test_a_clock_that_is_no_simulation_has_nothing_to_catch_up_with():
    with node() as made:
        clock = MotionClock(made)
        clock.catch_up()
        assert not clock.now().simulated

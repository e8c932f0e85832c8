"""A robot under supervision whose clocks, joint states and controller a test moves by hand."""

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.supervision.braking import BrakingLimits
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.ros.supervision.states import MotionStates, PhysicalMotion
from robot_identification.ros.supervision.supervisor import MotionSupervisor

NAMES = ("a", "b")
BEGIN = 1_700_000_000_000_000_000
STEP = 5_000_000
STILL = np.zeros((3, 2))
LIMITS = MotionLimits(
    np.full(2, -3.0), np.full(2, 3.0), np.full(2, 2.0), np.full(2, 10.0), np.full(2, np.inf),
    np.full(2, np.inf),
)  # fmt: skip
BRAKING = BrakingLimits(LIMITS.tightened(acceleration=0.8), LIMITS, time=1.0, lag_time=1.0)
TRACKING_ERROR = 0.1
RUN = Trajectory(
    NAMES, [0.0, 2.0, 4.0], np.array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.5]]), STILL, STILL
)
APPROACH = Trajectory(NAMES, [0.0, 1.0], np.array([[0.3, 0.0], [0.0, 0.0]]), STILL[:2], STILL[:2])


def state(stamp, position, velocity=(), names=NAMES):
    """Return a joint state with a stamp in ns."""
    message = JointState(name=list(names), position=list(position), velocity=list(velocity))
    message.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
    return message


def watched(names=NAMES, limits=LIMITS, tracking_error=TRACKING_ERROR):
    """Return states as the node watches them."""
    error = np.full(len(names), tracking_error)
    return MotionStates(names, physical=PhysicalMotion(limits.velocity, error / 2))


def instant(stamp):
    """Return a moment at which both clocks go well."""
    return Instant(stamp, stamp - BEGIN)


class World:
    """A robot whose controller follows exactly, and the clocks of both machines.

    Attributes:
        elapsed: true time in ns.
        node_set: by how much the clock of the node's machine was set, in ns.
        driver_set: the same for the machine of driver and controller.
        stamps_set: by how much the stamps of joint states are wrong besides, in ns.
        frozen: whether the robot is blocked.
        silent: whether the driver says nothing.
        offset: what is added to the measured positions.
        stopped: whether the node's clock stands still, as that of a halted simulation.
    """

    def __init__(
        self, approach=None, position=(0.0, 0.0), limits=BRAKING, run=RUN, *, states=None,
        simulated=False,
    ):  # fmt: skip
        self.elapsed = self.node_set = self.driver_set = self.stamps_set = 0
        self.position = np.array(position)
        self.names = run.joint_names
        self.states = states or watched(self.names, limits.declared)
        settings = MotionSettings(tracking_error=np.full(len(self.names), TRACKING_ERROR))
        self.motion = MotionSupervisor(limits, self.states, settings, run, approach)
        self.commands, self.received = [], []
        self.frozen = self.silent = self.stopped = False
        self.simulated = simulated
        self.offset = np.zeros(len(self.names))
        for _ in range(30):
            self.look()

    @property
    def now(self):
        """The ROS time of the node in ns."""
        return BEGIN + self.elapsed + self.node_set

    @property
    def driver_now(self):
        """The time of driver and controller in ns."""
        return BEGIN + self.elapsed + self.driver_set

    @property
    def instant(self):
        return Instant(self.now, self.elapsed, self.simulated)

    def look(self):
        """Let a little time pass in which the robot says where it is."""
        self.elapsed += STEP
        if self.stopped:
            self.node_set -= STEP
        self.follow()
        if not self.silent:
            self.say(self.driver_now + self.stamps_set, self.position + self.offset)

    def follow(self):
        """Have the controller go on."""
        if self.commands and not self.frozen:
            command, received = self.commands[-1], self.received[-1]
            begin = received if command.at_once else command.start
            self.position = command.sent.sample((self.driver_now - begin) * 1e-9)[0][0]

    def say(self, stamp, position, velocity=()):
        """Have the driver send a state."""
        self.states.add(state(stamp, position, velocity, self.names), self.instant)

    def take(self, command):
        """Have the controller take a command."""
        if command is not None:
            self.commands.append(command)
            self.received.append(self.driver_now)
        return command

    def begin(self):
        return self.take(self.motion.begin(self.instant))

    def stop(self):
        return self.take(self.motion.stop(self.instant))

    def tick(self):
        return self.take(self.motion.tick(self.instant))

    def pass_time(self, seconds):
        end = self.elapsed + round(seconds * 1e9)
        while self.elapsed < end:
            self.look()
            self.tick()


def begun(run=RUN, approach=None, position=(0.0, 0.0)):
    """Return a world in which the motion has begun."""
    world = World(approach, position, run=run)
    world.begin()
    return world


def jump(world, seconds, offset=(0.0, 0.0), still=False):
    """Go on to a moment of the command, with states of 50 ms before it; return that instant."""
    command = world.commands[-1]
    for i in reversed(range(11)):
        moment = seconds if still else seconds - i * STEP * 1e-9
        world.elapsed = command.start + round(seconds * 1e9) - i * STEP - BEGIN
        world.say(world.now, command.trajectory.sample(moment)[0][0] + np.array(offset))
    return world.instant

"""A simulated robot with a model fed forward, in nodes of their own, and how well it follows."""

import numpy as np
from robot_identification.msg import InertialParameters
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_identification.nodes import qos
from robot_identification.nodes.inertial_messages import parameters_message
from robot_identification.nodes.joint_states import NANOSECONDS, stamp_of
from robot_identification.nodes.processes import command
from robot_identification.nodes.trajectories import message_of

RATE = 500.0
PERIOD = round(NANOSECONDS / RATE)


class Tracking:
    """The nodes simulated_robot and computed_torque, and all that they publish."""

    def __init__(self, client, processes, robot, values, start, namespace):
        self.client, self.processes, self.robot = client, processes, robot
        self.states, self.efforts = [], []
        node = client.node
        node.create_subscription(JointState, "joint_states", self.states.append, qos.STATES_IN)
        node.create_subscription(JointState, "feedforward_effort", self.efforts.append, qos.EFFORTS)
        self.trajectories = node.create_publisher(JointTrajectory, "joint_trajectory", qos.COMMANDS)
        self.parameters = node.create_publisher(
            InertialParameters, "inertial_parameters", qos.LATCHED
        )
        simulation = {
            "robot": robot.name,
            "parameters_file": values,
            "rate": RATE,
            "real_time_factor": 1.0,
            "initial_position": [float(x) for x in start],
            "position_noise": [0.0],
            "position_resolution": [0.0],
            "effort_noise": [0.0],
        }
        control = {"robot": robot.name, "rate": 100.0, "lead": 0.5}
        for name, given in (("simulated_robot", simulation), ("computed_torque", control)):
            processes.start(name, command(name, parameters=given, namespace=namespace))
        self.wait(
            lambda: (
                len(self.states) > 10
                and self.trajectories.get_subscription_count() == 2
                and self.parameters.get_subscription_count() == 1
            ),
            "the nodes",
        )

    def wait(self, condition, what, timeout=60.0):
        return self.client.wait_for(condition, timeout, what)

    def wait_until_logged(self, text, times=1):
        def logged():
            return self.processes.output("computed_torque").count(text) >= times

        self.wait(logged, text)

    def use(self, values):
        """Publish parameters and wait until efforts of theirs hold."""
        times = self.processes.output("computed_torque").count("in use") + 1
        message = parameters_message(self.robot, values, stamp=stamp_of(self.states[-1]))
        self.parameters.publish(message)
        self.wait_until_logged("in use", times)

    def pause(self, seconds):
        """Let simulated time go by."""
        end = stamp_of(self.states[-1]) + round(seconds * NANOSECONDS)
        self.wait(lambda: stamp_of(self.states[-1]) > end, "later states")

    def errors(self, trajectory):
        """Follow a trajectory; return times (samples,) and tracking errors (samples, joints)."""
        start = stamp_of(self.states[-1]) + round(RATE) * PERIOD
        self.trajectories.publish(message_of(trajectory, start))
        end = start + round(float(trajectory.times[-1]) * NANOSECONDS)
        self.wait(lambda: stamp_of(self.states[-1]) > end, "the end of the motion")
        rows = [(stamp_of(s) - start, s.position) for s in self.states if stamp_of(s) >= start]
        times = np.array([stamp for stamp, _ in rows]) / NANOSECONDS
        wanted = trajectory.sample(times)[0]
        during = times <= trajectory.times[-1]
        return times[during], (np.array([q for _, q in rows]) - wanted)[during]

"""The node that turns joint states into numbered blocks of checked samples."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_identification.errors import InputError
from robot_identification.msg import SampleBlock
from robot_identification.nodes import qos
from robot_identification.nodes.acquisition_diagnostics import Diagnostics
from robot_identification.nodes.filtered import FilteredPublisher
from robot_identification.nodes.joint_states import JointStateReader, Sample
from robot_identification.nodes.messages import block_message
from robot_identification.nodes.parameters import ParameterSpec, declare
from robot_identification.nodes.recorder import Recorder, continuation
from robot_identification.nodes.reference import Reference
from robot_identification.nodes.running import run
from robot_identification.nodes.setback import SetbackWatch
from robot_identification.robot.drives import require_effort_meaning
from robot_identification.robot.loading import load_robot

Type = Parameter.Type
_BURST = 500

PARAMETERS = (
    ParameterSpec(
        "robot", Type.STRING, "robot file (YAML), URDF, or the name of a robot of this package"
    ),
    ParameterSpec(
        "effort_meaning",
        Type.STRING,
        "what the efforts are; empty: what the robot file says",
        default="",
        choices=("", "joint_torque", "motor_torque", "current"),
    ),
    ParameterSpec(
        "block_period",
        Type.DOUBLE,
        "time between two blocks of samples, s",
        default=0.1,
        minimum=0.01,
        maximum=10.0,
    ),
    ParameterSpec(
        "expected_rate",
        Type.DOUBLE,
        "rate of the joint states, Hz, by which lost samples are counted; 0: the measured one",
        default=0.0,
        minimum=0.0,
        maximum=100000.0,
    ),
    ParameterSpec(
        "autostart",
        Type.BOOL,
        "whether a recording begins with the node, without a call of ~/start",
        default=False,
    ),
    ParameterSpec(
        "publish_filtered",
        Type.BOOL,
        "whether filtered_samples are computed and published",
        default=True,
    ),
    ParameterSpec(
        "filtered_cutoff",
        Type.DOUBLE,
        "cut-off of the positions of filtered_samples, Hz; 0: the robot file's, or 20",
        default=0.0,
        minimum=0.0,
        maximum=10000.0,
    ),
    ParameterSpec(
        "filtered_rate",
        Type.DOUBLE,
        "rate of filtered_samples, Hz; 0: the robot file's, or 50",
        default=0.0,
        minimum=0.0,
        maximum=10000.0,
    ),
    ParameterSpec(
        "diagnostics_period",
        Type.DOUBLE,
        "time between two messages on /diagnostics, s",
        default=1.0,
        minimum=0.1,
        maximum=60.0,
    ),
)


class AcquisitionNode(Node):
    """Receives joint states, checks and numbers them, and publishes them in blocks."""

    def __init__(self) -> None:
        super().__init__("acquisition")
        values = declare(self, PARAMETERS)
        self._robot = load_robot(values["robot"], effort_meaning=values["effort_meaning"] or None)
        require_effort_meaning(self._robot)
        self._rate: float = values["expected_rate"]
        self._recorder: Recorder | None = None
        self._setbacks = SetbackWatch()
        self._blocks = self.create_publisher(SampleBlock, "samples", qos.BLOCKS)
        self._filtered: FilteredPublisher | None = None
        if values["publish_filtered"]:
            self._filtered = FilteredPublisher(
                self, self._robot, values["filtered_cutoff"], values["filtered_rate"]
            )
        self._reference = Reference(self, self._robot)
        self._diagnostics = Diagnostics(self, self._robot.name)
        self._states = self._subscribe(qos.STATES_IN)
        self._reader = JointStateReader(self._robot.joint_names, self._states.topic_name)
        self._lossy = False
        self.create_service(Trigger, "~/start", self._on_start, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/stop", self._on_stop, qos_profile=qos.SERVICES)
        self.create_service(Trigger, "~/clear", self._on_clear, qos_profile=qos.SERVICES)
        steady = Clock(
            clock_type=ClockType.STEADY_TIME
        )  # blocks flow although simulated time rests
        self.create_timer(values["block_period"], self._publish, clock=steady)
        self.create_timer(values["diagnostics_period"], self._report, clock=steady)
        if values["autostart"]:
            self._begin()
        self.get_logger().info(f"ready: {self._robot.name}, efforts are {self._meaning}")

    def _subscribe(self, profile: QoSProfile) -> Subscription:
        return self.create_subscription(
            JointState,
            "joint_states",
            self._on_state,
            profile,
            event_callbacks=SubscriptionEventCallbacks(
                incompatible_qos=self._diagnostics.on_incompatible_qos,
                message_lost=self._diagnostics.on_message_lost,
            ),
        )

    def _listen_to_lossy_publishers(self) -> None:
        """Subscribe again, once, if a publisher does not offer reliable states.

        What is best available is settled when a subscription is made, often before the driver of
        the robot has started.
        """
        if self._diagnostics.incompatible and not self._lossy:
            self._lossy = True
            self.destroy_subscription(self._states)
            self._states = self._subscribe(qos.STATES_IN_LOSSY)
            self._diagnostics.incompatible = ""
            self.get_logger().warning("joint_states: subscribed again with best effort")

    @property
    def _meaning(self) -> str:
        return require_effort_meaning(self._robot).value

    def _on_state(self, message: JointState) -> None:
        number = self._diagnostics.count()
        try:
            sample = self._reader.read(message, number)
        except InputError as error:
            self._diagnostics.refuse(str(error))
            if self._recorder is not None:
                self._recorder.refuse()
            return
        self._diagnostics.observe(sample)
        if self._recorder is not None:
            self._record(self._recorder, sample)

    def _record(self, recorder: Recorder, sample: Sample) -> None:
        """Record a sample; where the clock was set back another recording begins."""
        samples, set_back = self._setbacks.take(sample)
        if set_back:
            recorder = self._continue(recorder)
        for one in samples:
            recorder.add(one)
        if recorder.pending >= _BURST:
            self._publish()

    def _publish(self, *, last: bool = False) -> None:
        block = None if self._recorder is None else self._recorder.take(last=last)
        if block is None:
            return
        block = self._reference.complete(block)
        self._blocks.publish(block_message(block, self._robot))
        if self._filtered is not None:
            self._filtered.publish(block)

    def _begin(self) -> str:
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f"{self._robot.name}-{moment}-{secrets.token_hex(3)}"
        self._setbacks = SetbackWatch()
        self._open(name)
        return name

    def _open(self, name: str) -> Recorder:
        self._recorder = Recorder(name, len(self._robot.joints), self._rate)
        if self._filtered is not None:
            self._filtered.begin()
        self.get_logger().info(f"recording {name} begins")
        return self._recorder

    def _continue(self, recorder: Recorder) -> Recorder:
        """End a recording and go on in another: stamps from before and after are two clocks'."""
        name = continuation(recorder.recording)
        self.get_logger().warning(
            f"the clock of the joint states was set back: recording {recorder.recording} ends, "
            f"{name} goes on"
        )
        self._publish(last=True)
        self._diagnostics.set_back()
        return self._open(name)

    def _end(self) -> str:
        if self._recorder is None:
            return ""
        name = self._recorder.recording
        for sample in self._setbacks.release():
            self._recorder.add(sample)
        self._publish(last=True)
        self._recorder = None
        self.get_logger().info(f"recording {name} has ended")
        return name

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._recorder is not None:
            response.message = f"recording {self._recorder.recording} is running: ~/stop it first"
            return response
        response.success = True
        response.message = self._begin()
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        name = self._end()
        response.success = bool(name)
        response.message = name or "no recording is running"
        return response

    def _on_clear(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End the recording, if one is running, and begin another."""
        running = bool(self._end())
        response.success = True
        response.message = self._begin() if running else "no recording is running"
        return response

    def _report(self) -> None:
        self._listen_to_lossy_publishers()
        self._diagnostics.publish(self._recorder)

    def finish(self) -> None:
        """End the recording, so that receivers know."""
        self._end()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        AcquisitionNode,
        arguments,
        name="acquisition",
        finish=AcquisitionNode.finish,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())

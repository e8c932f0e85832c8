"""The node that simulates a robot with the physics of MuJoCo.

Topics, clock, sensors and control laws are those of `simulated_robot`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from rclpy.experimental import EventsExecutor

from robot_identification.collision.model import load_collision_model
from robot_identification.collision.scene import Scene
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.errors import SettingError
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.ros.common.process import run
from robot_identification.ros.simulation.node import SimulatedRobot
from robot_identification.ros.simulation.parameters import MujocoRobotParameters
from robot_identification.ros.simulation.robot import Loop


class MujocoRobot(SimulatedRobot):
    """Follows `joint_trajectory`, adds `feedforward_effort`, publishes `joint_states`."""

    def __init__(self) -> None:
        super().__init__("mujoco_robot", MujocoRobotParameters)

    def _make_loop(self, values: MujocoRobotParameters) -> Loop:
        """Return what computes the motion."""
        model, drives = mujoco_robot(
            self._robot,
            values.robot,
            model=values.model,
            values=values.parameters_file,
            scene=self._scene(values) if values.contacts else None,
        )
        loop = MujocoLoop(
            self._robot,
            model,
            drives,
            rate_hz=values.control_rate or None,
            sample_rate_hz=self._rate,
            friction_time=values.friction_time or None,
            contacts=values.contacts,
        )
        self._contacts = loop.contacts
        return loop

    def _scene(self, values: MujocoRobotParameters) -> Scene:
        """Return what the robot can touch."""
        collisions = load_collision_model(
            values.robot,
            self._robot,
            cell=values.cell or None,
            clearance=values.clearance or None,
        )
        if isinstance(collisions, str):
            raise SettingError("contacts", True, f"nothing can be touched: {collisions}")
        return collisions.scene

    def counters(self) -> dict[str, int | str]:
        """Return what was sent and received so far, and what was touched."""
        if self._contacts is None:
            return super().counters()
        smallest = self._contacts.smallest
        return {
            **super().counters(),
            "contacts": self._contacts.count,
            "smallest_distance": f"{smallest:.4f}" if math.isfinite(smallest) else "",
        }

    def trouble(self) -> str:
        """Return the first contact; empty where there was none."""
        if self._contacts is None or self._contacts.first is None:
            return ""
        return f"{self._contacts.count} contacts, the first of {self._contacts.first}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        MujocoRobot,
        arguments,
        name="mujoco_robot",
        finish=MujocoRobot.finish,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())

"""The node that stands in for a robot with the physics of MuJoCo, which nobody here wrote.

Topics, clock, sensors and control laws are those of `simulated_robot`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from robot_identification.dynamics.mujoco_loop import MujocoLoop
from robot_identification.nodes.mujoco_robot_parameters import PARAMETERS
from robot_identification.nodes.robot_simulator import Loop
from robot_identification.nodes.running import run
from robot_identification.nodes.simulated_robot import SimulatedRobot
from robot_identification.storage.mujoco_models import mujoco_robot


class MujocoRobot(SimulatedRobot):
    """Follows `joint_trajectory`, adds `feedforward_effort`, publishes `joint_states`."""

    def __init__(self) -> None:
        super().__init__("mujoco_robot", PARAMETERS)

    def _make_loop(self, values: Mapping[str, Any]) -> Loop:
        """Return what computes the motion."""
        model, drives = mujoco_robot(
            self._robot,
            values["robot"],
            model=values["model"],
            values=values["parameters_file"],
        )
        return MujocoLoop(
            self._robot,
            model,
            drives,
            rate_hz=values["control_rate"] or None,
            sample_rate_hz=self._rate,
            friction_time=values["friction_time"] or None,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(MujocoRobot, arguments, name="mujoco_robot", finish=MujocoRobot.finish)


if __name__ == "__main__":
    sys.exit(main())

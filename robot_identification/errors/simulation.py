"""Errors of the simulation of a robot."""

from __future__ import annotations

from robot_identification.errors.base import InputError, ResultRefusedError


class MassMatrixError(InputError):
    """Parameters make the mass matrix of a robot not positive definite, so it cannot be moved.

    Attributes:
        robot: the robot.
        index: number of the sample, counted from 0, where it was found.
    """

    def __init__(self, robot: str, index: int) -> None:
        self.robot = robot
        self.index = index
        super().__init__(
            f"{robot}: the mass matrix at sample {index} is not positive definite; "
            "the robot is not physically consistent: check masses, inertias and drive inertias"
        )


class SimulationError(ResultRefusedError):
    """A simulation left the numbers: positions, velocities or efforts became infinite.

    Attributes:
        time: simulated time of the last sound sample, in s.
    """

    def __init__(self, time: float, problem: str) -> None:
        self.time = time
        super().__init__(f"simulation stopped at {time:.6g} s: {problem}")

"""Errors of motions that are planned, certified and executed."""

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


class TrajectoryError(InputError):
    """A trajectory cannot be followed: names, times or values are wrong."""


class NotCertifiedError(ResultRefusedError):
    """A trajectory does not pass a check of its certificate, or none that passes was found.

    Attributes:
        check: name of the check, such as ``position``.
    """

    def __init__(self, check: str, problem: str) -> None:
        self.check = check
        super().__init__(f"not certified ({check}): {problem}")


class StaleStateError(InputError):
    """The joint states are too old, or the robot moves or is elsewhere: no motion may begin."""


class NoPlanError(InputError):
    """There is no certified plan, or not the one that is meant; the message says what to do."""


class NothingInterruptedError(InputError):
    """There is no experiment to go on from; the message says why and what to do."""


class NotActiveError(InputError):
    """A managed node does not do this in its state; the message says what to do.

    Attributes:
        node: full name of the node.
        state: its state.
    """

    def __init__(self, node: str, state: str) -> None:
        self.node, self.state = node, state
        remedy = {
            "unconfigured": f" and knows no robot: ros2 lifecycle set {node} configure",
            "inactive": f" and moves nothing: ros2 lifecycle set {node} activate",
            "finalized": ": start it again",
        }.get(state, ": wait until that is over")
        super().__init__(f"{node} is {state}{remedy}")

"""Joint states that a robot can have, and why others are refused: stamps, absurd values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.errors import InputError
from robot_identification.robot.arrays import Array
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common.joint_states import Sample, why_not_later

_BEYOND = 10.0  # times its limit: no joint gets there, whatever its limit is for
_UNKNOWN = 1e12  # SI units; what is larger is no measurement of any joint
_STUCK = 10  # states with one stamp: the driver does not say when they were measured


class UsableStates:
    """Hands on the states that a robot can have, each stamp once.

    What is worked on later has memory: a single absurd value in it would be felt for long.

    Args:
        robot: with the limits of its joints.

    Attributes:
        refusal: why states were refused since somebody set it to ""; the newest reason.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        joints = robot.active_joints
        self._limits = {
            "position": np.full(len(joints), _UNKNOWN),
            "velocity": np.array([_largest(joint.limits.velocity) for joint in joints]),
            "effort": np.array([_largest(joint.limits.effort) for joint in joints]),
        }
        self._stamp: int | None = None
        self._stuck = 0
        self.refusal = ""

    def of(self, samples: Sequence[Sample]) -> list[Sample]:
        """Return the samples, oldest first, that are of use."""
        fresh = [sample for sample in samples if self._is_fresh(sample.stamp)]
        if not fresh:
            return []
        try:
            possible = self._possible(fresh)
        except InputError as error:
            self.refusal = str(error)
            return []
        return [sample for sample, ok in zip(fresh, possible, strict=True) if ok]

    def _is_fresh(self, stamp: int) -> bool:
        """Tell whether a stamp is another one than that of the sample before."""
        fresh, self._stamp = stamp != self._stamp, stamp
        self._stuck = 0 if fresh else self._stuck + 1
        if self._stuck >= _STUCK:
            self.refusal = why_not_later(stamp)
        return fresh

    def _possible(self, samples: Sequence[Sample]) -> list[bool]:
        """Tell which samples a robot can have.

        Raises:
            SettingError: nobody has said what effort means, or a drive gain is missing.
        """
        none = np.zeros(len(self._limits["velocity"]))
        velocity = [none if s.velocity is None else s.velocity for s in samples]
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of that is refused
            signals = to_joint_side(
                self._robot,
                np.array([sample.position for sample in samples]),
                np.array(velocity),
                np.array([sample.effort for sample in samples]),
            )
        possible = np.ones(len(samples), dtype=np.bool_)
        for (name, largest), values in zip(self._limits.items(), signals, strict=True):
            within = np.abs(np.asarray(values)) <= largest  # not where it is NaN
            possible &= within.all(axis=1)
            if not within.all():
                self.refusal = self._why(name, np.asarray(values), within)
        return [bool(ok) for ok in possible]

    def _why(self, name: str, values: Array, within: npt.NDArray[np.bool_]) -> str:
        """Return what is wrong with the first of values that are not all within their limits."""
        sample, joint = np.argwhere(~within)[0]
        value, largest = values[sample, joint], self._limits[name][joint]
        limit = "any measurement" if largest == _UNKNOWN else f"{_BEYOND:g} times its limit"
        return (
            f"{name} of joint {self._robot.active_names[joint]} is {value:.4g} at the joint, "
            f"beyond {limit}; repair the driver, or the limits of the robot file"
        )


def _largest(limit: float | None) -> float:
    """Return how large a value may be; many URDFs have a limit of zero where none is known."""
    return _BEYOND * limit if limit else _UNKNOWN

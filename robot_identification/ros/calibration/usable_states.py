"""Joint states that a robot can have, and why others are refused: stamps, absurd values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from robot_identification.errors import InputError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common.joint_states import Sample, why_not_later

_BEYOND = 10.0  # times its limit: no joint gets there, whatever its limit is for
_UNKNOWN = 1e12  # SI units; what is larger is no measurement of any joint
_STUCK = 10  # states with one stamp: the driver does not say when they were measured


@by_value
@dataclass(frozen=True)
class JointSide:
    """Joint states in a row, on the joint side.

    Attributes:
        stamps: (samples,) header stamps in ns.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints) in rad/s or m/s; NaN in states that have none.
        effort: (samples, joints) in N m or N.
    """

    stamps: npt.NDArray[np.int64]
    position: Array
    velocity: Array
    effort: Array

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def has_velocity(self) -> npt.NDArray[np.bool_]:
        """(samples,) whether a state has velocities."""
        return np.asarray(~np.isnan(self.velocity[:, 0]))

    def chosen(self, samples: npt.NDArray[np.bool_]) -> JointSide:
        """Return some of the states."""
        if samples.all():
            return self
        return JointSide(*(getattr(self, column.name)[samples] for column in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[JointSide]) -> JointSide:
        """Return the states of parts, at least one, one behind the other."""
        return cls(
            *(np.concatenate([getattr(p, column.name) for p in parts]) for column in fields(cls))
        )


class UsableStates:
    """Hands on the states that a robot can have, on the joint side, each stamp once.

    What is worked on later has memory: a single absurd value in it would be felt for long.

    Args:
        robot: with the limits of its joints; it says what positions and efforts mean.

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
        self._none = JointSide(np.zeros(0, dtype=np.int64), *np.zeros((3, 0, len(joints))))
        self._stamp: int | None = None
        self._stuck = 0
        self.refusal = ""

    def of(self, samples: Sequence[Sample]) -> JointSide:
        """Return the samples, oldest first, that are of use."""
        fresh = [sample for sample in samples if self._is_fresh(sample.stamp)]
        if not fresh:
            return self._none
        try:
            return self._possible(self._joint_side(fresh))
        except InputError as error:
            self.refusal = str(error)
            return self._none

    def _is_fresh(self, stamp: int) -> bool:
        """Tell whether a stamp is another one than that of the sample before."""
        fresh, self._stamp = stamp != self._stamp, stamp
        self._stuck = 0 if fresh else self._stuck + 1
        if self._stuck >= _STUCK:
            self.refusal = why_not_later(stamp)
        return fresh

    def _joint_side(self, samples: Sequence[Sample]) -> JointSide:
        """Return samples, at least one, on the joint side; of absurd ones, what comes of them.

        Raises:
            SettingError: nobody has said what effort means, or a drive gain is missing.
        """
        unknown = np.full(len(self._limits["velocity"]), np.nan)
        velocity = [unknown if s.velocity is None else s.velocity for s in samples]
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of that is refused
            joints = to_joint_side(
                self._robot,
                np.array([sample.position for sample in samples]),
                np.array(velocity),
                np.array([sample.effort for sample in samples]),
            )
        return JointSide(
            np.array([sample.stamp for sample in samples], dtype=np.int64), *map(np.asarray, joints)
        )

    def _possible(self, states: JointSide) -> JointSide:
        """Return the states that a robot can have."""
        possible = np.ones(len(states), dtype=np.bool_)
        for name, largest in self._limits.items():
            values = getattr(states, name)
            within = np.abs(values) <= largest  # not where it is NaN
            if name == "velocity":
                within |= ~states.has_velocity[:, None]
            if not within.all():
                possible &= within.all(axis=1)
                self.refusal = self._why(name, values, within)
        return states.chosen(possible)

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

"""The geometry of a serial robot in the form that composite bodies need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_PARALLEL = 1e-9


@by_value
@dataclass(frozen=True)
class SerialChain:
    """A serial robot whose frames are placed in any way, with z along the joint axes.

    Lin 1992 places frames by modified Denavit-Hartenberg parameters.  His recursions use only that
    the z axis of frame j is the axis of joint j, so that general placements (those of a URDF) serve
    as well.  Of a translational joint the distance d along its own axis is the component of the
    constant translation on that axis, plus the joint position.

    Attributes:
        robot: the robot.
        prismatic: (joints,) whether a joint translates (K of eq. 8).
        rotation: (joints, 3, 3) constant orientation of frame j in frame j - 1.
        translation: (joints, 3) constant origin of frame j in frame j - 1, in m.
        gravity: (3,) acceleration of gravity in the base frame, in m/s^2.
    """

    robot: RobotModel
    prismatic: npt.NDArray[np.bool_]
    rotation: Array
    translation: Array
    gravity: Array

    @classmethod
    def of(cls, robot: RobotModel) -> SerialChain:
        """Return the chain of a robot.

        Raises:
            SettingError: the robot is a tree, or has closed loops.
        """
        for j, joint in enumerate(robot.joints):
            if joint.antecedent != j - 1:
                raise SettingError(
                    "robot",
                    robot.name,
                    f"joint {joint.name} starts a branch; one joint at a time is for serial "
                    "robots: use another method",
                )
        if robot.loops:
            raise SettingError(
                "robot",
                robot.name,
                f"joint {robot.loops[0].joint} follows others, so that no joint moves alone; "
                "use another method",
            )
        return cls(
            robot=robot,
            prismatic=read_only([j.type is JointType.PRISMATIC for j in robot.joints], np.bool_),
            rotation=read_only([joint.rotation for joint in robot.joints]),
            translation=read_only([joint.translation for joint in robot.joints]),
            gravity=robot.gravity,
        )

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.prismatic)

    def frames(self, position: npt.ArrayLike) -> tuple[Array, Array]:
        """Return orientations (joints, 3, 3) and origins (joints, 3) in the base frame.

        Args:
            position: (joints,) positions in rad or m.

        Raises:
            ShapeError: the number of positions is not that of the joints.
        """
        placed = forward_kinematics(self.robot, checked_vector("position", position, self.joints))
        return read_only(placed[:, :3, :3]), read_only(placed[:, :3, 3])

    def along(self, joint: int) -> float:
        """Return d' of a translational joint at position zero, in m (eq. 28)."""
        return float(self.rotation[joint][:, 2] @ self.translation[joint])

    def across(self, joint: int) -> Array:
        """Return the constant offset b of a translational joint in frame j - 1, in m (eq. 27)."""
        axis = self.rotation[joint][:, 2]
        return read_only(self.translation[joint] - axis * (axis @ self.translation[joint]))


def parallel(a: npt.ArrayLike, b: npt.ArrayLike) -> bool:
    """Tell whether two vectors are parallel or antiparallel, or one of them is zero.

    The sine of the angle between vectors longer than 1, and the distance of a shorter one from
    the line of the other, count as zero up to 1e-9.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    lengths = max(1.0, float(np.linalg.norm(first))) * max(1.0, float(np.linalg.norm(second)))
    return bool(np.linalg.norm(np.cross(first, second)) <= _PARALLEL * lengths)

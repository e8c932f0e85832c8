"""Wrench at a frame of the robot, from external joint efforts.

A wrench w = (force, moment) that acts at the origin of a frame moves the joints with the efforts
J^T w, where J is the Jacobian of the frame, both in the axes of the frame.  External efforts e with
the standard deviations d give it by least squares (Haddadin, De Luca and Albu-Schaeffer 2017), here
weighted:

    w = (J D^-2 J^T)^-1 J D^-2 e,    D = diag(d),

and the inverse is its covariance.  Near singular postures, and with fewer than six joints, what the
joints do not feel has a deviation without bounds; a component is told where its own is small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.joint import JointType
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.settings import Settings, setting

COMPONENTS = ("force_x", "force_y", "force_z", "torque_x", "torque_y", "torque_z")
"""Names of the components of a wrench, as geometry_msgs/Wrench has them."""

_LEVER = 0.1  # m, on which a force counts as its moment
_SCALE = np.array([1.0, 1.0, 1.0, _LEVER, _LEVER, _LEVER])
_NONE = 1e-9  # singular value, of the largest, that counts as none
_NOTHING = 1e-100  # 1/N, where the largest one is none
_LEAST = 1e-9  # N m or N, deviation of what has no noise


@dataclass(frozen=True)
class WrenchSettings(Settings):
    """Settings of the wrench at a frame."""

    force_only: bool = setting(
        "whether a force without a moment acts at the origin of the frame; three joints are enough "
        "then",
        False,
    )
    largest_deviation: float = setting(
        "standard deviation of a component above which it is not told; of a moment that of its "
        "force on a lever of 0.1 m",
        20.0,
        above=0.0,
        maximum=1e6,
        unit="N",
    )


@by_value
@dataclass(frozen=True)
class FrameWrenches:
    """Wrenches that act on a robot from outside, at the origin of a frame and in its axes.

    Attributes:
        frame: its name.
        stamps: (samples,) in ns.
        wrench: (samples, 6) force in N, moment in N m; NaN where a component is not told.
        deviation: (samples, 6) standard deviations; infinite there.
    """

    frame: str
    stamps: npt.NDArray[np.int64]
    wrench: Floats
    deviation: Floats

    @property
    def told(self) -> npt.NDArray[np.bool_]:
        """(samples, 6) whether a component is told."""
        return np.isfinite(self.deviation)


class WrenchEstimator:
    """Wrenches at a frame of a robot.

    Args:
        robot: the robot; of one with loops, the joints are those that can be moved independently.
        frame: where the wrench acts.
        settings: what is assumed, and what is told.

    Raises:
        SettingError: no joint that can be moved independently moves the frame.
    """

    def __init__(
        self, robot: RobotModel, frame: Mounting, settings: WrenchSettings | None = None
    ) -> None:
        self.settings = settings or WrenchSettings()
        self.frame = frame
        self._robot = robot
        self._follow, self._closing = loop_matrix(robot), loop_offset(robot)
        self._chain: list[int] = []
        joint = frame.joint
        while joint >= 0:
            self._chain.insert(0, joint)
            joint = robot.joints[joint].antecedent
        if not self._follow[self._chain].any():
            raise SettingError("frame", frame.frame, "is moved by no joint of its own")

    def jacobians(self, position: npt.ArrayLike) -> Floats:
        """Return (samples, 6, joints) Jacobians of the frame: velocity, then angular velocity.

        Args:
            position: (samples, joints) in rad or m.

        Raises:
            ShapeError: the number of joints differs.
        """
        q = np.asarray(position, dtype=np.float64)
        if q.ndim != 2 or q.shape[1] != self._follow.shape[1]:
            raise ShapeError("position", q.shape, f"(samples, {self._follow.shape[1]})")
        frames = forward_kinematics(self._robot, q @ self._follow.T + self._closing)
        last = frames[:, self.frame.joint]
        turn = last[:, :3, :3] @ self.frame.rotation
        place = last[:, :3, :3] @ self.frame.translation + last[:, :3, 3]
        carriers = frames[:, self._chain]
        axes, arms = carriers[..., :3, 2], place[:, None] - carriers[..., :3, 3]
        slides = [self._robot.joints[j].type is JointType.PRISMATIC for j in self._chain]
        along = np.array(slides)[:, None]
        moved = np.concatenate(
            [
                np.where(along, axes, np.cross(axes, arms)) @ turn,
                np.where(along, 0.0, axes) @ turn,
            ],
            axis=2,
        )
        return np.asarray(moved.transpose(0, 2, 1) @ self._follow[self._chain])

    def estimate(
        self,
        stamps: npt.NDArray[np.int64],
        position: npt.ArrayLike,
        effort: npt.ArrayLike,
        deviation: npt.ArrayLike,
    ) -> FrameWrenches:
        """Return the wrenches that external efforts stand for.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            effort: (samples, joints) external efforts in N m or N.
            deviation: (samples, joints) their standard deviations.

        Raises:
            ShapeError: the arrays do not fit.
        """
        tau, spread = (np.asarray(given, dtype=np.float64) for given in (effort, deviation))
        for name, given in (("effort", tau), ("deviation", spread)):
            if given.shape != np.shape(position):
                raise ShapeError(name, given.shape, str(np.shape(position)))
        unknown = 3 if self.settings.force_only else 6
        scale = _SCALE[:unknown]
        weight = 1.0 / np.maximum(spread, _LEAST)
        felt = self.jacobians(position)[:, :unknown] * scale[:, None] * weight[:, None]
        directions, sizes, joints = np.linalg.svd(felt, full_matrices=False)
        inverse = 1.0 / np.maximum(np.maximum(sizes, _NONE * sizes[:, :1]), _NOTHING)
        parts = np.einsum("srj,sj->sr", joints, tau * weight) * inverse
        found = np.einsum("scr,sr->sc", directions, parts)
        variance = np.einsum("scr,sr->sc", directions**2, inverse**2)
        # What no joint feels is what is left of the unit vectors.
        hidden = np.maximum(1.0 - (directions**2).sum(axis=2), 0.0)
        own = np.sqrt(variance + np.where(hidden > _NONE, np.inf, 0.0))
        told = own <= self.settings.largest_deviation
        wrench, error = np.zeros((2, len(tau), 6))
        wrench[:, :unknown] = np.where(told, scale * found, np.nan)
        error[:, :unknown] = np.where(told, scale * own, np.inf)
        return FrameWrenches(self.frame.frame, stamps, wrench, error)

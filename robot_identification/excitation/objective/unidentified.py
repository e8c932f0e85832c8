"""Parameters that are not identifiable from a trajectory, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.excitation.motions.random_points import base_regressor
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_RATE_HZ = 50.0
_LEAST_SIZE = 1e-3  # effect of a parameter, as a share of the largest
_LEAST_OWN = 1e-2  # part of it that no other parameter explains, as a share of it
_SMALL_TRAVEL = 0.1  # in rad or m
_FLOOR = 1e-12
_NO_EFFECT = "has no effect on any effort, whatever the motion"


@dataclass(frozen=True)
class Unidentified:
    """A parameter that is not identifiable from a trajectory.

    Attributes:
        name: of a standard parameter without effect, or of a base parameter.
        reason: one line.
    """

    name: str
    reason: str


def unidentified(base: BaseParameters, trajectory: Trajectory) -> tuple[Unidentified, ...]:
    """Return what is not identifiable from a trajectory: without effect first, then base ones.

    A base parameter counts as such if the root mean square of its effect, with units of 1, is
    below a thousandth of the largest one's, or if other parameters explain all but a hundredth of
    its effect.  Standard parameters that are grouped into others are identified with these.

    Args:
        base: base parameters of the robot.
        trajectory: joints in the robot's order.
    """
    names = base.standard_names
    found = [Unidentified(names[i], _NO_EFFECT) for i in base.unaffecting]
    if not base.rank:
        return tuple(found)
    q, W = base_regressor(base, trajectory, _RATE_HZ)
    sizes = np.linalg.norm(W, axis=0)
    largest = sizes.max()
    tiny = sizes <= _LEAST_SIZE * largest
    own, likeness = _independence(W[:, ~tiny] / sizes[~tiny])
    travel = np.ptp(q, axis=0)
    others = [base.names[i] for i in np.flatnonzero(~tiny)]
    for i, name in enumerate(base.names):
        if tiny[i]:
            why = (
                f"its effect on the efforts is {sizes[i] / largest:.1g} of the largest one's"
                if largest
                else "no effort depends on any parameter along this motion"
            )
        else:
            k = int(np.count_nonzero(~tiny[:i]))
            if own[k] > _LEAST_OWN:
                continue
            nearest = np.argsort(-likeness[k])[:2]
            alike = " and ".join(others[n] for n in nearest if likeness[k, n] > 0.0)
            why = f"its effect can hardly be distinguished from that of {alike}"
        found.append(Unidentified(name, why + _little_motion(base, i, travel)))
    return tuple(found)


def _independence(scaled: Array) -> tuple[Array, Array]:
    """Return how far every unit column is from the span of the others, and what it is like.

    Args:
        scaled: (rows, columns) with columns of length 1.

    Returns:
        (columns,) distances, and (columns, columns) sizes of the coefficients with which others
        explain a column; 0 on the diagonal.
    """
    _, s, vt = np.linalg.svd(scaled, full_matrices=False)
    inverse = (vt.T / np.maximum(s, _FLOOR * s.max(initial=0.0)) ** 2) @ vt
    diagonal = np.diag(inverse)
    likeness = np.abs(inverse) / diagonal[:, None]
    np.fill_diagonal(likeness, 0.0)
    return 1.0 / np.sqrt(diagonal), likeness


def _little_motion(base: BaseParameters, place: int, travel: Array) -> str:
    """Tell which joints up to the parameter's own move little, and what their limits allow."""
    robot, column = base.robot, int(base.base_columns[place])
    joint = column // robot.layout.per_joint
    moved = np.arange(len(robot.joints)) if joint >= len(robot.joints) else _carriers(robot, joint)
    words = []
    for j in moved[travel[moved] < _SMALL_TRAVEL]:
        limits = robot.joints[j].limits
        unit = "m" if robot.joints[j].type is JointType.PRISMATIC else "rad"
        text = f"{robot.joint_names[j]} moves by {travel[j]:.2g} {unit} only"
        if limits.lower is not None and limits.upper is not None:
            text += f", its limits allow {limits.upper - limits.lower:.2g} {unit}"
        words.append(text)
    return f"; {'; '.join(words)}" if words else ""


def _carriers(robot: RobotModel, joint: int) -> npt.NDArray[np.intp]:
    """Return the joints that move a link, its own included."""
    return np.flatnonzero(robot.ancestors[:, joint])

"""Measured joints that follow others: do they go where the relations of the loops put them?

Whatever is made of a recording goes by the relations; a measured follower tells whether they hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.errors import LoopMismatchError
from robot_identification.robot.joint import JointType
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import RobotModel

# An angle that is wrong by d makes the gravity of what hangs on it wrong by d of its size: 0.01 is
# a part of what the best fits of measured robots leave, 0.1 more than all of it.
_TOLD = 0.01
_REFUSED = 0.1
# A slide that stands still has no way of which the noise of its sensor were a part; in m.
_LEAST_WAY = 0.01
# What moves less than this part of its relation is a column that a driver fills, not a sensor.
_STILL = 1e-3


def follower_warning(
    robot: RobotModel, name: str, active: npt.ArrayLike, measured: npt.ArrayLike, source: str = ""
) -> str | None:
    """Return what is to be said of a measured joint that follows others, None where all is well.

    Args:
        robot: its loops.
        name: the joint.
        active: (samples, active) positions of the joints that it follows and of all others that
            can be moved independently, on the joint side.
        measured: (samples,) its own ones.
        source: the recording.

    Raises:
        LoopMismatchError: it is off its relation by more than 0.1 rad (root mean square), for a
            prismatic joint by more than a tenth of its way, which counts as 1 cm at least.
    """
    place = robot.joint_names.index(name)
    follow, offset = loop_matrix(robot)[place], loop_offset(robot)[place]
    expected = np.asarray(active, dtype=np.float64) @ follow + offset
    own = np.asarray(measured, dtype=np.float64)
    if not len(own):
        return None  # its driver never measures at the instants of the others
    way = float(np.ptp(expected))
    if not np.isfinite(own).all() or float(np.ptp(own)) < _STILL * way:
        return (
            f"{source}: the positions of {name} are not measured, or it does not move; they are "
            "computed from the joints that it follows"
        )
    deviation = float(np.sqrt(np.mean((own - expected) ** 2)))
    prismatic = robot.joints[place].type is JointType.PRISMATIC
    share = deviation / max(way, _LEAST_WAY) if prismatic else deviation
    if share > _REFUSED:
        raise LoopMismatchError(name, deviation, float(np.mean(own - expected)), source)
    if share > _TOLD:
        unit = "m" if prismatic else "rad"
        return (
            f"{source}: {name} is off the relation of its loop by {deviation:.3g} {unit} (root "
            "mean square); positions are those of the relation"
        )
    return None

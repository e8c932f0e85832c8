"""Rows of friction that follows the load: sign(v) |T|, with T an effort that a joint hands on.

T is that of bodies, drive inertias and springs between links, or of weight and springs alone, with
the parameters that the robot model carries (``RobotModel.loads``).  A compensator that is fastened
to links spares the transmission, so that it belongs to T; a joint's own spring is taken as part of
the drive.  T is a combination of base parameters, but for joints where that drive's own terms are
grouped with what it carries, for which base parameters refuse such friction.  Where nobody has
said any, as when only the structure of a robot counts, every parameter counts as 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.robot.terms.kinds import TermKind

if TYPE_CHECKING:
    from robot_identification.dynamics.regressor import Regressor


@dataclass(frozen=True, eq=False)
class LoadRows:
    """Rows of load-dependent friction of a robot.

    Attributes:
        regressor: of the robot without such friction, for the parameters below.
        values: (its columns,) parameters whose efforts count.
        gravity: (joint, column) of the full regressor of friction that follows the weight.
        whole: the same of friction that follows all of bodies and drives.
    """

    regressor: Regressor
    values: Array
    gravity: tuple[tuple[int, int], ...]
    whole: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, robot: RobotModel, columns: npt.NDArray[np.intp]) -> LoadRows | None:
        """Return the rows of a robot; None where none of the chosen columns needs them.

        Args:
            robot: the robot.
            columns: of the full regressor.

        Raises:
            SettingError: the robot has loops.
            ShapeError: the robot carries another number of parameters than it has.
        """
        if not robot.follows_load:
            return None
        refuse_loops(robot, "friction that follows the load")
        chosen = set(columns.tolist())
        found = [
            tuple(
                (joint, column)
                for joint in range(len(robot.joints))
                for column in robot.layout.columns(joint, kind)
                if column in chosen
            )
            for kind in (TermKind.GRAVITY_LOAD, TermKind.LOAD)
        ]
        if not any(found):
            return None
        from robot_identification.dynamics.regressor import Regressor

        carried = carried_columns(robot)
        loads = np.ones(len(robot.all_parameter_names)) if robot.loads is None else robot.loads
        if loads.shape != (len(robot.all_parameter_names),):
            raise ShapeError("loads", loads.shape, f"({len(robot.all_parameter_names)},)")
        own = carried[loads[carried] != 0.0]
        return cls(Regressor(robot, own), np.asarray(loads[own]), *found)

    def put(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        signs: Array,
        slots: npt.NDArray[np.int64],
        out: Array,
    ) -> None:
        """Fill the rows.

        Args:
            q: (joints, samples) positions.
            qd: (joints, samples) velocities.
            qdd: (joints, samples) accelerations.
            signs: (joints, samples) those of the velocities, or what stands for them.
            slots: (joints, full columns) row of ``out``; -1 where it is not wanted.
            out: (rows, samples) result.
        """
        still = np.zeros_like(q)
        for places, rates in ((self.gravity, (still, still)), (self.whole, (qd, qdd))):
            if places:
                efforts = self._efforts(q, *rates, [joint for joint, _ in places])
                for (joint, column), effort in zip(places, efforts, strict=True):
                    out[slots[joint, column]] = signs[joint] * np.abs(effort)

    def _efforts(self, q: Array, qd: Array, qdd: Array, joints: list[int]) -> list[Array]:
        compact = self.regressor.compact(q, qd, qdd)
        rows = [self.regressor.joint_rows[joint] for joint in joints]
        return [self.values[row.columns] @ compact[row.rows] for row in rows]


def carried_columns(robot: RobotModel) -> npt.NDArray[np.intp]:
    """Return the columns of bodies, drive inertias (also of couplings) and springs of links."""
    carried = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
    table = robot.layout.table(carried)
    table[:, :LINK_PARAMETERS] = True
    for place, term in robot.layout.places:
        table[:, place] = term.kind is TermKind.INERTIA
    others = {c.parameter for c in robot.couplings if c.kind is TermKind.INERTIA}
    others |= {parameter.name for spring in robot.springs for parameter in spring.parameters}
    carried |= np.array([name in others for name in robot.all_parameter_names])
    return np.flatnonzero(carried)

"""Springs between points of links: their columns of the regressor, their energies, and as arrays.

The effort that holds against a spring is the force in it times dl/dq, with the length l of its line
(principle of virtual work): see :mod:`robot_identification.robot.terms.springs` for the forces, and
:mod:`.kernels.springs` for l and dl/dq.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.dynamics.kernels import springs as kernels
from robot_identification.dynamics.kernels.mass import lanes_of
from robot_identification.dynamics.tree import Floats, Integers, Tree
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS


class SpringArrays(NamedTuple):
    """Springs of a robot, the form that compiled code takes.

    Attributes:
        joint: (springs, 2) joints that move the ends, -1 for the base.
        top: (springs,) joint nearest to the ends that moves both, -1 for none.
        point: (springs, 2, 3) ends in the frames of these joints, in m.
        length: (springs,) at which the force is the preload, in m.
        preload: (springs,) force that pulls the ends together there, in N.
        stiffness: (springs,) in N/m.
    """

    joint: Integers
    top: Integers
    point: Floats
    length: Floats
    preload: Floats
    stiffness: Floats


def spring_arrays(robot: RobotModel, values: npt.ArrayLike | None = None) -> SpringArrays:
    """Return the springs of a robot as arrays.

    Args:
        robot: the robot.
        values: (full columns,) parameters; by default 0.
    """
    names = robot.all_parameter_names
    vector = np.zeros(len(names)) if values is None else np.asarray(values, dtype=np.float64)
    known = dict(zip(names, vector.tolist(), strict=True)) if robot.springs else {}
    ends = [[end.joint for end in spring.ends] for spring in robot.springs]
    count = len(ends)
    return SpringArrays(
        joint=np.array(ends, dtype=np.int64).reshape(count, 2),
        top=np.array([_common(robot, *own) for own in ends], dtype=np.int64),
        point=np.array(
            [[end.point for end in s.ends] for s in robot.springs], dtype=np.float64
        ).reshape(count, 2, 3),
        length=np.array([spring.length for spring in robot.springs], dtype=np.float64),
        preload=np.array(
            [s.pull * known.get(s.preload_name, 0.0) for s in robot.springs], dtype=np.float64
        ),
        stiffness=np.array(
            [known.get(s.stiffness_name, 0.0) for s in robot.springs], dtype=np.float64
        ),
    )


def _common(robot: RobotModel, first: int, second: int) -> int:
    """Return the last joint that moves two links, -1 where none moves both."""
    if first < 0 or second < 0:
        return -1
    both = np.flatnonzero(robot.ancestors[:, first] & robot.ancestors[:, second])
    return int(both[-1]) if len(both) else -1


_STEP = 1e-5
"""Half the distance, in rad or m, of postures whose dl/dq are compared."""


class SpringRows:
    """Columns of the springs of a robot in its regressor, and in its energy.

    Args:
        robot: with springs.
        tree: its kinematic tree.
    """

    def __init__(self, robot: RobotModel, tree: Tree) -> None:
        joints = len(robot.joints)
        none = np.zeros((joints, joints))
        self._springs = spring_arrays(robot)
        self._antecedent = tree.antecedent
        self._lanes = lanes_of(tree, np.zeros((joints, LINK_PARAMETERS)), none, none, none[0])
        self._pulls = [spring.pull for spring in robot.springs]
        names = robot.all_parameter_names
        self._columns = [
            tuple(
                names.index(name) if there else -1
                for name, there in (
                    (spring.preload_name, spring.preload),
                    (spring.stiffness_name, spring.stiffness),
                )
            )
            for spring in robot.springs
        ]

    def put(self, q: Floats, slots: npt.NDArray[np.int64], out: Floats) -> None:
        """Fill the rows of the regressor.

        Args:
            q: (joints, samples) positions of the tree.
            slots: (joints, full columns) row of ``out``; -1 where it is not wanted.
            out: (rows, samples) result.
        """
        lengths, rates = self._stretches(q)
        for s, (preload, stiffness) in enumerate(self._columns):
            for column, factor in (
                (preload, self._pulls[s]),
                (stiffness, lengths[s] - self._springs.length[s]),
            ):
                for joint in range(len(q) if column >= 0 else 0):
                    if slots[joint, column] >= 0:
                        out[slots[joint, column]] = factor * rates[s, :, joint]

    def pull(self, q: Floats, slots: npt.NDArray[np.int64], onto_rows: Floats) -> Floats:
        """Return the derivatives over positions of what has derivatives over the rows.

        Those of dl/dq along a direction are differences of its values nearby, to some 1e-9.

        Args:
            q: (joints, samples) positions of the tree.
            slots: as for :meth:`put`.
            onto_rows: (rows, samples).

        Returns:
            (joints, samples).
        """
        lengths, rates = self._stretches(q)
        onto = np.zeros_like(q)
        for s, (preload, stiffness) in enumerate(self._columns):
            # The weighted sum of the rows is c . dl/dq, with c = pull x + (l - L) y.
            x, y = (self._of_joints(column, slots, onto_rows, q) for column in (preload, stiffness))
            c = self._pulls[s] * x + (lengths[s] - self._springs.length[s]) * y
            size = np.linalg.norm(c, axis=0)
            step = _STEP / np.where(size > 0.0, size, 1.0) * c
            ahead, behind = (self._stretches(q + way)[1][s].T for way in (step, -step))
            onto += (ahead - behind) * (size / (2.0 * _STEP))
            onto += np.sum(y * rates[s].T, axis=0) * rates[s].T
        return onto

    def _of_joints(
        self, column: int, slots: npt.NDArray[np.int64], rows: Floats, q: Floats
    ) -> Floats:
        """Return (joints, samples) the rows of a column, zero where there is none."""
        found = np.zeros_like(q)
        for joint in range(len(q) if column >= 0 else 0):
            if slots[joint, column] >= 0:
                found[joint] = rows[slots[joint, column]]
        return found

    def put_energies(self, q: Floats, slots: npt.NDArray[np.int64], out: Floats) -> None:
        """Fill the energies per unit of the parameters.

        Args:
            q: (joints, samples) positions of the tree.
            slots: (full columns,) row of ``out``; -1 where it is not wanted.
            out: (rows, samples) result.
        """
        lengths, _ = self._stretches(q)
        for s, (preload, stiffness) in enumerate(self._columns):
            beyond = lengths[s] - self._springs.length[s]
            for column, energy in ((preload, self._pulls[s] * beyond), (stiffness, beyond**2 / 2)):
                if column >= 0 and slots[column] >= 0:
                    out[slots[column]] = energy

    def _stretches(self, q: Floats) -> tuple[Floats, Floats]:
        """Return (springs, samples) lengths and (springs, samples, joints) derivatives."""
        lengths = np.empty((len(self._columns), q.shape[1]))
        rates = np.empty((*lengths.shape, len(q)))
        (positions,) = as_compiled(q)
        kernels.stretches(self._springs, self._antecedent, self._lanes, positions, lengths, rates)
        return lengths, rates

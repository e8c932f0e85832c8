"""Inverse dynamic identification model: tau = W(q, qd, qdd) chi (Gautier et al. 2013, eq. 1, 15).

The regressor W is sparse in a known way: the effort of joint k depends only on links that joint k
moves.  :class:`Regressor` therefore keeps, for each joint, only the columns that can differ from
zero; everything that follows (decimation, factorisation) works on these.

Joints here are those that can be moved independently; without loops, all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.dynamics.friction import coulomb_terms_of
from robot_identification.dynamics.kernels import regressor as kernels
from robot_identification.dynamics.loads import LoadRows
from robot_identification.dynamics.loop_rows import LoopProjection
from robot_identification.dynamics.springs import SpringRows
from robot_identification.dynamics.tree import (
    CouplingTerms,
    Floats,
    Tree,
    coupling_terms_of,
    structure_of,
    tree_of,
)
from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import by_value, checked_vector, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

_SAMPLES_AT_A_TIME = 2048
"""Samples of a robot with loops whose tree is evaluated together: some megabytes."""


@by_value
@dataclass(frozen=True)
class JointRows:
    """The part of a regressor that belongs to the effort of one joint.

    Attributes:
        columns: (entries,) places of the non-zero columns among the regressor's columns.
        first: row of the compact form that holds the first of them.
    """

    columns: npt.NDArray[np.intp]
    first: int

    @property
    def rows(self) -> slice:
        """Rows of the compact form that belong to this joint."""
        return slice(self.first, self.first + len(self.columns))


class Regressor:
    """Regressor of a robot for a choice of columns, evaluated for all samples at once.

    Args:
        robot: the robot.
        columns: columns of the full regressor (in the order of ``robot.all_parameter_names``)
            to evaluate; by default the standard parameters that belong to the model.
        spare: rows of the compact form left free behind those of each joint, for example one for
            the measured effort.
    """

    def __init__(
        self, robot: RobotModel, columns: npt.ArrayLike | None = None, *, spare: int = 0
    ) -> None:
        chosen = robot.standard_indices if columns is None else np.asarray(columns, dtype=np.intp)
        self.robot = robot
        self.columns = read_only(chosen, np.intp)
        self._tree: Tree = tree_of(robot)
        self._coupling: CouplingTerms = coupling_terms_of(robot)
        self._coulomb = coulomb_terms_of(robot)
        self._loads = LoadRows.of(robot, self.columns)
        self._springs = SpringRows(robot, self._tree) if robot.springs else None
        structure = structure_of(robot)
        self._slots = np.full(structure.shape, -1, dtype=np.int64)
        joint_rows = []
        first, between = 0, 0 if robot.loops else spare
        for k in range(len(robot.joints)):
            present = np.flatnonzero(structure[k, self.columns])
            self._slots[k, self.columns[present]] = first + np.arange(len(present))
            joint_rows.append(JointRows(columns=present, first=first))
            first += len(present) + between
        self.joint_rows = tuple(joint_rows)
        self.compact_rows = first
        self._projection: LoopProjection | None = None
        if robot.loops:
            entries = [joint.columns for joint in joint_rows]
            self._projection = LoopProjection(robot, entries, self._tree_rows, spare)
            self.joint_rows = tuple(
                map(JointRows, self._projection.entries, self._projection.first)
            )
            self.compact_rows = self._projection.compact_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, one per column."""
        return tuple(self.robot.all_parameter_names[i] for i in self.columns)

    @cached_property
    def _coupled_rows(self) -> npt.NDArray[np.int64]:
        """Rows of the compact form that couplings add to."""
        rows = self._slots[self._coupling.joint, self._coupling.column]
        return rows[rows >= 0]

    def compact(
        self,
        q: Floats,
        qd: Floats,
        qdd: Floats,
        out: Floats | None = None,
        shares: Floats | None = None,
        temperature: Floats | None = None,
    ) -> Floats:
        """Return the structurally non-zero entries, one row per entry, samples side by side.

        Args:
            q: (joints, samples) positions in rad or m, of the joints that can be moved
                independently.
            qd: (joints, samples) velocities.
            qdd: (joints, samples) accelerations.
            out: (compact_rows, samples) array to fill; a new one by default.
            shares: (motions, samples) what stands for the signs of the friction motions of
                :func:`~robot_identification.dynamics.friction.coulomb_terms_of`; by default
                the signs of their velocities.
            temperature: (joints, samples) of the joints in degrees Celsius; by default those that
                the robot file takes for reference.

        Returns:
            (compact_rows, samples); ``joint_rows[k].rows`` are the rows of joint k.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        joints = len(self.robot.active_joints)
        if q.ndim != 2 or q.shape[0] != joints:
            raise ShapeError("q", q.shape, f"({joints}, samples)")
        for name, array in (("qd", qd), ("qdd", qdd)):
            if array.shape != q.shape:
                raise ShapeError(name, array.shape, str(q.shape))
        if out is None:
            out = np.zeros((self.compact_rows, q.shape[1]))
        if self._projection is None:
            self._fill(q, qd, qdd, out, shares)
            self._put_temperature(qd, shares, temperature, out)
            return out
        motion = self._projection.motion(q, qd, qdd)
        for begin in range(0, q.shape[1], _SAMPLES_AT_A_TIME):
            now = slice(begin, begin + _SAMPLES_AT_A_TIME)
            own = None if shares is None else shares[:, now]
            tree = self._tree_rows(motion[0][:, now], motion[1][:, now], motion[2][:, now], own)
            self._projection.put(tree, out[:, now])
        return out

    def _tree_rows(
        self, q: Floats, qd: Floats, qdd: Floats, shares: Floats | None = None
    ) -> Floats:
        """Return the compact regressor of the tree, loops cut open, without spare rows."""
        rows = 1 + max(int(self._slots.max()), -1)
        return self._fill(q, qd, qdd, np.zeros((rows, q.shape[1])), shares)

    def _fill(
        self, q: Floats, qd: Floats, qdd: Floats, out: Floats, shares: Floats | None
    ) -> Floats:
        """Fill the compact regressor of the tree."""
        out[self._coupled_rows] = 0.0
        signals = as_compiled(q, qd, qdd)
        kernels.regressor_rows(self._tree, self._coupling, *signals, self._slots, out)
        if self._springs is not None:
            self._springs.put(q, self._slots, out)
        self._put_user_terms(q, qd, qdd, out)
        if shares is not None:
            self._put_shares(shares, qd, out)
        if self._loads is not None:
            signs = np.sign(qd) if shares is None else self._coulomb.of_joints(shares, qd)
            self._loads.put(q, qd, qdd, signs, self._slots, out)
        return out

    def _put_user_terms(self, q: Floats, qd: Floats, qdd: Floats, out: Floats) -> None:
        """Fill the rows of terms of users."""
        names = self.robot.all_parameter_names
        for own in self.robot.user_terms:
            rows = [int(self._slots[own.joint, names.index(p.name)]) for p in own.parameters]
            if max(rows) >= 0:
                values = own.term.rows(q[own.joint], qd[own.joint], qdd[own.joint])
                for row, value in zip(rows, values, strict=True):
                    if row >= 0:
                        out[row] = value

    def _put_temperature(
        self, qd: Floats, shares: Floats | None, temperature: Floats | None, out: Floats
    ) -> None:
        """Fill the rows of what changes with temperatures; robots with loops have none."""
        names = self.robot.all_parameter_names
        for own in self.robot.temperature_terms:
            row = self._slots[own.joint, names.index(own.parameter.name)]
            if row < 0:
                continue
            if temperature is None:
                out[row] = 0.0
                continue
            if shares is not None and own.kind is TermKind.COULOMB:
                out[row] = self._coulomb.of_joints(shares, qd)[own.joint]
            else:
                out[row] = own.kind.of(qd[own.joint])
            out[row] *= temperature[own.joint] - own.reference

    def _put_shares(self, shares: Floats, qd: Floats, out: Floats) -> None:
        """Replace the rows of Coulomb friction, and of Stribeck's, by those that shares give."""
        terms = self._coulomb
        if len(shares) != len(terms.motions):
            raise ShapeError("shares", shares.shape, f"({len(terms.motions)}, samples)")
        rows = self._slots[terms.joint, terms.column]
        out[rows[rows >= 0]] = 0.0
        for row, motion, factor in zip(rows, terms.motion, terms.factor, strict=True):
            if row >= 0:
                out[row] += factor * shares[motion]
        for joint, of_joint in enumerate(self.robot.joints):
            for column in self.robot.layout.columns(joint, TermKind.STRIBECK):
                row = self._slots[joint, column]
                if row >= 0:
                    term = self.robot.layout.term_of(column)
                    speed = np.maximum(np.abs(qd[joint]), np.finfo(float).tiny)
                    height = term.kind.of(speed, shape=of_joint.shape_of(term))
                    out[row] = height * self._coulomb.of_joints(shares, qd)[joint]

    def dense(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Floats:
        """Return the regressor of every sample, zeros included.

        Args:
            q: (samples, joints) positions in rad or m.
            qd: (samples, joints) velocities.
            qdd: (samples, joints) accelerations.

        Returns:
            (samples, joints, parameters).

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        signals = as_compiled(*(np.atleast_2d(x).T for x in (q, qd, qdd)))
        compact = self.compact(*signals)
        samples = signals[0].shape[1]
        result = np.zeros((samples, len(self.joint_rows), len(self.columns)))
        for k, joint in enumerate(self.joint_rows):
            result[:, k, joint.columns] = compact[joint.rows].T
        return result


def inverse_dynamics(
    robot: RobotModel,
    values: npt.ArrayLike,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
) -> Floats:
    """Return the joint efforts of a motion (Gautier et al. 2013, eq. 1).

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        q: (samples, joints) positions in rad or m.
        qd: (samples, joints) velocities.
        qdd: (samples, joints) accelerations.

    Returns:
        (samples, joints) efforts in N m or N.

    Friction that follows the load follows that of these parameters.

    Raises:
        ShapeError: if an array has the wrong shape.
    """
    full = len(robot.all_parameter_names)
    chi = checked_vector("values", values, full)
    return Regressor(robot.loaded_by(chi), np.arange(full)).dense(q, qd, qdd) @ chi

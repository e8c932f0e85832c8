"""Energy model: the total energy of a robot is H = h(q, qd) chi (Gautier 1991, eq. 10).

Between two instants the work of the efforts is the difference of the energies (eq. 11), so that
differences of h identify the same parameters as the efforts themselves, without accelerations.
h itself is defined up to constants: only its differences may decide a rank, because a combination
of its columns can equal a constant without being zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.dynamics.kernels import energy as energy_kernels
from robot_identification.dynamics.kernels.terms import ACCELERATION
from robot_identification.dynamics.springs import SpringRows
from robot_identification.dynamics.tree import CouplingTerms, Floats, coupling_terms_of, tree_of
from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import checked_vector, read_only
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS


class EnergyRegressor:
    """Energy functions of a robot for a choice of columns, evaluated for all samples at once.

    Bodies, drives and springs between links store energy.  Friction and offsets do not, and neither
    does a coupling whose efforts do not derive from one; their columns are zero and
    :attr:`contained` says so.

    Args:
        robot: the robot.
        columns: columns of the full regressor (in the order of ``robot.all_parameter_names``)
            to evaluate; by default the standard parameters that belong to the model.
    """

    def __init__(self, robot: RobotModel, columns: npt.ArrayLike | None = None) -> None:
        chosen = robot.standard_indices if columns is None else np.asarray(columns, dtype=np.intp)
        self.robot = robot
        self.columns = read_only(chosen, np.intp)
        self._tree = tree_of(robot)
        self._springs = SpringRows(robot, self._tree) if robot.springs else None
        self._follow, self._closing = loop_matrix(robot), loop_offset(robot)
        self._quadratic, lossy = _quadratic_terms(robot)
        stored = _stored(robot)
        stored[lossy] = False
        self.contained = read_only(stored[self.columns], np.bool_)
        self._slots = np.full(len(stored), -1, dtype=np.int64)
        kept = np.flatnonzero(self.contained)
        self._slots[self.columns[kept]] = kept

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, one per column."""
        return tuple(self.robot.all_parameter_names[i] for i in self.columns)

    def rows(self, q: Floats, qd: Floats, out: Floats | None = None) -> Floats:
        """Return the energy functions, one row per parameter, samples side by side.

        Args:
            q: (joints, samples) positions in rad or m.
            qd: (joints, samples) velocities.
            out: (parameters, samples) array to fill; a new one by default.

        Returns:
            (parameters, samples) energies per unit of each parameter.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        joints = len(self.robot.active_joints)
        if q.ndim != 2 or q.shape[0] != joints:
            raise ShapeError("q", q.shape, f"({joints}, samples)")
        if qd.shape != q.shape:
            raise ShapeError("qd", qd.shape, str(q.shape))
        shape = (len(self.columns), q.shape[1])
        if out is None:
            out = np.zeros(shape)
        elif out.shape != shape:
            raise ShapeError("out", out.shape, str(shape))
        out[:] = 0.0
        if self.robot.loops:
            q, qd = self._follow @ q + self._closing[:, None], self._follow @ qd
        q, qd = as_compiled(q, qd)
        energy_kernels.energy_rows(self._tree, self._quadratic, q, qd, self._slots, out)
        if self._springs is not None:
            self._springs.put_energies(q, self._slots, out)
        return out

    def dense(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Floats:
        """Return the row vector h of every sample.

        Args:
            q: (samples, joints) positions in rad or m.
            qd: (samples, joints) velocities.

        Returns:
            (samples, parameters) energies per unit of each parameter.

        Raises:
            ShapeError: if the arrays do not have the robot's number of joints or differ in shape.
        """
        signals = as_compiled(*(np.atleast_2d(x).T for x in (q, qd)))
        return np.ascontiguousarray(self.rows(*signals).T)

    def differences(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Floats:
        """Return h(i + 1) - h(i) of consecutive samples (Gautier 1991, eq. 11).

        Args:
            q: (samples, joints) positions in rad or m.
            qd: (samples, joints) velocities.

        Returns:
            (samples - 1, parameters).

        Raises:
            ShapeError: as for :meth:`dense`.
        """
        return np.diff(self.dense(q, qd), axis=0)


def total_energy(
    robot: RobotModel, values: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike
) -> Floats:
    """Return kinetic plus potential energy (Gautier 1991, eq. 10).

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        q: (samples, joints) positions in rad or m.
        qd: (samples, joints) velocities.

    Returns:
        (samples,) energies in J.

    Raises:
        ShapeError: if an array has the wrong shape.
    """
    full = len(robot.all_parameter_names)
    chi = checked_vector("values", values, full)
    return EnergyRegressor(robot, np.arange(full)).dense(q, qd) @ chi


def _stored(robot: RobotModel) -> npt.NDArray[np.bool_]:
    """Return which columns of the full regressor belong to bodies, drives and springs of links."""
    stored = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
    table = robot.layout.table(stored)
    table[:, :LINK_PARAMETERS] = True
    for place, term in robot.layout.places:
        table[:, place] = term.kind.stores_energy
    terms = coupling_terms_of(robot)
    stored[terms.column[terms.kind == ACCELERATION]] = True
    springs = {parameter.name for spring in robot.springs for parameter in spring.parameters}
    stored |= np.array([name in springs for name in robot.all_parameter_names])
    return stored


def _quadratic_terms(robot: RobotModel) -> tuple[CouplingTerms, list[int]]:
    """Return the inertia couplings, and the columns whose efforts do not derive from an energy.

    The coupling efforts C qdd derive from 1/2 qd.C qd exactly if C is symmetric.
    """
    terms = coupling_terms_of(robot)
    inertia = terms.kind == ACCELERATION
    lossy = []
    for column in np.unique(terms.column[inertia]):
        matrix = np.zeros((len(robot.joints), len(robot.joints)))
        for i in np.flatnonzero(inertia & (terms.column == column)):
            matrix[terms.joint[i]] += terms.gain[i] * terms.motion[i]
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
            lossy.append(int(column))
    keep = inertia & ~np.isin(terms.column, lossy)
    return CouplingTerms(*(part[keep] for part in terms)), lossy

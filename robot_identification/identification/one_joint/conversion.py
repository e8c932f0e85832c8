"""Inertia constants, drives and friction on one side, base parameters on the other.

Both are bases of the same space: every combination of standard parameters that efforts can tell.
The inertia constants of Theorem 2 span it as far as links go.  What joints add (drive inertia,
friction, offset, couplings) is taken as it is where it can be told apart.  A drive inertia that
cannot is grouped with a constant of its own joint: U33 of the first rotational joint, for example,
is never seen without Ia (Lin 1992 leaves drive inertias out).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.dynamics.tree import structure_of
from robot_identification.errors import RankError, ShapeError
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.one_joint.chain import SerialChain
from robot_identification.identification.one_joint.constants import constants_matrix
from robot_identification.identification.one_joint.minimal import MinimalSet, theorem_2
from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.processing.complete import Processing

_REASON = "; none for joints without Coulomb friction, which are informative while they hold"


def keeping_held_joints(robot: RobotModel, processing: Processing) -> Processing:
    """Return settings without velocity thresholds for joints that have no Coulomb friction.

    Thresholds that an option or the robot file states stay as they are.

    Args:
        robot: the robot.
        processing: complete settings.
    """
    reason = processing.reasons.get("velocity_threshold", "")
    refuse_loops(robot, "the identification of one joint at a time")
    rubbing = [rubs(robot, j) for j in range(len(robot.joints))]
    if not reason.startswith("derived") or all(rubbing):
        return processing
    thresholds = tuple(
        threshold if rubs else 0.0
        for threshold, rubs in zip(processing.velocity_threshold, rubbing, strict=True)
    )
    reasons = {**processing.reasons, "velocity_threshold": reason + _REASON}
    return replace(processing, velocity_threshold=thresholds, reasons=reasons)


def rubs(robot: RobotModel, joint: int) -> bool:
    """Tell whether Coulomb friction acts on a joint, its own or that of a coupling.

    Args:
        robot: the robot.
        joint: index of the joint.
    """
    name = robot.joint_names[joint]
    return robot.joints[joint].has(TermKind.COULOMB) or any(
        coupling.kind is TermKind.COULOMB and any(term.on.get(name, 0.0) for term in coupling.terms)
        for coupling in robot.couplings
    )


_NEGLIGIBLE = 1e-9


@by_value
@dataclass(frozen=True)
class JointwiseParameters:
    """Parameters in the order in which one joint at a time tells them: body by body.

    The effort of a joint depends on the parameters of its own block and of later blocks only.

    Attributes:
        base: base parameters of the robot.
        constants: inertia constants of Theorem 2.
        names: (rank,) names; a constant with something grouped into it ends with R.
        blocks: (rank,) index of the joint whose effort tells a parameter.
        groupings: per parameter the constants and joint parameters in it, with coefficients.
        standard_matrix: (rank, standard) matrix that takes the standard parameters of the model to
            these parameters.
        base_matrix: (rank, rank) matrix that takes these parameters to base parameters.
    """

    base: BaseParameters
    constants: MinimalSet
    names: tuple[str, ...]
    blocks: npt.NDArray[np.intp]
    groupings: tuple[Mapping[str, float], ...]
    standard_matrix: Array
    base_matrix: Array

    @classmethod
    def of(cls, robot: RobotModel | BaseParameters) -> JointwiseParameters:
        """Return the parameters of a serial robot, or of one whose base parameters are known.

        Raises:
            SettingError: the robot is no chain.
            RankError: the constants do not span what efforts can tell, or the base parameters
                cannot be decided.
        """
        base = robot if isinstance(robot, BaseParameters) else base_parameters(robot)
        chosen = theorem_2(SerialChain.of(base.robot))
        candidates = _candidates(base, chosen)
        groupings = _identifiable(base, candidates)
        matrix = groupings @ candidates.matrix
        _refuse_other_rank(base, matrix)
        named = [
            {candidates.names[i]: float(row[i]) for i in np.flatnonzero(row)} for row in groupings
        ]
        leading = np.array([int(np.flatnonzero(row)[0]) for row in groupings], dtype=np.intp)
        return cls(
            base=base,
            constants=chosen,
            names=tuple(
                candidates.names[lead] + ("R" if len(terms) > 1 else "")
                for lead, terms in zip(leading, named, strict=True)
            ),
            blocks=candidates.blocks[leading],
            groupings=tuple(named),
            standard_matrix=read_only(matrix),
            base_matrix=read_only(np.linalg.lstsq(matrix.T, base.projection.T)[0].T),
        )

    @property
    def rank(self) -> int:
        """Number of parameters, which is that of the base parameters."""
        return len(self.names)

    @cached_property
    def inverse_matrix(self) -> Array:
        """(rank, rank) matrix that takes base parameters to these parameters."""
        return read_only(np.linalg.inv(self.base_matrix))

    def block(self, joint: int) -> npt.NDArray[np.intp]:
        """Return the places of the parameters that the effort of a joint tells."""
        return np.flatnonzero(self.blocks == joint)

    def later(self, joint: int) -> npt.NDArray[np.intp]:
        """Return the places of the parameters of later blocks."""
        return np.flatnonzero(self.blocks > joint)

    def to_base(self, values: npt.ArrayLike) -> Array:
        """Return the base parameters (..., rank) of given parameters (..., rank).

        Raises:
            ShapeError: the number of values differs.
        """
        return read_only(self._checked("values", values) @ self.base_matrix.T)

    def from_base(self, values: npt.ArrayLike) -> Array:
        """Return the parameters (..., rank) of given base parameters (..., rank).

        Raises:
            ShapeError: the number of values differs.
        """
        return read_only(self._checked("base", values) @ self.inverse_matrix.T)

    def values(self, standard: npt.ArrayLike) -> Array:
        """Return the parameters of standard parameters, in the order of ``base.standard_names``.

        Raises:
            ShapeError: the number of values differs.
        """
        chi = checked_vector("standard", standard, len(self.base.columns))
        return read_only(self.standard_matrix @ chi)

    def base_names_with(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the base parameters that any of some parameters take part in."""
        places = [i for i, name in enumerate(self.names) if name in names]
        used = (np.abs(self.base_matrix[:, places]) > _NEGLIGIBLE).any(axis=1)
        return tuple(self.base.names[i] for i in np.flatnonzero(used))

    def _checked(self, name: str, values: npt.ArrayLike) -> Array:
        array = np.asarray(values, dtype=np.float64)
        if array.shape[-1:] != (self.rank,):
            raise ShapeError(name, array.shape, f"(..., {self.rank})")
        return array


@by_value
@dataclass(frozen=True)
class _Candidates:
    """Constants of Theorem 2 and parameters of joints, block by block."""

    names: tuple[str, ...]
    blocks: npt.NDArray[np.intp]
    matrix: Array


def _candidates(base: BaseParameters, chosen: MinimalSet) -> _Candidates:
    """Return everything that could be told, as rows over the standard parameters."""
    place = {int(column): i for i, column in enumerate(base.columns)}
    joints = chosen.chain.joints
    layout = base.robot.layout
    links = [place[layout.first(j) + i] for j in range(joints) for i in range(LINK_PARAMETERS)]
    rows: list[tuple[int, str, Array]] = []
    matrix = chosen.matrix @ constants_matrix(chosen.chain)
    for constant, coefficients in zip(chosen.constants, matrix, strict=True):
        row = np.zeros(len(place))
        row[links] = coefficients
        rows.append((constant.joint, constant.name, row))
    inertial = np.zeros(len(place), dtype=np.bool_)
    inertial[links] = True
    acts = structure_of(base.robot)[:, base.columns]
    for i in np.flatnonzero(~inertial & acts.any(axis=0)):
        last = int(np.flatnonzero(acts[:, i])[-1])
        rows.append((last, base.standard_names[i], np.eye(len(place))[i]))
    rows.sort(key=lambda entry: entry[0])
    return _Candidates(
        names=tuple(name for _, name, _ in rows),
        blocks=np.array([joint for joint, _, _ in rows], dtype=np.intp),
        matrix=np.array([row for _, _, row in rows]),
    )


def _identifiable(base: BaseParameters, candidates: _Candidates) -> Array:
    """Return the combinations (rank, candidates) of candidates that efforts can tell.

    A candidate inside the row space of the base parameters stands for itself; of the others only
    combinations that lie inside do.
    """
    directions, _ = scipy.linalg.qr(base.projection.T, mode="economic")
    rest = candidates.matrix - (candidates.matrix @ directions) @ directions.T
    scale = np.maximum(np.linalg.norm(candidates.matrix, axis=1), 1.0)
    outside = np.linalg.norm(rest, axis=1) > _NEGLIGIBLE * scale
    units = np.eye(len(candidates.names))
    combinations = [units[i] for i in np.flatnonzero(~outside)]
    hidden = np.flatnonzero(outside)
    if hidden.size:
        inside = scipy.linalg.null_space((rest[hidden] / scale[hidden, None]).T, rcond=_NEGLIGIBLE)
        for row in _echelon(inside.T / scale[hidden]):
            combination = np.zeros(len(candidates.names))
            combination[hidden] = row
            combinations.append(combination)
    order = sorted(combinations, key=lambda row: int(np.flatnonzero(row)[0]))
    return np.array(order).reshape(len(order), len(candidates.names))


def _echelon(rows: Array) -> Array:
    """Return the reduced row echelon form of independent rows."""
    result, done = rows.copy(), 0
    for column in range(rows.shape[1]):
        if done == len(result):
            break
        pivot = done + int(np.argmax(np.abs(result[done:, column])))
        if abs(result[pivot, column]) <= _NEGLIGIBLE * np.abs(result[done:]).max():
            continue
        result[[done, pivot]] = result[[pivot, done]]
        result[done] /= result[done, column]
        others = np.arange(len(result)) != done
        result[others] -= np.outer(result[others, column], result[done])
        done += 1
    whole = np.round(result)
    return np.where(np.abs(result - whole) <= _NEGLIGIBLE, whole, result)


def _refuse_other_rank(base: BaseParameters, matrix: Array) -> None:
    singular_values = np.linalg.svd(matrix, compute_uv=False)
    if len(matrix) != base.rank or singular_values[-1] <= _NEGLIGIBLE * singular_values[0]:
        raise RankError(
            f"{base.robot.name}: {len(matrix)} inertia constants and joint parameters stand "
            f"against {base.rank} base parameters; identify base parameters by another method",
            singular_values.tolist(),
        )

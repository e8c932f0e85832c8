"""Base parameters: the smallest set of combinations of standard parameters that fixes the torque.

Columns of the regressor that depend linearly on others on every motion cannot be told apart from
any data.  They are found on random states of the model itself, never on measured data: grouping
rules first, then the numerical method on what they leave, and a check that both agree
(M. Gautier, "Numerical calculation of the base inertial parameters of robots", Journal of Robotic
Systems 8(4), 1991).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.errors import RankError, SettingError
from robot_identification.identification.base.factorisation import Factorisation, factorise
from robot_identification.identification.base.loads import refuse_unknown_loads
from robot_identification.identification.base.observation import (
    Model,
    Observation,
    follower_is_slow,
    random_states,
    ranges,
    slow_ranges,
)
from robot_identification.identification.base.rank import Decision
from robot_identification.identification.base.scaling import scaled_states
from robot_identification.identification.base.solution import solve, suspicious_geometry, warnings
from robot_identification.robot.arrays import Array, by_value, checked_vector, cover, read_only
from robot_identification.robot.loops import LoopConstraint, linear_constraint
from robot_identification.robot.model import RobotModel

RANK_METHODS = ("qr", "svd")
_SEED = 1991
_ROWS_PER_PARAMETER = 4


@by_value
@dataclass(frozen=True)
class BaseParameters:
    """Base parameters of a robot: X_base = X1 + beta X2 (Gautier 1991, eq. 20).

    Attributes:
        robot: the robot.
        columns: (standard,) columns of the full regressor that were considered.
        base: (rank,) places among ``columns`` of the leading parameters X1.
        regrouped: (dependent,) places of the parameters X2 that are regrouped into others.
        unaffecting: places of the parameters without any effect on the torque.
        beta: (rank, dependent) regrouping matrix.
        appended: places of the parameters that the model does not contain; they are among
            ``base``, as independent ones.
        model: ``dynamic``, ``simplified`` or ``energy``.
        method: ``qr`` or ``svd``.
        constraint: relations of the robot's closed loops.
        remainder: relations that the grouping rules left to the numerical method: (leading
            place, other place) -> coefficient.
        factorisation: the numerical decision and its evidence; its columns are those that the
            model contains.
        scaled: whether the states were chosen by the scaling strategy, because random ones left
            the rank doubtful.
        warnings: what makes the rank doubtful, one line each; empty where it is clear.
    """

    robot: RobotModel
    columns: npt.NDArray[np.intp]
    base: npt.NDArray[np.intp]
    regrouped: npt.NDArray[np.intp]
    unaffecting: npt.NDArray[np.intp]
    beta: Array
    appended: npt.NDArray[np.intp]
    model: str
    method: str
    constraint: LoopConstraint
    remainder: Mapping[tuple[int, int], float]
    factorisation: Factorisation
    scaled: bool
    warnings: tuple[str, ...]

    def __post_init__(self) -> None:
        cover(self, "columns", "base", "regrouped", "unaffecting", "beta", "appended")

    @property
    def rank(self) -> int:
        """Number of base parameters, appended ones included."""
        return len(self.base)

    @property
    def decision(self) -> Decision:
        """The rank decision of the method: diagonal elements or singular values, and the cut."""
        evidence = self.factorisation
        return evidence.diagonal if self.method == "qr" else evidence.singular_values

    @property
    def diagonal(self) -> Array:
        """Absolute diagonal of the pivoted triangular factor of the scaled columns."""
        return self.factorisation.diagonal.values

    @property
    def singular_values(self) -> Array:
        """Singular values of the scaled columns, largest first."""
        return self.factorisation.singular_values.values

    @property
    def tolerance(self) -> float:
        """Values of the method up to this count as zero."""
        return self.decision.tolerance

    @property
    def gap(self) -> float:
        """Last accepted over first rejected value of the method; infinite without a rejected."""
        return self.decision.gap

    @property
    def ambiguous(self) -> bool:
        """Whether the rank is doubtful; ``warnings`` tell why."""
        return bool(self.warnings)

    @cached_property
    def standard_names(self) -> tuple[str, ...]:
        """Names of the standard parameters, one per considered column."""
        return tuple(self.robot.all_parameter_names[i] for i in self.columns)

    @cached_property
    def leading_names(self) -> tuple[str, ...]:
        """Name of the leading standard parameter of every base parameter."""
        return tuple(self.standard_names[i] for i in self.base)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters: the leading one's, with R if others are grouped in."""
        return tuple(
            f"{name}R" if self.beta[i].any() else name for i, name in enumerate(self.leading_names)
        )

    @property
    def base_columns(self) -> npt.NDArray[np.intp]:
        """Columns of the full regressor that belong to the base parameters."""
        return self.columns[self.base]

    @cached_property
    def groupings(self) -> tuple[Mapping[str, float], ...]:
        """For every base parameter the standard parameters in it, with their coefficients."""
        result = []
        for i, name in enumerate(self.leading_names):
            grouping = {name: 1.0}
            for place, coefficient in zip(self.regrouped, self.beta[i], strict=True):
                if coefficient:
                    grouping[self.standard_names[place]] = float(coefficient)
            result.append(grouping)
        return tuple(result)

    @cached_property
    def projection(self) -> Array:
        """(rank, standard) matrix that takes standard parameters to base parameters."""
        matrix = np.zeros((self.rank, len(self.columns)))
        matrix[np.arange(self.rank), self.base] = 1.0
        matrix[:, self.regrouped] = self.beta
        return read_only(matrix)

    def loaded_by(self, values: Array) -> BaseParameters:
        """Return the same for the robot with friction that follows the load of given values.

        Args:
            values: (rank,) the values.
        """
        if not self.robot.follows_load:
            return self
        return replace(self, robot=self.robot.loaded_by(self.full(values)))

    def full(self, values: Array) -> Array:
        """Return (full columns,) parameters that explain as much: all but the leading ones are 0.

        Args:
            values: (rank,) of the base parameters.
        """
        found = np.zeros(len(self.robot.all_parameter_names))
        found[self.base_columns] = values
        return found

    def of(self, robot: RobotModel) -> BaseParameters:
        """Return the same base parameters for a robot with other drives, controller or limits.

        Args:
            robot: with the joints, friction, couplings, loops, springs and gravity of this one.

        Raises:
            SettingError: its efforts depend on the motion in another way, so that its base
                parameters are others.
        """
        if robot is self.robot:
            return self
        if _structure(robot) != _structure(self.robot):
            raise SettingError(
                "base",
                self.robot.name,
                f"has other joints, friction, couplings, loops, springs or gravity than "
                f"{robot.name}; its base parameters are others",
            )
        return replace(self, robot=robot)

    def values(self, standard: npt.ArrayLike) -> Array:
        """Return the base parameters of given standard parameters (Gautier 1991, eq. 20).

        Args:
            standard: (standard,) values in the order of ``standard_names``.

        Raises:
            ShapeError: if the number of values differs.
        """
        return read_only(self.projection @ checked_vector("standard", standard, len(self.columns)))


def _structure(robot: RobotModel) -> tuple[object, ...]:
    """Return what the base parameters of a robot follow from."""
    return (
        tuple(
            (
                joint.name,
                joint.type,
                joint.antecedent,
                joint.rotation.tolist(),
                joint.translation.tolist(),
                joint.user_terms,
            )
            for joint in robot.joints
        ),
        robot.standard_names,
        robot.couplings,
        robot.loops,
        robot.springs,
        robot.temperature_terms,
        robot.gravity.tolist(),
    )


def base_parameters(
    robot: RobotModel,
    model: str | Model = Model.DYNAMIC,
    method: str = "qr",
    *,
    constraint: LoopConstraint | None = None,
) -> BaseParameters:
    """Return the base parameters of a robot (Gautier 1991, eq. 5-28).

    Parameters of larger subscript are regrouped into those of smaller subscript.

    Args:
        robot: the robot.
        model: ``dynamic``, ``simplified`` (velocities zero) or ``energy`` (differences of h).
            All give the same inertial and drive base parameters; friction and offsets that a
            model does not contain are appended as independent.
        method: ``qr`` or ``svd``: which of the two, that must agree, is followed.
        constraint: relations of closed loops as functions; by default the linear ones that the
            robot declares.

    Raises:
        RankError: QR, the singular values and the grouping rules do not agree.
        SettingError: there is no such model or method, the constraint cannot give the
            accelerations that the dynamic model needs, or the load that friction follows is not
            told; see :mod:`.loads`.
    """
    chosen = Model.named(model)
    if method not in RANK_METHODS:
        raise SettingError("method", method, f"must be one of {', '.join(RANK_METHODS)}")
    observation = Observation(robot, chosen, constraint or linear_constraint(robot))
    try:
        w, factorisation, scaled = _factorised(observation)
        solution = solve(observation, w, factorisation, method)
    except RankError as error:
        hint = suspicious_geometry(robot)
        problem = f"{robot.name}: {error}" + (f"; nearly zero: {hint}" if hint else "")
        raise RankError(problem, error.singular_values) from error
    effect = solution.projection.any(axis=0)
    regrouped = np.setdiff1d(np.flatnonzero(effect), solution.base)
    found = BaseParameters(
        robot=robot,
        columns=observation.columns,
        base=solution.base,
        regrouped=regrouped,
        unaffecting=np.flatnonzero(~effect),
        beta=read_only(solution.projection[:, regrouped]),
        appended=np.flatnonzero(~observation.contained),
        model=chosen.value,
        method=method,
        constraint=observation.constraint,
        remainder=solution.remainder,
        factorisation=factorisation,
        scaled=scaled,
        warnings=warnings(robot, factorisation),
    )
    refuse_unknown_loads(found)
    return found


def _factorised(observation: Observation) -> tuple[Array, Factorisation, bool]:
    """Return observation matrix, its factorisation, and whether its states were scaled.

    Random states serve; where they leave the rank doubtful, states are chosen by the scaling
    strategy, and the clearer of the two decisions counts.
    """
    half_ranges = ranges(observation.robot, observation.constraint)
    contained = np.flatnonzero(observation.contained)
    rng = np.random.default_rng(_SEED)
    samples = observation.samples_for(_ROWS_PER_PARAMETER * len(contained))
    slow = slow_ranges(observation.robot, observation.constraint)
    together = follower_is_slow(observation.robot, observation.constraint)
    states = random_states(half_ranges, max(samples, 8), rng, slow, together=together)
    w = observation.matrix(states)
    first: Factorisation | None = None
    refusal: RankError | None = None
    try:
        first = factorise(w[:, contained])
        if first.is_clear:
            return w, first, False
    except RankError as error:
        refusal = error
    samples = observation.samples_for(len(contained)) + 2
    w_scaled = observation.matrix(scaled_states(observation, half_ranges, samples, rng))
    try:
        second = factorise(w_scaled[:, contained])
    except RankError as error:
        if first is None:
            raise (refusal or error) from error
        return w, first, False
    if first is None or second.clarity > first.clarity:
        return w_scaled, second, True
    return w, first, False

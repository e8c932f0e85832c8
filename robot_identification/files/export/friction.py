"""Friction of a joint as formats have it that know Coulomb and viscous friction only.

The two coefficients are those nearest to the friction law, in the least squares of the effort, over
speeds spread evenly up to the largest one that was measured and loads as they were.  Neither is
negative.  Where nobody has said what was measured, speeds go up to the joint's limit, and loads are
those of the weight in postures spread over its range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.dynamics.direct import checked_values
from robot_identification.dynamics.loads import carried_columns
from robot_identification.dynamics.regressor import Regressor
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import JointTerm
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.robot.terms.measured_range import MeasuredRange

_SPEEDS = 500
_POSTURES = 500
_NO_LIMIT = {JointType.REVOLUTE: np.pi, JointType.PRISMATIC: 1.0}
_UNKNOWN_SPEED = 1.0
_KNOWN = (TermKind.VISCOUS, TermKind.COULOMB)


@dataclass(frozen=True)
class PlainFriction:
    """Coulomb and viscous friction in place of the friction law of a joint.

    Attributes:
        joint: its name.
        terms: names of the parameters that they stand for, such as ``Fs3``.
        values: name of the term -> its value, for viscous and Coulomb friction.
        error: root mean square of the difference over that of the friction, a fraction.
        speed: largest speed, rad/s or m/s.
        load: mean and standard deviation of the load, N m or N; 0 where friction follows none.
        measured: whether speed and load are those of recordings.
        units: of speed and load.
    """

    joint: str
    terms: tuple[str, ...]
    values: dict[str, float]
    error: float
    speed: float
    load: tuple[float, float]
    measured: bool
    units: tuple[str, str]

    @property
    def remark(self) -> str:
        """What stands for what, and how far it is off, in one sentence."""
        loads = ""
        if self.load != (0.0, 0.0):
            mean, deviation = self.load
            loads = f" and loads of {mean:.3g} +- {deviation:.2g} {self.units[1]}"
        source = "of the recordings" if self.measured else "that the joint may have"
        return (
            f"joint {self.joint}: Coulomb and viscous friction here stand for "
            f"{', '.join(self.terms)} too, as near as they can at speeds up to {self.speed:.3g} "
            f"{self.units[0]}{loads} {source}; off by {100.0 * self.error:.2g} % of the friction"
        )

    def entries(self) -> dict[str, object]:
        """Return the plain data that ``--json`` prints; the keys are stable."""
        return {
            "terms": list(self.terms),
            "values": self.values,
            "error": self.error,
            "speed": self.speed,
            "load": list(self.load),
            "measured": self.measured,
        }


def plain_friction(robot: RobotModel, values: npt.ArrayLike) -> tuple[PlainFriction | None, ...]:
    """Return the friction of every joint for formats without friction laws; None where it is plain.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
    """
    vector = checked_values(robot, values)
    table = robot.layout.table(vector)
    laws = [
        {
            term: float(table[k, place])
            for place, term in robot.layout.places
            if term.dissipates and term.name in joint.terms
        }
        for k, joint in enumerate(robot.joints)
    ]
    further = [
        any(value != 0.0 and term.kind not in _KNOWN for term, value in law.items()) for law in laws
    ]
    if not any(further):
        return (None,) * len(robot.joints)
    spread = robot.measured or _supposed(robot, vector)
    return tuple(
        _nearest(robot, k, law, spread) if own else None
        for k, (law, own) in enumerate(zip(laws, further, strict=True))
    )


def _nearest(
    robot: RobotModel, number: int, law: dict[JointTerm, float], spread: MeasuredRange
) -> PlainFriction:
    joint = robot.joints[number]
    top = max(float(spread.speeds[number]), float(np.finfo(float).tiny))
    mean, deviation = map(float, spread.loads[number])
    speed = top * (np.arange(_SPEEDS) + 0.5) / _SPEEDS
    speed = np.concatenate([-speed[::-1], speed])
    effort, uncertain = np.zeros_like(speed), 0.0
    for term, value in law.items():
        load = np.full_like(speed, mean) if term.kind.follows_load else None
        effort += value * term.kind.of(speed, load=load, shape=joint.shape_of(term))
        uncertain += value * deviation if term.kind.follows_load else 0.0
    columns = np.column_stack([kind.of(speed) for kind in _KNOWN])
    sizes = np.linalg.norm(columns, axis=0)
    found = scipy.optimize.nnls(columns / sizes, effort)[0] / sizes
    left = float(np.mean((effort - columns @ found) ** 2)) + uncertain**2
    whole = float(np.mean(effort**2)) + uncertain**2
    named = {kind: next(t for t in robot.layout.terms if t.kind is kind) for kind in _KNOWN}
    return PlainFriction(
        joint=joint.name,
        terms=tuple(f"{t.name}{number + 1}" for t, v in law.items() if v and t.kind not in _KNOWN),
        values={named[kind].name: float(f) for kind, f in zip(_KNOWN, found, strict=True)},
        error=float(np.sqrt(left / whole)) if whole > 0.0 else 0.0,
        speed=top,
        load=(mean, deviation) if any(t.kind.follows_load for t in law) else (0.0, 0.0),
        measured=robot.measured is not None,
        units=joint.rate_units,
    )


def _supposed(robot: RobotModel, values: Array) -> MeasuredRange:
    """Return speeds up to the limits, and the loads of the weight in postures within the limits."""
    speeds = np.array([joint.limits.velocity or _UNKNOWN_SPEED for joint in robot.joints])
    loads = np.zeros((len(robot.joints), 2))
    if robot.follows_load:
        low, high = np.array([_limits(joint) for joint in robot.joints]).T
        share = np.random.default_rng(0).random((_POSTURES, len(robot.joints)))
        posture = (low + share * (high - low)).T
        still = np.zeros_like(posture)
        carried = carried_columns(robot)
        regressor = Regressor(robot, carried)
        rows = regressor.compact(posture, still, still)
        for k, own in enumerate(regressor.joint_rows):
            size = np.abs(values[carried][own.columns] @ rows[own.rows])
            loads[k] = size.mean(), size.std()
    return MeasuredRange(speeds, loads)


def _limits(joint: Joint) -> tuple[float, float]:
    far = _NO_LIMIT[joint.type]
    lower, upper = joint.limits.lower, joint.limits.upper
    return (-far if lower is None else lower, far if upper is None else upper)

"""A trajectory through points, interpolated as joint_trajectory_controller does.

Between two points that carry positions only, a joint moves on a straight line; with velocities on
a cubic, with velocities and accelerations on a quintic polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.reference import DEGREE, Reference, position_at, sample
from robot_identification.errors import ShapeError, TrajectoryError
from robot_identification.presentation import sample_records
from robot_identification.robot.arrays import Array, by_value, read_only, read_only_view
from robot_identification.signals.joint_columns import JointColumns

NANOSECONDS = 1_000_000_000
POINT_FIELDS = {
    "positions": "positions",
    "velocities": "velocities",
    "accelerations": "accelerations",
    "efforts": "effort",
}
"""What points may carry: attribute of a trajectory -> field of trajectory_msgs."""


@by_value
@dataclass(frozen=True)
class Trajectory:
    """Points that joints pass, and when.

    Attributes:
        joint_names: names of the joints, in the order of the columns.
        times: (points,) strictly increasing times in s.
        positions: (points, joints) in rad or m.
        velocities: (points, joints) in rad/s or m/s, or None.
        accelerations: (points, joints) in rad/s^2 or m/s^2, or None; only with velocities.
        efforts: (points, joints) that the controller is to add to its own, in N m or N, or None.

    Raises:
        ShapeError: if an array has the wrong shape.
        TrajectoryError: if there is no point, a name occurs twice, times do not increase, or a
            value is NaN or infinite.
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array | None = None
    accelerations: Array | None = None
    efforts: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        for name in ("times", *POINT_FIELDS):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))
        self._check_names_and_times()
        self._check_values()

    def __repr__(self) -> str:
        size = f"{len(self.times)} points, {self.duration:.6g} s"
        return f"<Trajectory: {size}, joints {', '.join(self.joint_names)}>"

    def _check_names_and_times(self) -> None:
        if len(set(self.joint_names)) != len(self.joint_names):
            raise TrajectoryError("a trajectory names each joint once")
        if self.times.ndim != 1 or self.times.size == 0:
            raise TrajectoryError("a trajectory needs at least one point")
        if not np.isfinite(self.times).all():
            raise TrajectoryError("the times of a trajectory must be finite")
        for index in np.flatnonzero(np.diff(self.times) <= 0.0):
            raise TrajectoryError(
                f"times must increase: point {index + 1} comes at {self.times[index + 1]:.9g} s, "
                f"the one before at {self.times[index]:.9g} s"
            )

    def _check_values(self) -> None:
        shape = (len(self.times), len(self.joint_names))
        if self.accelerations is not None and self.velocities is None:
            raise TrajectoryError("accelerations without velocities cannot be interpolated")
        for name in POINT_FIELDS:
            values = getattr(self, name)
            if values is None:
                continue
            if values.shape != shape:
                raise ShapeError(name, values.shape, str(shape))
            for point, joint in np.argwhere(~np.isfinite(values)):
                raise TrajectoryError(
                    f"{name} of joint {self.joint_names[joint]} at point {point} is "
                    f"{values[point, joint]}; every value must be finite"
                )

    @property
    def duration(self) -> float:
        """Time from the first point to the last one, in s."""
        return float(self.times[-1] - self.times[0])

    @cached_property
    def coefficients(self) -> Array:
        """(pieces, joints, 6) polynomials by rising powers of the time since a piece began.

        Raises:
            TrajectoryError: if values are so large, or times so close, that numbers overflow.
        """
        with np.errstate(all="ignore"):
            found = interpolate(self.times, self.positions, self.velocities, self.accelerations)
        for point, joint, _ in np.argwhere(~np.isfinite(found)):
            raise TrajectoryError(
                f"joint {self.joint_names[joint]} cannot be interpolated from point {point} on: "
                "its values are too large, or its times too close"
            )
        return read_only(found)

    @cached_property
    def _pieces(self) -> Reference:
        """The trajectory on its own clock, in arrays that are not to be written to."""
        if len(self.times) > 1:
            return Reference(self.times, self.coefficients)
        still = np.zeros((1, len(self.joint_names), DEGREE + 1))
        still[0, :, 0] = self.positions[0]
        return Reference(np.repeat(self.times, 2), still)

    @property
    def reference(self) -> Reference:
        """The trajectory in the form that the simulation follows, on its own clock."""
        knots, coefficients, origin, lead = self._pieces
        return Reference(np.array(knots), np.array(coefficients), origin, lead)

    def sample(self, times: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations at some times.

        Outside of its duration the trajectory stands still at its ends.

        Args:
            times: (samples,) in s, on the clock of ``self.times``.

        Returns:
            Three arrays (samples, joints).
        """
        position, velocity, acceleration = sample(self._pieces, times)
        return read_only_view(position), read_only_view(velocity), read_only_view(acceleration)

    def position(self, time: float) -> Array:
        """Return the (joints,) positions at one time in s, in a fraction of the time of all.

        Outside of its duration the trajectory stands still at its ends.
        """
        return read_only_view(position_at(self._pieces, time))

    def sample_efforts(self, times: npt.ArrayLike) -> Array:
        """Return (samples, joints) efforts at some times; 0 where the points carry none.

        Outside of its duration they are those of its ends, which hold the robot there.

        Args:
            times: (samples,) in s, on the clock of ``self.times``.
        """
        wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if self.efforts is None:
            return np.zeros((len(wanted), len(self.joint_names)))
        columns = [np.interp(wanted, self.times, column) for column in self.efforts.T]
        return np.stack(columns, axis=1)

    def records(self) -> list[dict[str, object]]:
        """Return one row per point."""
        signals = {
            "position": self.positions,
            "velocity": self.velocities,
            "acceleration": self.accelerations,
            "effort": self.efforts,
        }
        return sample_records(self.times, self.joint_names, signals)

    def reordered(self, joint_names: Sequence[str]) -> Trajectory:
        """Return the trajectory with its joints in another order.

        Raises:
            TrajectoryError: if the names are not the same.
        """
        if sorted(joint_names) != sorted(self.joint_names):
            raise TrajectoryError(
                f"the trajectory moves {', '.join(self.joint_names) or 'no joint'}; "
                f"the robot has {', '.join(joint_names)}: name each of them once"
            )
        places = JointColumns(joint_names, "the trajectory").of(self.joint_names)

        def pick(values: Array | None) -> Array | None:
            return None if values is None else values[:, places]

        return Trajectory(
            tuple(joint_names),
            self.times,
            self.positions[:, places],
            pick(self.velocities),
            pick(self.accelerations),
            pick(self.efforts),
        )

    def preceded_by(
        self,
        time: float,
        position: Array,
        velocity: Array,
        acceleration: Array,
        effort: Array | None = None,
    ) -> Trajectory:
        """Return the trajectory with a first point, (joints,) each, put before it.

        The point gets what the others have: without velocities, the way from it is straight.
        Where the others have efforts, and none is given, its own is 0.

        Raises:
            TrajectoryError: if ``time`` is not before the first point.
        """

        def put(first: Array, values: Array | None) -> Array | None:
            return None if values is None else np.vstack([first, values])

        added = np.zeros_like(position) if effort is None else effort

        return Trajectory(
            self.joint_names,
            np.concatenate([[time], self.times]),
            np.vstack([position, self.positions]),
            put(velocity, self.velocities),
            put(acceleration, self.accelerations),
            put(added, self.efforts),
        )

    def followed_by_rest(self, seconds: float) -> Trajectory:
        """Return the trajectory, and after it the robot held at its end for some seconds (> 0).

        Efforts at its end hold it there.
        """

        def put(values: Array | None) -> Array | None:
            return None if values is None else np.vstack([values, np.zeros_like(values[-1])])

        return Trajectory(
            self.joint_names,
            np.concatenate([self.times, [self.times[-1] + seconds]]),
            np.vstack([self.positions, self.positions[-1]]),
            put(self.velocities),
            put(self.accelerations),
            None if self.efforts is None else np.vstack([self.efforts, self.efforts[-1]]),
        )


def whole_nanoseconds(times: Array) -> npt.NDArray[np.int64]:
    """Return times in s as the whole nanoseconds that a message holds."""
    return np.rint(times * NANOSECONDS).astype(np.int64)


def interpolate(
    times: Array, positions: Array, velocities: Array | None, accelerations: Array | None
) -> Array:
    """Return the polynomials between points: linear, cubic or quintic by what is given.

    Args:
        times: (points,) in s.
        positions: (points, joints).
        velocities: (points, joints) or None.
        accelerations: (points, joints) or None.

    Returns:
        (points - 1, joints, 6) by rising powers of the time since a piece began.
    """
    u = np.diff(times)[:, None]
    q, step = positions[:-1], np.diff(positions, axis=0)
    c = np.zeros((*step.shape, DEGREE + 1))
    c[..., 0] = q
    if velocities is None:
        c[..., 1] = step / u
        return c
    v, w = velocities[:-1], velocities[1:]
    c[..., 1] = v
    if accelerations is None:
        c[..., 2] = (3.0 * step / u - 2.0 * v - w) / u
        c[..., 3] = (v + w - 2.0 * step / u) / u**2
        return c
    a, b = accelerations[:-1], accelerations[1:]
    c[..., 2] = a / 2.0
    c[..., 3] = (20.0 * step - (8.0 * w + 12.0 * v) * u - (3.0 * a - b) * u**2) / (2.0 * u**3)
    c[..., 4] = (-30.0 * step + (14.0 * w + 16.0 * v) * u + (3.0 * a - 2.0 * b) * u**2) / (
        2.0 * u**4
    )
    c[..., 5] = (12.0 * step - 6.0 * (w + v) * u + (b - a) * u**2) / (2.0 * u**5)
    return c


def evaluate(coefficients: Array, u: Array | float, order: int = 0) -> Array:
    """Return a derivative of polynomials whose coefficients (6, ...) come by rising powers."""
    result = np.zeros(np.broadcast_shapes(coefficients.shape[1:], np.shape(u)))
    for power in range(len(coefficients) - 1, order - 1, -1):
        factor = np.prod(np.arange(power - order + 1, power + 1)) if order else 1.0
        result = result * u + factor * coefficients[power]
    return result

"""Momentum observer: external joint efforts without accelerations (De Luca and Mattone 2003).

With the generalised momentum p = M(q) qd and M' = C + C^T the dynamics of a robot read

    p' = tau + tau_ext - friction - g + C^T qd,    C^T qd = M' qd - C qd,

so that the residual r' = K (tau_ext - r) follows the external efforts with the time constant 1/K.
From one sample to the next, T later, the integral of M' qd is (M2 - M1) (qd1 + qd2) / 2 to second
order in T, and the momentum balance becomes

    T e = (M1 + M2) / 2 (qd2 - qd1) + T (n1 + n2) / 2,    n = C qd + g + friction - tau,
    r2 = a r1 + (1 - a) e,    a = exp(-K T):

one mass matrix and one bias a sample, any interval, and a constant effort is followed exactly.  It
holds where couplings make M unsymmetric too.

A filter of first order hands the noise of the velocities on as it is, times M K.  Two in series,
each with half the time constant, are as late in the mean, follow a step to 99 % sooner, and let
less than half of it pass at 1 kHz.  Velocities pass the same filters, and are as late as efforts.

In sliding, Coulomb friction is that of the model.  At rest it is anything up to that: where a joint
stands its share rises linearly with the speed, and what it may be besides is the stick band.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.dynamics.direct import plant_of
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.speed_zones import STANDING
from robot_identification.dynamics.kernels import direct as direct_kernels
from robot_identification.dynamics.kernels.momentum import observe
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SampleError, ShapeError
from robot_identification.robot.arrays import by_value, check_finite
from robot_identification.robot.model import RobotModel

Stamps = npt.NDArray[np.int64]

NANOSECOND = 1e-9
_EACH = 0.5  # of the time constant, that of each of the two filters


@by_value
@dataclass(frozen=True)
class ObservedEfforts:
    """External efforts at the samples of which the observer knows them.

    Attributes:
        stamps: (samples,) in ns.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints) in rad/s or m/s.
        effort: (samples, joints) external efforts in N m or N, joint side.
        sliding_friction: (samples, joints) magnitude of the modelled Coulomb friction in sliding.
        stick_band: (samples, joints) by how much friction of a standing joint may falsify them.
        modelled: (samples, joints) efforts of the model, through the same filter.
        smooth_velocity: (samples, joints) velocities through it.
        acceleration: (samples, joints) their derivatives in rad/s^2 or m/s^2.
        interval: (samples,) time since the sample before in s; 0 where the observer began anew.
        age: (samples,) time since the observer began, in s.
    """

    stamps: Stamps
    position: Floats
    velocity: Floats
    effort: Floats
    sliding_friction: Floats
    stick_band: Floats
    modelled: Floats
    smooth_velocity: Floats
    acceleration: Floats
    interval: Floats
    age: Floats


@dataclass
class _State:
    """The last sample, with what the balance to the next one needs; replaced sample by sample.

    Attributes:
        mass: (joints, joints).
        signals: (3, joints) what the momentum balance lacks, measured efforts, velocities.
        filtered: (2, 3, joints) what has passed one filter, and both.
        stamp: in ns.
        begin: stamp with which the observer began.
    """

    mass: Floats
    signals: Floats
    filtered: Floats
    stamp: int = 0
    begin: int = 0

    @classmethod
    def of(cls, joints: int) -> _State:
        """Return the state of a number of joints of which nothing has come."""
        return cls(np.zeros((joints, joints)), np.zeros((3, joints)), np.zeros((2, 3, joints)))


class MomentumObserver:
    """External joint efforts of a robot with given parameters, sample by sample or all at once.

    Samples may come in blocks of any size; the numbers are the same.  Where the clock is set back,
    or samples are missing for longer than the longest gap, the observer begins anew; so it does
    behind samples so absurd that no external effort follows from them.

    Args:
        robot: the robot; of one with loops, the joints are those that can be moved independently.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        settings: time constant, stick speeds, longest gap.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        SettingError: the robot has terms that are not compiled, or the number of stick speeds is
            wrong.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: npt.ArrayLike,
        settings: ExternalEffortSettings | None = None,
    ) -> None:
        self.settings = settings or ExternalEffortSettings()
        self._names = robot.active_names
        self._plant = plant_of(robot, values)
        standing = STANDING * self.settings.stick_speeds(robot)
        self._standing = np.abs(self._plant.motion) @ standing
        self._action = np.abs(self._plant.action)
        self._state: _State | None = None
        # Compiled code takes a moment to load, which the first samples would wait for.
        joints = len(self._names)
        self._observed(
            _State.of(joints), np.ones(1, dtype=np.bool_), np.zeros(1), *np.zeros((3, 1, joints))
        )

    def push(
        self,
        stamps: Stamps,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike,
        effort: npt.ArrayLike,
    ) -> ObservedEfforts:
        """Take in samples, oldest first, and return the external efforts at each.

        Samples that repeat a stamp are left out.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            velocity: (samples, joints).
            effort: (samples, joints) measured, in N m or N, joint side.

        Raises:
            ShapeError: the arrays do not fit.
            SampleError: a value is NaN or infinite, or the external efforts would be.
        """
        q, qd, tau = self._checked(stamps, position=position, velocity=velocity, effort=effort)
        before = [] if self._state is None else [self._state.stamp]
        fresh = np.diff(stamps, prepend=before or stamps[:1] - 1) != 0
        if not fresh.all():
            stamps, q, qd, tau = stamps[fresh], q[fresh], qd[fresh], tau[fresh]
        begins, interval = self._intervals(stamps)
        since = self._since(begins, stamps)
        state = self._state or _State.of(len(self._names))
        outputs = self._observed(state, begins, interval, q, qd, tau)
        self._refuse_overflow(outputs)
        if len(stamps):
            state.stamp, state.begin, self._state = int(stamps[-1]), int(since[-1]), state
        external, measured, smooth = np.moveaxis(outputs[:, 1], 1, 0)
        acceleration = (outputs[:, 0, 2] - smooth) / (_EACH * self.settings.time_constant)
        sliding, band = self._friction(q, qd, tau, smooth)
        return ObservedEfforts(
            stamps=stamps,
            position=q,
            velocity=qd,
            effort=external,
            sliding_friction=sliding,
            stick_band=band,
            modelled=external + measured,
            smooth_velocity=smooth,
            acceleration=acceleration,
            interval=interval,
            age=np.asarray((stamps - since) * NANOSECOND),
        )

    def _observed(
        self,
        state: _State,
        begins: npt.NDArray[np.bool_],
        interval: Floats,
        q: Floats,
        qd: Floats,
        tau: Floats,
    ) -> Floats:
        """Return signals (samples, 2, 3, joints) behind one filter and behind both.

        Args:
            state: of the sample before; that of the last sample afterwards, but for the stamps.
            begins: (samples,) where the filters begin anew, without external efforts.
            interval: (samples,) in s.
            q: (samples, joints) positions.
            qd: (samples, joints) velocities.
            tau: (samples, joints) measured efforts.
        """
        rise = -np.expm1(-interval / (_EACH * self.settings.time_constant))
        known = state.mass, state.signals, state.filtered
        out = np.empty((len(q), *state.filtered.shape))
        observe(self._plant, q, qd, tau, self._standing, begins, interval, rise, *known, out)
        return out

    def _refuse_overflow(self, outputs: Floats) -> None:
        """Begin anew behind (samples, 2, signals, joints) outputs that are not finite.

        What has passed the filters once stays in them.

        Raises:
            SampleError: they are not.
        """
        finite = np.isfinite(outputs)
        if not finite.all():
            self.restart()
            sample, stage, signal, joint = np.argwhere(~finite)[0]
            value = float(outputs[sample, stage, signal, joint])
            raise SampleError("external effort", self._names[joint], int(sample), value)

    def restart(self) -> None:
        """Forget what has come."""
        self._state = None

    def _checked(self, stamps: Stamps, **signals: npt.ArrayLike) -> list[Floats]:
        wanted = (len(stamps), len(self._names))
        checked = []
        for name, signal in signals.items():
            (array,) = as_compiled(signal)
            if array.shape != wanted:
                raise ShapeError(name, array.shape, str(wanted))
            check_finite(name, array, self._names)
            checked.append(array)
        return checked

    def _left(self, q: Floats, qd: Floats, tau: Floats, share: Floats) -> Floats:
        """Return (samples, joints) efforts that shares (samples, elements) of friction leave."""
        left = np.empty_like(q)
        (slip,) = as_compiled(share)
        direct_kernels.driving_efforts(self._plant, q, qd, tau, slip, left)
        return left

    def _friction(
        self, q: Floats, qd: Floats, tau: Floats, smooth: Floats
    ) -> tuple[Floats, Floats]:
        """Return (samples, joints) Coulomb friction in sliding, and what of it joints hide at rest.

        Args:
            q: (samples, joints) positions.
            qd: (samples, joints) velocities.
            tau: (samples, joints) measured efforts.
            smooth: (samples, joints) filtered velocities.
        """
        speed = smooth @ self._plant.motion.T / self._standing
        standing = np.clip(2.0 - np.abs(speed), 0.0, 1.0)
        sliding = np.broadcast_to(self._action.sum(axis=0), q.shape)
        band = standing @ self._action
        if self._plant.load.present:
            sense = np.where(speed < 0.0, -1.0, 1.0)
            sliding = np.maximum(sliding, np.abs(tau - self._left(q, qd, tau, sense)))
            hidden = np.abs(tau - self._left(q, qd, tau, sense * standing))
            band = np.maximum(band, hidden)
        return sliding, band

    def _intervals(self, stamps: Stamps) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Return (samples,) where the observer begins anew, and intervals in s, 0 there."""
        first = stamps[:1] if self._state is None else np.array([self._state.stamp])
        interval = np.diff(stamps, prepend=first) * NANOSECOND
        begins = (interval <= 0.0) | (interval > self.settings.longest_gap)
        interval[begins] = 0.0
        return begins, interval

    def _since(self, begins: npt.NDArray[np.bool_], stamps: Stamps) -> Stamps:
        """Return (samples,) stamps with which the observer began."""
        last = np.maximum.accumulate(np.where(begins, np.arange(len(stamps)), -1))
        before = 0 if self._state is None else self._state.begin
        return np.where(last < 0, before, stamps[last])

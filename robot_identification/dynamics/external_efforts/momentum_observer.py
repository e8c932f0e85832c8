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

In sliding, Coulomb friction is that of the model.  At rest it is anything up to that: within the
stick speed of a joint its share rises linearly from none to all, and what it may be besides is the
stick band, which passes the same filter and belongs to the threshold of a contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import plant_of
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.kernels import direct as direct_kernels
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import ShapeError
from robot_identification.robot.arrays import by_value, check_finite
from robot_identification.robot.model import RobotModel

Stamps = npt.NDArray[np.int64]

NANOSECOND = 1e-9


@by_value
@dataclass(frozen=True)
class ObservedEfforts:
    """External efforts at the samples of which the observer knows them.

    Attributes:
        stamps: (samples,) in ns.
        velocity: (samples, joints) in rad/s or m/s.
        effort: (samples, joints) external efforts in N m or N, joint side.
        stick_band: (samples, joints) by how much friction near rest may falsify them.
        modelled: (samples, joints) efforts of the model, through the same filter.
        interval: (samples,) time since the sample before in s; 0 where the observer began anew.
    """

    stamps: Stamps
    velocity: Floats
    effort: Floats
    stick_band: Floats
    modelled: Floats
    interval: Floats


@by_value
@dataclass(frozen=True)
class _State:
    """The last sample, with what the balance to the next one needs."""

    stamp: int
    mass: Floats
    velocity: Floats
    unbalanced: Floats
    effort: Floats
    filtered: Floats


class MomentumObserver:
    """External joint efforts of a robot with given parameters, sample by sample or all at once.

    Samples may come in blocks of any size; the numbers are the same.  Where the clock is set back,
    or samples are missing for longer than the longest gap, the observer begins anew.

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
        speeds = self.settings.stick_speeds(robot)
        self._stick = np.abs(self._plant.motion) @ speeds
        self._action = np.abs(self._plant.action)
        self._state: _State | None = None

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
            SampleError: a value is NaN or infinite.
        """
        q, qd, tau = self._checked(stamps, position=position, velocity=velocity, effort=effort)
        before = [] if self._state is None else [self._state.stamp]
        fresh = np.diff(stamps, prepend=before or stamps[:1] - 1) != 0
        stamps, q, qd, tau = stamps[fresh], q[fresh], qd[fresh], tau[fresh]
        mass, bias, left, band = self._evaluated(q, qd, tau)
        begins, interval = self._intervals(stamps)
        balance = self._balance(interval, mass, qd, np.stack([bias - left, tau], axis=1))
        inputs = np.concatenate([balance, band[:, None]], axis=1)
        first = np.stack([np.zeros_like(qd), tau, band], axis=1)
        outputs = self._filtered(begins, interval, inputs, first)
        if len(stamps):
            self._state = _State(
                int(stamps[-1]), mass[-1], qd[-1], bias[-1] - left[-1], tau[-1], outputs[-1]
            )
        external, measured, stick = np.moveaxis(outputs, 1, 0)
        return ObservedEfforts(stamps, qd, external, stick, external + measured, interval)

    def _filtered(
        self, begins: npt.NDArray[np.bool_], interval: Floats, inputs: Floats, first: Floats
    ) -> Floats:
        """Return signals (samples, signals, joints) behind the filter of first order.

        Args:
            begins: (samples,) where the filter begins anew.
            interval: (samples,) in s.
            inputs: (samples, signals, joints) averages since the sample before.
            first: (samples, signals, joints) where it begins with.
        """
        out = np.empty_like(inputs)
        now = first[:1] if self._state is None else self._state.filtered
        rises = -np.expm1(-interval / self.settings.time_constant)
        for k, (begin, rise) in enumerate(zip(begins.tolist(), rises.tolist(), strict=True)):
            now = first[k] if begin else now + rise * (inputs[k] - now)
            out[k] = now
        return out

    def restart(self) -> None:
        """Forget what has come."""
        self._state = None

    def _checked(self, stamps: Stamps, **signals: npt.ArrayLike) -> list[Floats]:
        wanted = (len(stamps), len(self._names))
        checked = []
        for name, signal in signals.items():
            array = np.ascontiguousarray(signal, dtype=np.float64)
            if array.shape != wanted:
                raise ShapeError(name, array.shape, str(wanted))
            check_finite(name, array, self._names)
            checked.append(array)
        return checked

    def _evaluated(
        self, q: Floats, qd: Floats, tau: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mass matrices, bias, what Coulomb friction leaves of efforts, and stick band."""
        samples, joints = q.shape
        mass, bias = np.empty((samples, joints, joints)), np.empty((samples, joints))
        direct_kernels.mass_matrices(self._plant, q, qd, mass, bias)
        share = np.ascontiguousarray(np.clip(qd @ self._plant.motion.T / self._stick, -1.0, 1.0))
        left = np.empty_like(q)
        direct_kernels.driving_efforts(self._plant, q, qd, tau, share, left)
        band = (1.0 - np.abs(share)) @ self._action
        if self._plant.load.present:
            sliding, rest = np.where(share < 0.0, -1.0, 1.0), np.empty_like(q)
            direct_kernels.driving_efforts(self._plant, q, qd, tau, sliding, rest)
            band = np.maximum(band, np.abs(left - rest))
        return mass, bias, left, band

    def _intervals(self, stamps: Stamps) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Return (samples,) where the observer begins anew, and intervals in s, 0 there."""
        first = stamps[:1] if self._state is None else np.array([self._state.stamp])
        interval = np.diff(stamps, prepend=first) * NANOSECOND
        begins = (interval <= 0.0) | (interval > self.settings.longest_gap)
        interval[begins] = 0.0
        return begins, interval

    def _balance(self, interval: Floats, mass: Floats, qd: Floats, efforts: Floats) -> Floats:
        """Return (samples, 2, joints) averages since the sample before: external, measured efforts.

        Args:
            interval: (samples,) in s; 0 where there is no sample before.
            mass: (samples, joints, joints).
            qd: (samples, joints).
            efforts: (samples, 2, joints) what the momentum balance lacks, and measured efforts.
        """
        if not len(qd):
            return efforts
        state, first = self._state, (mass[0], qd[0], efforts[0])
        if state is not None:
            first = (state.mass, state.velocity, np.stack([state.unbalanced, state.effort]))
        masses, rates, both = (
            np.concatenate([before[None], these])
            for before, these in zip(first, (mass, qd, efforts), strict=True)
        )
        impulse = np.einsum("sij,sj->si", 0.5 * (masses[1:] + masses[:-1]), np.diff(rates, axis=0))
        per_second = np.divide(1.0, interval, out=np.zeros_like(interval), where=interval > 0.0)
        average: Floats = 0.5 * (both[1:] + both[:-1])
        average[:, 0] += impulse * per_second[:, None]
        return average

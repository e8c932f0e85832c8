"""Trials: one thing of the efforts, the motion or the description is changed, and all is refitted.

Each yields how much of what is left it explains; :mod:`.fit` names the one that wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.diagnosis.refits.motion import SHIFTS, Motion
from robot_identification.identification.diagnosis.refits.refit import Grams, gain, rows_of
from robot_identification.identification.diagnosis.refits.scalings import (
    DEGREES,
    UNITS,
    Scalings,
    Trial,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_OFFSETS = (np.pi / 2, -np.pi / 2, np.pi, 0.2, -0.2)
_TILTS = (0.15, 0.5, 1.0)  # rad
_NEAR = (1.1, 0.9)
"""Where the search begins for a factor that is no unit, such as that of a clock that goes wrong."""
_LENGTHS = (2.0, 0.5, 0.001, -1.0, 0.0, *_NEAR)
_CLOCKS = (2.0, 0.5, 10.0, 0.1, *_NEAR)
_FEW = 4
_JOINING = 0.3
"""Gain from which on one more joint is taken for one whose efforts do not hold the weight."""
_HOPELESS = -2.0
"""A change that makes the fit to one of so many instants worse by two halvings of a variance is not
tried on all of them: their gains differ by less, by 0.5 in all but one of a hundred trials."""


class Trials(Scalings):
    """Trials on one motion.

    Args:
        motion: what was measured.
        columns: of the full regressor, those of the base parameters.
    """

    def __init__(self, motion: Motion, columns: npt.NDArray[np.intp]) -> None:
        self.motion = motion
        self.robot = motion.robot
        self._regressor = Regressor(self.robot, columns)
        super().__init__(self._grams_of(motion))
        few = self._grams_of(motion.every(_FEW))
        self._few_before = few.fit() if all(own.enough for own in few.rows) else None

    @property
    def joints(self) -> range:
        """Places of the joints."""
        return range(len(self.robot.joints))

    def of_efforts(self) -> Iterator[Trial]:
        """Give out trials that change the efforts alone."""
        negated = {joint: -self.motion.effort[joint] for joint in self.joints}
        yield self._efforts("effort sign", (), -1.0, negated)
        for joint in self.joints if len(self.robot.joints) > 1 else ():
            yield from self.of_effort(joint)
        yield self._best_shift(None)
        if len(self.robot.joints) > 1:
            yield from (self._best_shift(joint) for joint in self.joints)
        for pair in combinations(self.joints, 2):
            first, second = pair
            exchanged = {first: self.motion.effort[second], second: self.motion.effort[first]}
            yield self._efforts("efforts swapped", pair, 0.0, exchanged)

    def negated(self, joint: int) -> tuple[Trial, Trial]:
        """Return the trials with the efforts, and with the positions, of one joint negated."""
        positions = self._moved("position factor", (joint,), -1.0, self._times(joint, -1.0))
        return self.scaled(joint, -1.0), positions

    def of_motion(self) -> Iterator[Trial]:
        """Give out trials that change the motion."""
        several = len(self.robot.joints) > 1
        for joint in self.joints:
            turned = self._grams_of(self._times(joint, -1.0))
            effort = self._kept({joint: -self.motion.effort[joint]})
            yield self._trial("axis reversed", (joint,), -1.0, turned.fit(effort))
            yield self._trial("position factor", (joint,), -1.0, turned.fit())
            for factor in (*UNITS, *_NEAR):
                yield self._moved("position factor", (joint,), factor, self._times(joint, factor))
            if self.robot.joints[joint].type is JointType.REVOLUTE:
                for offset in _OFFSETS:
                    yield self._moved(
                        "position offset", (joint,), offset, self._turned(joint, offset)
                    )
        if several:
            for factor in (DEGREES, 1.0 / DEGREES, 1000.0, 0.001):
                yield self._moved("position factor", (), factor, self._times(None, factor))
        for pair in combinations(self.joints, 2):
            yield self._moved("positions swapped", pair, 0.0, self._exchanged(pair, efforts=False))
            yield self._moved("joints swapped", pair, 0.0, self._exchanged(pair, efforts=True))
        for factor in _CLOCKS:
            yield self._moved("clock", (), 1.0 / factor, self._slower(1.0 / factor))

    def of_description(self) -> Iterator[Trial]:
        """Give out trials that change gravity or the geometry of the robot."""
        yield from self._gravities()
        yield from self._weightless()
        for joint in self.joints:
            length = self.robot.joints[joint].translation
            if length.any():
                for factor in _LENGTHS:
                    yield self._described(
                        "link length", (joint,), factor, _with_length(self.robot, joint, factor)
                    )
        for first, second in combinations(self.joints, 2):
            one, other = (self.robot.joints[i].translation for i in (first, second))
            if not np.allclose(one, other):
                changed = _with_translation(self.robot, {first: other, second: one})
                yield self._described("lengths swapped", (first, second), 0.0, changed)

    def refined(self, trial: Trial) -> Trial:
        """Return a trial with the amount that explains most, near that of the trial."""
        changes: dict[str, Callable[[float], Trial]] = {
            "position offset": lambda x: self._moved(
                trial.cause, trial.joints, x, self._turned(trial.joints[0], x)
            ),
            "link length": lambda x: self._described(
                trial.cause, trial.joints, x, _with_length(self.robot, trial.joints[0], x)
            ),
            "position factor": lambda x: self._moved(
                trial.cause, trial.joints, x,
                self._times(trial.joints[0] if trial.joints else None, x),
            ),
            "clock": lambda x: self._moved(trial.cause, (), x, self._slower(x)),
        }  # fmt: skip
        change = changes.get(trial.cause)
        if change is None or trial.amount == 0.0:
            return trial
        best = self.with_best_amount(trial, change, 0.4)
        return best if best.gain > trial.gain + 0.2 else trial

    def _grams_of(self, motion: Motion) -> Grams:
        return Grams(rows_of(motion, self._regressor), len(self._regressor.columns))

    def _efforts(
        self, cause: str, joints: tuple[int, ...], amount: float, efforts: Mapping[int, Array]
    ) -> Trial:
        """Return the trial with other efforts of some joints, (instants,) each."""
        return self._trial(cause, joints, amount, self.grams.fit(self._kept(efforts)))

    def _kept(self, efforts: Mapping[int, Array]) -> dict[int, Array]:
        return {joint: effort[self.motion.kept[joint]] for joint, effort in efforts.items()}

    def _best_shift(self, joint: int | None) -> Trial:
        joints = () if joint is None else (joint,)
        trials = (
            self._efforts("time shift", joints, shift, {k: moved[k] for k in joints or self.joints})
            for shift, moved in zip(SHIFTS, self.motion.shifted, strict=True)
        )
        return max(trials, key=lambda one: one.gain)

    def _moved(self, cause: str, joints: tuple[int, ...], amount: float, motion: Motion) -> Trial:
        return self._screened(cause, joints, amount, motion, self._regressor)

    def _described(
        self,
        cause: str,
        joints: tuple[int, ...],
        amount: float,
        robot: RobotModel,
        detail: str = "",
    ) -> Trial:
        return self._screened(cause, joints, amount, self.motion, Regressor(robot), detail)

    def _screened(
        self,
        cause: str,
        joints: tuple[int, ...],
        amount: float,
        motion: Motion,
        regressor: Regressor,
        detail: str = "",
    ) -> Trial:
        """Return the trial with another motion or robot; a hopeless one as few instants show it."""
        columns = len(regressor.columns)
        if self._few_before is not None:
            few = Grams(rows_of(motion.every(_FEW), regressor), columns).fit()
            shown = gain(self._few_before, few)
            if shown < _HOPELESS:
                return Trial(cause, joints, amount, shown, few, detail)
        fit = Grams(rows_of(motion, regressor), columns).fit()
        return self._trial(cause, joints, amount, fit, detail)

    def _times(self, joint: int | None, factor: float) -> Motion:
        scale = np.ones((len(self.robot.joints), 1))
        scale[slice(None) if joint is None else joint] = factor
        motion = self.motion
        return motion.with_signals(
            position=motion.position * scale,
            velocity=motion.velocity * scale,
            acceleration=motion.acceleration * scale,
        )

    def _slower(self, factor: float) -> Motion:
        """Return the motion with the time between samples times a factor."""
        motion = self.motion
        return motion.with_signals(
            velocity=motion.velocity / factor, acceleration=motion.acceleration / factor**2
        )

    def _turned(self, joint: int, offset: float) -> Motion:
        position = np.array(self.motion.position)
        position[joint] += offset
        return self.motion.with_signals(position=position)

    def _exchanged(self, pair: tuple[int, int], *, efforts: bool) -> Motion:
        order = [_swapped(k, pair) for k in self.joints]
        motion = self.motion
        changed = motion.with_signals(
            position=motion.position[order],
            velocity=motion.velocity[order],
            acceleration=motion.acceleration[order],
        )
        if not efforts:
            return changed
        return replace(changed, effort=motion.effort[order], kept=motion.kept[order])

    def _gravities(self) -> Iterator[Trial]:
        size = float(np.linalg.norm(self.robot.gravity))
        if size == 0.0:
            yield from (
                self._gravity(9.81 * sign * axis, "gravity direction")
                for axis in np.eye(3)
                for sign in (-1.0, 1.0)
            )
            return
        own = self.robot.gravity / size
        yield self._gravity(np.zeros(3), "no gravity")
        for axis in np.eye(3):
            for sign in (-1.0, 1.0):
                if not np.allclose(sign * axis, own):
                    yield self._gravity(size * sign * axis, "gravity direction")
        first = np.cross(own, np.eye(3)[int(np.argmin(np.abs(own)))])
        first /= np.linalg.norm(first)
        second = np.cross(own, first)
        for side in (first, -first, second, -second):
            for tilt in _TILTS:
                yield self._gravity(
                    size * (np.cos(tilt) * own + np.sin(tilt) * side), "gravity direction"
                )

    def _weightless(self) -> Iterator[Trial]:
        """Give out trials without gravity in the efforts of one joint, then of more beside it."""
        if len(self.robot.joints) < 2 or not self.robot.gravity.any():
            return
        given = rows_of(self.motion, Regressor(self.robot))
        free = rows_of(self.motion, Regressor(replace(self.robot, gravity=np.zeros(3))))
        columns = len(self.robot.standard_indices)

        def without(joints: tuple[int, ...]) -> Trial:
            rows = [free[k] if k in joints else given[k] for k in self.joints]
            return self._trial("no gravity", joints, 0.0, Grams(rows, columns).fit())

        left = {
            k for k, (own, other) in enumerate(zip(given, free, strict=True))
            if not np.array_equal(own.matrix, other.matrix)
        }  # fmt: skip
        best: Trial | None = None
        while left:
            beside = () if best is None else best.joints
            tried = [without(tuple(sorted((*beside, k)))) for k in left]
            more = max(tried, key=lambda one: one.gain)
            if best is None:
                yield from tried
            elif more.gain < best.gain + _JOINING:
                return
            else:
                yield more
            best = more
            left -= set(best.joints)

    def _gravity(self, gravity: Array, cause: str) -> Trial:
        size = float(np.linalg.norm(self.robot.gravity))
        cosine = float(gravity @ self.robot.gravity) / max(size**2, 1e-9)
        angle = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
        changed = replace(self.robot, gravity=gravity)
        detail = "(" + ", ".join(f"{value:.3g}" for value in gravity + 0.0) + ")"
        return self._described(cause, (), angle, changed, detail)


def _swapped(joint: int, pair: Sequence[int]) -> int:
    first, second = pair
    return {first: second, second: first}.get(joint, joint)


def _with_length(robot: RobotModel, joint: int, factor: float) -> RobotModel:
    return _with_translation(robot, {joint: robot.joints[joint].translation * factor})


def _with_translation(robot: RobotModel, translations: dict[int, Array]) -> RobotModel:
    joints = tuple(
        replace(joint, translation=translations[i], geometry=None) if i in translations else joint
        for i, joint in enumerate(robot.joints)
    )
    return replace(robot, joints=joints)

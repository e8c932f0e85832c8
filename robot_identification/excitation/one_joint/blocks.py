"""Motions and postures that identify one joint's block (Lin 1992, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.one_joint.experiments import Experiment, Motion, MotionLibrary
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.identification.one_joint.conversion import JointwiseParameters, rubs
from robot_identification.identification.one_joint.identifiability import untold
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.geometry import forward_kinematics

_FAINT = 1e-9
_PASSES = 3


@by_value
@dataclass(frozen=True)
class Pool:
    """Information that every candidate experiment would give about the parameters of a block.

    Attributes:
        information: (candidates, parameters, parameters) products A^T A of scaled columns.
    """

    information: Array

    @classmethod
    def of(cls, rows: Array) -> Pool:
        """Return the pool of rows (candidates, rows, parameters), their columns scaled alike."""
        norms = np.sqrt(np.mean(np.sum(rows**2, axis=1), axis=0))
        scaled = rows / np.where(norms > 0.0, norms, 1.0)
        return cls(np.einsum("kri,krj->kij", scaled, scaled))

    def best(self, count: int) -> npt.NDArray[np.intp]:
        """Return the candidates (count,) that together tell the parameters best.

        Candidates are taken one by one for the largest determinant, then exchanged one by one for
        the smallest sum of variances, in units of the columns' scale.

        Args:
            count: how many are wanted; there may be fewer candidates.
        """
        chosen: list[int] = []
        total = _FAINT * np.eye(self.information.shape[1])
        for _ in range(min(count, len(self.information))):
            _, volumes = np.linalg.slogdet(total + self.information)
            volumes[chosen] = -np.inf
            chosen.append(int(np.argmax(volumes)))
            total = total + self.information[chosen[-1]]
        for _ in range(_PASSES):
            before = list(chosen)
            for place, current in enumerate(chosen):
                rest = total - self.information[current]
                variances = _variances(rest + self.information)
                variances[[c for c in chosen if c != current]] = np.inf
                chosen[place] = int(np.argmin(variances))
                total = rest + self.information[chosen[place]]
            if chosen == before:
                break
        return np.array(chosen, dtype=np.intp)


def _variances(information: Array) -> Array:
    """Return (candidates,) sums of variances; what is not told counts as hardly told."""
    values = np.linalg.eigvalsh(information)
    result: Array = np.sum(1.0 / np.maximum(values, _FAINT), axis=1)
    return result


_SAMPLES = 40
_ROOM = 1.5
"""Share of the clearance within which distances of postures are computed exactly."""
_CHECKED = 9
_DRAWS = 4
_SURE = 0.3  # of the steady slow speed: a sample below it does not tell the sign of friction


@dataclass(frozen=True)
class Block:
    """Identification of the parameters of one joint's block.

    Attributes:
        joint: index of the joint whose effort tells them.
        names: names of the parameters that are told.
        experiments: what is done for them.
        condition_number: of their column-scaled system.
        missing: names of the parameters of the block that no possible motion tells.
        reason: why they are missing; empty where none is.
    """

    joint: int
    names: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    condition_number: float
    missing: tuple[str, ...] = ()
    reason: str = ""

    @property
    def equations(self) -> tuple[str, ...]:
        """Equations of Lin 1992 behind it, in order of use."""
        return tuple(dict.fromkeys(e.motion.equation for e in self.experiments))


class BlockPlanner:
    """Chooses the experiments of one block after the other.

    Args:
        parameters: what is to be told.
        limits: inside which postures may lie.
        settings: how the robot is moved.
        start: (joints,) posture that joints hold at where nothing else is needed.
        surroundings: obstacles that postures avoid.
    """

    def __init__(
        self,
        parameters: JointwiseParameters,
        limits: MotionLimits,
        settings: OneJointSettings,
        start: Array,
        surroundings: Surroundings,
    ) -> None:
        self._parameters = parameters
        self._robot = parameters.base.robot
        self._settings = settings
        self._start = start
        self._limits = limits
        self._surroundings = surroundings
        self._library = MotionLibrary(self._robot, limits, settings)
        self._regressor = Regressor(self._robot, parameters.base.base_columns)
        self._rng = np.random.default_rng(settings.seed)

    def plan(self, joint: int) -> Block | None:
        """Return how the block of a joint is identified; None where it is empty."""
        own = self._parameters.block(joint)
        names = tuple(self._parameters.names[i] for i in own)
        if not names:
            return None
        candidates: list[Experiment] = []
        rows = np.zeros((0, _SAMPLES, len(names)))
        missing, condition, obstacles = list(names), float("inf"), []
        for group in self._sources(joint, names):
            for moving in group:
                motion = self._library.motion(moving, joint)
                if isinstance(motion, str):
                    obstacles.append(motion)
                    continue
                drawn = self._candidates(motion)
                if not drawn:
                    obstacles.append(f"no free posture to move {self._robot.joint_names[moving]}")
                    continue
                candidates += drawn
                rows = np.concatenate([rows, self._rows(motion, drawn, joint)])
            if candidates:
                missing, condition = self._untold(rows, names)
            if not missing:
                break
        if missing:
            return self._incomplete(joint, names, candidates, rows, missing, condition, obstacles)
        return self._chosen(joint, names, candidates, rows)

    def _sources(self, joint: int, names: Sequence[str]) -> list[list[int]]:
        """Return which joints to move, group by group; a later group only where it is needed.

        Translational joints first move themselves (step 1), what is behind s is told by joint r
        (step 2), what is before s by joint r, by other joints with a distance, or by translations
        (step 3).  What is not inertia needs the joint's own motion from the beginning.
        """
        chosen = self._parameters.constants
        prismatic = chosen.chain.prismatic
        first = [chosen.first] if chosen.first < joint else []
        extra = any(name not in chosen.names for name in names)
        turning = [m for m in range(joint - 1, -1, -1) if not prismatic[m] and m not in first]
        sliding = [m for m in range(joint - 1, -1, -1) if prismatic[m]]
        if prismatic[joint]:
            groups = [[joint], first]
        elif extra or not first:
            groups = [[*first, joint]]
        else:
            groups = [first, [joint]]
        return [group for group in (*groups, *([m] for m in turning + sliding)) if group]

    def _candidates(self, motion: Motion) -> list[Experiment]:
        """Return experiments at random postures that are free all along."""
        count, joints = self._settings.candidates, len(self._start)
        wanted: list[Experiment] = []
        lower, upper = self._box(motion)
        varied = np.arange(joints) <= motion.measured
        held = np.array([bool(self._settings.why_held(name)) for name in self._robot.joint_names])
        varied &= ~held
        home = np.where(held, self._start, np.clip(self._start, motion.lower, motion.upper))
        for _ in range(_DRAWS):
            postures = np.where(varied, self._rng.uniform(lower, upper, (count, joints)), home)
            free = self._free(motion, postures)
            wanted += [Experiment(motion, posture) for posture in postures[free]]
            if len(wanted) >= count:
                break
        return wanted[:count]

    def _box(self, motion: Motion) -> tuple[Array, Array]:
        """Return between which postures (joints,) those of a motion are drawn."""
        turning = ~self._parameters.constants.chain.prismatic
        down = self._settings.reach * (self._start - self._limits.lower)
        up = self._settings.reach * (self._limits.upper - self._start)
        down, up = (np.where(turning, np.minimum(x, self._settings.spread), x) for x in (down, up))
        lower = np.clip(self._start - down, motion.lower, motion.upper)
        return lower, np.clip(self._start + up, lower, motion.upper)

    def _free(self, motion: Motion, postures: Array) -> np.ndarray:
        """Tell which postures (candidates, joints) are free during the whole motion."""
        workspace, around = self._robot.workspace, self._surroundings.collisions
        free = np.ones(len(postures), dtype=np.bool_)
        if workspace is None and around is None:
            return free
        relative, _, _ = motion.samples(_CHECKED)
        passed = (postures[:, None, :] + relative).reshape(-1, postures.shape[1])
        inside = np.ones(len(passed), dtype=np.bool_)
        if workspace is not None:
            inside &= workspace.contains(forward_kinematics(self._robot, passed)[:, -1])
        if around is not None:
            off = (
                np.zeros(passed.shape[1])
                if self._surroundings.off is None
                else self._surroundings.off
            )
            least = around.clearance
            inside &= around.check.margins(passed, off, least, _ROOM * least) > least
        return free & inside.reshape(len(postures), -1).all(axis=1)

    def _rows(self, motion: Motion, experiments: Sequence[Experiment], joint: int) -> Array:
        """Return the rows (experiments, samples, parameters) of the block's own parameters."""
        relative, velocity, acceleration = motion.samples(_SAMPLES)
        postures = np.array([experiment.posture for experiment in experiments])
        q = (postures[:, None, :] + relative).reshape(-1, postures.shape[1])
        qd, qdd = (np.tile(x, (len(experiments), 1)) for x in (velocity, acceleration))
        effort = self._regressor.dense(q, qd, qdd)[:, joint]
        own = self._parameters.base_matrix[:, self._parameters.block(joint)]
        rows = (effort @ own).reshape(len(experiments), _SAMPLES, -1)
        if rubs(self._robot, joint):
            speed = np.abs(velocity[:, joint])
            steady = min(self._library.slow_speed(joint), float(speed.max()))
            rows[:, speed < _SURE * steady] = 0.0
        return rows

    def _untold(self, rows: Array, names: Sequence[str]) -> tuple[list[str], float]:
        stacked = rows.reshape(-1, len(names))
        return untold(stacked, names, 1.0 / self._settings.worst_condition)

    def _count(self, parameters: int) -> int:
        if self._settings.postures is not None:
            return self._settings.postures
        return 1 if parameters == 1 else -(-parameters // 3) + 1

    def _chosen(
        self, joint: int, names: Sequence[str], candidates: list[Experiment], rows: Array
    ) -> Block:
        """Return the block with the best of its candidates, as few more as it takes."""
        count = self._count(len(names))
        pool = Pool.of(rows)
        while True:
            best = pool.best(count)
            missing, condition = self._untold(rows[best], names)
            if not missing or count >= 2 * len(names) + 2:
                break
            count += 1
        chosen = tuple(candidates[i] for i in best)
        if missing:
            return Block(joint, (), (), condition, tuple(names), _too_weak(condition))
        return Block(joint, tuple(names), chosen, condition)

    def _incomplete(
        self,
        joint: int,
        names: Sequence[str],
        candidates: list[Experiment],
        rows: Array,
        missing: Sequence[str],
        condition: float,
        obstacles: Sequence[str],
    ) -> Block:
        """Return a block some of whose parameters are not identifiable, with the reason."""
        told = tuple(name for name in names if name not in missing)
        held = [self._settings.why_held(name) for name in self._robot.joint_names[: joint + 1]]
        reasons = tuple(dict.fromkeys([*obstacles, *filter(None, held)]))
        reason = "; ".join(reasons) if reasons else _too_weak(condition)
        if not told:
            return Block(joint, (), (), float("inf"), tuple(missing), reason)
        places = [names.index(name) for name in told]
        best = Pool.of(rows[:, :, places]).best(self._count(len(told)))
        _, remaining = untold(rows[best][:, :, places].reshape(-1, len(told)), told, 0.0)
        chosen = tuple(candidates[i] for i in best)
        return Block(joint, told, chosen, remaining, tuple(missing), reason)


def _too_weak(condition: float) -> str:
    return (
        f"inside the limits no single joint moves enough to identify them (condition number "
        f"{condition:.3g}); widen the position limits, or raise reach and travel"
    )

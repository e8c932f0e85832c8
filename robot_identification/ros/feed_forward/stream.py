"""Feed-forward efforts on a clock: what is due, along the trajectory of the moment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.feed_forward import FeedForward
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.messages.trajectories import require_reference

_MOST_AT_ONCE = 1000


class TorqueStream:
    """Efforts at a fixed rate, each for the middle of the time until the next.

    Nothing is due until there are a model, a trajectory and a first state.  A new model or a new
    trajectory makes what is ahead of the clock due again.  Where the clock of the robot begins anew
    the trajectory is forgotten, and an effort of 0 is due: by that clock it would be played again,
    to a robot that may stand anywhere.  Along a trajectory whose points carry
    efforts of their own, those due are 0: they would be fed forward twice.  A stream that fades
    ends with an effort of 0.

    Args:
        joint_names: joints of the robot.
        rate: rate of the efforts, Hz.
        lead: how far ahead of the newest state efforts are due, in s.
        begun: whether efforts are due from the beginning, and not only after :meth:`begin`.

    Attributes:
        ended: whether nothing more is due: the last effort was one of 0, or there was none.
    """

    def __init__(
        self, joint_names: tuple[str, ...], rate: float, lead: float, *, begun: bool = True
    ) -> None:
        self._joint_names = joint_names
        self._rate = rate
        self._lead = lead
        self._model: FeedForward | None = None
        self._trajectory: Trajectory | None = None
        self._start = 0
        self._origin = 0
        self._now = 0
        self._next = 0
        self._fading: tuple[int, int] | None = None  # stamps in ns at which it begins and ends
        self.ended = not begun

    def begin(self, position: Array | None = None) -> None:
        """Have efforts due from the newest state on, in full.

        Where the trajectory has come to its end the robot is held where it stands: somebody may
        have moved it since.

        Args:
            position: (joints,) where it stands, in rad or m; None: where the trajectory ended.
        """
        self._fading, self.ended = None, False
        if position is not None and self._passed:
            self._trajectory = Trajectory(self._joint_names, np.zeros(1), position[None])
        self._repeat()

    @property
    def _passed(self) -> bool:
        """Whether the trajectory has come to its end, by the clock of the robot."""
        if self._trajectory is None:
            return False
        return bool((self._now - self._start) / NANOSECONDS >= self._trajectory.times[-1])

    def fade(self, seconds: float) -> None:
        """Let the efforts from the newest state on fall to zero in a time, with which they end.

        What falls already goes on falling.
        """
        if self._fading is None:
            self._fading = (self._now, self._now + round(seconds * NANOSECONDS))
            self._repeat()

    def end(self) -> None:
        """Have nothing due any more."""
        self.ended = True

    @property
    def over(self) -> bool:
        """Whether the efforts have fallen to zero by the clock of the robot, or none were due."""
        if self._model is None or self._trajectory is None:
            return True
        return self.ended and (self._fading is None or self._now >= self._fading[1])

    @property
    def follows(self) -> bool:
        """Whether there is a trajectory."""
        return self._trajectory is not None

    def use(self, model: FeedForward) -> None:
        """Take another model from now on."""
        self._model = model
        self._repeat()

    def stop(self) -> None:
        """Take the model away; nothing is due until there is another one."""
        self._model = None

    @property
    def limited(self) -> tuple[str, ...]:
        """Joints of which the model asked more, for what was due last, than their effort limits."""
        return () if self._model is None else self._model.limited

    def follow(self, trajectory: Trajectory, start: int, position: npt.ArrayLike) -> None:
        """Follow a trajectory in place of the one before.

        Until its first point the way leads there from where the reference is now.

        Args:
            trajectory: joints in any order.
            start: stamp at which its clock starts, in ns; 0: the newest state's.
            position: (joints,) where the robot is, for a first trajectory.

        Raises:
            TrajectoryError: if it names other joints, or the way to it cannot be interpolated.
        """
        ordered = trajectory.reordered(self._joint_names)
        begin = start or self._now
        present = self._present(np.asarray(position, dtype=np.float64))
        time = (self._now - begin) / NANOSECONDS
        if time < ordered.times[0]:
            ordered = ordered.preceded_by(time, *present)
        require_reference(ordered)
        self._trajectory, self._start = ordered, begin
        self._repeat()

    def due(self, now: int) -> list[tuple[int, Array]]:
        """Return (stamp in ns, (joints,) efforts) that are due now, in order.

        Args:
            now: stamp of the newest state, in ns.

        Raises:
            SampleError: an effort would not be a number.
        """
        if now < self._now:
            return self._anew(now)
        self._origin = self._origin or now
        self._now = now
        if self.ended or self._model is None or self._trajectory is None:
            return []
        last = int((now - self._origin) * self._rate / NANOSECONDS + self._lead * self._rate)
        first = max(self._next, last + 1 - _MOST_AT_ONCE)
        if last < first:
            return []
        numbers = np.arange(first, last + 1)
        self._next = last + 1
        stamps = self._origin + np.round(numbers * (NANOSECONDS / self._rate)).astype(np.int64)
        middle = (stamps - self._start) / NANOSECONDS + 0.5 / self._rate
        efforts = np.zeros((len(middle), len(self._joint_names)))
        if self._trajectory.efforts is None:
            efforts = self._model.efforts(*self._trajectory.sample(middle))
        if self._fading is not None:
            stamps, efforts = self._faded(stamps, efforts, *self._fading)
        return list(zip(stamps.tolist(), efforts, strict=True))

    def _anew(self, now: int) -> list[tuple[int, Array]]:
        """Return what is due where the clock of the robot begins anew, at a stamp in ns."""
        following = not self.ended and self._model is not None and self.follows
        self.ended = self.ended or self._fading is not None
        self._fading = self._fading and (now, now)
        self._origin, self._now, self._next, self._trajectory = now, now, 0, None
        return [(now, np.zeros(len(self._joint_names)))] if following else []

    def _faded(
        self, stamps: npt.NDArray[np.int64], efforts: Array, begin: int, end: int
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Return what is due while efforts fall, up to the first that is zero."""
        share = np.clip((end - stamps) / max(end - begin, 1), 0.0, 1.0)
        count = int(np.count_nonzero(share)) + 1
        self.ended = count <= len(stamps)
        return stamps[:count], (share[:, None] * efforts)[:count]

    def _present(self, position: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration of the reference now, (joints,) each."""
        if self._trajectory is None:
            return position, np.zeros_like(position), np.zeros_like(position)
        sampled = self._trajectory.sample([(self._now - self._start) / NANOSECONDS])
        return sampled[0][0], sampled[1][0], sampled[2][0]

    def _repeat(self) -> None:
        """Let what is ahead of the newest state be due again."""
        past = (self._now - self._origin) * self._rate / NANOSECONDS
        self._next = max(0, int(past) + 1)

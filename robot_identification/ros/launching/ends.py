"""Ends of the processes of a launch: which end it, and with which exit code."""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable

from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.common.process import BAD_INPUT, REFUSED

_BY_SIGNAL = {
    code for number in (signal.SIGINT, signal.SIGTERM) for code in (-number, 128 + number)
}


class ProcessFailedError(RobotIdentificationError):
    """A process of a launch has failed; raised where launch hears of it, it ends the launch.

    Attributes:
        codes: name -> exit code of each that has.
    """

    def __init__(self, codes: dict[str, int]) -> None:
        self.codes = dict(codes)
        told = ", ".join(f"{name} (exit code {code})" for name, code in codes.items())
        super().__init__(f"failed: {told}; what is wrong stands above")


class Ends:
    """The ends of the processes of a launch.

    A process that was given something wrong ends the launch, and so does one that the others need.
    Where another one fails they go on, and the launch fails when it ends.

    Args:
        processes: names of all processes.
        needed: names of those that the others need.
    """

    def __init__(self, processes: Iterable[str], needed: Collection[str]) -> None:
        self._running = set(processes)
        self._needed = needed
        self._untold: dict[str, int] = {}  # exit codes of those that have failed

    def ended(self, name: str, code: int, *, stopping: bool) -> None:
        """Take note of the end of a process.

        Args:
            name: its name.
            code: its exit code, negative for the signal that has ended it.
            stopping: whether the launch ends already.

        Raises:
            ProcessFailedError: the launch is to end, or ends, with an exit code that says so.
        """
        self._running.discard(name)
        failed = code != 0 and not (stopping and code in _BY_SIGNAL)
        if failed:
            self._untold[name] = code
        fatal = failed and (name in self._needed or code in (BAD_INPUT, REFUSED))
        if self._untold and (fatal or stopping or not self._running):
            told, self._untold = self._untold, {}
            raise ProcessFailedError(told)

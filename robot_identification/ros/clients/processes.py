"""Start the package's executables as processes, and make sure that none is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.clients.interruption import (
    signals_held,
    signals_ignored,
    signals_interrupting,
)
from robot_identification.share import NAME, share_directory

MODULES = {
    "acquisition": "acquisition.node",
    "identification": "identification.node",
    "calibration": "calibration.node",
    "excitation": "excitation.node",
    "computed_torque": "feed_forward.node",
    "simulated_robot": "simulation.node",
    "mujoco_robot": "simulation.mujoco_node",
    "fault_injector": "simulation.fault_injector",
}
"""Module of every executable below ``robot_identification.ros``, as CMakeLists.txt installs it."""

_GRACE = 10.0  # as launch gives before it kills


class NodeProcessError(RobotIdentificationError):
    """A node has ended although it should run; the message holds the end of its output."""


def executable(name: str) -> list[str]:
    """Return the command that runs a node: its installed executable, else its module."""
    prefixes = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    for prefix in filter(None, prefixes):
        path = Path(prefix, "lib", NAME, name)
        if os.access(path, os.X_OK):
            return [str(path)]
    return [sys.executable, "-m", f"{NAME}.ros.{MODULES[name]}"]


def command(
    name: str,
    *,
    parameter_files: Sequence[Path] = (),
    parameters: Mapping[str, object] | None = None,
    remappings: Mapping[str, str] | None = None,
    namespace: str = "",
    log_level: str = "info",
) -> list[str]:
    """Return the command line of a node.

    Args:
        name: name of the executable.
        parameter_files: files in addition to the one of the package, later ones win.
        parameters: single parameters, which win over files.
        remappings: new names of topics and services.
        namespace: namespace of the node.
        log_level: smallest level that is logged.
    """
    shipped = share_directory() / "config" / f"{name}.yaml"
    line = [*executable(name), "--ros-args", "--log-level", log_level]
    for path in (shipped, *parameter_files):
        line += ["--params-file", str(path)]
    for key, value in (parameters or {}).items():
        line += ["--param", f"{key}:={_yaml(value)}"]
    for old, new in (remappings or {}).items():
        line += ["--remap", f"{old}:={new}"]
    return [*line, "--remap", f"__ns:={namespace}"] if namespace else line


def _yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    return repr(value)


class NodeProcesses:
    """Nodes that run as long as the block; each in a process group of its own.

    In the main thread SIGTERM and SIGHUP end the block as Ctrl-C does, so that no node is left
    behind; and on Linux the nodes that it starts get SIGINT when this process is killed (SIGKILL).

    Args:
        logs: folder for the output of each node, ``NAME.log``.
        environment: variables in addition to those of this process.
    """

    def __init__(self, logs: Path, environment: Mapping[str, str] | None = None) -> None:
        self._logs = logs
        self._environment = {**os.environ, **(environment or {})}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._signals = ExitStack()
        if threading.current_thread() is threading.main_thread():
            self._signals.enter_context(signals_interrupting())

    def __enter__(self) -> NodeProcesses:  # noqa: PYI034 (Self is younger than Python 3.10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self, name: str, line: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process under a name that is not taken."""
        with self.log_file(name).open("wb") as log, signals_held():
            process = subprocess.Popen(
                [*ending_with_this_process(), *line],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
            self._running[name] = process
        return process

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the processes that run."""
        return tuple(self._running)

    def process(self, name: str) -> subprocess.Popen[bytes]:
        """Return a process that was started."""
        return self._running[name]

    def log_file(self, name: str) -> Path:
        """Return the file with the output of a node."""
        return self._logs / f"{name}.log"

    def output(self, name: str) -> str:
        """Return what a node has printed so far."""
        return self.log_file(name).read_text(errors="replace")

    def check(self) -> None:
        """Make sure that every process still runs.

        Raises:
            NodeProcessError: if one has ended.
        """
        for name, process in self._running.items():
            code = process.poll()
            if code is not None:
                tail = "\n".join(self.output(name).splitlines()[-15:])
                raise NodeProcessError(f"{name} has ended with exit code {code}:\n{tail}")

    def stop(self, name: str = "") -> None:
        """Stop one process or all: SIGINT, and SIGKILL for what does not end in time.

        A second Ctrl-C does not interrupt it: nodes would be left behind.
        """
        chosen = {name: self._running[name]} if name else dict(self._running)
        with signals_ignored():
            for process in chosen.values():
                _signal(process, signal.SIGINT)
            end = time.monotonic() + _GRACE
            for key, process in chosen.items():
                try:
                    process.wait(timeout=max(0.0, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    _signal(process, signal.SIGKILL)
                    process.wait()
                del self._running[key]
        if not name:
            self._signals.close()


def ending_with_this_process() -> list[str]:
    """Return what to put before a command so that it gets SIGINT when this process ends.

    The kernel sends it at the end of the thread that has started the process, so that this is for
    the main thread only.  Without ``setpriv`` (util-linux) processes outlive a killed parent.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or threading.current_thread() is not threading.main_thread():
        return []
    return [setpriv, "--pdeathsig", "INT", "--"]


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process and what it has started."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return

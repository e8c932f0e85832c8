"""Nodes as processes: none is left behind."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robot_identification.ros.clients.processes import NodeProcesses

pytestmark = pytest.mark.usefixtures("executed_nodes")

SLEEPER = """
import sys, time
from pathlib import Path
told = Path(sys.argv[1])
try:
    told.write_text("ready")
    while True:  # a signal just before a sleep is heard when that is over
        time.sleep(0.05)
except KeyboardInterrupt:
    told.write_text("interrupted")
"""
DEAF = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.SIG_IGN)
Path(sys.argv[1]).write_text("ready")
time.sleep(3600.0)
"""
STARTER = """
import sys, time
from pathlib import Path
from robot_identification.ros.clients.processes import NodeProcesses
print(NodeProcesses(Path(sys.argv[1])).start("sleeper", sys.argv[2:]).pid, flush=True)
time.sleep(3600.0)
"""


def has_ended(pid):
    """Tell whether a process is gone, or only waits for its end to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait(condition):
    """Wait until a condition comes true."""
    while not condition():
        time.sleep(0.02)


def is_ready(told):
    return told.exists() and told.read_text() == "ready"


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="there is no setpriv here")
def test_a_node_ends_in_order_when_the_program_that_started_it_is_killed(tmp_path):
    told = tmp_path / "told"
    line = [sys.executable, "-c", SLEEPER, str(told)]
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path), *line], stdout=subprocess.PIPE, text=True
    ) as starter:
        pid = int(starter.stdout.readline())
        wait(lambda: is_ready(told))
        assert not has_ended(pid)
        starter.send_signal(signal.SIGKILL)
    wait(lambda: has_ended(pid))
    assert told.read_text() == "interrupted"


def test_a_node_that_does_not_hear_the_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("robot_identification.ros.clients.processes._GRACE", 0.5)
    told = tmp_path / "told"
    with NodeProcesses(tmp_path) as processes:
        pid = processes.start("deaf", [sys.executable, "-c", DEAF, str(told)]).pid
        wait(lambda: is_ready(told))
    assert has_ended(pid)

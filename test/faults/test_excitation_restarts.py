"""The node that moves the robot is killed while it plans, moves or brakes, and started again."""

import signal
from pathlib import Path

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation

from live_nodes import complete_values
from lock_step import LockStepCell
from robot_identification.ros.common.joint_states import stamp_of
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow]

QUICK = {"rows": 8, "starts": 1, "duration": 3.0}
AWAY = np.array([0.3, -0.3])


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Return a SCARA: its plans are made in a moment."""
    folder = tmp_path_factory.mktemp("cell")
    values = str(complete_values(folder))
    with LockStepCell(folder, "scara", values) as cell:
        cell.start_nodes()
        yield cell


def children(process):
    """Return the processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(path.parent.name))
    return found


def alive(process):
    return Path(f"/proc/{process}").exists()


def reach(cell, state):
    """Bring the node into a state."""
    if state == Status.PLANNING:
        request = PlanExcitation.Request(rows=40, starts=20, duration=3.0)
        cell.begun.ask(request)
        cell.wait_for(Status.PLANNING)
        return
    place = AWAY if np.abs(cell.position() - AWAY).max() > 0.2 else -AWAY
    planned = cell.answers.plan(**QUICK, start_position=place.tolist())
    assert planned.success, planned.message
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    if state == Status.RUNNING:
        return
    cell.pass_time(1.0)
    assert cell.answers.stop().success
    cell.wait_for(Status.BRAKING)


@pytest.mark.parametrize("state", ["PLANNING", "RUNNING", "BRAKING"])
def test_after_a_kill_nothing_is_commanded_and_the_node_says_so(cell, state):
    reach(cell, getattr(Status, state))
    process = cell.nodes.process("excitation")
    workers = children(process.pid)
    assert workers, "the planning process"
    cell.kill(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    cell.client.spin(0.2)
    sent = list(cell.sent)
    cell.start_excitation()
    cell.wait_for(Status.IDLE)
    assert "~/plan" in cell.status.text
    assert cell.status.trajectory_hash == ""
    started = cell.answers.start()
    assert not started.success
    assert "there is no certified plan" in started.message
    if sent:
        rest = sent[-1].end + 2 * 10**8
        cell.wait(lambda: stamp_of(cell.states[-1]) > rest, "end of what was sent before")
    cell.pass_time(0.3)
    assert len(cell.sent) == len(sent)
    assert np.abs([state.velocity for state in cell.states[-20:]]).max() < 0.05
    cell.wait(lambda: not any(map(alive, workers)), "end of the killed node's planning process")

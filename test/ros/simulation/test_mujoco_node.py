"""The node that simulates a robot with the physics of MuJoCo."""

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from command_line import found_first
from diagnostics import Diagnostics, values_of
from refused_starts import refused_start
from simulated_cell import Cell

pytestmark = pytest.mark.ros

UR10 = {"robot": "ur10", "parameters_file": "ur10_simulated"}


def test_without_mujoco_it_says_how_to_install_it(tmp_path):
    (tmp_path / "mujoco.py").write_text("raise ImportError('not here')\n")
    said = refused_start("mujoco_robot", UR10, PYTHONPATH=found_first(tmp_path))
    assert "needs mujoco, which is not installed" in said
    assert "pip install 'robot_identification[mujoco]'" in said


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "nonesuch.xml"}, "nonesuch.xml"),
        ({"robot": "tx40", "parameters_file": "tx40_simulated"}, "couplings"),
        ({"robot": "three_dof"}, "these are values of ur10"),
        ({"friction_time": -1.0}, "time constant of MuJoCo"),
        ({"contacts": True, "cell": "nonesuch.yaml"}, "nonesuch.yaml"),
    ],
)
def test_a_wrong_parameter_ends_it_with_a_clear_error(parameters, message):
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    assert message in refused_start("mujoco_robot", {**UR10, **parameters})


@pytest.mark.parametrize(
    ("posture", "level"),
    [
        ([0.0, -1.3, 1.2, -0.6, -1.5, 0.0], DiagnosticStatus.OK),
        ([0.0, 0.1, 0.0, 0.0, 0.0, 0.0], DiagnosticStatus.WARN),  # the wrist lies on the floor
    ],
)
def test_contacts_are_counted_and_told(tmp_path, posture, level):
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    pytest.importorskip("coal", reason="the package coal is not installed")
    simulation = {"contacts": True, "initial_position": posture}
    with Cell(
        tmp_path, "ur10", "ur10_simulated", simulator="mujoco_robot", simulation=simulation
    ) as cell:
        told = Diagnostics(cell.client.node, cell.namespace)
        cell.start_robot()
        cell.wait(lambda: len(told.of("mujoco_robot")) > 1, "diagnostics")
        status = told.of("mujoco_robot")[-1]
    assert status.level == level, status.message
    values = values_of(status)
    touched = level == DiagnosticStatus.WARN
    assert (int(values["contacts"]) > 0) == touched
    assert (float(values["smallest_distance"]) < 0.001) == touched
    assert ("floor" in status.message) == touched

"""A robot whose physics nobody here wrote: MuJoCo moves it, the nodes identify it through DDS."""

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from command_line import found_first
from diagnostics import Diagnostics, values_of
from lock_step import LockStepSession
from refused_starts import refused_start
from simulated_cell import Cell

pytestmark = pytest.mark.ros

UR10 = {"robot": "ur10", "parameters_file": "ur10_simulated"}


@pytest.mark.slow
def test_a_seven_axis_arm_is_identified(tmp_path):
    """The xArm7 of example-robot-data: its bodies, damping and friction, and drive inertias."""
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    from mujoco_arms import XARM7, deviations, identified

    found = identified(
        XARM7,
        tmp_path,
        environment={},
        position_noise=[1e-5],
        effort_noise=[0.0],
        effort_noise_fraction=0.005,
        unseen_points=6,
        session=LockStepSession,
    )
    assert 15.0 < found.exciting < 25.0
    assert found.held_out_total < 0.02
    assert max(found.held_out) < 0.02
    assert found.all_samples < 0.02
    table = deviations(found, XARM7.truth(tmp_path))
    known = {key: entry for key, entry in table.items() if entry[2] < 0.05 * abs(entry[0])}
    for kind, joints in (("Ia", "34567"), ("Fv", "1234567"), ("Fc", "1234567")):
        for joint in joints:
            value, truth, std = known[f"{kind}{joint}"]
            assert value == pytest.approx(truth, rel=0.05, abs=3.0 * std), f"{kind}{joint}"
    assert len(known) >= 25
    close = [abs(value - truth) <= 3.0 * std for value, truth, std in known.values()]
    assert sum(close) >= 0.9 * len(close)


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

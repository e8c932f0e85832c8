"""A robot whose physics nobody here wrote: MuJoCo moves it, the nodes identify it through DDS."""

import pytest

from refused_starts import refused_start

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
        real_time_factor=3.0,
    )
    assert 15.0 < found.exciting < 25.0
    assert found.held_out_total < 0.02
    assert max(found.held_out) < 0.02
    assert found.all_samples < 0.02
    table = deviations(found, XARM7.truth(tmp_path))
    known = {key: entry for key, entry in table.items() if entry[2] < 0.05 * abs(entry[0])}
    for kind, joints in (("Ia", "34567"), ("Fv", "1234567"), ("Fc", "1234567")):
        for joint in joints:
            value, truth, _ = known[f"{kind}{joint}"]
            assert value == pytest.approx(truth, rel=0.05), f"{kind}{joint}"
    assert len(known) >= 25
    close = [abs(value - truth) <= 3.0 * std for value, truth, std in known.values()]
    assert sum(close) >= 0.9 * len(close)


def test_without_mujoco_it_says_how_to_install_it(tmp_path):
    (tmp_path / "mujoco.py").write_text("raise ImportError('not here')\n")
    said = refused_start("mujoco_robot", UR10, PYTHONPATH=str(tmp_path))
    assert "needs mujoco, which is not installed" in said
    assert "pip install 'robot_identification[mujoco]'" in said


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "nonesuch.xml"}, "nonesuch.xml"),
        ({"robot": "tx40", "parameters_file": "tx40_simulated"}, "couplings"),
        ({"robot": "three_dof"}, "these are values of ur10"),
        ({"friction_time": -1.0}, "time constant of MuJoCo"),
    ],
)
def test_a_wrong_parameter_ends_it_with_a_clear_error(parameters, message):
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    assert message in refused_start("mujoco_robot", {**UR10, **parameters})

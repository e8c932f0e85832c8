"""A seven-axis arm whose physics nobody here wrote: MuJoCo moves it, its parameters are identified.

``benchmarks/mujoco_robot.py`` does the same through the nodes, with more arms and motions.
"""

import pytest

pytest.importorskip("mujoco", reason="mujoco is not installed")

from mujoco_arms import XARM7
from mujoco_recordings import recorded
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.identification.identify import identify
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings

pytestmark = pytest.mark.usefixtures("undiagnosed")

# Friction of MuJoCo is that of sliding only some time after a joint has begun to slide.
SLIDING = ProcessingSettings(velocity_threshold_window=2.0)
ALL_ROWS = ProcessingSettings(velocity_threshold=(0.0,))


def exact_values(regrouping, robot, truth):
    """Return the base parameters of all parameters of a robot."""
    named = dict(zip(robot.all_parameter_names, truth, strict=True))
    return regrouping.projection @ [named[name] for name in regrouping.standard_names]


@pytest.mark.slow
def test_bodies_drives_and_friction_of_a_seven_axis_arm_are_found(tmp_path):
    """The xArm7 of example-robot-data, as its URDF has it."""
    path, values = XARM7.write(tmp_path)
    robot = load_robot(path)
    loop = MujocoLoop(robot, *mujoco_robot(robot, path, values=str(values)), sample_rate_hz=500.0)
    fitted = recorded(robot, loop, XARM7.motion(robot, 0, points=9), 0)
    unseen = [recorded(robot, loop, XARM7.motion(robot, 1, points=5), 1)]
    result = identify(robot, [fitted], overrides=SLIDING)

    def error(processing):
        values = result.estimate.values
        return validate(robot, values, unseen, overrides=processing).relative_error

    sliding = error(SLIDING)
    assert sliding.total < 0.02
    assert max(sliding.joints) < 0.02
    assert error(ALL_ROWS).total < 0.02
    known = {
        name: (value, exact, std)
        for name, value, exact, std in zip(
            result.regrouping.leading,
            result.estimate.values,
            exact_values(result.regrouping, robot, XARM7.truth(tmp_path)),
            result.estimate.std,
            strict=True,
        )
        if std < 0.05 * abs(value)
    }
    for kind, joints in (("Ia", "34567"), ("Fv", "1234567"), ("Fc", "1234567")):
        for joint in joints:
            value, exact, std = known[f"{kind}{joint}"]
            assert value == pytest.approx(exact, rel=0.05, abs=3.0 * std), f"{kind}{joint}"
    assert len(known) >= 25
    close = [abs(value - exact) <= 3.0 * std for value, exact, std in known.values()]
    assert sum(close) >= 0.9 * len(close)

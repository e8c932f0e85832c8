"""Parameters of the simulated robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.dynamics.sensors import SensorSettings
from robot_identification.errors import SettingError
from robot_identification.nodes.parameters import ParameterSpec, Type, per_joint
from robot_identification.robot.limits import require_limits
from robot_identification.robot.model import RobotModel

ROBOT = ParameterSpec(
    "robot",
    Type.STRING,
    "robot file (YAML), URDF, or the name of a robot of this package; it declares a controller",
)


def _of_sensors(name: str) -> ParameterSpec:
    entry = SensorSettings.table()[name]
    return ParameterSpec.of(entry, description=f"{entry.description}; one or one per joint")


COMMON = (
    ParameterSpec(
        "rate", Type.DOUBLE, "rate of joint_states, Hz", default=500.0, minimum=1.0, maximum=1000.0
    ),
    ParameterSpec(
        "control_rate",
        Type.DOUBLE,
        "rate of the controller, Hz, a multiple of rate; 0: as the robot declares",
        default=0.0,
        minimum=0.0,
        maximum=100000.0,
    ),
    _of_sensors("position_noise"),
    _of_sensors("effort_noise"),
    ParameterSpec(
        "effort_noise_fraction",
        Type.DOUBLE,
        "the same as a share of the effort limit of each joint; in place of effort_noise",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
    ),
    _of_sensors("position_resolution"),
    _of_sensors("effort_resolution"),
    ParameterSpec(
        "velocity",
        Type.STRING,
        "published velocity: none, true, or the difference of published positions",
        default="true",
        choices=("none", "true", "difference"),
    ),
    ParameterSpec("seed", Type.INTEGER, "seed of the noise", default=0, minimum=0),
    ParameterSpec(
        "initial_position",
        Type.DOUBLE_ARRAY,
        "position that is held at first, rad or m; one or one per joint",
        default=(0.0,),
    ),
    ParameterSpec(
        "real_time_factor",
        Type.DOUBLE,
        "how many times faster than the clock the simulated time runs",
        default=1.0,
        minimum=0.01,
        maximum=100.0,
    ),
    ParameterSpec(
        "wait_for_reader",
        Type.BOOL,
        "whether simulated time begins only when somebody receives joint_states",
        default=False,
    ),
)
"""What every simulated robot has, whatever computes its motion."""

PARAMETERS = (
    ROBOT,
    ParameterSpec(
        "parameters_file",
        Type.STRING,
        "true values of the standard parameters: a file, or the name of one in config/parameters; "
        "empty: the one that is named as the robot, or ROBOT_simulated",
        default="",
    ),
    *COMMON,
)


def sensor_settings(robot: RobotModel, values: Mapping[str, Any]) -> SensorSettings:
    """Return the errors of the sensors that the parameters ask for.

    Raises:
        SettingError: if a number of values is wrong, or effort noise is given twice.
        MissingLimitError: if effort noise is a share of a limit that is missing.
    """
    joints = len(robot.joints)
    names = ("position_noise", "effort_noise", "position_resolution", "effort_resolution")
    given = {name: per_joint(name, values[name], joints) for name in names}
    fraction = values["effort_noise_fraction"]
    if fraction:
        if any(given["effort_noise"]):
            raise SettingError("effort_noise_fraction", fraction, "effort_noise is given as well")
        require_limits(robot, ("effort",))
        limits = (float(joint.limits.effort or 0.0) for joint in robot.joints)
        given["effort_noise"] = tuple(fraction * limit for limit in limits)
    return SensorSettings(**given)

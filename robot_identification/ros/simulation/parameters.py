"""Parameters of the simulated robots."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.dynamics.simulation.sensors import SensorSettings
from robot_identification.errors import SettingError
from robot_identification.robot.limits import require_limits
from robot_identification.robot.model import RobotModel
from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.ros.controllers.interfaces import AUTO, INTERFACES
from robot_identification.settings import per_joint, same, setting

_PER_JOINT = "{}; one or one per joint"


@dataclass(frozen=True)
class SimulationParameters(RobotParameters):
    """Parameters of every simulated robot, whatever computes its motion."""

    robot: str = same(SharedParameters, "robot", help="{}; it declares a controller")
    rate: float = setting("rate of joint_states", 500.0, minimum=1.0, maximum=1000.0, unit="Hz")
    control_rate: float = setting(
        "rate of the controller, a multiple of rate; 0: as the robot declares",
        0.0,
        minimum=0.0,
        maximum=100000.0,
        unit="Hz",
    )
    position_noise: tuple[float, ...] = same(SensorSettings, "position_noise", help=_PER_JOINT)
    effort_noise: tuple[float, ...] = same(SensorSettings, "effort_noise", help=_PER_JOINT)
    effort_noise_fraction: float = setting(
        "the same as a share of the effort limit of each joint; in place of effort_noise",
        0.0,
        minimum=0.0,
        maximum=1.0,
    )
    position_resolution: tuple[float, ...] = same(
        SensorSettings, "position_resolution", help=_PER_JOINT
    )
    effort_resolution: tuple[float, ...] = same(
        SensorSettings, "effort_resolution", help=_PER_JOINT
    )
    velocity: str = setting(
        "published velocity: none, true, or the difference of published positions",
        "true",
        choices=("none", "true", "difference"),
    )
    seed: int = setting("seed of the noise", 0, minimum=0)
    initial_position: tuple[float, ...] = setting(
        "position that is held at first; one or one per joint", (0.0,), unit="rad or m"
    )
    real_time_factor: float = setting(
        "how many times faster than the clock the simulated time runs",
        1.0,
        minimum=0.01,
        maximum=100.0,
    )
    interface: str = setting(
        "how trajectories are taken: action, by FollowJointTrajectory only; topic, only so; or "
        "auto, both, the action where control_msgs is installed",
        AUTO,
        choices=INTERFACES,
    )
    wait_for_reader: bool = setting(
        "whether simulated time begins only when somebody receives joint_states", False
    )

    def sensors(self, robot: RobotModel) -> SensorSettings:
        """Return the errors of the sensors of a robot.

        Raises:
            SettingError: if a number of values is wrong, or effort noise is given twice.
            MissingLimitError: if effort noise is a share of a limit that is missing.
        """
        joints, fraction = len(robot.joints), self.effort_noise_fraction
        given = {
            name: per_joint(name, getattr(self, name), joints) for name in SensorSettings.table()
        }
        if fraction:
            if any(given["effort_noise"]):
                raise SettingError(
                    "effort_noise_fraction", fraction, "effort_noise is given as well"
                )
            require_limits(robot, ("effort",))
            limits = (float(joint.limits.effort or 0.0) for joint in robot.joints)
            given["effort_noise"] = tuple(fraction * limit for limit in limits)
        return SensorSettings(**given)


@dataclass(frozen=True)
class SimulatedRobotParameters(SimulationParameters):
    """Parameters of the robot whose motion this package computes."""

    parameters_file: str = setting(
        "true values of the standard parameters: a file, or the name of one in config/parameters; "
        "empty: the one that is named as the robot, or ROBOT_simulated",
        "",
        path=True,
    )


@dataclass(frozen=True)
class MujocoRobotParameters(SimulationParameters):
    """Parameters of the robot whose motion MuJoCo computes."""

    model: str = setting(
        "URDF or MJCF file that MuJoCo loads; empty: the URDF that the robot is described by, "
        "else one made from parameters_file",
        "",
        path=True,
    )
    parameters_file: str = setting(
        "drive inertia, friction and offset of the joints, in place of those of the model: a file, "
        "or the name of one in config/parameters; complete where there is no model",
        "",
        path=True,
    )
    friction_time: float = setting(
        "time constant of MuJoCo's friction constraint; 0: as the model says",
        0.0,
        minimum=0.0,
        maximum=1.0,
        unit="s",
    )
    contacts: bool = setting(
        "true: what the cell file and the shapes of the robot describe can be touched, and "
        "contacts are counted; false: the robot passes through",
        False,
    )
    cell: str = same(SharedParameters, "cell")
    clearance: float = same(SharedParameters, "clearance")

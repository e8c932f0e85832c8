"""Parameters of the excitation node."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.plan_settings import FAMILIES, QUINTIC
from robot_identification.excitation.search.points import PointSettings
from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.ros.controllers.interfaces import AUTO, INTERFACES
from robot_identification.ros.supervision.phases import MotionSettings
from robot_identification.settings import same, setting

NO_EFFORTS, CALIBRATED, FROM_FILE = POINT_EFFORTS = ("none", "calibrated", "file")

_FOURIER = "fourier: {}"


@dataclass(frozen=True)
class ExcitationParameters(RobotParameters):
    """Parameters of the node excitation: planning, execution, supervision."""

    effort_meaning: str = same(SharedParameters, "effort_meaning")
    autostart: bool = same(SharedParameters, "autostart")
    output_directory: str = same(SharedParameters, "output_directory")
    joint_limits: str = setting(
        "joint_limits.yaml of MoveIt that completes the robot's limits; empty: none",
        "",
        path=True,
    )
    parameters_file: str = setting(
        "values of the standard parameters to check efforts with: a file, or the name of one in "
        "config/parameters; empty: efforts are not checked",
        "",
        path=True,
    )
    cell: str = same(SharedParameters, "cell")
    clearance: float = same(SharedParameters, "clearance")
    arm_timeout: float = setting(
        "age at which a joint state of another robot of the cell does not say any more where that "
        "stands",
        2.0,
        minimum=0.05,
        maximum=60.0,
        unit="s",
    )
    base_frame: str = setting(
        "frame of the base in TF, in which ~/markers are shown; empty: the base link of the robot",
        "",
    )
    interface: str = setting(
        "how trajectories reach the controller: action, by FollowJointTrajectory; topic; or auto, "
        "the action where somebody serves it when a motion begins, else the topic",
        AUTO,
        choices=INTERFACES,
    )
    controller_action: str = setting(
        "name of the action FollowJointTrajectory of the controller, in the namespace of the node "
        "unless it begins with /",
        "follow_joint_trajectory",
    )
    cancel_brakes: bool = setting(
        "true: the controller brakes within the limits when its trajectory is cancelled, and a "
        "motion by the action is braked that way; false: by another trajectory",
        False,
    )
    point_efforts: str = setting(
        "efforts of a model in the points of what is sent, for controllers that add them to their "
        "own: none; calibrated, by inertial_parameters; or file, by parameters_file",
        NO_EFFORTS,
        choices=POINT_EFFORTS,
        live=True,
        asks=True,
    )
    acknowledge_unchecked: bool = setting(
        "true: motions may begin although obstacles are not checked, because nothing is in the way",
        False,
        live=True,
    )
    speed: float = setting(
        "share of the planned speed at which the trajectory is followed; 0.2 for a rehearsal",
        1.0,
        minimum=0.01,
        maximum=1.0,
        live=True,
    )
    approach_speed: float = setting(
        "share of the limits at which the robot approaches the start",
        0.2,
        minimum=0.01,
        maximum=1.0,
        live=True,
    )
    velocity_share: float = setting(
        "share of the velocity limits that motions use; the rest is for the controller",
        0.95,
        minimum=0.1,
        maximum=1.0,
    )
    acceleration_share: float = setting(
        "share of the acceleration limits that motions and braking use; the rest is for the "
        "controller, which goes beyond it where a joint that stuck comes loose",
        0.6,
        minimum=0.1,
        maximum=1.0,
    )
    tracking_error_limit: tuple[float, ...] = setting(
        "error at which the motion is stopped; one or one per joint",
        (0.1,),
        minimum=0.0001,
        maximum=10.0,
        unit="rad or m",
        live=True,
        asks=True,
    )
    braking_lag_time: float = setting(
        "time in which braking takes the lag of the controller away at most; 0: at once, so that "
        "the first point is the measured position",
        1.0,
        minimum=0.0,
        maximum=10.0,
        unit="s",
    )
    state_timeout: float = setting(
        "age of the newest joint state at which it counts as stale; 0: 0.1 s, five periods and "
        "five times the jitter of the states together, 0.5 at most",
        0.0,
        minimum=0.0,
        maximum=10.0,
        unit="s",
        live=True,
        asks=True,
    )
    start_lead: float = same(MotionSettings, "lead")
    rest_speed: float = same(MotionSettings, "rest_speed")
    rows: int = setting(
        "rows of the regressor of a plan, where the request does not say; 0: as the model needs",
        0,
        minimum=0,
        maximum=100000,
    )
    starts: int = same(
        PointSettings,
        "starts",
        help="starts of each optimiser, where the request does not say",
        default=3,
    )
    family: str = setting(
        "motions that are planned: quintic, through points, or fourier, series over whole periods",
        QUINTIC,
        choices=FAMILIES,
        live=True,
    )
    base_frequency: float = same(FourierSettings, "base_frequency", help=_FOURIER, live=True)
    harmonics: int = same(FourierSettings, "harmonics", help=_FOURIER, live=True)
    periods: int = same(FourierSettings, "periods", help=_FOURIER, live=True)
    planning_niceness: int = setting(
        "how far the process that plans steps back where processors are short, so that braking "
        "never waits for it; 0: not at all",
        5,
        minimum=0,
        maximum=19,
    )
    status_period: float = setting(
        "time between two messages on ~/status; changes are told at once",
        0.1,
        minimum=0.01,
        maximum=10.0,
        unit="s",
    )

"""Arguments of the launch files: what each sets, and in which nodes."""

from __future__ import annotations

from robot_identification.identification.friction.options import CHOICES
from robot_identification.ros.controllers.interfaces import INTERFACES
from robot_identification.ros.excitation.parameters import POINT_EFFORTS
from robot_identification.ros.launching.argument import Argument, boolean, number, numbers

SIMULATORS = ("simulated_robot", "mujoco_robot")
COMMANDED = ("excitation", "acquisition", "computed_torque", *SIMULATORS)
WATCHING = ("excitation", "acquisition", "calibration", "computed_torque")
LEVELS = ("", "debug", "info", "warn", "error", "fatal")

COMMON = (
    Argument(
        "robot",
        "robot file (YAML), URDF, or name of a robot, or topic:NAME, on which a URDF is published, "
        "such as topic:robot_description; must be given, here or in params_file (a simulation has "
        "one of its own: tx40, or ur10 in MuJoCo)",
        parameter="robot",
    ),
    Argument(
        "robot_defaults",
        "robot file that says what the URDF on a topic cannot (accelerations, what efforts are); "
        "empty: none",
        parameter="robot_defaults",
    ),
    Argument(
        "effort_meaning",
        "what efforts are: joint_torque, motor_torque or current; empty: as the robot file says",
        choices=("", "joint_torque", "motor_torque", "current"),
        parameter="effort_meaning",
        nodes=("excitation", "acquisition", "identification", "calibration"),
    ),
    Argument("params_file", "parameters that replace those of the package; empty: none"),
    Argument("namespace", "namespace of all nodes; topics and services are relative to it"),
    Argument(
        "prior",
        "prior of calibration: parameter file, URDF, or none; empty: as the parameter files say",
        parameter="prior",
        nodes=("calibration",),
    ),
    Argument(
        "urdf",
        "URDF that calibration keeps but for inertials and friction; empty: that of the robot",
        parameter="urdf",
        nodes=("calibration",),
    ),
    Argument(
        "friction",
        "friction laws of requests to identify that name none: stated (by the robot file), "
        "coulomb-viscous, or auto (chosen by the data); empty: stated",
        choices=("", *CHOICES),
        parameter="friction",
        nodes=("identification",),
    ),
    Argument(
        "output_directory",
        "folder that services may write to; empty: each node has one of its own, in ROS_HOME or "
        "~/.ros",
        parameter="output_directory",
        nodes=("excitation", "identification", "calibration"),
    ),
    Argument(
        "use_sim_time",
        "true: nodes take the time from /clock; empty: as the parameter files say",
        parameter="use_sim_time",
        convert=boolean,
    ),
    Argument(
        "enclaves",
        "where the security enclaves of the nodes are, such as /robot_identification; empty: none",
    ),
    Argument("log_level", "debug, info, warn, error or fatal; empty: info", choices=LEVELS),
)

MOVING = (
    Argument(
        "autostart",
        "false: excitation and computed_torque wait to be configured and activated (ros2 lifecycle "
        "set); empty: true",
        parameter="autostart",
        nodes=("excitation", "computed_torque"),
        convert=boolean,
    ),
    Argument(
        "joint_limits",
        "joint_limits.yaml of MoveIt that completes the robot's limits; empty: none",
        parameter="joint_limits",
        nodes=("excitation",),
    ),
    Argument(
        "cell",
        "cell file: what stands around the robot; empty: what the robot file says, and the plane "
        "of its base",
        parameter="cell",
        nodes=("excitation", "mujoco_robot"),
    ),
    Argument(
        "clearance",
        "distance that motions keep from the cell, and the arm from itself, m; empty: as the files "
        "say, else 0.02",
        parameter="clearance",
        nodes=("excitation", "mujoco_robot"),
        convert=number,
    ),
    Argument(
        "acknowledge_unchecked",
        "true: motions may begin although obstacles are not checked; empty: false",
        parameter="acknowledge_unchecked",
        nodes=("excitation",),
        convert=boolean,
    ),
    Argument(
        "point_efforts",
        "efforts of a model in the points of trajectories, for controllers that add them to their "
        "own: none, calibrated (by inertial_parameters), or file (by parameters_file of "
        "excitation); empty: none",
        choices=("", *POINT_EFFORTS),
        parameter="point_efforts",
        nodes=("excitation",),
    ),
    Argument(
        "speed",
        "share of the planned speed at which plans are followed, 0.01 to 1; empty: 1",
        parameter="speed",
        nodes=("excitation",),
        convert=number,
    ),
    Argument(
        "state_timeout",
        "age of the newest joint state at which a motion is stopped, s; empty: as follows from "
        "rate and jitter of the states, 0.1 to 0.5",
        parameter="state_timeout",
        nodes=("excitation",),
        convert=number,
    ),
    Argument(
        "tracking_error_limit",
        "tracking error at which a motion is stopped, rad or m, one or one per joint with commas; "
        "empty: 0.1",
        parameter="tracking_error_limit",
        nodes=("excitation",),
        convert=numbers,
    ),
    Argument(
        "block_period",
        "time between two blocks on `samples`, s; empty: 0.1",
        parameter="block_period",
        nodes=("acquisition",),
        convert=number,
    ),
    Argument(
        "filtered_rate",
        "rate of `filtered_samples`, Hz; empty: what the robot file recommends, or 50",
        parameter="filtered_rate",
        nodes=("acquisition",),
        convert=number,
    ),
    Argument(
        "filtered_cutoff",
        "cut-off of `filtered_samples`, Hz; empty: what the robot file recommends, or 20",
        parameter="filtered_cutoff",
        nodes=("acquisition",),
        convert=number,
    ),
    Argument(
        "bag_directory",
        "folder in which every recording becomes a bag; empty: no bags",
        parameter="bag_directory",
        nodes=("acquisition",),
    ),
    Argument(
        "refresh_period",
        "time between two estimates while the robot moves, s; empty: 1",
        parameter="refresh_period",
        nodes=("identification",),
        convert=number,
    ),
    Argument(
        "computed_torque",
        "true starts the node that feeds inertial_parameters forward; empty: none",
    ),
)

DRIVER = (
    Argument(
        "controller",
        "name of the joint_trajectory_controller, such as joint_trajectory_controller or "
        "/arm/arm_controller: trajectories go to its action follow_joint_trajectory or its topic "
        "joint_trajectory; empty: see controller_action and joint_trajectory",
    ),
    Argument(
        "interface",
        "how trajectories reach the controller: action, topic, or auto, the action where somebody "
        "serves it; empty: auto",
        choices=("", *INTERFACES),
        parameter="interface",
        nodes=("excitation",),
    ),
    Argument(
        "controller_action",
        "action FollowJointTrajectory of a controller that has another name for it; empty: "
        "follow_joint_trajectory in the namespace",
        parameter="controller_action",
        nodes=("excitation",),
    ),
    Argument(
        "joint_trajectory",
        "topic of the trajectories, for a controller that has another; empty: joint_trajectory "
        "in the namespace",
        topic="joint_trajectory",
        nodes=COMMANDED,
    ),
    Argument(
        "joint_states",
        "topic of the joint states; empty: joint_states in the namespace",
        topic="joint_states",
        nodes=WATCHING,
    ),
    Argument(
        "joint_states_type",
        "type of the joint states that are recorded; those with interfaces of every joint come on "
        "dynamic_joint_states; empty: sensor_msgs/msg/JointState",
        choices=("", "sensor_msgs/msg/JointState", "control_msgs/msg/DynamicJointState"),
        parameter="joint_states_type",
        nodes=("acquisition",),
    ),
    Argument(
        "dynamic_joint_states",
        "topic of joint states with interfaces of every joint; empty: dynamic_joint_states in the "
        "namespace",
        topic="dynamic_joint_states",
        nodes=("acquisition",),
    ),
    Argument(
        "joint_reference",
        "topic of the reference as JointState, for DIDIM; empty: joint_reference in the namespace",
        topic="joint_reference",
        nodes=("acquisition",),
    ),
    Argument(
        "controller_state",
        "topic of the state of a controller, whose reference is for DIDIM, such as "
        "/joint_trajectory_controller/controller_state; empty: controller_state in the namespace",
        topic="controller_state",
        nodes=("acquisition",),
    ),
    Argument(
        "effort_topic",
        "topic of the efforts, where they have one of their own; empty: those of joint_states",
        parameter="effort_topic",
        nodes=("acquisition",),
    ),
    Argument(
        "effort_type",
        "type of the messages on effort_topic, which for an array are those of the joints in the "
        "robot's order; empty: sensor_msgs/msg/JointState",
        choices=("", "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"),
        parameter="effort_type",
        nodes=("acquisition",),
        needs="effort_topic",
    ),
    Argument(
        "effort_delay",
        "time by which the stamps of these efforts lie behind the motion, s; empty: 0",
        parameter="effort_delay",
        nodes=("acquisition",),
        needs="effort_topic",
        convert=number,
    ),
    Argument(
        "expected_rate",
        "rate of the joint states by which lost samples are counted, Hz; empty: the measured one",
        parameter="expected_rate",
        nodes=("acquisition",),
        convert=number,
    ),
)

SIMULATION = (
    Argument(
        "simulator",
        "node that stands in for the robot: simulated_robot, or mujoco_robot (extra mujoco)",
        default=SIMULATORS[0],
        choices=SIMULATORS,
    ),
    Argument(
        "truth",
        "true values of the parameters: a file, or the name of one in config/parameters; empty: "
        "as params_file says, else the one that is named as the robot, or ROBOT_simulated",
        parameter="parameters_file",
        nodes=SIMULATORS,
    ),
    Argument(
        "rate",
        "rate of the joint states, Hz; empty: 500",
        parameter="rate",
        nodes=SIMULATORS,
        convert=number,
    ),
    Argument(
        "effort_noise",
        "standard deviation of the efforts as a share of each joint's effort limit; empty: as "
        "params_file says, else that of config/simulations for tx40 and ur10, none for others",
        parameter="effort_noise_fraction",
        nodes=SIMULATORS,
        convert=number,
    ),
)

OFFLINE = (
    Argument(
        "bag",
        "bags to identify from, calibrate and end, separated by colons; empty: wait for requests",
    ),
    Argument(
        "validation_bag",
        "bags to validate on; empty: the last quarter of `bag`, not fitted then; with didim none",
        needs="bag",
    ),
    Argument("method", "ols, wls, energy, didim or one-joint; empty: wls", needs="bag"),
    Argument("output", "folder for result, parameters and URDF of `bag`; empty: none", needs="bag"),
)

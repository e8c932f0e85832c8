"""Parsers of what describes a robot: robot files, URDFs, limits, parameters and priors."""

import numpy as np

import fuzz_checks
from fuzz_parser import Parser, config, yaml_parser
from mutations import damaged_xml
from robot_identification.files import parameters
from robot_identification.files.export import urdf as urdf_files
from robot_identification.files.export import urdf_rewriting, xml_surgery
from robot_identification.robot.files import document, loading, schema, values
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.robot_yaml import joints as yaml_joints
from robot_identification.robot.files.robot_yaml import robot as yaml_format
from robot_identification.robot.files.robot_yaml import sections as yaml_sections
from robot_identification.robot.files.urdf import elements as urdf_elements
from robot_identification.robot.files.urdf import prior as urdf_prior
from robot_identification.robot.files.urdf import robot as urdf
from robot_identification.robot.files.urdf import tree as urdf_tree
from robot_identification.robot.files.urdf import xml_document

ROBOT = "three_dof"
URDF = b"""<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0 0.2" rpy="0 0.5 0"/><mass value="3.5"/>
<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.12" iyz="0" izz="0.09"/></inertial></link>
<link name="lower"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="tool"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<origin xyz="0 0 0.3" rpy="0 1.57 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="3" effort="100"/>
<dynamics damping="0.3" friction="0.2"/></joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/>
<origin xyz="0.4 0 0"/><axis xyz="0 0 -1"/><limit lower="-1" upper="1" effort="50"/></joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/></joint></robot>"""
URDF_LATIN = b'<?xml version="1.0" encoding="iso-8859-1"?>\n<!-- \xe9 -->\n' + URDF
WRIST = b"""name: wrist
effort_meaning: motor_torque
gravity: [0, 0, -9.81]
joints:
  - name: bend
    type: revolute
    geometry: {alpha: -pi/2, d: 0.1, theta: 0, r: 0}
    transmission: 45
    limits: {lower: -2.09, upper: 2.33, velocity: 5.5, acceleration: 32, effort: 27, jerk: 900}
  - name: turn
    type: revolute
    geometry: {alpha: pi/2, d: 0, theta: pi, r: 0}
    transmission: {bend: 32, turn: 32}
    limits: {lower: -4.71, upper: 4.71, velocity: 12.2, acceleration: 63, effort: 16}
couplings:
  - {parameter: Ia2, kind: inertia, terms: [{on: {bend: 1}, of: {turn: 1}}]}
  - {parameter: Fcm2, kind: coulomb, terms: [{on: {bend: 1, turn: 1}, of: {bend: 1, turn: 1}}]}
processing: {cutoff_hz: 100, rate_hz: 50, velocity_threshold: [0.05, 0.12], ends: keep}
controller: {law: computed_torque, rate_hz: 2000, gains: {kp: [400, 400], kd: [40, 40]}}
workspace: {lower: [-1, -1, 0], upper: [1, 1, 2], tool: [0, 0, 0.1]}
experiment: {trajectory: tx40, rate_hz: 1000, position_noise: 1e-4, effort_noise: [0.1, 0.1],
             seeds: [1, 2], natural_frequency: 20, damping: 1}
"""
PARALLELOGRAM = b"""name: parallelogram
effort_meaning: joint_torque
gravity: [0, 0, -9.81]
joint_defaults: {type: revolute, drive_inertia: false, offset: false}
joints:
  - {name: crank, geometry: {alpha: 0, d: 0, theta: 0, r: 0}}
  - {name: rocker, geometry: {alpha: 0, d: 0, theta: 0, r: 0}, antecedent: base}
  - {name: coupler, geometry: {alpha: 0, d: 0.6, theta: 0, r: 0}, antecedent: crank}
loops:
  - {joint: coupler, equals: {rocker: 1, crank: -1}, offset: pi/2}
"""
LIMITS = b"""joint_limits:
  joint_1: {has_velocity_limits: true, max_velocity: 2.0, has_acceleration_limits: true,
            max_acceleration: 5.0, has_position_limits: true, min_position: -1.0, max_position: 1.0}
  joint_2: {max_effort: 20.0, has_jerk_limits: false}
"""


def robot_files():
    """Return the parser of robot files."""
    seeds = (*config("robots", ROBOT, "emps"), WRIST, PARALLELOGRAM)
    modules = (document, loading, schema, yaml_format, yaml_joints, yaml_sections)
    return yaml_parser(seeds, load_with_loops, fuzz_checks.check_robot, *modules)


def load_with_loops(path):
    """Load a robot, closed loops included."""
    return load_robot(path, closed_loops=True)


def urdfs():
    """Return the parser of URDFs."""
    modules = (xml_document, urdf, urdf_tree, urdf_elements)
    return Parser((URDF,), ".urdf", load_robot, fuzz_checks.check_robot, damaged_xml, modules)


def described_arm():
    """Return the robot of the URDF."""
    return urdf.parse_urdf(URDF.decode(), "arm").robot


def urdf_priors():
    """Return the reader of the values that a URDF states."""
    robot = described_arm()

    def read(path):
        given = urdf_prior.given_by_urdf(path, robot)
        return urdf_prior.urdf_prior(path, robot) * given

    modules = (urdf_prior, urdf, urdf_elements, xml_document)
    return Parser((URDF,), ".urdf", read, fuzz_checks.check_finite, damaged_xml, modules)


def rewritten_urdfs():
    """Return the writer of inertials into a URDF that is there."""
    robot = described_arm()
    wanted = urdf_prior.values_of_urdf(URDF.decode(), robot)

    def read(path):
        text, encoding = urdf_files.read_urdf_text(path)
        return urdf_files.identified_urdf(robot, wanted, text).encode(encoding), encoding

    def check(found, _):
        again = urdf_prior.values_of_urdf(found[0].decode(found[1]), robot)
        fuzz_checks.require(np.allclose(again, wanted, rtol=1e-12, atol=1e-12), "values")

    modules = (urdf_files, urdf_rewriting, xml_surgery, urdf, urdf_elements, xml_document)
    return Parser((URDF, URDF_LATIN), ".urdf", read, check, damaged_xml, modules)


def limit_files():
    """Return the parser of MoveIt's joint_limits.yaml."""
    robot = load_robot(ROBOT)
    return yaml_parser(
        (LIMITS,),
        lambda path: loading.with_joint_limits(robot, path),
        fuzz_checks.check_robot,
        *(document, loading),
    )


def parameter_files():
    """Return the parser of files of standard parameters."""
    robot = load_robot(ROBOT)
    return yaml_parser(
        config("parameters", ROBOT),
        lambda path: (robot, values.load_values(path, robot)),
        fuzz_checks.check_values,
        *(document, schema, values),
    )


def prior_files():
    """Return the reader of priors: parameters, of which some are known."""
    robot = load_robot(ROBOT)
    return yaml_parser(
        config("parameters", ROBOT),
        lambda path: parameters.read_prior(path, robot),
        fuzz_checks.check_prior,
        *(document, schema, values, parameters),
    )

"""Other programs read what is exported, and find the torques that we find."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from engines import example, mesh_assets, mujoco_torques, pinocchio_torques
from random_robots import random_values
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.files.export.bodies import mechanism_of
from robot_identification.files.export.controller import controller_yaml
from robot_identification.files.export.outputs import armature_yaml, mjcf_text
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.urdf_rewriting import rewritten_urdf
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.robot import parse_urdf
from shared_data import measured_data, requires

UR10 = measured_data("ur10") / "ur10_robot.urdf"
UR5 = "ur_description/urdf/ur5_robot.urdf"
PUBLISHED = (
    UR5,
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "solo_description/robots/solo12.urdf",
)
TABLES = ("puma560", "stanford", "tx40", "scara", "three_dof", "emps", "ur10")
TOLERANCE = 1e-8


class Exported:
    """A robot with parameters drawn at random, and all that is exported of it."""

    def __init__(self, path=None, name=None):
        rng = np.random.default_rng(0)
        if name is not None:
            self.robot = load_robot(name)
            self.values = random_values(rng, self.robot)
            self.urdf, description = generated_urdf(self.robot, self.values), None
        else:
            original = Path(path).read_text()
            description = parse_urdf(original, str(path), allow_mimic=True)
            self.robot = description.robot
            self.values = random_values(rng, self.robot)
            self.urdf = rewritten_urdf(original, self.robot, self.values)
        self.names = self.robot.joint_names
        self.mechanism = mechanism_of(self.robot, self.values, description)
        self.states = rng.normal(size=(3, 50, len(self.names)))

    def couplings(self):
        """Return (samples, joints) what couplings add, as the controller's parameters say."""
        data = yaml.safe_load(controller_yaml(self.mechanism))
        couplings = data["/**"]["ros__parameters"]["dynamics"].get("couplings", {})
        effort = np.zeros_like(self.states[0])
        for entry in couplings.values():
            for term in (value for key, value in entry.items() if key.startswith("term_")):
                of = np.array([term["of"].get(name, 0.0) for name in self.names])
                on = np.array([term["on"].get(name, 0.0) for name in self.names])
                speed = self.states[1] @ of
                motion = {
                    "inertia": self.states[2] @ of,
                    "viscous": speed,
                    "coulomb": np.sign(speed),
                }
                effort += entry["value"] * motion[entry["kind"]][:, None] * on
        return effort

    def check_pinocchio(self):
        expected = inverse_dynamics(self.robot, self.values, *self.states)
        found = pinocchio_torques(
            self.urdf, armature_yaml(self.mechanism), self.names, *self.states
        )
        assert np.abs(found + self.couplings() - expected).max() < TOLERANCE

    def check_mujoco(self, assets=None):
        first = self.values.copy()
        first[14 * len(self.names) :] = 0.0
        own = first[: 14 * len(self.names)].reshape(-1, 14)
        own[:, 12:] = 0.0
        rigid = self.robot
        expected = inverse_dynamics(rigid, first, *self.states) - self.drive_couplings()
        found = mujoco_torques(
            self.urdf, mjcf_text(self.mechanism), self.names, *self.states, assets=assets
        )
        assert np.abs(found - expected).max() < TOLERANCE

    def drive_couplings(self):
        """Return what couplings of drive inertias add."""
        effort = np.zeros_like(self.states[0])
        for coupling in self.robot.couplings:
            if coupling.kind.value != "inertia":
                continue
            for term in coupling.terms:
                of = np.array([term.of.get(name, 0.0) for name in self.names])
                on = np.array([term.on.get(name, 0.0) for name in self.names])
                effort += self.mechanism.value(coupling) * (self.states[2] @ of)[:, None] * on
        return effort


@pytest.mark.parametrize("name", PUBLISHED)
def test_pinocchio_finds_our_torques_of_a_rewritten_urdf(name):
    Exported(example(name)).check_pinocchio()


@pytest.mark.parametrize("name", TABLES)
def test_pinocchio_finds_our_torques_of_a_generated_urdf(name):
    Exported(name=name).check_pinocchio()


@requires("ur10")
def test_pinocchio_and_mujoco_find_our_torques_of_the_ur10():
    exported = Exported(UR10)
    exported.check_pinocchio()
    exported.check_mujoco(mesh_assets(example(UR5), exported.urdf))


@pytest.mark.parametrize("name", TABLES)
def test_mujoco_finds_our_torques_of_a_generated_urdf(name):
    Exported(name=name).check_mujoco()


def test_mujoco_finds_our_torques_of_a_rewritten_urdf():
    exported = Exported(example(UR5))
    exported.check_mujoco(mesh_assets(example(UR5), exported.urdf))


@pytest.mark.parametrize("source", [UR5, "tx40", "stanford"])
def test_urdfdom_reads_what_is_written(tmp_path, source):
    """Its own program, where the environment has it; Pinocchio's reader above is urdfdom too."""
    program = Path(sys.executable).with_name("check_urdf")
    if not program.exists():
        pytest.skip("check_urdf is not installed")
    exported = Exported(example(source)) if source == UR5 else Exported(name=source)
    target = tmp_path / "robot.urdf"
    target.write_text(exported.urdf)
    done = subprocess.run([program, target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Successfully Parsed XML" in done.stdout


def test_a_mujoco_model_takes_the_classes_of_the_file(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    exported = Exported(name="stanford")
    (tmp_path / "identified.xml").write_text(mjcf_text(exported.mechanism))
    (tmp_path / "model.xml").write_text(
        '<mujoco><include file="identified.xml"/><worldbody><body>'
        '<joint class="joint_3" type="slide"/><geom size="1"/>'
        "</body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    own = exported.values[28:42]
    np.testing.assert_array_equal(
        [model.dof_armature[0], model.dof_damping[0], model.dof_frictionloss[0]], own[10:13]
    )

"""A prior knows what its file states, and nothing else."""

import numpy as np
import pytest

from robot_identification.errors import RobotDescriptionError, UnknownRobotError
from robot_identification.files.parameters import read_prior
from robot_identification.robot.files.loading import load_robot

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="lower"/>
  <joint name="one" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><dynamics damping="0.5" friction="0"/></joint>
  <joint name="two" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
</robot>
"""


def test_a_parameter_file_gives_what_it_names(tmp_path):
    path = tmp_path / "cad.yaml"
    path.write_text("robot: scara\nparameters:\n  ZZ1: 3\n  MX2: 0\n")
    prior = read_prior(path, load_robot("scara"))
    known = [name for name, k in zip(prior.names, prior.known, strict=True) if k]
    assert known == ["ZZ1", "MX2"]
    assert prior.values[prior.names.index("ZZ1")] == 3.0
    assert (prior.source, len(prior.digest)) == (str(path), 64)


def test_a_urdf_gives_inertials_and_the_friction_that_it_states(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    prior = read_prior(path, load_robot(path))
    known = [name for name, k in zip(prior.names, prior.known, strict=True) if k]
    assert known[:10] == ["XX1", "XY1", "XZ1", "YY1", "YZ1", "ZZ1", "MX1", "MY1", "MZ1", "M1"]
    assert known[10:] == ["Fv1"]
    values = dict(zip(prior.names, prior.values, strict=True))
    assert (values["M1"], values["MX1"], values["Fv1"]) == (2.0, pytest.approx(0.2), 0.5)
    assert values["ZZ1"] == pytest.approx(0.1 + 2 * 0.1**2)


@pytest.mark.parametrize("source", [None, "none"])
def test_no_prior_knows_nothing(source):
    prior = read_prior(source, load_robot("scara"))
    assert not prior.known.any()
    assert prior.source == ""


def test_the_prior_of_the_tx40_ships():
    prior = read_prior("tx40", load_robot("tx40"))
    free = {name for name, k in zip(prior.names, prior.known, strict=True) if not k}
    assert {"M1", "M2", "XX1", "MX1", "Ia3", "Fv6", "Fcm6"} <= free
    assert prior.values[prior.names.index("M3")] == 4.07
    assert np.count_nonzero(prior.known) == 56


def test_other_files_are_refused(tmp_path):
    robot = load_robot("scara")
    with pytest.raises(UnknownRobotError, match="no-such"):
        read_prior("no-such", robot)
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    with pytest.raises(RobotDescriptionError, match="moving joints"):
        read_prior(path, robot)

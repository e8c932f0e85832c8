"""Whatever a command reads, it does not write over, by whatever name."""

import hashlib
import os
import shutil

import pytest

from robot_identification.cli.main import main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.share import share_directory
from urdf_arm import ARM

VALUES = "parameters: {ZZ1: 1, XX1: 1, YY1: 1, M1: 1, ZZ2: 1, XX2: 1, YY2: 1, M2: 2}\n"
COMMANDS = {
    "identify, the recording": "identify scara log.csv -o log.csv",
    "identify, one of a bag's files": "identify scara bag -o bag/metadata.yaml",
    "identify, the robot": "identify robot.yaml log.csv -o robot.yaml",
    "identify, the URDF": "identify arm.yaml log.csv -o arm.urdf",
    "identify, the cell": "identify robot.yaml log.csv -o cell.yaml",
    "identify, by a link": "identify scara log.csv -o link.csv",
    "identify, a held-out bag": "identify scara bag --held-out-bag log.csv -o log.csv",
    "identify, the list": "identify scara --bag-list list.yaml -o list.yaml",
    "identify, a listed bag": "identify scara --bag-list list.yaml -o log.csv",
    "identify, the plan": "identify scara log.csv --plan plan.yaml -o plan.yaml",
    "identify, the start": "identify scara bag --method didim --start values.yaml -o values.yaml",
    "identify, the prior": (
        "identify scara bag --method didim --start prior --prior values.yaml -o prior.urdf"
    ),
    "identify-many": "identify-many scara bag -o bag/metadata.yaml",
    "excite": "excite robot.yaml -o robot.yaml",
    "excite, the picture": "excite robot.yaml -o new.yaml --plot robot.yaml",
    "excite, the page": "excite robot.yaml -o new.yaml --cell cell.yaml --view cell.yaml",
    "excite, the limits": "excite robot.yaml -o limits.yaml --limits limits.yaml",
    "excite, the prior": "excite scara -o values.yaml --prior values.yaml",
    "excite, the plan": "excite scara --verify plan.yaml --plot plan.yaml",
    "view": "view scara plan.yaml -o plan.yaml",
    "payload": "payload scara --bare bag --loaded log.csv -o log.csv",
    "merge, a result": "merge old.yaml other.yaml -o old.yaml",
    "merge, a held-out result": "merge old.yaml --held-out-result other.yaml -o other.yaml",
    "payload, the result": "payload scara --result old.yaml --loaded bag -o old.yaml",
    "drive-gains": "drive-gains scara --bare bag --loaded bag --payload load.yaml -o load.yaml",
    "base-parameters": "base-parameters scara --values values.yaml --latex values.yaml",
    "validate": "validate scara values.yaml log.csv --plot log.csv",
    "validate, the values": "validate scara values.yaml log.csv --plot prior.urdf",
    "calibrate": "calibrate scara old.yaml -o old.yaml",
    "calibrate, the prior's URDF": "calibrate scara old.yaml --prior values.yaml -o prior.urdf",
    "export, the values' URDF": "export scara values.yaml --urdf prior.urdf",
    "export, the robot's URDF": "export arm.yaml plain.yaml --original prior.urdf --urdf arm.urdf",
}


@pytest.fixture(scope="module")
def files(scara_samples, tmp_path_factory):
    """A folder with a file of every kind that commands read."""
    folder = tmp_path_factory.mktemp("files")
    write_joint_states(folder / "bag", load_robot("scara").joint_names, scara_samples)
    assert main(["export", "scara", "scara", "--urdf", str(folder / "prior.urdf")]) == 0
    scara = (share_directory() / "config" / "robots" / "scara.yaml").read_text()
    head = "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n"
    for name, text in {
        "robot.yaml": f"{scara}\ncell: cell.yaml\n",
        "cell.yaml": "obstacles: []\n",
        "arm.yaml": head,
        "arm.urdf": ARM,
        "values.yaml": f"urdf: prior.urdf\n{VALUES}",
        "plain.yaml": "parameters: {ZZ1: 1}\n",
        "log.csv": "time,position_1,position_2,effort_1,effort_2\n0,0,0,0,0\n",
        "list.yaml": "- {bag: log.csv}\n",
        "plan.yaml": f"joint_names: [{', '.join(load_robot('scara').joint_names)}]\npoints: []\n",
        "limits.yaml": "joint_limits: {joint_1: {has_velocity_limits: true, max_velocity: 1.0}}\n",
        "load.yaml": "mass: 1\n",
        "old.yaml": "kind: robot_identification/result\n",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """The current folder, with these files and another name of one of them."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    os.link(tmp_path / "log.csv", tmp_path / "link.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    """Return what every file below a folder holds."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in files}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_read_is_never_written_over(command, folder, refusal):
    before = contents(folder)
    code, line = refusal(*command.split())
    assert code == 2
    assert "is what was read" in line
    assert contents(folder) == before


def test_an_output_may_stand_beside_the_files_of_a_bag(folder, run):
    for _ in range(2):
        run("identify", "scara", "bag", "-o", "bag/result.yaml")
    assert (folder / "bag" / "result.yaml").is_file()


def test_a_plan_and_its_picture_are_two_files(folder, refusal):
    code, line = refusal("excite", "scara", "-o", "new.yaml", "--plot", "new.yaml")
    assert code == 2
    assert "is named for two outputs" in line
    assert not (folder / "new.yaml").exists()

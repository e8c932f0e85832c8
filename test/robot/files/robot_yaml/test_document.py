"""Files that join a URDF from elsewhere with the robot file that completes it."""

import pytest

from robot_identification.collision.model import described_cell
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.loading import load_robot, source_urdf
from robot_identification.robot.model import EffortMeaning

URDF = """<robot name="turner"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>"""
COMPLETING = """\
name: my_turner
effort_meaning: current
joint_defaults: {limits: {acceleration: 5.0}}
joints: [{name: turn, drive_gain: 0.5, coulomb_friction: false}]
"""


@pytest.fixture
def joined(tmp_path):
    """Return a file that joins a URDF with a robot file, each in a folder of its own."""
    for name in ("described", "own"):
        (tmp_path / name).mkdir()
    (tmp_path / "described" / "turner.urdf").write_text(URDF)
    (tmp_path / "own" / "turner.yaml").write_text(COMPLETING)
    path = tmp_path / "described" / "joined.yaml"
    path.write_text("urdf: turner.urdf\nrobot_defaults: ../own/turner.yaml\n")
    return path


def test_the_urdf_is_completed_by_the_robot_file(joined):
    robot = load_robot(joined)
    assert (robot.name, robot.effort_meaning) == ("my_turner", EffortMeaning.CURRENT)
    limits = robot.joints[0].limits
    assert (limits.upper, limits.velocity, limits.acceleration) == (1.0, 1.0, 5.0)
    assert "Fc1" not in robot.standard_names
    assert robot.file == joined
    assert source_urdf(joined) == joined.with_name("turner.urdf")


def test_it_is_the_robot_of_a_robot_file_that_names_the_same_urdf(joined):
    own = joined.parents[1] / "own" / "turner.yaml"
    (own.parent / "turner.urdf").write_text(URDF)
    own.write_text(f"urdf: turner.urdf\n{COMPLETING}")
    assert load_robot(joined).digest == load_robot(own).digest != ""


def test_the_urdf_here_counts_where_the_robot_file_names_another(joined):
    own = joined.parents[1] / "own" / "turner.yaml"
    own.write_text(f"urdf: not_there.urdf\n{COMPLETING}")
    assert load_robot(joined).joint_names == ("turn",)


@pytest.mark.parametrize(("file", "old", "new"), [
    ("described/turner.urdf", 'upper="1"', 'upper="2"'),
    ("own/turner.yaml", "acceleration: 5.0", "acceleration: 6.0"),
])  # fmt: skip
def test_a_change_of_either_file_is_another_robot(joined, file, old, new):
    before = load_robot(joined).digest
    path = joined.parents[1] / file
    path.write_text(path.read_text().replace(old, new))
    assert load_robot(joined).digest != before


def test_files_that_the_robot_file_names_are_sought_beside_it(joined):
    own = joined.parents[1] / "own"
    (own / "my_cell.yaml").write_text("clearance: 0.07\n")
    (own / "turner.yaml").write_text(f"{COMPLETING}cell: my_cell.yaml\n")
    assert described_cell(joined, None).clearance == 0.07


def test_mistakes_are_those_of_the_file_in_which_they_stand(joined):
    own = joined.parents[1] / "own" / "turner.yaml"
    own.write_text(COMPLETING.replace("name: turn,", "name: trun,"))
    with pytest.raises(RobotDescriptionError, match=r"own/turner.yaml:4: joints\[0\].name"):
        load_robot(joined)


@pytest.mark.parametrize(("text", "problem"), [
    ("robot_defaults: ../own/turner.yaml", "urdf: name a file here"),
    ("urdf: turner.urdf\nrobot_defaults: 3", "robot_defaults: name a file here"),
    ("urdf: turner.urdf\nrobot_defaults: ../own/turner.yaml\nname: x", ":3: name: goes into the"),
    ("urdf: turner.urdf\nrobot_defaults: joined.yaml", "no robot file that stands for itself"),
    ("urdf: turner.urdf\nrobot_defaults: gone.yaml", "gone.yaml: cannot be read"),
    ("urdf: gone.urdf\nrobot_defaults: ../own/turner.yaml", "gone.urdf: cannot be read"),
])  # fmt: skip
def test_what_does_not_join_two_files_is_refused_with_the_reason(joined, text, problem):
    joined.write_text(text)
    with pytest.raises(RobotDescriptionError, match=problem):
        load_robot(joined)

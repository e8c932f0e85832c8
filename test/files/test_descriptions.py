"""Robots that a topic describes become files, named by what they hold."""

import hashlib

import pytest

from robot_identification.errors import OutputError, RobotDescriptionError, UnknownRobotError
from robot_identification.files.descriptions import description_digest, keep_description
from robot_identification.robot.files.loading import load_robot

URDF = """<robot name="turner"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>"""
COMPLETING = "name: my_turner\neffort_meaning: current\n"
INERTIAL = """<link name="arm"><inertial><mass value="-1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def test_the_file_is_the_description_and_the_robot_has_its_hash(tmp_path):
    kept = keep_description(URDF, "/robot_description", folder=tmp_path)
    digest = hashlib.sha256(URDF.encode()).hexdigest()
    assert kept.source == kept.urdf == tmp_path / f"turner-{digest[:12]}.urdf"
    assert kept.urdf.read_text() == URDF
    assert load_robot(kept.source).digest == kept.digest == digest


def test_a_result_fits_a_urdf_with_the_same_content_wherever_it_is(tmp_path):
    kept = keep_description(URDF, "/robot_description", folder=tmp_path / "kept")
    own = tmp_path / "my_own.urdf"
    own.write_text(URDF)
    assert load_robot(own).digest == load_robot(kept.source).digest


def test_a_robot_file_completes_it(tmp_path):
    own = tmp_path / "my turner's.yaml"
    own.write_text(COMPLETING)
    kept = keep_description(URDF, "/d", defaults=str(own), folder=tmp_path / "kept")
    assert kept.source.parent == kept.urdf.parent == tmp_path / "kept"
    assert load_robot(kept.source).name == "my_turner"
    assert kept.remark == ""


def test_what_is_described_again_is_where_it_was_and_is_mended_where_it_was_changed(tmp_path):
    kept = keep_description(URDF, "/d", folder=tmp_path)
    before = kept.urdf.stat()
    assert keep_description(URDF, "/d", folder=tmp_path) == kept
    assert kept.urdf.stat().st_ino == before.st_ino
    kept.urdf.write_text(URDF.replace('upper="1"', 'upper="3"'))
    keep_description(URDF, "/d", folder=tmp_path)
    assert kept.urdf.read_text() == URDF
    assert [path.name for path in tmp_path.iterdir()] == [kept.urdf.name]


def test_another_description_of_the_same_name_is_another_file(tmp_path):
    kept = keep_description(URDF, "/d", folder=tmp_path)
    other = keep_description(URDF.replace('upper="1"', 'upper="3"'), "/d", folder=tmp_path)
    assert other.urdf != kept.urdf
    assert load_robot(kept.source).joints[0].limits.upper == 1.0


def test_a_urdf_that_the_robot_file_names_and_is_another_is_remarked(tmp_path):
    own = tmp_path / "turner.yaml"
    own.write_text(f"urdf: turner.urdf\n{COMPLETING}")
    (tmp_path / "turner.urdf").write_text(URDF)
    same = keep_description(URDF, "/d", defaults=str(own), folder=tmp_path / "kept")
    assert same.remark == ""
    assert load_robot(same.source).digest == load_robot(own).digest
    (tmp_path / "turner.urdf").write_text(URDF.replace('upper="1"', 'upper="3"'))
    other = keep_description(URDF, "/d", defaults=str(own), folder=tmp_path / "kept")
    assert "names" in other.remark
    assert "the description counts" in other.remark
    assert load_robot(other.source).joints[0].limits.upper == 1.0


@pytest.mark.parametrize(("text", "problem"), [
    ("no XML", "not well-formed"),
    ("<robot name='a'><link name='base'/></robot>", "no joint of the robot moves"),
    (URDF.replace('<link name="arm"/>', INERTIAL), "/d:.*mass"),
    ("<!DOCTYPE robot []>" + URDF, "document type"),
    (f"<robot name='a'>{'<link/>' * 60_000}</robot>", "elements"),
    (f"<robot name='{'a' * (1 << 24)}'/>", "larger than"),
    (URDF.replace("turner", "\ud800"), "half a character"),
])  # fmt: skip
def test_it_passes_the_gate_of_files_before_anything_is_written(tmp_path, text, problem):
    with pytest.raises(RobotDescriptionError, match=problem):
        keep_description(text, "/d", folder=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("name", ["../../outside", "a/b", "..", "", ".hidden", "a\nb", "x" * 300])
def test_no_name_of_a_robot_leads_out_of_the_folder(tmp_path, name):
    text = URDF.replace('name="turner"', f'name="{name}"')
    kept = keep_description(text, "/d", folder=tmp_path / "kept")
    assert [kept.urdf] == list((tmp_path / "kept").iterdir())
    assert not kept.urdf.name.startswith(".")


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "ISO-8859-1", "utf-16", "us-ascii"])
@pytest.mark.parametrize("name", ["turner", "drehkörper"])
def test_text_is_read_back_as_it_came_whatever_encoding_it_once_had(tmp_path, encoding, name):
    declared = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    kept = keep_description(declared + URDF.replace("turner", name), "/d", folder=tmp_path)
    assert load_robot(kept.source).name == name


def test_a_file_in_utf_8_has_the_hash_of_its_text(tmp_path):
    text = '<?xml version="1.0" encoding="utf-8"?>\n' + URDF.replace("turner", "drehkörper")
    assert description_digest(text, "/d") == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "error"), [("urdf.urdf", RobotDescriptionError), ("not_there", UnknownRobotError)]
)
def test_only_a_robot_file_completes_a_description(tmp_path, name, error):
    (tmp_path / "urdf.urdf").write_text(URDF)
    with pytest.raises(error):
        keep_description(URDF, "/d", defaults=str(tmp_path / name), folder=tmp_path / "kept")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "kept").write_text("in the way")
    with pytest.raises(OutputError, match="ROS_HOME"):
        keep_description(URDF, "/d", folder=tmp_path / "kept")


def test_the_name_of_a_topic_is_no_file():
    with pytest.raises(RobotDescriptionError, match="give the file that they have kept"):
        load_robot("topic:robot_description")


def test_a_file_that_is_called_like_a_topic_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "topic:x.urdf").write_text(URDF)
    monkeypatch.chdir(tmp_path)
    assert load_robot("./topic:x.urdf").name == "turner"

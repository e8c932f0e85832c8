"""Where services may write, and over what."""

import json

import pytest

from robot_identification.errors import OutputError
from robot_identification.files.output_folder import OutputFolder, default_folder

OWNER = "/left/identification"


@pytest.fixture
def folder(tmp_path):
    return OutputFolder(tmp_path / "own", OWNER)


def write(folder, name, data=b"new", *, overwrite=False):
    return folder.write([(name, data)], overwrite=overwrite)


def test_the_folder_is_made_and_files_are_where_they_are_said_to_be(folder, tmp_path):
    (path,) = write(folder, "result.yaml")
    assert path == str(tmp_path / "own" / "result.yaml")
    assert (tmp_path / "own" / "result.yaml").read_bytes() == b"new"
    assert write(folder, path, b"newer") == [path]
    assert (tmp_path / "own" / "result.yaml").read_bytes() == b"newer"


@pytest.mark.parametrize(
    "name",
    ["../other", "/etc/passwd", "deep/../../other", "{tmp}/other", "{tmp}/own/../other", "."],
)
def test_nothing_outside_of_the_folder_is_written(folder, tmp_path, name):
    (tmp_path / "other").write_text("not yours")
    with pytest.raises(OutputError):
        write(folder, name.format(tmp=tmp_path), overwrite=True)
    assert (tmp_path / "other").read_text() == "not yours"


def test_no_link_leads_out_of_the_folder(folder, tmp_path):
    write(folder, "result.yaml")
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("not yours")
    (own / "file").symlink_to(elsewhere / "precious")
    (own / "new").symlink_to(elsewhere / "new")
    (own / "sub").symlink_to(elsewhere)
    for name in ("file", "new", "sub/precious", "sub/new"):
        with pytest.raises(OutputError, match="the folder that services may write to"):
            write(folder, name, overwrite=True)
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]
    assert (elsewhere / "precious").read_text() == "not yours"


def test_the_folder_itself_may_be_reached_through_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (path,) = write(OutputFolder(tmp_path / "link", OWNER), str(tmp_path / "link" / "result.yaml"))
    assert path == str(tmp_path / "real" / "result.yaml")


def test_a_file_of_somebody_else_stays_unless_one_asks_for_more(folder, tmp_path):
    path = tmp_path / "own" / "result.yaml"
    path.parent.mkdir()
    path.write_text("made by hand")
    with pytest.raises(OutputError, match="this node has not written it, or it was changed since"):
        write(folder, "result.yaml")
    assert path.read_text() == "made by hand"
    write(folder, "result.yaml", overwrite=True)
    assert path.read_text() == "new"
    write(folder, "result.yaml", b"newer")
    assert path.read_text() == "newer"


def test_one_s_own_file_is_known_again_after_a_restart_and_not_when_it_was_changed(
    folder, tmp_path
):
    write(folder, "result.yaml")
    later, path = OutputFolder(tmp_path / "own", OWNER), tmp_path / "own" / "result.yaml"
    write(later, "result.yaml", b"newer")
    path.write_text("newer, by hand")
    with pytest.raises(OutputError, match="changed since"):
        write(later, "result.yaml")
    assert path.read_text() == "newer, by hand"


def test_another_node_s_file_is_somebody_else_s(folder, tmp_path):
    write(folder, "result.yaml")
    with pytest.raises(OutputError, match="has not written it"):
        write(OutputFolder(tmp_path / "own", "/left/calibration"), "result.yaml")


@pytest.mark.parametrize("name", [".left.identification.written.json", ".hidden", "a/.b", ".a/b"])
def test_what_the_node_remembers_cannot_be_written_over(folder, tmp_path, name):
    write(folder, "result.yaml")
    (tmp_path / "own" / "a").mkdir()
    with pytest.raises(OutputError, match="begin with a dot"):
        write(folder, name, overwrite=True)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"result.yaml": 7}', "[" * 100_000])
def test_a_damaged_memory_is_none(folder, tmp_path, text):
    write(folder, "result.yaml")
    (tmp_path / "own" / ".left.identification.written.json").write_text(text)
    with pytest.raises(OutputError, match="has not written it"):
        write(folder, "result.yaml")
    write(folder, "result.yaml", overwrite=True)


def test_a_link_in_place_of_the_memory_is_not_followed(folder, tmp_path):
    write(folder, "result.yaml")
    memory, precious = tmp_path / "own" / ".left.identification.written.json", tmp_path / "precious"
    precious.write_text(memory.read_text())
    memory.unlink()
    memory.symlink_to(precious)
    with pytest.raises(OutputError):
        write(folder, "result.yaml", b"newer", overwrite=True)
    assert precious.read_text() != ""
    assert (tmp_path / "own" / "result.yaml").read_bytes() == b"new"


def test_of_several_files_none_is_written_where_one_may_not_be(folder, tmp_path):
    with pytest.raises(OutputError):
        folder.write([("parameters.yaml", b"1"), ("../robot.urdf", b"2")], overwrite=True)
    assert list((tmp_path / "own").iterdir()) == []


def test_files_that_are_gone_are_forgotten(folder, tmp_path):
    write(folder, "result.yaml")
    (tmp_path / "own" / "result.yaml").unlink()
    write(folder, "other.yaml")
    memory = tmp_path / "own" / ".left.identification.written.json"
    assert list(json.loads(memory.read_text())) == ["other.yaml"]


def test_nothing_to_write_makes_no_folder(folder, tmp_path):
    assert folder.write([], overwrite=False) == []
    assert not (tmp_path / "own").exists()


def test_by_default_every_node_has_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    own = tmp_path / "robot_identification" / "left" / "identification"
    assert default_folder(OWNER) == own
    monkeypatch.delenv("ROS_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder("/calibration") == (
        tmp_path / ".ros" / "robot_identification" / "calibration"
    )

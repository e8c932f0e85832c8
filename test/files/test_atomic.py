import os
import socket
import stat
from unittest.mock import Mock

import pytest

from robot_identification.errors import OutputError
from robot_identification.files import atomic
from robot_identification.files.atomic import (
    check_target,
    write_bytes_atomically,
    write_files_atomically,
    write_text_atomically,
)


def test_text_is_written_in_utf8(tmp_path):
    write_text_atomically(tmp_path / "result.yaml", "Größe: 1\n")
    assert (tmp_path / "result.yaml").read_bytes() == "Größe: 1\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["result.yaml"]


def test_file_is_replaced_and_keeps_its_permissions(tmp_path):
    target = tmp_path / "result.yaml"
    target.write_text("old")
    target.chmod(0o640)
    write_bytes_atomically(target, b"new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    write_text_atomically(tmp_path / "made", "")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_old_file_survives_a_failure(tmp_path, monkeypatch, failing):
    target = tmp_path / "result.yaml"
    target.write_text("old")

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (os, "replace")), no_space)
    if failing == "replace":
        monkeypatch.setattr(type(target), "replace", no_space)
    with pytest.raises(OutputError, match="No space left on device"):
        write_text_atomically(target, "new")
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["result.yaml"]


def test_folder_is_refused(tmp_path):
    with pytest.raises(OutputError, match="a folder, not a regular file"):
        write_text_atomically(tmp_path, "")


def test_device_is_refused():
    with pytest.raises(OutputError, match="a device, not a regular file"):
        write_text_atomically("/dev/null", "")


def test_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="a pipe, not a regular file"):
        check_target(tmp_path / "pipe")


def test_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(OutputError, match="a socket, not a regular file"):
            check_target("socket")


def test_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_link_to_a_device_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("/dev/null")
    with pytest.raises(OutputError, match="a device"):
        check_target(tmp_path / "link")


def test_link_in_a_circle_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(OutputError):
        write_text_atomically(tmp_path / "link", "")


def test_folder_above_must_exist(tmp_path):
    with pytest.raises(OutputError, match="absent does not exist; make it first"):
        check_target(tmp_path / "absent" / "result.yaml")


def test_folder_above_must_be_writable(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic.os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(OutputError, match="cannot be written to"):
        check_target(tmp_path / "result.yaml")


def test_name_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(OutputError):
        write_text_atomically(tmp_path / ("x" * 300), "")
    with pytest.raises(OutputError):
        write_text_atomically(tmp_path / "a\0b", "")


def test_a_link_where_the_temporary_file_goes_is_not_written_through(tmp_path, monkeypatch):
    """Nobody who can guess a name makes a node write into another file of its user."""
    precious = tmp_path / "precious"
    precious.write_text("not yours")
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda _: "guessed")
    (tmp_path / ".guessed.tmp").symlink_to(precious)
    with pytest.raises(OutputError, match="File exists"):
        write_text_atomically(tmp_path / "result.yaml", "new")
    assert precious.read_text() == "not yours"
    assert (tmp_path / ".guessed.tmp").is_symlink()
    assert not (tmp_path / "result.yaml").exists()


def test_a_power_failure_finds_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    """What a name stands for is on the disk before the name is, and the name before the end."""
    target, steps = tmp_path / "result.yaml", []
    flush, rename = os.fsync, type(target).replace

    def flushed(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content"
        steps.append((kind, os.fstat(descriptor).st_size if kind == "content" else None))
        flush(descriptor)

    def renamed(self, other):
        steps.append(("name", None))
        return rename(self, other)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(type(target), "replace", renamed)
    write_bytes_atomically(target, b"twelve bytes")
    assert steps == [("content", 12), ("name", None), ("folder", None)]


def test_files_that_belong_together_appear_together(tmp_path):
    urdf, parameters = tmp_path / "robot.urdf", tmp_path / "parameters.yaml"
    urdf.write_text("old")
    write_files_atomically([(urdf, b"new"), (parameters, b"new as well")])
    assert urdf.read_text() == "new"
    assert parameters.read_text() == "new as well"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("links", [True, False])
def test_none_of_several_files_appears_where_one_cannot(tmp_path, monkeypatch, links):
    """The last one fails when the others have their names already."""
    old, new, last = (tmp_path / name for name in ("old", "new", "last"))
    old.write_text("what was here before")
    rename = type(old).replace

    def no_space_for_the_last(self, other):
        if other == last:
            raise OSError(28, "No space left on device")
        return rename(self, other)

    monkeypatch.setattr(type(old), "replace", no_space_for_the_last)
    if not links:
        monkeypatch.setattr(atomic.os, "link", Mock(side_effect=OSError(95, "not supported")))
    with pytest.raises(OutputError, match="last: cannot be written: No space left"):
        write_files_atomically([(old, b"x"), (new, b"y"), (last, b"z")])
    assert old.read_text() == "what was here before"
    assert [file.name for file in tmp_path.iterdir()] == ["old"]


def test_two_outputs_in_one_file_are_refused(tmp_path):
    (tmp_path / "link").symlink_to("result.yaml")
    with pytest.raises(OutputError, match="link: is named for two outputs"):
        write_files_atomically([(tmp_path / "result.yaml", b""), (tmp_path / "link", b"")])
    assert not (tmp_path / "result.yaml").exists()

import os
import socket
import stat

import pytest

from robot_identification.errors import OutputError
from robot_identification.storage import atomic
from robot_identification.storage.atomic import (
    check_target,
    write_bytes_atomically,
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

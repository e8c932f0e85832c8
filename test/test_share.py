"""The data of the package are those of the installation that the module is in."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from robot_identification import share


def installed(prefix, packages):
    """Return the module as it is found in an installation below a prefix, which has no data."""
    folder = prefix / packages / share.NAME
    folder.mkdir(parents=True)
    place = shutil.copy(Path(share.__file__), folder)
    spec = importlib.util.spec_from_file_location(f"share_of_{prefix.name}", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data(prefix):
    folder = prefix / "share" / share.NAME
    (folder / "config").mkdir(parents=True)
    return folder


def indexed(prefix):
    """Return the data of an installation that the index of ROS knows."""
    resources = prefix / "share" / "ament_index" / "resource_index" / "packages"
    resources.mkdir(parents=True)
    (resources / share.NAME).touch()
    return data(prefix)


@pytest.mark.parametrize(
    "packages", ["lib/python3.12/site-packages", "local/lib/python3.12/dist-packages"]
)
def test_an_installation_finds_its_own_data_whatever_is_sourced(tmp_path, monkeypatch, packages):
    other, own = tmp_path / "other", tmp_path / "own"
    indexed(other)
    module = installed(own, packages)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    expected = data(own)
    assert module.share_directory() == expected
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(other))
    assert module.share_directory() == expected


def test_where_data_lie_elsewhere_the_index_of_ros_knows(tmp_path, monkeypatch):
    other = tmp_path / "other"
    expected = indexed(other)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(other))
    module = installed(tmp_path / "own", "lib/python3.12/site-packages")
    assert module.share_directory() == expected

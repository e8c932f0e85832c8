"""Interfaces of control_msgs, for tests: built where they are not installed, once per machine."""

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

_SOURCE = Path(__file__).parent / "controller_interfaces"
_TARGETS = Path(__file__).parents[1] / "cmake" / "wheel_targets.cmake"


@pytest.fixture(scope="module")
def control_msgs():
    """Make control_msgs importable, here and in nodes that are started meanwhile."""
    if importlib.util.find_spec("control_msgs") is None:
        prefix = _built()
        for library in sorted((prefix / "lib").glob("*.so")):
            ctypes.CDLL(str(library))  # here the search path of libraries stands since the start
        sys.path.append(str(prefix / "site"))
    else:
        module = Path(importlib.util.find_spec("control_msgs").origin)
        prefix = module.parents[2]
    if not (prefix / "site" / "control_msgs").is_dir():
        return
    for name, folder in (("PYTHONPATH", "site"), ("LD_LIBRARY_PATH", "lib")):
        others = os.environ.get(name, "").split(os.pathsep)
        os.environ[name] = os.pathsep.join(dict.fromkeys([str(prefix / folder), *others]))


def _built():
    """Return the folder that they are built in, some 20 s later where that is new."""
    digest = hashlib.sha256(f"{sys.prefix} {sys.version}".encode())
    for path in (_TARGETS, *sorted(p for p in _SOURCE.rglob("*") if p.is_file())):
        digest.update(path.read_bytes())
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "robot_identification" / f"control_msgs-{digest.hexdigest()[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                _build(Path(work))
                shutil.move(Path(work) / "install", folder)
    return folder


def _build(work):
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    prefixes = os.environ.get("AMENT_PREFIX_PATH") or sys.prefix
    env = dict(os.environ, AMENT_PREFIX_PATH=prefixes, CMAKE_PREFIX_PATH=prefixes, PATH=path)
    configure = [
        *("-S", str(_SOURCE), "-B", str(work / "build")),
        *(("-G", "Ninja") if shutil.which("ninja", path=path) else ()),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_INSTALL_PREFIX={work / 'install'}",
        "-DCMAKE_INSTALL_RPATH=$ORIGIN;$ORIGIN/../../lib",
        f"-DPython3_EXECUTABLE={sys.executable}",
        "-DPYTHON_INSTALL_DIR=site",
        "-DBUILD_TESTING=OFF",
    ]
    build = ["--build", str(work / "build"), "--target", "install", "--parallel", "2"]
    for arguments in (configure, build):
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(
                [shutil.which("cmake", path=path) or "cmake", *arguments],
                env=env, check=True, capture_output=True, text=True,
            )  # fmt: skip
            continue
        pytest.fail(f"control_msgs could not be built: cmake {' '.join(arguments)}")

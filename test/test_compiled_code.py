"""Compiled code is kept for the next process, wherever it can be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import found_first
from mcap_files import message_record
from robot_identification import compiled
from robot_identification.files.mcap import kernels as mcap_kernels

FORKING = """
import os, sys
import numba
import numpy as np

def forked(count, use):
    # Fork so many processes that have compiled nothing; all wait for the others where they say so.
    ready, ready_out = os.pipe()
    begin, begin_out = os.pipe()

    def together():
        os.write(ready_out, b"!")
        os.read(begin, 1)

    for _ in range(count):
        if os.fork() == 0:
            os.close(begin_out)
            use(together)
            sys.stdout.flush()
            os._exit(0)
    os.close(ready_out)
    for _ in range(count):
        os.read(ready, 1)
    os.close(begin_out)
    assert not any(os.wait()[1] for _ in range(count))
    for number in (ready, begin):
        os.close(number)
"""
PROGRAM = """
import json
def use(together):
    from mcap_kernels import message_places
    together()
    chunk = np.frombuffer(bytes.fromhex(sys.argv[1]), dtype=np.uint8)
    times, (firsts, lengths) = np.zeros(9, np.uint64), np.zeros((2, 9), np.int64)
    ends = np.uint64(0), np.uint64(100)
    found, _ = message_places(chunk, np.ones(1 << 16, np.bool_), *ends, times, firsts, lengths)
    kept = message_places.stats
    hits, misses = sum(kept.cache_hits.values()), sum(kept.cache_misses.values())
    told = json.dumps([times[:found].tolist(), hits, misses, kept.cache_path])
    os.write(1, (told + "\\n").encode())

for count in sys.argv[2:]:
    forked(int(count), use)
"""
CHUNK = message_record(1, 10, b"a") + message_record(2, 30, b"bc") + message_record(1, 20, b"")
RIGHT = [10, 30, 20]

INNER = """
from pack.compiled import compiled

@compiled()
def half(x):
    return x / 2
"""
OUTER = """
from pack.compiled import compiled
from pack.inner_kernels import half

@compiled()
def halved_and_one(x):
    return half(x) + 1

print(halved_and_one(8.0), sum(halved_and_one.stats.cache_hits.values()))
"""
CHANGING = """
from pathlib import Path
sys.dont_write_bytecode = True  # which would be kept for a file that changes within a second
def use(together):
    together()
    import pack.outer_kernels

forked(1, use)
forked(1, use)
inner = Path(sys.argv[1])
inner.write_text(inner.read_text().replace("x / 2", "x / 4"))
forked(1, use)
"""


def outcomes(folder, counts, variables, prefix=()):
    """Have processes use a compiled function, so many at once; all those after each other.

    Args:
        folder: where its module is.
        counts: how many begin at once.
        variables: of their environment.
        prefix: command that starts the one of which they are forked.

    Returns:
        What each found, how often it loaded and compiled, and where the code is kept.
    """
    known = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [*prefix, sys.executable, "-c", FORKING + PROGRAM, CHUNK.hex(), *map(str, counts)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**known, "PYTHONPATH": found_first(folder), **variables},
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == sum(counts)
    return [(*told, Path(kept)) for *told, kept in found]


@pytest.fixture
def installed(tmp_path):
    """A folder with a module of compiled functions, from which nothing was compiled yet."""
    folder = tmp_path / "installed"
    folder.mkdir()
    shutil.copy(mcap_kernels.__file__, folder / "mcap_kernels.py")
    return folder


def test_processes_that_start_together_leave_one_cache_that_others_load(tmp_path, installed):
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    *pair, (found, loaded, made, kept) = outcomes(installed, (2, 1), variables)
    for right, *times, _ in pair:
        assert right == RIGHT
        assert sum(times) == 1
    assert (found, loaded, made) == (RIGHT, 1, 0)
    assert tmp_path / "cache" in kept.parents
    assert not list(installed.rglob("*.nb?"))
    assert sorted({file.suffix for file in kept.iterdir()}) == [".nbc", ".nbi"]


def test_code_that_another_file_is_part_of_is_compiled_again_when_that_file_changes(tmp_path):
    pack = tmp_path / "pack"
    pack.mkdir()
    shutil.copy(compiled.__file__, pack / "compiled.py")
    (pack / "inner_kernels.py").write_text(INNER)
    (pack / "outer_kernels.py").write_text(OUTER)
    done = subprocess.run(
        [sys.executable, "-c", FORKING + CHANGING, str(pack / "inner_kernels.py")],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        },
    )
    assert done.stdout.splitlines() == ["5.0 0", "5.0 1", "3.0 0"]


def test_files_of_compiled_functions_are_those_that_the_digest_covers():
    package = Path(compiled.__file__).parent
    using = {path for path in package.rglob("*.py") if "@compiled(" in path.read_text()}
    kernels = {*package.rglob("*kernels.py"), *package.rglob("kernels/**/*.py")}
    assert using == {path for path in kernels if path.name != "__init__.py"}


def test_an_installation_that_cannot_be_written_keeps_its_code_elsewhere(tmp_path, installed):
    prefix = without_rights(installed)
    variables = {"XDG_CACHE_HOME": str(tmp_path / "home")}
    runs = outcomes(installed, (1, 1), variables, prefix)
    assert [run[:3] for run in runs] == [(RIGHT, 0, 1), (RIGHT, 1, 0)]
    assert tmp_path / "home" in runs[0][3].parents
    assert [file.name for file in installed.iterdir()] == ["mcap_kernels.py"]


def without_rights(folder):
    """Make a folder one that cannot be written; return the command that minds it.

    Root may write everywhere, but for a process that has given up that capability.
    """
    folder.chmod(0o555)
    prefix = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
        if shutil.which("setpriv") is None or not succeeds([*prefix, "true"]):
            pytest.skip("root writes to read-only folders, and setpriv cannot stop it here")
    if succeeds([*prefix, "touch", folder / "written"]):
        pytest.skip("this user may write to read-only folders")
    return prefix


def succeeds(line):
    return subprocess.run(line, check=False, capture_output=True).returncode == 0

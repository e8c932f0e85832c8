"""Programs of the package, forked of a process that has loaded what they load.

:class:`Popen` is that of ``subprocess``, and so is what it starts to whoever looks at it: a child
of this process, with arguments, environment, files, signals and a session of its own.
"""

import inspect
import os
import shutil
import socket
import subprocess
import sys
import threading
from multiprocessing import util
from pathlib import Path

from fork_server import MULTIPROCESSING, Requests

_SETPRIV = ["--pdeathsig", "INT", "--"]
_READ_WHEN_LOADED = ("PYTHON", "NUMBA_", "OMP_", "OPENBLAS_", "LD_", "RMW_", "MALLOC_")
_SEARCHED = ("PYTHONPATH", "LD_LIBRARY_PATH")  # a forked program takes what was added


_USUAL = dict(os.environ)  # when tests are collected: what one of them sets is not usual


class _Server:
    """The process, and the environment in which it has loaded what it has."""

    lock = threading.Lock()
    process = channel = requests = environment = None

    @classmethod
    def start(cls):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            path = Path(__file__).with_name("fork_server.py")
            number = theirs.fileno()
            cls.process = subprocess.Popen(
                [sys.executable, str(path), str(number)],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,
                env=_USUAL,
            )
        cls.channel, cls.requests = ours, Requests(ours)
        cls.environment = _read_when_loaded(_USUAL)

    @classmethod
    def stop(cls):
        if cls.process is not None:
            cls.channel.close()
            cls.process.kill()
            cls.process.wait()
            cls.process = None


stop = _Server.stop
_EXECUTE = util.spawnv_passfds


class Popen(subprocess.Popen):
    """A process; a forked one where its program is one of Python in the usual environment."""

    def _execute_child(self, *given):
        call = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments
        line, ends_with_parent = _of_python(call["args"])
        environment = os.environ if call["env"] is None else call["env"]
        special = call["shell"] or call["preexec_fn"] or call["pass_fds"]
        plain = sys.platform == "linux" and not special
        with _Server.lock:
            if line and plain and _Server.process is None:
                _Server.start()
            if not line or not plain or _read_when_loaded(environment) != _Server.environment:
                super()._execute_child(*given)
                return
            numbers = (call["p2cread"], call["c2pwrite"], call["errwrite"])
            try:
                self.pid = _Server.requests.start(
                    line,
                    {i: i if number == -1 else number for i, number in enumerate(numbers)},
                    environment=environment,
                    folder=Path(call["cwd"] or ".").absolute(),
                    session=call["start_new_session"],
                    modules=_added(environment, "PYTHONPATH"),
                    libraries=_added(environment, "LD_LIBRARY_PATH"),
                    ends_with_parent=ends_with_parent,
                )
            except BaseException:  # the next answer would be that to this request
                _Server.stop()
                raise
        self._child_created = True
        self._close_pipe_fds(
            *(call[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite")),
            *(call[name] for name in ("errread", "errwrite")),
        )


def _read_when_loaded(environment):
    read = {k: v for k, v in environment.items() if k.startswith(_READ_WHEN_LOADED)}
    return {k: v for k, v in read.items() if k not in _SEARCHED}


def _added(environment, name):
    """Return the folders of a search path that the usual one lacks."""
    usual, now = (one.get(name, "").split(os.pathsep) for one in (_USUAL, environment))
    return [folder for folder in now if folder not in usual]


def _of_python(line):
    """Return the arguments of Python in a command, and whether it is to end with this process.

    There are none where something else is executed.
    """
    line = [line] if isinstance(line, str) else list(map(os.fsdecode, line))
    ends_with_parent = line[:4] == [shutil.which("setpriv"), *_SETPRIV]
    if ends_with_parent:
        line = line[4:]
    if line[0] == sys.executable:
        return line[1:], ends_with_parent
    with open(line[0], "rb") as program:  # noqa: PTH123
        first = os.fsdecode(program.readline(200))
    return line if _is_for_this_python(first) else [], ends_with_parent


def _is_for_this_python(first):
    """Tell whether the first line of a program names the interpreter of this process.

    pip writes its path there, colcon has it looked for.
    """
    if first != "#!/usr/bin/env python3\n":
        return first == f"#!{sys.executable}\n"
    found, own = shutil.which("python3"), Path(sys.executable)
    return found is not None and Path(found).parent == own.parent and own.samefile(found)


def run(line, *, check=False, capture_output=False, **options):
    """Run a program until it ends, as ``subprocess.run`` does."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(line, **options) as process:
        out, err = process.communicate()
    done = subprocess.CompletedProcess(line, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def spawn(path, line, kept):
    """Start a process of multiprocessing, as its ``util.spawnv_passfds`` does.

    It is forked whatever its environment has that is read when modules are loaded.
    """
    line = list(map(os.fsdecode, line))
    if line[-1] != MULTIPROCESSING:
        return _EXECUTE(path, line, kept)
    with _Server.lock:
        if _Server.process is None:
            _Server.start()
        return _Server.requests.start_worker(line, kept)

"""A process that has loaded the package, and of which programs of the package are forked.

Most of the time of a node that starts goes into loading NumPy, SciPy, Numba and rclpy.  Here that
is done once.  A forked program has arguments, environment, files, signals and a session of its own
as one that was executed has; nothing of ROS has begun before, and there is one thread.  (Tracing
of ROS by LTTng, which comes with rclpy, has two more that wait for a tracing daemon.)

It is run by :mod:`forked_processes`, as ``python fork_server.py NUMBER_OF_A_SOCKET``.
"""

import atexit
import ctypes
import fcntl
import gc
import inspect
import io
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
import threading
import warnings
from dataclasses import replace
from multiprocessing import util
from pathlib import Path
from types import ModuleType

MESSAGE = 1 << 20
FILES = 64
MULTIPROCESSING = "--multiprocessing-fork"
SUBREAPER, DEATH_SIGNAL, NAME = 36, 1, 15  # of prctl
_KEPT = {signal.SIGKILL, signal.SIGSTOP}
_CLEAR = 200  # numbers of files from here on are nobody's
_PLANNERS = ("excitation",)  # nodes that start processes of Python themselves
_COARSER = 8  # times fewer iterations of their searches: any certified plan is good enough here
_WARMED_UP = ("scara", "tx40")  # without and with coupled joints


def load():
    """Import what programs of the package import, and load its compiled code."""
    from importlib import import_module

    from robot_identification.identification.base.parameters import base_parameters
    from robot_identification.robot.files.loading import load_robot
    from robot_identification.ros.clients.processes import MODULES
    from robot_identification.ros.identification.warming import warm_up

    gc.disable()
    for module in (*MODULES.values(), "identification.warming", "planning.worker"):
        import_module(f"robot_identification.ros.{module}")
    import_module("robot_identification.cli.main")
    load_interfaces()
    for robot in _WARMED_UP:
        warm_up(base_parameters(load_robot(robot)))
    if threading.active_count() > 1:
        raise RuntimeError("a process of several threads cannot be forked")
    inspect.getmodule(inspect.currentframe())  # remembers the file of every module, for loggers
    gc.enable()
    gc.collect()
    gc.freeze()


def load_interfaces():
    """Load the libraries of all messages, services and actions that were imported."""
    modules = [module for name, module in sys.modules.items() if ".msg." in name or ".srv." in name]
    for kind in {type(one) for module in modules for one in vars(module).values()}:
        if hasattr(kind, "__import_type_support__"):
            kind.__import_type_support__()


def plan_coarsely():
    """Have the searches of this process end early; how good plans are is tested without nodes."""
    from robot_identification.excitation.search.refinement import Refinement

    run = Refinement.run

    def run_coarsely(refinement, first, stages, cancelled=None):
        coarse = [replace(one, iterations=max(one.iterations // _COARSER, 1)) for one in stages]
        return run(refinement, first, tuple(coarse), cancelled)

    Refinement.run = run_coarsely


def serve(channel):
    """Fork programs until the other end is closed; return in each of them what it is to run."""
    for number in set(signal.Signals) - _KEPT - {signal.SIGCHLD}:
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(channel, MESSAGE, FILES)
        if not message:
            os._exit(0)
        job = json.loads(message)
        if _fork(channel, job, files):
            return job
        for number in files:
            os.close(number)


def _fork(channel, job, files):
    """Fork a program, as a child of the process that has asked for it; return True in it.

    Its parent ends at once, and whoever asks takes in the orphans meanwhile.
    """
    its_number, number_out = os.pipe()
    adopted, adopted_out = os.pipe()
    ready, ready_out = os.pipe()
    between = os.fork()
    if between == 0:
        child = os.fork()
        if child:
            os.write(number_out, str(child).encode())
            os._exit(0)
        os.close(adopted_out)
        os.read(adopted, 1)
        channel.close()
        for number in (its_number, number_out, adopted, ready):
            os.close(number)
        _take_over(job, files)
        os.write(ready_out, b"!")
        os.close(ready_out)
        return True
    os.waitpid(between, 0)
    answer = os.read(its_number, 32)
    for number in (number_out, adopted_out, ready_out):
        os.close(number)
    os.read(ready, 1)
    channel.send(answer)
    for number in (its_number, adopted, ready):
        os.close(number)
    return False


def _take_over(job, files):
    """Give this process what the one that has asked would have given to a program it executes."""
    if job["ends_with_parent"]:
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGINT, 0, 0, 0)
        if os.getppid() != job["parent"]:
            os._exit(1)
    if job["session"]:
        os.setsid()
    held = [fcntl.fcntl(number, fcntl.F_DUPFD, _CLEAR) for number in files]
    for number in files:
        os.close(number)
    for number, wanted in zip(held, job["files"], strict=True):
        os.dup2(number, wanted)
        os.close(number)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    tempfile.tempdir = None
    for number in set(signal.Signals) - _KEPT:
        signal.signal(number, signal.SIG_IGN if number in job["ignored"] else signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python has it
        signal.signal(number, signal.SIG_IGN)
    if signal.SIGINT not in job["ignored"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, job["blocked"])
    # A search path of libraries stands since the start: what is added to it is loaded now.
    for folder in job["libraries"]:
        for library in sorted(Path(folder).glob("*.so")):
            ctypes.CDLL(str(library))
    sys.path[:0] = job["modules"]


def run(job):
    """Run a program as Python runs it."""
    line = job["line"]
    ctypes.CDLL(None).prctl(NAME, Path(line[0]).name.encode(), 0, 0, 0)  # as others see it
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        errors="backslashreplace",
        line_buffering=True,
    )
    if line[0] == "-c":
        sys.argv, sys.path[:0] = ["-c", *line[2:]], [""]
        sys.modules["__main__"] = main = ModuleType("__main__")
        exec(compile(line[1], "<string>", "exec"), main.__dict__)
    elif line[0] == "-m":
        sys.argv, sys.path[:0] = ["-m", *line[2:]], [job["folder"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the module has been imported already
            runpy.run_module(line[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:0] = list(line), [str(Path(line[0]).resolve().parent)]
        runpy.run_path(line[0], run_name="__main__")


def end(code):
    """End as the interpreter does, but leave what is loaded to the kernel.

    To destroy all that the server has loaded takes ten times as long as to fork it: the memory,
    shared until then, is copied for that.  It returns where output cannot be written.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    ctypes.CDLL(None).fflush(None)
    os._exit(code)


class Requests:
    """The end of the channel to a server at which one asks for programs."""

    def __init__(self, channel):
        self._channel = channel

    def start(
        self, line, files, *, environment, folder, session=False, ends_with_parent=False,
        modules=(), libraries=(),
    ):  # fmt: skip
        """Start a program of Python; return the number of its process, a child of this one.

        Args:
            line: arguments of Python.
            files: number of each open file at its number in the program.
            environment: all of its environment variables.
            folder: in which it runs.
            session: whether it gets one of its own.
            ends_with_parent: whether it gets SIGINT when this process ends.
            modules: folders in which it finds modules, beside those of the server.
            libraries: folders whose libraries it loads.
        """
        ignored = [n for n in set(signal.Signals) - _KEPT if signal.getsignal(n) == signal.SIG_IGN]
        job = {
            "line": list(line),
            "files": list(files),
            "environment": dict(environment),
            "folder": str(folder),
            "session": session,
            "ends_with_parent": ends_with_parent,
            "modules": list(modules),
            "libraries": list(libraries),
            "parent": os.getpid(),
            "ignored": ignored,
            "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        }
        prctl = ctypes.CDLL(None).prctl
        prctl(SUBREAPER, 1, 0, 0, 0)
        try:
            socket.send_fds(self._channel, [json.dumps(job).encode()], list(files.values()))
            answer = self._channel.recv(32)
        finally:
            prctl(SUBREAPER, 0, 0, 0, 0)
        if not answer:
            raise RuntimeError("the process that forks has ended; see its output")
        return int(answer)

    def start_worker(self, line, kept):
        """Start a process of multiprocessing by its command, with files that are to be kept."""
        files = {number: number for number in (0, 1, 2, *kept)}
        code = line[line.index("-c") :]
        return self.start(code, files, environment=os.environ, folder=Path.cwd())


def serve_own_processes():
    """Have processes of Python that this one starts by multiprocessing forked, too.

    Return in each of these what it is to run; None in this one.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.close(nothing)
        return serve(theirs)
    theirs.close()
    requests, execute = Requests(ours), util.spawnv_passfds

    def start(path, line, kept):
        line = list(map(os.fsdecode, line))
        if line[-1] != MULTIPROCESSING:
            return execute(path, line, kept)
        return requests.start_worker(line, kept)

    util.spawnv_passfds = start
    return None


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file
    load()
    work = serve(socket.socket(fileno=int(sys.argv[1])))
    if Path(work["line"][0]).name in _PLANNERS:
        plan_coarsely()
        work = serve_own_processes() or work
    try:
        run(work)
        sys.exit()
    except SystemExit as asked:
        if isinstance(asked.code, int | None):
            end(asked.code or 0)
        raise

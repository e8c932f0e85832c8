"""The command line: thin, no linear algebra."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# As for the nodes: matrices are small, and more threads than one make them slower, on a busy
# machine many times.  This must be said before NumPy is imported; what the user has said holds.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the process at once while modules are loaded, before there is work to lose.

    An extension module that is interrupted by an exception says that it cannot be imported.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def start() -> int:
    """Load the program and run it; Ctrl-C before and after ends the process without a traceback."""
    heard = signal.getsignal(signal.SIGINT) != signal.SIG_IGN  # as it is in the background
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from robot_identification.cli.main import main

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main()
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code

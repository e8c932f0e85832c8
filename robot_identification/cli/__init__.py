"""The command line: thin, no linear algebra."""

import os
import signal

# As for the nodes: matrices are small, and more threads than one make them slower, on a busy
# machine many times.  This must be said before NumPy is imported; what the user has said holds.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


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

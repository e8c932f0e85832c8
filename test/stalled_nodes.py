"""What a node misses that stands still."""

import contextlib
import signal

from sensor_msgs.msg import JointState


@contextlib.contextmanager
def stalled(process, publisher):
    """Have a node stand still, its sockets full of joint states of a stranger: it hears no more."""
    process.send_signal(signal.SIGSTOP)
    try:
        for size in [50_000] * 300 + [1] * 200:  # small ones fill the gap that a large one leaves
            flood = JointState(name=["stranger"], effort=[0.0])
            flood.header.frame_id = "x" * size
            publisher.publish(flood)
        yield
    finally:
        process.send_signal(signal.SIGCONT)

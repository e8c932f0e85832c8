"""What a node misses that stands still."""

import contextlib
import signal


@contextlib.contextmanager
def stalled(process, publisher, **fields):
    """Have a node stand still, its sockets full: it hears no more.

    They are filled with 500 messages of no meaning to a topic that it reads, which the publisher
    must keep; ``fields`` are theirs.
    """
    process.send_signal(signal.SIGSTOP)
    try:
        for size in [50_000] * 300 + [1] * 200:  # small ones fill the gap that a large one leaves
            flood = publisher.msg_type(**fields)
            flood.header.frame_id = "x" * size
            publisher.publish(flood)
        yield
    finally:
        process.send_signal(signal.SIGCONT)

"""Grace period for messages of a stream that come late."""

from __future__ import annotations

import time

_PATIENCE = 10.0
"""Time in s.  Fast DDS sends the end of what a stalled reader missed with a heartbeat, every 3 s,
and what does not fit into its buffers with the next one."""

_MOST_AT_ONCE = 1.0
"""Time in s that counts at most between two questions; in more this process stood still."""


class Patience:
    """Tells whether more of a stream is due: as long as it comes, and some seconds longer.

    While this process stands still nothing can come, so that time does not count; what has come
    meanwhile is handled after it.
    """

    def __init__(self) -> None:
        self._left = 0.0
        self._asked = time.monotonic()

    def renew(self) -> None:
        """Note that something has come, or is about to."""
        self._left = _PATIENCE
        self._asked = time.monotonic()

    def lasts(self) -> bool:
        """Tell whether more is due; to be asked often."""
        now = time.monotonic()
        self._left -= min(now - self._asked, _MOST_AT_ONCE)
        self._asked = now
        return self._left > 0.0

"""Requests to the nodes: one rule for waiting, time limits, interruption and errors."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

from robot_identification.msg import Progress
from robot_identification.ros.clients.client import Client, NodeGoneError, refusal
from robot_identification.ros.common import qos

Report = Callable[[str, float], None]
"""Told the stage of some work, and which fraction of it is done."""

SILENT = 5.0
"""Time without a word after which a node counts as gone, in s."""

SOON = 10.0
"""Time limit of what ends something or puts it back, in s: who waits for it cannot go on."""

UNTIL_DONE = math.inf
"""Time limit of work that takes as long as it takes."""

ANSWER_WITHIN = 60.0
"""Time limit of everything else, in s."""

# typing.Self is younger than Python 3.10.
Own = TypeVar("Own", bound="Asking")


class Asking:
    """Sends requests to the nodes of one namespace, and waits for what they answer.

    Args:
        client: to talk through; of the namespace of the nodes.

    Attributes:
        client: as given.
        progress: by node, how far it says its work is.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: dict[str, list[Progress]] = {"excitation": [], "identification": []}
        self._report: Report = lambda _stage, _fraction: None
        self._waits = self._demands = True
        for node, told in self.progress.items():
            client.node.create_subscription(Progress, f"{node}/progress", told.append, qos.STATUS)

    def telling(self: Own, report: Report) -> Own:  # noqa: PYI019
        """Return these verbs, of whose work a function is told stage and fraction."""
        return self._but(_report=report)

    @property
    def answers(self: Own) -> Own:  # noqa: PYI019
        """These verbs, which return answers without success too."""
        return self._but(_demands=False)

    @property
    def begun(self: Own) -> Own:  # noqa: PYI019
        """These verbs, which do not wait, and return the futures of the responses."""
        return self._but(_waits=False)

    def _but(self: Own, **changes: Any) -> Own:  # noqa: PYI019
        other = copy.copy(self)
        vars(other).update(changes)
        return other

    def wait(self, condition: Callable[[], Any], what: str, timeout: float = 30.0) -> Any:
        """Wait until a condition is true, and return its value."""
        return self.client.wait_for(condition, timeout, what)

    def _call(
        self, kind: Any, name: str, request: Any = None, within: float = ANSWER_WITHIN
    ) -> Any:
        """Send a request; return its response, or the future of it."""
        future = self.client.begin(kind, name, request, min(within, ANSWER_WITHIN))
        return self._answer(kind, name, future, within) if self._waits else future

    def _answer(self, kind: Any, name: str, future: Any, within: float) -> Any:
        """Wait for the response to a request that was sent, and return it."""
        heard = self.progress.get(name.partition("/")[0], [])
        known = len(heard)
        seen, asked = time.monotonic(), self.client.servers(name)

        def answered() -> bool:
            nonlocal seen
            if heard[known:] and not math.isnan(heard[-1].fraction):
                self._report(heard[-1].stage, heard[-1].fraction)
            there = self.client.is_there(kind, name)
            if there and (not asked or asked & self.client.servers(name)):
                seen = time.monotonic()
            elif time.monotonic() - seen > SILENT and not future.done():
                raise NodeGoneError(f"{name}: its node has ended before it answered")
            return bool(future.done())

        self.client.wait_for(answered, within, f"answer of {name}")
        response = future.result()
        if self._demands and not getattr(response, "success", True):
            told = getattr(response, "message", "refused; the log of the node says why")
            raise refusal(name, told, getattr(response, "error_code", None))
        return response

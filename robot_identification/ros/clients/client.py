"""A client of the nodes: calls services and waits for topics, for the demo and for scripts."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile

from robot_identification.errors import InputError, ResultRefusedError, RobotIdentificationError
from robot_identification.ros.clients.interruption import signals_held
from robot_identification.ros.common import qos
from robot_identification.ros.common.executors import NodeExecutor
from robot_identification.ros.common.middleware import use_own_profiles
from robot_identification.ros.common.polled_subscription import PolledSubscription
from robot_identification.ros.common.process import destroying
from robot_identification.ros.messages.error_codes import CODES

Own = TypeVar("Own", bound="Closing")


class Closing(ABC):
    """Something that a ``with`` block closes when it ends, in whatever way it does."""

    def __enter__(self: Own) -> Own:  # noqa: PYI019 (Self is younger than Python 3.10)
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give back everything that is held."""


_STEP = 0.1
_POLL = 0.01
_BATCH = 1000
_FOUND_WITHIN = 0.2
"""Time, in s, that a node is given to find a client that has found its service."""
READY_WITHIN = 900.0
"""Time, in s, in which a node that runs must answer for the first time.

It compiles at its first start on a machine, which takes minutes where that is busy.  A node that
has ended is told at once by the clients that watch it.
"""


class ClientTimeoutError(RobotIdentificationError):
    """A node did not answer in time; the message says what was waited for."""


class NodeGoneError(RobotIdentificationError):
    """A node has ended, or cannot be reached any more, in the middle of what it was asked."""


class RequestRefusedError(RobotIdentificationError):
    """A node answered that it could not do what was asked.

    Attributes:
        code: error code of the service; None for services that have none.
    """

    def __init__(self, service: str, message: str, code: int | None = None) -> None:
        self.code = code
        super().__init__(f"{service}: {message}")


class RequestInvalidError(RequestRefusedError, InputError):
    """The request is impossible: a field, a file, a recording, the state of the robot."""


class ResultNotGivenError(RequestRefusedError, ResultRefusedError):
    """The request was fine, but a result could not be stood behind."""


def refusal(service: str, message: str, code: int | None = None) -> RequestRefusedError:
    """Return the error for an answer without success.

    Args:
        service: what was called.
        message: of the answer; where a service has no code, it may begin with the name of one.
        code: error code of the answer, if it has one.
    """
    known = _code_named(message.partition(":")[0]) if code is None else code
    kind = RequestRefusedError
    if known is not None and CODES.INVALID_REQUEST <= known <= CODES.NOT_ACTIVE:
        kind = RequestInvalidError
    elif known is not None and CODES.NOT_IDENTIFIABLE <= known <= CODES.NOT_CERTIFIED:
        kind = ResultNotGivenError
    return kind(service, message, known)


def _code_named(name: str) -> int | None:
    return getattr(CODES, name, None) if name.isupper() else None


def _enter(domain: int | None) -> rclpy.Context:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    return context


class Client(Closing):
    """A node of its own in a context of its own; everything happens in the calling thread.

    Args:
        namespace: namespace of the nodes to talk to.
        watch: called again and again while waiting; raises if waiting has become pointless.
        domain: ROS domain; by default that of the environment.
    """

    def __init__(
        self,
        namespace: str = "",
        watch: Callable[[], None] | None = None,
        domain: int | None = None,
    ) -> None:
        use_own_profiles()
        self._context = _enter(domain)
        self.node = Node(
            "robot_identification_client",
            context=self._context,
            namespace=namespace,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = NodeExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self._collected: list[tuple[PolledSubscription, Callable[[Any], None]]] = []
        self._watch = watch or (lambda: None)

    def close(self) -> None:
        """Leave ROS."""
        self._executor.shutdown()
        with destroying():
            self.node.destroy_node()
            self._context.try_shutdown()

    def spin(self, seconds: float = 0.0) -> None:
        """Handle what has arrived, and what arrives within some time."""
        end = time.monotonic() + seconds
        self._spin_once(0.0)
        while time.monotonic() < end:
            self._spin_once(max(0.0, min(_STEP, end - time.monotonic())))

    def wait_for(self, condition: Callable[[], Any], timeout: float, what: str) -> Any:
        """Spin until a condition is true and return its value.

        Raises:
            ClientTimeoutError: if that takes longer than ``timeout`` seconds.
        """
        end = time.monotonic() + timeout
        while not (value := condition()):
            if time.monotonic() > end:
                raise ClientTimeoutError(f"no {what} within {timeout:g} s")
            self._watch()
            self._spin_once(_STEP)
        return value

    def _spin_once(self, seconds: float) -> None:
        with signals_held():
            self._executor.spin_once(
                timeout_sec=min(seconds, _POLL) if self._collected else seconds
            )
            for subscription, take in self._collected:
                for message in subscription.take(_BATCH):
                    take(message)

    def collect(
        self, kind: Any, topic: str, take: Callable[[Any], None], profile: QoSProfile
    ) -> None:
        """Subscribe to a busy topic, such as joint states, without a callback for each message.

        Args:
            kind: type of the messages.
            topic: their topic.
            take: given every message while this client spins.
            profile: quality of service; its depth must last while this client does not spin.
        """
        self._collected.append((PolledSubscription(self.node, kind, topic, profile), take))

    def wait_for_service(self, kind: Any, name: str, timeout: float = 60.0) -> None:
        """Wait until a service is there, and knows this client: it answers nobody else."""
        new = name not in self._clients
        self.wait_for_server(
            self._client(kind, name).service_is_ready, new, timeout, f"service {name}"
        )

    def wait_for_server(
        self, is_ready: Callable[[], bool], new: bool, timeout: float, what: str
    ) -> None:
        """Wait until a server is there, and, where it was not or is new to this client, knows it.

        Raises:
            ClientTimeoutError: if it is not there within ``timeout`` seconds.
        """
        if new or not is_ready():
            self.wait_for(is_ready, timeout, what)
            self.spin(_FOUND_WITHIN)

    def is_there(self, kind: Any, name: str) -> bool:
        """Tell whether a service is there now."""
        return bool(self._client(kind, name).service_is_ready())

    def servers(self, name: str) -> frozenset[bytes]:
        """Return identifiers of the servers of a service; none where the middleware tells none.

        A node that was started anew has others: it does not answer what its predecessor was asked.
        """
        # rclpy tells the servers of a service by the topic of its requests, in the name of DDS.
        topic = f"rq{self.node.resolve_service_name(name)}Request"
        found = self.node.get_subscriptions_info_by_topic(topic, no_mangle=True)
        return frozenset(bytes(one.endpoint_gid) for one in found)

    def begin(self, kind: Any, name: str, request: Any = None, timeout: float = 60.0) -> Any:
        """Send a request; return the future of its response.

        Args:
            kind: type of the service.
            name: its name, relative to the namespace.
            request: the request; None: an empty one.
            timeout: how long to wait for the service, in s.

        Raises:
            ClientTimeoutError: if it is not there in time.
        """
        self.wait_for_service(kind, name, timeout)
        return self._client(kind, name).call_async(request or kind.Request())

    def call(self, kind: Any, name: str, request: Any = None, timeout: float = 60.0) -> Any:
        """Call a service and return its response; arguments as of :meth:`begin`.

        Raises:
            ClientTimeoutError: if it is not there or does not answer in time.
        """
        future = self.begin(kind, name, request, timeout)
        self.wait_for(future.done, timeout, f"answer of {name}")
        return future.result()

    def _client(self, kind: Any, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name, qos_profile=qos.SERVICES)
        return self._clients[name]

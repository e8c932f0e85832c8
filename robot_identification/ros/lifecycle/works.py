"""Works of a managed node: all that it consists of from configure to cleanup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from robot_identification.ros.lifecycle.transitions import Ending, ended


class Works(Protocol):
    """What a managed node consists of while it is configured."""

    def activate(self) -> None:
        """Begin to work; raises RobotIdentificationError where that cannot be."""

    def rest(self, why: str) -> Ending:
        """Bring what moves to rest.

        Args:
            why: the reason, for people.
        """

    def end(self, why: str) -> Ending:
        """Do the same, and end everything else that is being worked on."""

    def close(self) -> None:
        """Let go of all that is no entity of ROS."""


Work = TypeVar("Work", bound=Works)


class ManagedWorks(Generic[Work]):
    """Makes works, and lets go of them, as transitions ask for it; a :class:`.Managed`.

    Args:
        load: returns works, for the parameters as they are now; what it has made by itself is
            closed where it raises.
        check: called with every works that was loaded; may raise as ``load``.
        let_go: destroys the entities of ROS that were made since ``load`` was called.

    Attributes:
        works: None while the node is not configured.
    """

    def __init__(
        self, load: Callable[[], Work], *, check: Callable[[], None], let_go: Callable[[], None]
    ) -> None:
        self._load, self._check, self._let_go = load, check, let_go
        self.works: Work | None = None

    def configure(self) -> None:
        """Load everything, or nothing.

        Raises:
            RobotIdentificationError: something is wrong.
        """
        try:
            self.works = self._load()
            self._check()
        except BaseException:
            self._release()
            raise

    def activate(self) -> None:
        """Begin to work."""
        if self.works is not None:
            self.works.activate()

    def deactivate(self) -> Ending:
        """Bring what moves to rest."""
        return ended if self.works is None else self.works.rest("the node is deactivated")

    def cleanup(self) -> Ending:
        """End all work, then let go of everything."""
        return self._released("the node is cleaned up", at_any_rate=False)

    def shut_down(self) -> Ending:
        """Do the same from any state, even where a robot does not come to rest."""
        return self._released("the node is shut down")

    def recover(self) -> Ending:
        """Do the same after a fault."""
        return self._released("a fault of this node")

    def _released(self, why: str, *, at_any_rate: bool = True) -> Ending:
        ending = ended if self.works is None else self.works.end(why)

        def look() -> str | None:
            problem = ending()
            if problem is not None and (at_any_rate or not problem):
                self._release()
            return problem

        return look

    def _release(self) -> None:
        works, self.works = self.works, None
        try:
            if works is not None:
                works.close()
        finally:
            self._let_go()

"""Objects that are used in a ``with`` block and closed at its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

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

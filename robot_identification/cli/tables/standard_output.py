"""Standard output: a full disk is an error, a reader that has gone ends a command quietly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, TextIO, cast

from robot_identification.errors import OutputError, RobotIdentificationError

_NAME = "standard output"


class NoReaderError(RobotIdentificationError):
    """Whoever read standard output has closed it, as ``head`` does when it has enough."""

    def __init__(self) -> None:
        super().__init__(f"{_NAME} was closed")


@contextmanager
def checked_output() -> Iterator[None]:
    """Raise errors of the package where what the block prints cannot be written.

    What Python would find out only when it ends, and tell with a traceback, is found out at the end
    of the block.

    Raises:
        OutputError: it cannot be written, for example because the disk is full.
        NoReaderError: nobody reads it any more.
    """
    if sys.stdout is None:  # closed before the program began: nothing is printed
        yield
        return
    checked = _Checked(sys.stdout)
    with redirect_stdout(cast("TextIO", checked)):
        try:
            yield
        except SystemExit:
            checked.flush()
            raise
        except BaseException:
            with suppress(OutputError, NoReaderError):  # what went wrong first is told
                checked.flush()
            raise
        checked.flush()


class _Checked:
    """A text stream that raises errors of the package."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            raise self._failure(error) from error

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> RobotIdentificationError:
        """Return the error to raise; what is still in buffers goes nowhere from now on."""
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        if isinstance(error, BrokenPipeError):
            return NoReaderError()
        return OutputError(_NAME, f"cannot be written: {error.strerror or error}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

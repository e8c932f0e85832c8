"""Errors of optional packages that are not installed."""

from __future__ import annotations

from robot_identification.errors.base import InputError


class SolverMissingError(InputError):
    """The solver of semidefinite programs is not installed.

    Attributes:
        package: its name on PyPI.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(
            f"physical consistency needs the solver {package}, which rosdep does not know; "
            f"pip install {package}"
        )


class MissingPackageError(InputError):
    """An optional package is asked for and is not installed.

    Attributes:
        package: its name on PyPI.
        extra: extra of this package that brings it; empty where none does.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        advice = f"pip install 'robot_identification[{extra}]', or " if extra else ""
        super().__init__(
            f"{purpose} needs {package}, which is not installed; {advice}pip install {package}"
        )

"""Sources of rows: whole recordings (:mod:`.rows.whole_rows`), or rows folded as they came.

Whatever the source, the rows are in groups, every bag or every block of a single one, and of each
group a triangular factor per joint is kept.  Estimators ask nothing else of them, but for those
that go over the samples themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from robot_identification.errors import SettingError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.groups import Bands, GroupedRows, Scheme
from robot_identification.robot.arrays import Array
from robot_identification.robot.processing import Divisor


class RowSource(Protocol):
    """Rows in groups."""

    @property
    def base(self) -> BaseParameters | None:
        """Base parameters of the robot; None where the robot is not at hand."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters that the columns belong to."""

    @property
    def divisor(self) -> Divisor:
        """Divisor of the squared residual that gives its variance."""

    @property
    def scheme(self) -> Scheme:
        """Whether groups are bags, or blocks of a single one."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups."""

    @property
    def bags(self) -> tuple[str, ...]:
        """Names of the bags."""

    @property
    def noise(self) -> Array | None:
        """(bags, joints) standard deviations of the rows, where they are known beforehand."""

    def rows(self, bands: Bands) -> GroupedRows:
        """Return the rows of all groups.

        Args:
            bands: the Gram matrices of bands that are asked for.  A source that has not kept them
                gives none, so that there are no robust deviations.
        """


@dataclass(frozen=True)
class FoldedRows:
    """Rows that were folded before: as they came, by other processes, or for other results.

    Attributes:
        base: base parameters of the robot; None where the robot is not at hand.
        names: their names.
        divisor: of the variance of the residual.
        scheme: whether groups are bags, or blocks of a single one.
        groups: names of the groups.
        bags: names of the bags.
        kept: the rows, with the bands that there are.
    """

    base: BaseParameters | None
    names: tuple[str, ...]
    divisor: Divisor
    scheme: Scheme
    groups: tuple[str, ...]
    bags: tuple[str, ...]
    kept: GroupedRows

    @property
    def noise(self) -> None:
        """None: nothing is known of it beforehand."""
        return None

    def rows(self, bands: Bands) -> GroupedRows:
        """Return the rows of all groups; without bands where those asked for were not kept."""
        there = bands == "together" or len(self.kept.bands) == len(self.kept.factors)
        return self.kept if there else replace(self.kept, bands=())


def without_samples(what: str) -> SettingError:
    """Return the error for something that goes over samples where only rows are kept.

    Args:
        what: its name.
    """
    return SettingError(
        what,
        "asked for",
        "goes over the samples, of which the rows alone are kept here; identify the whole "
        "recordings together instead",
    )

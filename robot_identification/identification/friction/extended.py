"""Rows of base parameters with further columns behind, folded in one pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.tree import Floats
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.bands import BandStream
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.identification.rows.whole import RowBlock
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array

Flags = npt.NDArray[np.bool_]


class ExtendedRegressor(Regressor, ABC):
    """Regressor of base parameters with further columns behind the effort of each joint.

    Args:
        base: base parameters.
        counts: (joints,) number of further columns.
    """

    def __init__(self, base: BaseParameters, counts: Sequence[int]) -> None:
        super().__init__(base.robot, base.base_columns, spare=1 + max(counts))
        self.counts = tuple(counts)
        self.rank = base.rank

    def compact(
        self,
        q: Floats,
        qd: Floats,
        qdd: Floats,
        out: Floats | None = None,
        shares: Floats | None = None,
        temperature: Floats | None = None,
    ) -> Floats:
        """Return the rows of base parameters and the further ones; as :meth:`Regressor.compact`."""
        out = super().compact(q, qd, qdd, out=out, shares=shares, temperature=temperature)
        # Threads share this object: what belongs to these samples is handed on, never kept.
        loads = self.loads(q, qd, qdd)
        for joint, rows in enumerate(self.joint_rows):
            columns = self.further(joint, q, qd, qdd, loads[joint])
            for place, column in enumerate(columns, rows.rows.stop + 1):
                out[place] = column
        return out

    def loads(self, q: Floats, qd: Floats, qdd: Floats) -> Sequence[Floats | None]:  # noqa: ARG002
        """Return for each joint (samples,) what its load-dependent columns follow, if anything."""
        return [None] * len(self.joint_rows)

    @abstractmethod
    def further(
        self, joint: int, q: Floats, qd: Floats, qdd: Floats, load: Floats | None
    ) -> list[Floats]:
        """Return the further columns of a joint, (samples,) each.

        Args:
            joint: place of the joint.
            q: (joints, samples) positions.
            qd: (joints, samples) velocities.
            qdd: (joints, samples) accelerations.
            load: (samples,) of this joint, from :meth:`loads`.
        """


def extended_rows(
    source: WholeRows,
    regressor: ExtendedRegressor,
    *,
    bands: bool,
    moving: Sequence[Flags] = (),
) -> GroupedRows:
    """Fold the rows of a source in one pass; further columns follow all base parameters.

    Args:
        source: the rows.
        regressor: of its base parameters.
        bands: whether Gram matrices of bands are kept, of all rows together.
        moving: for each segment (joints, outputs) rows at speed; where they are told, those near
            standstill have factors of their own, behind those of all joints at speed.
    """
    streams = [_Stream(regressor) for _ in source.groups]
    slow = [_Stream(regressor) for _ in source.groups if moving]
    spectra = BandStream([own.columns for own in streams[0].joints]) if bands else None
    every = np.concatenate([own.order for own in streams[0].joints])

    def use(segment: int, block: RowBlock) -> None:
        places = source.division.places[segment][block.window.outputs]
        for group in np.unique(places):
            part = slice(*np.searchsorted(places, [group, group + 1]))
            rows, kept = block.rows[:, part], block.kept[:, part]
            if moving:
                fast = moving[segment][:, block.window.outputs][:, part]
                slow[group].add(rows, kept & ~fast)
                kept = kept & fast
            streams[group].add(rows, kept)
        if spectra is not None:
            spectra.add(block.rows[every], block.kept)

    source.each_block([use], regressor)
    return GroupedRows(
        factors=tuple(
            sum((stream.factors() for stream in own), ())
            for own in zip(*([streams, slow] if moving else [streams]), strict=True)
        ),
        bands=() if spectra is None else (spectra.grams(),),
    )


class _Joint:
    """Rows of one joint: where they stand, and their triangle."""

    def __init__(
        self, name: str, columns: npt.NDArray[np.intp], order: npt.NDArray[np.intp]
    ) -> None:
        self.name, self.columns, self.order = name, columns, order
        self.triangle = np.zeros((len(columns) + 1,) * 2)
        self.rows = 0

    def add(self, rows: Array, kept: Flags) -> None:
        """Fold rows."""
        fold_rows(self.triangle, np.ascontiguousarray(rows[self.order]), kept)
        self.rows += int(np.count_nonzero(kept))


class _Stream:
    """Factors of one group."""

    def __init__(self, regressor: ExtendedRegressor) -> None:
        self.joints = []
        first = regressor.rank
        for joint, rows, count in zip(
            regressor.robot.joints, regressor.joint_rows, regressor.counts, strict=True
        ):
            effort = rows.rows.stop
            order = np.r_[rows.first : effort, effort + 1 : effort + 1 + count, effort]
            columns = np.concatenate([rows.columns, np.arange(first, first + count)])
            self.joints.append(_Joint(joint.name, columns.astype(np.intp), order))
            first += count

    def add(self, rows: Array, kept: Flags) -> None:
        """Fold rows of all joints."""
        for joint, own in zip(self.joints, kept, strict=True):
            joint.add(rows, np.ascontiguousarray(own))

    def factors(self) -> tuple[JointFactor, ...]:
        """Return what was folded."""
        return tuple(JointFactor(j.name, j.columns, j.triangle, j.rows) for j in self.joints)

"""Joint states as they came, before they are brought to the joint side and on one clock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value, cover


@by_value
@dataclass(frozen=True)
class RawSamples:
    """Joint states as they came, mapped to the robot's joints by name, in order of arrival.

    Positions and efforts are still on the side where they were measured.  The arrays are looked at,
    read-only: who made them must not change them.

    Attributes:
        stamps: (samples,) header stamps in ns.
        position: (samples, joints).
        velocity: (samples, joints) or None.
        effort: (samples, joints).
        reference: (samples, joints) or None; commanded positions at the same stamps.
    """

    stamps: npt.NDArray[np.int64]
    position: Array
    velocity: Array | None
    effort: Array
    reference: Array | None = None

    def __post_init__(self) -> None:
        cover(self, "stamps", "position", "velocity", "effort", "reference")

    def digest(self) -> str:
        """Return the SHA-256 of the samples, in hexadecimal, by which they are known again."""
        digest = hashlib.sha256()
        for name in (own.name for own in fields(self)):
            values = getattr(self, name)
            if values is not None:
                digest.update(f"{name} {values.shape} {values.dtype.str} ".encode())
                digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()

    def at(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> RawSamples:
        """Return the samples at places, in their order."""
        return RawSamples(
            stamps=self.stamps[places],
            position=self.position[places],
            velocity=None if self.velocity is None else self.velocity[places],
            effort=self.effort[places],
            reference=None if self.reference is None else self.reference[places],
        )


def joined_samples(blocks: Sequence[RawSamples], *, reference: bool = True) -> RawSamples:
    """Return samples that follow each other as one; velocities only if every block has them.

    Args:
        blocks: at least one.
        reference: whether the reference is wanted; it is there only if every block has it.
    """
    return RawSamples(
        stamps=np.concatenate([block.stamps for block in blocks]),
        position=np.concatenate([block.position for block in blocks]),
        velocity=_joined([block.velocity for block in blocks]),
        effort=np.concatenate([block.effort for block in blocks]),
        reference=_joined([block.reference for block in blocks]) if reference else None,
    )


def _joined(arrays: Sequence[Array | None]) -> Array | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None

"""Packed data: how much they unpack to, found without keeping it, and what they unpack to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import lz4.frame

from robot_identification.files.cancelling import Cancelled, give_up_if

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_OPENERS: Mapping[str, Callable[[BinaryIO], Any]] = {"lz4": lz4.frame.open, "zstd": zstd.open}
_UNPACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "lz4": lz4.frame.decompress,
    "zstd": zstd.decompress,
}
_BLOCK = 1 << 20


def is_packing(name: str) -> bool:
    """Tell whether data packed in that way can be unpacked."""
    return name in _OPENERS


def unpacked_size(
    packed: BinaryIO, packing: str, most: int, cancelled: Cancelled | None = None
) -> int:
    """Return how many bytes packed data unpack to.

    No more than a block beyond ``most`` is unpacked.

    Args:
        packed: where to read them from, to its end.
        packing: ``lz4`` or ``zstd``.
        most: what is too much.
        cancelled: asked at every block whether to give up.

    Returns:
        The number of bytes, or one larger than ``most``.

    Raises:
        OSError, EOFError, RuntimeError, ZstdError: the data are damaged.
        CancelledError: ``cancelled`` says so.
    """
    total = 0
    with _OPENERS[packing](packed) as unpacked:
        while total <= most and (block := unpacked.read(_BLOCK)):
            give_up_if(cancelled)
            total += len(block)
    return total


def unpacked(packed: bytes, packing: str) -> bytes:
    """Return what packed data unpack to; see :func:`unpacked_size` for how much that is.

    Args:
        packed: the data.
        packing: ``lz4`` or ``zstd``; empty for data that are not packed.

    Raises:
        ValueError: they are packed in another way.
        OSError, EOFError, RuntimeError, ZstdError: the data are damaged.
    """
    if packing not in _UNPACKERS:
        raise ValueError(f"packed as {packing!r:.40}, neither lz4 nor zstd")
    return _UNPACKERS[packing](packed)

"""Checksum of what a YAML file says, whatever its layout and comments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

KEY = "sha256"


def content_digest(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data without its entry ``sha256``, hexadecimal.

    Mappings count without their order.  Numbers count with every digit, and 1 differs from 1.0.

    Args:
        data: mappings with text keys, lists, text, numbers, truth values and None.

    Raises:
        TypeError: the data hold anything else.
    """
    content = {name: value for name, value in data.items() if name != KEY}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

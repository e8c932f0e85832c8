"""What Numba is told about the kernels of the closed loop with a continuous controller."""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
    "_nrt": False,  # all arrays are made before; counting references would take half of the time
}
INLINED = {**OPTIONS, "forceinline": True}
# Part of the function that calls it, so that it is not compiled a second time.
PART = {**OPTIONS, "inline": "always"}

"""What Numba is told about the kernels of the closed loop with a continuous controller."""

from __future__ import annotations

from typing import Any

from robot_identification.compiled import IN_ANY_ORDER

OPTIONS: dict[str, Any] = {
    "fastmath": IN_ANY_ORDER,
    "_nrt": False,  # all arrays are made before; counting references would take half of the time
}
INLINED = {**OPTIONS, "forceinline": True}
# Part of the function that calls it, so that it is not compiled a second time.
PART = {**OPTIONS, "inline": "always"}

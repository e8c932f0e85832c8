"""Compiled zero-phase decimation of rows that are still growing.

Formulas and end treatment are those of :mod:`.decimation_kernels`.  The causal states are carried
from block to block, so that the beginning counts in full; the anticausal ones begin where the rows
end so far, and outputs far enough before that place do not feel it.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, compiled
from robot_identification.signals.filters.decimation_kernels import (
    MODES,
    _backward,
    _block_sums,
    _forward,
    _scratch,
    _state_before,
    _state_behind,
)

_OPTIONS = {"fastmath": IN_ANY_ORDER}


@compiled(**_OPTIONS)
def begin_rows(values, first, pad, modes, causal):
    """Set the causal states at the first kept sample.

    Args:
        values: (rows, samples) from the first sample on, more than ``pad`` and ``first``.
        first: first sample that is kept.
        pad: samples of continuation before the beginning.
        modes: :class:`~robot_identification.signals.filters.modes.Modes` of the filter.
        causal: (rows, modes) states to set.
    """
    for row in range(values.shape[0]):
        _state_before(values[row], first, pad, modes.poles, causal[row])


@compiled(**_OPTIONS)
def extend_rows(values, last, factor, modes, causal, sums, outputs):
    """Carry the causal states over all further samples that are kept.

    Args:
        values: (rows, samples) with the last kept sample so far at ``last``.
        last: its place.
        factor: distance of the samples that are kept.
        modes: of the filter.
        causal: (rows, modes) states, carried on.
        sums: (rows, 16, new + 1) to fill with the sums of blocks; those at 0 stay.
        outputs: (rows, new) to fill with the causal part of the outputs.
    """
    even, odd = _scratch(factor), _scratch(factor)
    for row in range(values.shape[0]):
        _block_sums(values[row], last, factor, modes, even, odd, sums[row])
        _forward(values[row], last, factor, modes, sums[row], 1, causal[row], outputs[row])


@compiled(**_OPTIONS)
def complete_rows(values, last, pad, modes, causal, ended, sums, outputs):
    """Add the anticausal part to the outputs that wait, from the last kept sample back.

    Args:
        values: (rows, samples) with the last kept sample at ``last``.
        last: its place.
        pad: samples of continuation behind the end.
        modes: of the filter.
        causal: (rows, modes) states at the last kept sample; left as they are.
        ended: whether the rows end here; else they are taken to go on as they are.
        sums: (rows, 16, waiting) sums of the block before each output that waits.
        outputs: (rows, wanted) the first of them, added to.
    """
    state = np.empty(MODES, dtype=np.complex128)
    behind = np.empty(MODES, dtype=np.complex128)
    for row in range(values.shape[0]):
        for i in range(MODES):
            state[i] = causal[row, i]
            behind[i] = values[row, last] / (1.0 - modes.poles[i])
        if ended:
            _state_behind(
                values[row],
                last,
                pad,
                modes.poles,
                modes.mixing,
                modes.mixing_conjugate,
                state,
                behind,
            )
        _backward(modes, sums[row], 0, behind, outputs[row])

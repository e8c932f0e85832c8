"""Compiled zero-phase decimation: only the outputs that are kept are computed.

A filter with simple poles p_i has the impulse response h(n) = d delta(n) + sum_i r_i p_i^n for
n >= 0.  Run forward and backward its response is symmetric,

    g(n) = e delta(n) + sum_i c_i p_i^|n|,
    c_i = r_i (d + sum_k r_k / (1 - p_k p_i)),    e = d^2 + d sum_k r_k,

so that an output at sample m is e x(m) + sum_i c_i (S_i(m) + A_i(m)) with

    S_i(m) = sum over t <= m of p_i^(m-t) x(t),    A_i(m) = sum over t > m of p_i^(t-m) x(t).

From one kept sample to the next, ``factor`` samples later, S_i and A_i change by the sums of
p_i^j x over one block of samples: sixteen numbers for a filter of order 8, whatever the factor.

The ends are those of filtering with continuation by reflection (odd extension) and steady initial
states.  On the left the steady state stands for a constant signal before the continuation.  On the
right the output of the forward pass is constant behind the continuation; with the states of the
forward pass there, delta_k = S_k - x / (1 - p_k), this adds to A_i

    (r_i / c_i) sum_k r_k delta_k (p_i / (1 - p_i) - p_i p_k / (1 - p_i p_k)).

Of conjugate pairs of poles only one is kept, and twice the real part taken.
"""

from __future__ import annotations

import numba
import numpy as np

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
}
MODES = 4  # conjugate pairs of poles
_SUMS = 4 * MODES


@numba.njit(**_OPTIONS)
def _block_sums(x, first, factor, blocks, powers, sums):
    """Fill sums (blocks, 16): powers (factor, 16) summed over the samples of each block.

    Five samples at a time, so that sums are loaded and stored less often.
    """
    fives = factor - factor % 5
    for k in range(1, blocks):
        block = x[first + (k - 1) * factor + 1 : first + k * factor + 1]
        own = sums[k]
        for c in range(_SUMS):
            own[c] = 0.0
        for b in range(0, fives, 5):
            x0, x1, x2, x3, x4 = block[b], block[b + 1], block[b + 2], block[b + 3], block[b + 4]
            for c in range(_SUMS):
                own[c] += (
                    x0 * powers[b, c]
                    + x1 * powers[b + 1, c]
                    + x2 * powers[b + 2, c]
                    + x3 * powers[b + 3, c]
                    + x4 * powers[b + 4, c]
                )
        for b in range(fives, factor):
            value = block[b]
            for c in range(_SUMS):
                own[c] += value * powers[b, c]


@numba.njit(**_OPTIONS)
def _state_before(x, first, pad, poles, state):
    """Set the causal state at the first kept sample; before the continuation all is constant."""
    constant = 2.0 * x[0] - x[pad]
    for i in range(MODES):
        s = constant / (1.0 - poles[i])
        for t in range(pad, 0, -1):
            s = poles[i] * s + (2.0 * x[0] - x[t])
        for n in range(first + 1):
            s = poles[i] * s + x[n]
        state[i] = s


@numba.njit(**_OPTIONS)
def _state_behind(x, last, pad, poles, mixing, mixing_conjugate, causal, state):
    """Set the anticausal state at the last kept sample, from the causal one there."""
    samples = len(x)
    end = x[samples - 1]
    constant = 2.0 * end - x[samples - 1 - pad]
    for i in range(MODES):
        s = causal[i]
        for n in range(last + 1, samples):
            s = poles[i] * s + x[n]
        for t in range(1, pad + 1):
            s = poles[i] * s + (2.0 * end - x[samples - 1 - t])
        causal[i] = s - constant / (1.0 - poles[i])
    for i in range(MODES):
        a = constant * poles[i] / (1.0 - poles[i])
        for k in range(MODES):
            a += mixing[i, k] * causal[k] + mixing_conjugate[i, k] * np.conj(causal[k])
        for t in range(pad, 0, -1):
            a = poles[i] * (a + (2.0 * end - x[samples - 1 - t]))
        for n in range(samples - 1, last, -1):
            a = poles[i] * (a + x[n])
        state[i] = a


@numba.njit(**_OPTIONS)
def _forward(x, first, factor, modes, sums, begin, state, own):
    """Run the causal state through all blocks, and begin the outputs with its part."""
    real, imaginary = state.real.copy(), state.imag.copy()
    blocks, wanted = len(sums), len(own)
    for k in range(blocks):
        total = 0.0
        for i in range(MODES):
            if k > 0:
                turned = modes.step_real[i] * real[i] - modes.step_imaginary[i] * imaginary[i]
                imaginary[i] = (
                    modes.step_real[i] * imaginary[i]
                    + modes.step_imaginary[i] * real[i]
                    + sums[k, MODES + i]
                )
                real[i] = turned + sums[k, i]
            total += modes.gain_real[i] * real[i] - modes.gain_imaginary[i] * imaginary[i]
        if begin <= k < begin + wanted:
            own[k - begin] = total + modes.direct * x[first + k * factor]
    for i in range(MODES):
        state[i] = complex(real[i], imaginary[i])


@numba.njit(**_OPTIONS)
def _backward(modes, sums, begin, state, own):
    """Run the anticausal state through the blocks from the last one, and add its part."""
    real, imaginary = state.real.copy(), state.imag.copy()
    blocks, wanted = len(sums), len(own)
    for k in range(blocks - 1, begin - 1, -1):
        total = 0.0
        for i in range(MODES):
            total += modes.gain_real[i] * real[i] - modes.gain_imaginary[i] * imaginary[i]
            turned = modes.step_real[i] * real[i] - modes.step_imaginary[i] * imaginary[i]
            imaginary[i] = (
                modes.step_real[i] * imaginary[i]
                + modes.step_imaginary[i] * real[i]
                + sums[k, 3 * MODES + i]
            )
            real[i] = turned + sums[k, 2 * MODES + i]
        if k < begin + wanted:
            own[k - begin] += total


@numba.njit(**_OPTIONS)
def decimate_rows(values, first, factor, pad, modes, begin, out):
    """Filter and decimate rows of samples.

    Args:
        values: (rows, samples), more than ``pad`` samples.
        first: first sample of the phase that is kept.
        factor: distance of the samples that are kept.
        pad: samples of continuation at both ends.
        modes: :class:`~robot_identification.signals.modes.Modes` of the filter.
        begin: number of the first kept sample whose output is wanted.
        out: (rows, outputs) to fill.
    """
    blocks = (values.shape[1] - 1 - first) // factor + 1
    last = first + (blocks - 1) * factor
    sums = np.zeros((blocks, _SUMS))
    causal = np.empty(MODES, dtype=np.complex128)
    behind = np.empty(MODES, dtype=np.complex128)
    for row in range(values.shape[0]):
        x, own = values[row], out[row]
        _block_sums(x, first, factor, blocks, modes.powers, sums)
        _state_before(x, first, pad, modes.poles, causal)
        _forward(x, first, factor, modes, sums, begin, causal, own)
        _state_behind(
            x, last, pad, modes.poles, modes.mixing, modes.mixing_conjugate, causal, behind
        )
        _backward(modes, sums, begin, behind, own)

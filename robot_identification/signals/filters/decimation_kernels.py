"""Compiled zero-phase decimation: only the outputs that are kept are computed.

A filter with simple poles p_i has the impulse response h(n) = d delta(n) + sum_i r_i p_i^n for
n >= 0.  Run forward and backward its response is symmetric,

    g(n) = e delta(n) + sum_i c_i p_i^|n|,
    c_i = r_i (d + sum_k r_k / (1 - p_k p_i)),    e = d^2 + d sum_k r_k,

so that an output at sample m is e x(m) + sum_i c_i (S_i(m) + p_i A_i(m)) with

    S_i(m) = sum over t <= m of p_i^(m-t) x(t),    A_i(m) = sum over t > m of p_i^(t-m-1) x(t).

From one kept sample to the next, ``factor`` samples later, S_i and A_i change by sums over one
block x_0 .. x_(f-1) of samples: sixteen numbers for a filter of order 8, whatever the factor.
The weights of the one are those of the other in reverse, so that half the products are enough:

    sum of p^(f-1-b) x_b,  sum of p^b x_b  =  E + O,  E - O,
    E = sum over b < f/2 of (p^(f-1-b) + p^b) / 2 (x_b + x_(f-1-b)),
    O = sum over b < f/2 of (p^(f-1-b) - p^b) / 2 (x_b - x_(f-1-b)).

The ends are those of filtering with continuation by reflection (odd extension) and steady initial
states.  On the left the steady state stands for a constant signal before the continuation.  On the
right the output of the forward pass is constant behind the continuation; with the states of the
forward pass there, delta_k = S_k - x / (1 - p_k), this adds to A_i

    (r_i / c_i) sum_k r_k delta_k (1 / (1 - p_i) - p_k / (1 - p_i p_k)).

Of conjugate pairs of poles only one is kept, and twice the real part taken.  Sums are laid out
mode by mode with the blocks side by side, so that loops over blocks become vector instructions.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import BARE, IN_ANY_ORDER, INLINED, compiled

_OPTIONS = {"fastmath": IN_ANY_ORDER}
MODES = 4  # conjugate pairs of poles
SUMS = 4 * MODES  # real and imaginary parts, causal and anticausal
_CHUNK = 256  # blocks whose samples lie in the first-level cache at a time


@compiled(**BARE)
def _fold(x, start, factor, count, even, odd):
    """Fill sums and differences of samples that lie opposite each other in their block.

    The sample in the middle of a block of odd length is its own opposite.
    """
    for b in range((factor + 1) // 2):
        sums = even[b * _CHUNK : b * _CHUNK + count]
        differences = odd[b * _CHUNK : b * _CHUNK + count]
        for k in range(count):
            left = x[start + k * factor + b]
            right = x[start + k * factor + factor - 1 - b]
            sums[k] = left + right
            differences[k] = left - right


@compiled(**BARE)
def _weigh(even, odd, even_weights, odd_weights, pairs, mode, causal, anticausal):
    """Fill the sums of one mode over the blocks of a chunk.

    Five pairs of samples at a time, so that sums are loaded and stored less often.
    """
    fives = pairs - pairs % 5
    if fives == 0:
        causal[:] = 0.0
        anticausal[:] = 0.0
    for b in range(0, fives, 5):
        e = even[b * _CHUNK : (b + 5) * _CHUNK]
        o = odd[b * _CHUNK : (b + 5) * _CHUNK]
        u0, u1, u2 = even_weights[b, mode], even_weights[b + 1, mode], even_weights[b + 2, mode]
        u3, u4 = even_weights[b + 3, mode], even_weights[b + 4, mode]
        v0, v1, v2 = odd_weights[b, mode], odd_weights[b + 1, mode], odd_weights[b + 2, mode]
        v3, v4 = odd_weights[b + 3, mode], odd_weights[b + 4, mode]
        for k in range(causal.size):
            u = u0 * e[k] + u1 * e[_CHUNK + k] + u2 * e[2 * _CHUNK + k]
            u += u3 * e[3 * _CHUNK + k] + u4 * e[4 * _CHUNK + k]
            v = v0 * o[k] + v1 * o[_CHUNK + k] + v2 * o[2 * _CHUNK + k]
            v += v3 * o[3 * _CHUNK + k] + v4 * o[4 * _CHUNK + k]
            causal[k] = u + v if b == 0 else causal[k] + (u + v)
            anticausal[k] = u - v if b == 0 else anticausal[k] + (u - v)
    for b in range(fives, pairs):
        e = even[b * _CHUNK : (b + 1) * _CHUNK]
        o = odd[b * _CHUNK : (b + 1) * _CHUNK]
        u0, v0 = even_weights[b, mode], odd_weights[b, mode]
        for k in range(causal.size):
            u, v = u0 * e[k], v0 * o[k]
            causal[k] += u + v
            anticausal[k] += u - v


@compiled(**BARE)
def _block_sums(x, first, factor, modes, even, odd, sums):
    """Fill sums (16, blocks) of all blocks but that at 0, which ends at sample ``first``.

    Args:
        x: (samples,) one row.
        first: first kept sample.
        factor: samples of a block.
        modes: :class:`~robot_identification.signals.filters.modes.Modes` of the filter.
        even: scratch as from :func:`_scratch`.
        odd: likewise.
        sums: real and imaginary parts of the causal sums, mode by mode, then of the anticausal.
    """
    blocks = sums.shape[1]
    pairs = (factor + 1) // 2
    for begin in range(1, blocks, _CHUNK):
        count = min(_CHUNK, blocks - begin)
        _fold(x, first + (begin - 1) * factor + 1, factor, count, even, odd)
        for c in range(2 * MODES):
            causal = sums[c, begin : begin + count]
            anticausal = sums[2 * MODES + c, begin : begin + count]
            _weigh(even, odd, modes.even, modes.odd, pairs, c, causal, anticausal)


@compiled(**_OPTIONS)
def _scratch(factor):
    """Return an array that :func:`_block_sums` works with."""
    return np.empty((factor + 1) // 2 * _CHUNK)


@compiled(**_OPTIONS)
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


@compiled(**_OPTIONS)
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
        a = constant / (1.0 - poles[i])
        for k in range(MODES):
            a += mixing[i, k] * causal[k] + mixing_conjugate[i, k] * np.conj(causal[k])
        for t in range(pad, 0, -1):
            a = poles[i] * a + (2.0 * end - x[samples - 1 - t])
        for n in range(samples - 1, last, -1):
            a = poles[i] * a + x[n]
        state[i] = a


@compiled(**INLINED)
def _step(c, s, real, imaginary, add_real, add_imaginary):
    """Return the state of one mode a block further: (c + i s) state + what the block adds."""
    return c * real - s * imaginary + add_real, c * imaginary + s * real + add_imaginary


@compiled(**INLINED)
def _part(g, h, real, imaginary):
    """Return what the state of one mode adds to an output: the real part of (g + i h) state."""
    return g * real - h * imaginary


@compiled(**BARE)
def _forward(x, first, factor, modes, sums, begin, state, own):
    """Run the causal state through all blocks, and begin the outputs with its part.

    The modes stand side by side, not in a loop, so that their states stay in registers.
    """
    c0, c1, c2, c3 = modes.step_real
    s0, s1, s2, s3 = modes.step_imaginary
    g0, g1, g2, g3 = modes.gain_real
    h0, h1, h2, h3 = modes.gain_imaginary
    a0, a1, a2, a3 = state.real
    b0, b1, b2, b3 = state.imag
    for k in range(sums.shape[1]):
        if k > 0:
            a0, b0 = _step(c0, s0, a0, b0, sums[0, k], sums[4, k])
            a1, b1 = _step(c1, s1, a1, b1, sums[1, k], sums[5, k])
            a2, b2 = _step(c2, s2, a2, b2, sums[2, k], sums[6, k])
            a3, b3 = _step(c3, s3, a3, b3, sums[3, k], sums[7, k])
        if begin <= k < begin + own.size:
            total = _part(g0, h0, a0, b0) + _part(g1, h1, a1, b1)
            total += _part(g2, h2, a2, b2) + _part(g3, h3, a3, b3)
            own[k - begin] = total + modes.direct * x[first + k * factor]
    state[0], state[1] = complex(a0, b0), complex(a1, b1)
    state[2], state[3] = complex(a2, b2), complex(a3, b3)


@compiled(**BARE)
def _backward(modes, sums, begin, state, own):
    """Run the anticausal state through the blocks from the last one, and add its part."""
    c0, c1, c2, c3 = modes.step_real
    s0, s1, s2, s3 = modes.step_imaginary
    g0, g1, g2, g3 = modes.back_real
    h0, h1, h2, h3 = modes.back_imaginary
    a0, a1, a2, a3 = state.real
    b0, b1, b2, b3 = state.imag
    for k in range(sums.shape[1] - 1, begin - 1, -1):
        if k < begin + own.size:
            total = _part(g0, h0, a0, b0) + _part(g1, h1, a1, b1)
            own[k - begin] += total + _part(g2, h2, a2, b2) + _part(g3, h3, a3, b3)
        a0, b0 = _step(c0, s0, a0, b0, sums[8, k], sums[12, k])
        a1, b1 = _step(c1, s1, a1, b1, sums[9, k], sums[13, k])
        a2, b2 = _step(c2, s2, a2, b2, sums[10, k], sums[14, k])
        a3, b3 = _step(c3, s3, a3, b3, sums[11, k], sums[15, k])


@compiled(**_OPTIONS)
def decimate_rows(values, first, blocks, factor, pad, modes, begin, before, behind, out):
    """Filter and decimate rows of samples.

    Args:
        values: (rows, samples), more than ``pad`` samples.
        first: first sample of the phase that is kept.
        blocks: number of samples that are kept from it on.
        factor: distance of the samples that are kept.
        pad: samples of continuation at both ends.
        modes: :class:`~robot_identification.signals.filters.modes.Modes` of the filter.
        begin: number of the first kept sample whose output is wanted.
        before: (rows, modes) causal states at the first kept sample; (0, modes) where the rows
            begin with the values.
        behind: (rows, modes) anticausal states at the last kept sample; (0, modes) where the rows
            end with the values.
        out: (rows, outputs) to fill.
    """
    last = first + (blocks - 1) * factor
    sums = np.zeros((SUMS, blocks))
    even, odd = _scratch(factor), _scratch(factor)
    causal = np.empty(MODES, dtype=np.complex128)
    anticausal = np.empty(MODES, dtype=np.complex128)
    for row in range(values.shape[0]):
        x, own = values[row], out[row]
        _block_sums(x, first, factor, modes, even, odd, sums)
        if len(before):
            causal[:] = before[row]
        else:
            _state_before(x, first, pad, modes.poles, causal)
        _forward(x, first, factor, modes, sums, begin, causal, own)
        if len(behind):
            anticausal[:] = behind[row]
        else:
            _state_behind(
                x, last, pad, modes.poles, modes.mixing, modes.mixing_conjugate, causal, anticausal
            )
        _backward(modes, sums, begin, anticausal, own)

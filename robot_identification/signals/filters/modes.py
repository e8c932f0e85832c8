"""A zero-phase filter as a sum of decaying oscillations, the form that compiled decimation takes.

See :mod:`robot_identification.signals.filters.decimation_kernels` for the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array

Complex = npt.NDArray[np.complex128]


class Modes(NamedTuple):
    """Partial fractions of a filter of even order that runs forward and backward.

    One of each conjugate pair of poles counts; ``modes`` is half the order.

    Attributes:
        poles: (modes,) poles of one pass.
        even: (pairs, 2 * modes) weights of the sums of opposite samples of a block: real parts of
            (p^(factor - 1 - b) + p^b) / 2 for its pair b, then imaginary ones.
        odd: (pairs, 2 * modes) likewise of their differences, (p^(factor - 1 - b) - p^b) / 2.
        step_real: (modes,) real part of p^factor.
        step_imaginary: (modes,) its imaginary part.
        gain_real: (modes,) real part of 2 c.
        gain_imaginary: (modes,) its imaginary part.
        back_real: (modes,) real part of 2 c p.
        back_imaginary: (modes,) its imaginary part.
        direct: e, the direct path.
        mixing: (modes, modes) end treatment: from the causal state to the anticausal one.
        mixing_conjugate: (modes, modes) likewise from the conjugate of the causal state.
    """

    poles: Complex
    even: Array
    odd: Array
    step_real: Array
    step_imaginary: Array
    gain_real: Array
    gain_imaginary: Array
    back_real: Array
    back_imaginary: Array
    direct: float
    mixing: Complex
    mixing_conjugate: Complex


def modes_of(zeros: Complex, poles: Complex, gain: float, factor: int) -> Modes:
    """Return the modes of a filter with as many zeros as poles, all poles complex and simple.

    Args:
        zeros: (order,) zeros of one pass.
        poles: (order,) its poles in conjugate pairs.
        gain: factor of the ratio of the products of (z - zero) and (z - pole).
        factor: decimation factor.
    """
    upper = poles[poles.imag > 0]
    every = np.concatenate([upper, upper.conj()])
    # H = gain prod(1 - zero w) / prod(1 - pole w) with w = 1 / z, so r_i by w -> 1 / p_i.
    residues = np.array([_residue(zeros, every, gain, i) for i in range(len(every))])
    direct = float(gain * np.prod(zeros / every).real)
    pairs = 1.0 - every[:, None] * every[None, :]
    weights = residues * (direct + np.sum(residues[None, :] / pairs, axis=1))
    mixing = (
        (residues / weights)[:, None]
        * residues[None, :]
        * ((1.0 / (1.0 - every))[:, None] - every[None, :] / pairs)
    )
    half = len(upper)
    place = np.arange((factor + 1) // 2)[:, None]
    ahead, behind = upper ** (factor - 1 - place), upper**place
    even, odd = (ahead + behind) / 2.0, (ahead - behind) / 2.0
    if factor % 2:
        even[-1] /= 2.0  # the sample in the middle counts twice in the sum with its opposite
    step = upper**factor
    back = weights[:half] * upper
    return Modes(
        poles=upper,
        even=np.ascontiguousarray(np.hstack([even.real, even.imag])),
        odd=np.ascontiguousarray(np.hstack([odd.real, odd.imag])),
        step_real=np.ascontiguousarray(step.real),
        step_imaginary=np.ascontiguousarray(step.imag),
        gain_real=np.ascontiguousarray(2.0 * weights[:half].real),
        gain_imaginary=np.ascontiguousarray(2.0 * weights[:half].imag),
        back_real=np.ascontiguousarray(2.0 * back.real),
        back_imaginary=np.ascontiguousarray(2.0 * back.imag),
        direct=direct**2 + direct * float(residues.sum().real),
        mixing=np.ascontiguousarray(mixing[:half, :half]),
        mixing_conjugate=np.ascontiguousarray(mixing[:half, half:]),
    )


def fading_weights(poles: Complex, samples: int) -> Array:
    """Return the weights of samples in the states at one place, from there on outwards.

    Beyond the samples the signal is taken to stay as it is at the last of them, so that its mean
    is not felt to end there.

    Args:
        poles: (modes,) poles of one pass.
        samples: number of samples after which a state is forgotten.

    Returns:
        (samples, 2 * modes) real and imaginary parts of p^0, p^1, ... of each pole p, side by side.
    """
    weights = poles ** np.arange(samples)[:, None]
    weights[-1] /= 1.0 - poles
    return np.ascontiguousarray(weights).view(np.float64)


def _residue(zeros: Complex, poles: Complex, gain: float, index: int) -> complex:
    """Return r_i of H = d + sum of r_i / (1 - p_i w)."""
    pole = poles[index]
    others = np.delete(poles, index)
    # Factors in turn, so that neither product leaves the range of numbers.
    return complex(gain * np.prod((pole - zeros[1:]) / (pole - others)) * (pole - zeros[0]) / pole)

"""Signals between samples, at the phases of a period that is no whole number of them."""

import numpy as np

from robot_identification.signals.periodic.phases import between_samples


def test_interpolation_keeps_what_a_band_holds():
    time = np.arange(400.0)
    signal = np.stack([np.sin(0.8 * np.pi * time), np.cos(0.1 * np.pi * time)], axis=1)
    places = np.linspace(20.0, 370.0, 999)
    expected = np.stack([np.sin(0.8 * np.pi * places), np.cos(0.1 * np.pi * places)], axis=1)
    np.testing.assert_allclose(between_samples(signal, places), expected, rtol=0, atol=2e-3)

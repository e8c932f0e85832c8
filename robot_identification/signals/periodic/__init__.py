"""Recorded motions that repeat: their periods, averages, and Fourier series."""

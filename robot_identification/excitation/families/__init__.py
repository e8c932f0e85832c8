"""Families of motions: quintics through points, Fourier series."""

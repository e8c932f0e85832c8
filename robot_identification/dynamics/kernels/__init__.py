"""Compiled dynamics: regressor, energy, mass matrix, direct model, simulation."""

"""Compiled gradients, extrema and bounds of motions."""

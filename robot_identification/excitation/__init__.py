"""Exciting trajectories: planning, interpolation, certificates, braking."""

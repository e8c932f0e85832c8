"""Motions: trajectories, limits, timing, braking, ways around obstacles."""

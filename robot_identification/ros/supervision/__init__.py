"""Supervision of a moving robot: states, limits of the tracking error, braking."""

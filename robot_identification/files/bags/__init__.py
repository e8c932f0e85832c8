"""Bags: joint states, efforts and trajectories out of them, and bags that are written."""

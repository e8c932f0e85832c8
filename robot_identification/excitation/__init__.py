"""Motions that make parameters visible: trajectories, quintic interpolation, random points."""

"""Least squares on few instants, refitted with one thing changed at a time."""

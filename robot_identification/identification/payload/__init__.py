"""Bare and loaded runs: the payload of a robot, and its drive gains from a known payload."""

"""Checks before a motion begins."""

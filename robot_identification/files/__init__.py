"""Bags and result files: all reading and writing of the core."""

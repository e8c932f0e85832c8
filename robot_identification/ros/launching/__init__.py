"""Nodes and arguments of the launch files."""

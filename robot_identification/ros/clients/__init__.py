"""Clients of the nodes, for commands, demo and scripts."""

"""Nodes that stand in for a robot and for its faults."""

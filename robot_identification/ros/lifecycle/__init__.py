"""Managed nodes: states, transitions, and what a node does in them."""

"""The robot of a node: where it is described, and whether other nodes have the same."""

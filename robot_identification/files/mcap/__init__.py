"""MCAP files: checks of damage, and messages a chunk at a time."""

"""Which nodes the launch files start, and their arguments."""

"""The cell: what stands around a robot, from cell files and planning scenes."""

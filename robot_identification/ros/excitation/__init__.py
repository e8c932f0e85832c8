"""The node that plans exciting trajectories, has the robot follow them, and stops it."""

"""What the launch files share: their arguments, and the nodes that these start."""

"""Controllers of real and simulated robots: how trajectories reach them, and what they answer."""

"""Plans and trajectories on disk."""

"""From samples to base parameters with standard deviations."""

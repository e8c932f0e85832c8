"""Standard parameters near a prior, and physically consistent."""

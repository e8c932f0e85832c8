"""A calibrated model at work: predictions, queries and their deviations."""

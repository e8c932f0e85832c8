"""Settings of the signal processing, given or derived from the data."""

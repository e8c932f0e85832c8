"""External joint efforts: momentum observer, thresholds, contacts."""

"""Zero-phase filters, derivatives and decimation of signals with a constant period."""

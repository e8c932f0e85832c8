"""Signal processing while a recording grows."""

"""Recordings that acquisition sends: kept, put in order, and selected by requests."""

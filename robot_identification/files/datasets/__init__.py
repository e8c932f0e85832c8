"""Recordings of real robots that others have published."""

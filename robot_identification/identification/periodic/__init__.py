"""Identification from recordings of whole periods."""

"""Efforts that come on a topic of their own."""

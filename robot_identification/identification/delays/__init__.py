"""Delays of efforts against positions: stated, or estimated from the data."""

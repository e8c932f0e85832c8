"""Parts of external_efforts.py."""

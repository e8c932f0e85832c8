"""Parts of commissionings.py."""

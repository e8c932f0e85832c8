"""Parts of contact_study.py."""

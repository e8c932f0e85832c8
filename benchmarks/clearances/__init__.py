"""Parts of clearance_study.py."""

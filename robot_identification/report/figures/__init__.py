"""Figures of reports, validations and plans."""

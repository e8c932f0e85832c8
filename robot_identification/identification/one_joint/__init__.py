"""Identification by moving one joint at a time (Lin 1992)."""

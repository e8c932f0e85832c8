"""Parts of mutants.py."""

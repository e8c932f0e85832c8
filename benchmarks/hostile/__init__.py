"""Parts of hostile_states.py."""

"""Where the time of the three uses goes; see ../profile_uses.py."""

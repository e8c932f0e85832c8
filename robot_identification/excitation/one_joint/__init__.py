"""Plans that move one joint at a time (Lin 1992, Algorithm 2)."""

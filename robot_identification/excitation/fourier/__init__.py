"""Motions that repeat: band-limited Fourier series over whole periods (Swevers et al. 1997)."""

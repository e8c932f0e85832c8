"""DIDIM: identification from efforts alone, by simulating the closed loop (Gautier et al. 2013)."""

"""Closed-loop simulation, its sensors, and recordings made with it."""

"""Collision checks of a robot with itself and its cell: shapes, distances, bounds of motions."""

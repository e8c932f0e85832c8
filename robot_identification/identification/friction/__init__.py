"""Friction laws: which terms a joint has, their shapes, and the loads that they follow."""

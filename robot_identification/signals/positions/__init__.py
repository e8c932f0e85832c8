"""Positions as drivers tell them: turns, readings that failed, joints beside the active ones."""

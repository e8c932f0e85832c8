"""Way of the command `run`: its steps, one after the other, and the record of what was done."""

"""The clock of recordings: order of stamps, gaps, clocks set back, and a constant period."""

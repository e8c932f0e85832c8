"""Physical consistency: its conditions, tests of them, the nearest parameters that meet them."""

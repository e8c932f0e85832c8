"""Arms in MuJoCo that pick up payloads while they move."""

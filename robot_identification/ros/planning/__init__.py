"""Plans for the excitation node: requests, the process that plans, and answers."""

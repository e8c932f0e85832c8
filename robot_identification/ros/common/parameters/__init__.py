"""Parameters of nodes: their declaration from tables of settings, and parameter files."""

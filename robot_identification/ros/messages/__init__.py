"""Between messages and the values of the core, both ways."""

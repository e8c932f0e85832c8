"""The node that turns joint states into numbered blocks of checked samples."""

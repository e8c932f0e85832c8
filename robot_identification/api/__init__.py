"""The functions behind Python programs and commands: from files and arrays to results and files."""

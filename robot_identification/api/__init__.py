"""What Python programs and the command line call: from files and arrays to results and files."""

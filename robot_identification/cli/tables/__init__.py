"""Tables, plain data and progress on the standard output and error."""

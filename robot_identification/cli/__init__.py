"""The command line: thin, no linear algebra."""

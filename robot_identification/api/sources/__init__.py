"""Arguments of the public functions: robots, recordings and parameters, or the files of them."""

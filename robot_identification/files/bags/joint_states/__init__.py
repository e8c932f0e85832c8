"""Joint states of bags and tables: columns by joint names, signals, samples left out."""

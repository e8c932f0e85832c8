"""Robot descriptions on disk: robot files in YAML, URDF, values of parameters."""

"""Parameters handed to others: URDF, xacro, MJCF, and YAML for controllers and for Pinocchio."""

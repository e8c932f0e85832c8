"""What the robot does: regressor, energy, direct dynamics, closed-loop simulation."""

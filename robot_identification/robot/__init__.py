"""Description of the robot: joints, drives, couplings, limits, and the files that hold it."""

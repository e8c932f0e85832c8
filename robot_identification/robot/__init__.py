"""What the robot is: joints, drives, couplings, and the files that describe them."""

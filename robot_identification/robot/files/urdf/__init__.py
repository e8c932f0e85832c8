"""URDF: links and joints, the model of the robot, values that it states, fixed joints."""
